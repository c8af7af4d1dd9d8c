// The op `case`: one of several graphs, chosen when the program runs.
#include <sturnus/functional/branch.h>
#include <sturnus/functional/op.h>
#include <sturnus/functional/tree_def.h>
#include <sturnus/ops/arithmetic.h>

#include "src/functional/body.h"
#include "src/functional/lists.h"
#include "src/ops/elementwise.h"
#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus::internal {
namespace {

// Inputs: the index, then what the branches capture; every branch takes all of that.
struct Case {
  static constexpr std::string_view name = "case";
  std::vector<Body> branches;

  ArrayTypes infer(const Arrays&) const { return types_of(branches[0].outputs); }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const;
  Arrays transpose(const Arrays& ct, const Arrays& x, const Mask& linear) const;
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
  std::vector<Series> jet(const std::vector<Series>& x) const;
  void replay(const Arrays& x, const RunGraph& run) const;
  void lower(Emitter& emitter, const Node& node) const;
};

template <class T>
std::vector<T> tail(const std::vector<T>& all) {
  return {all.begin() + 1, all.end()};
}

// Calls `one` for each branch, as a branch of a new case.
Arrays for_each_branch(const Array& index, std::size_t count,
                       const std::function<Arrays(std::size_t)>& one) {
  std::vector<std::function<Arrays()>> branches;
  for (std::size_t i = 0; i < count; i++) branches.push_back([&one, i] { return one(i); });
  return make_case(index, branches);
}

Arrays Case::jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const {
  Arrays values = tail(x), tangents = tail(dx);
  auto forward = [&](std::size_t i) {
    return push_forward(branches[i].outputs, branches[i].leaves(), values, tangents).tangents;
  };
  // A result moves if it does in any branch.
  Mask moves(y.size());
  for (std::size_t i = 0; i < branches.size(); i++) {
    Mask here = present(forward(i));
    for (std::size_t k = 0; k < moves.size(); k++) moves[k] = moves[k] || here[k];
  }
  if (!any(moves)) return Arrays(y.size());
  Arrays results = for_each_branch(x[0], branches.size(), [&](std::size_t i) {
    return chosen(or_zeros(forward(i), types_of(y)), moves);
  });
  return scattered(results, moves);
}

Arrays Case::transpose(const Arrays& ct, const Arrays& x, const Mask& linear) const {
  Mask wanted = tail(linear);
  Arrays results = for_each_branch(x[0], branches.size(), [&](std::size_t i) {
    Arrays leaves = branches[i].leaves();
    Arrays roots = placeholders(types_of(chosen(leaves, wanted)), "grad");
    Arrays arguments = tail(x);
    std::size_t next = 0;
    for (std::size_t k = 0; k < arguments.size(); k++) {
      if (wanted[k]) arguments[k] = roots[next++];
    }
    Arrays outputs = branches[i](arguments);
    Arrays given, of;
    for (std::size_t k = 0; k < outputs.size(); k++) {
      if (ct[k].empty()) continue;
      given.push_back(ct[k]);
      of.push_back(outputs[k]);
    }
    return or_zeros(pull_back(of, given, roots), types_of(roots));
  });
  Arrays result = scattered(results, wanted);
  result.insert(result.begin(), Array());
  return result;
}

Arrays Case::batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
  Arrays arguments = tail(x);
  Mask mask = tail(mapped);
  auto all_of = [&](std::size_t i) {
    Mask out;
    Arrays results = spread_call(branches[i], arguments, mask, n, out);
    return all_mapped(results, out, Mask(results.size(), true), n);
  };
  if (!mapped[0]) return for_each_branch(x[0], branches.size(), all_of);
  // Problems that take different branches: all are computed, and each problem picks its own.
  Arrays results = all_of(branches.size() - 1);
  for (std::size_t i = branches.size() - 1; i-- > 0;) {
    Arrays here = all_of(i);
    Array below = x[0] <= static_cast<int>(i);
    for (std::size_t k = 0; k < results.size(); k++) {
      Array pick = broadcast(below, here[k].shape(), {0});
      results[k] = select(pick, here[k], results[k]);
    }
  }
  return results;
}

std::vector<Series> Case::jet(const std::vector<Series>& x) const {
  std::size_t order = x[0].size() - 1;
  auto series = [&](std::size_t i) {
    return push_series(branches[i].outputs, branches[i].leaves(), tail(x), order);
  };
  Mask moves(branches[0].outputs.size());
  for (std::size_t i = 0; i < branches.size(); i++) {
    Mask here = moving(series(i));
    for (std::size_t k = 0; k < moves.size(); k++) moves[k] = moves[k] || here[k];
  }
  Arrays results = for_each_branch(x[0][0], branches.size(),
                                   [&](std::size_t i) { return packed(series(i), moves); });
  return unpacked(results, moves, order);
}

void Case::replay(const Arrays& x, const RunGraph& run) const {
  std::int64_t last = static_cast<std::int64_t>(branches.size()) - 1;
  std::int64_t index = x[0].item<std::int32_t>();
  if (index < 0 || index > last) index = last;
  const Body& taken = branches[static_cast<std::size_t>(index)];
  run(taken.outputs, taken.leaves(), tail(x), "branch " + std::to_string(index));
}

void Case::lower(Emitter& emitter, const Node& node) const {
  std::string regions;
  for (const Body& branch : branches) {
    regions += (regions.empty() ? "" : ", ") + emitter.open_region(branch(tail(node.inputs)));
  }
  emitter.line(node, "case", {emitter.name_of(node.inputs[0])}, {node.inputs[0].type()}, regions,
               "");
}

}  // namespace

Arrays make_case(const Array& index, const std::vector<std::function<Arrays()>>& branches) {
  std::vector<Closed> closed;
  for (const auto& branch : branches) {
    std::uint64_t since = next_node_id();
    closed.push_back(close_since(branch(), since));
  }
  // Every branch takes what any of them captures.
  Arrays captured;
  Image position;
  for (const Closed& one : closed) {
    for (const Array& value : one.captured) {
      if (position.has(value)) continue;
      position.set(value, value);
      captured.push_back(value);
    }
  }
  Case op;
  for (const Closed& one : closed) {
    Body body;
    body.parameters = types_of(captured);
    Arrays leaves = body.leaves();
    Image leaf;
    for (std::size_t i = 0; i < captured.size(); i++) leaf.set(captured[i], leaves[i]);
    body.outputs = one.body(leaf(one.captured));
    op.branches.push_back(std::move(body));
  }
  Arrays inputs = {index};
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  return make_all(std::move(op), inputs);
}

Arrays branch(std::string_view function, const Operand& choice,
              const std::vector<std::function<Arrays()>>& branches,
              const std::function<std::vector<std::string>()>& paths) {
  Array index = to_array(choice);
  if (index.rank() != 0 || !(is_integer(index.dtype()) || index.dtype() == DType::boolean)) {
    Blame blame(choice.where);
    throw ShapeError(message(function,
                             "the choice is " + index.type().str() + ", but must be " +
                                 (function == "cond" ? "bool[]" : "an integer scalar"),
                             "Reduce it, or use where to choose element by element"));
  }
  if (branches.empty()) {
    Blame blame(choice.where);
    throw Error(message(function, "there are no branches", "Give at least one"));
  }
  Arrays results;
  {
    Trace trace;
    if (is_integer(index.dtype())) {
      index = clamp(0, Operand(index, choice.where), static_cast<int>(branches.size()) - 1);
    }
    index = convert(Operand(index, choice.where), DType::i32);
    std::optional<ArrayTypes> first;
    std::vector<std::function<Arrays()>> checked;
    for (const auto& one : branches) {
      checked.push_back([&, one] {
        Arrays outputs = one();
        ArrayTypes types = types_of(outputs);
        if (!first) first = types;
        for (std::size_t i = 0; i < types.size(); i++) {
          if (types[i] == (*first)[i]) continue;
          Blame blame(choice.where);
          std::string path = paths()[i].empty() ? "" : " " + paths()[i];
          throw ShapeError(message(function,
                                   "result" + path + " of one branch is " + (*first)[i].str() +
                                       ", of another " + types[i].str(),
                                   "Make all branches return the same types"));
        }
        return outputs;
      });
    }
    results = make_case(index, checked);
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
