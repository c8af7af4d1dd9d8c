// The op `while`, whose parameters are graphs, and its rules, which transform these.
#include <sturnus/functional/loops.h>
#include <sturnus/functional/op.h>
#include <sturnus/functional/tree_def.h>
#include <sturnus/ops/reduce.h>

#include "src/functional/body.h"
#include "src/functional/lists.h"
#include "src/ops/elementwise.h"

namespace sturnus::internal {

void check_carry(std::string_view loop, const ArrayTypes& in, const ArrayTypes& out,
                 const std::vector<std::string>& paths) {
  if (in.size() != out.size()) {
    throw TreeError(message(loop,
                            "the carry has " + std::to_string(in.size()) + " arrays going in and " +
                                std::to_string(out.size()) + " coming out",
                            "Make both the same tree"));
  }
  for (std::size_t i = 0; i < in.size(); i++) {
    if (in[i] == out[i]) continue;
    std::string path = i < paths.size() && !paths[i].empty() ? " " + paths[i] : "";
    throw ShapeError(
        message(loop, "carry out" + path + " is " + out[i].str() + ", carry in is " + in[i].str(),
                "Make both the same type"));
  }
}

namespace {

// Inputs: carried values, then what the condition captures, then what the body captures.
struct While {
  static constexpr std::string_view name = "while";
  Body condition, body;
  std::int64_t carried;
  std::int64_t in_condition;  // how many values the condition captures
  std::string function;       // that messages speak of

  ArrayTypes infer(const Arrays& x) const { return types_of(carry(x)); }
  Arrays jvp(const Arrays& x, const Arrays& y, const Arrays& dx) const;
  Arrays transpose(const Arrays&, const Arrays&, const Mask&) const {
    throw Error(message(function, "reverse mode needs to know how many iterations there are",
                        "Use scan, or fori_loop with fixed bounds, or forward mode (jvp)"));
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
  std::vector<Series> jet(const std::vector<Series>& x) const;
  Arrays run_within(const Arrays& x, const While& other, const Arrays& other_x) const;
  void replay(const Arrays& x, const RunGraph& run) const;
  void lower(Emitter& emitter, const Node& node) const;

  Arrays carry(const Arrays& x) const { return part(x, 0, count()); }
  Arrays condition_captures(const Arrays& x) const {
    return part(x, count(), static_cast<std::size_t>(in_condition));
  }
  Arrays body_captures(const Arrays& x) const {
    std::size_t before = count() + static_cast<std::size_t>(in_condition);
    return part(x, before, x.size() - before);
  }
  std::size_t count() const { return static_cast<std::size_t>(carried); }
};

}  // namespace

Arrays make_while(const FlatFunction& condition, const FlatFunction& body, const Arrays& start,
                  std::string_view name, const std::vector<std::string>& paths, Where where) {
  Arrays roots = placeholders(types_of(start), name, where);
  Arrays go_on = condition(roots);
  Arrays next = body(roots);
  Blame blame(where);
  if (go_on[0].type() != ArrayType{DType::boolean, {}}) {
    throw ShapeError(
        message(name, "the condition gives " + go_on[0].type().str() + ", but must give bool[]",
                "Compare it, and reduce it with any or all"));
  }
  check_carry(name, types_of(start), types_of(next), paths);
  // What is always equal is carried once: derivatives of derivatives have many such values.
  Closed step = close(next, roots), stop = close(go_on, roots);
  auto at = [](const Closed& graph, const Arrays& values) {
    return graph.body(joined(values, graph.captured));
  };
  Distinct same = distinct_carry(start, [&](const Arrays& values) { return at(step, values); });
  Arrays own = same.once(roots), merged = same.alike(roots);
  Closed closed_condition = close(at(stop, merged), own);
  Closed closed_body = close(same.once(at(step, merged)), own);
  Arrays inputs = joined(joined(same.once(start), closed_condition.captured), closed_body.captured);
  return same.spread(make_all(
      While{closed_condition.body, closed_body.body, static_cast<std::int64_t>(own.size()),
            static_cast<std::int64_t>(closed_condition.captured.size()), std::string(name)},
      inputs));
}

namespace {

Arrays While::jvp(const Arrays& x, const Arrays&, const Arrays& dx) const {
  Arrays fixed = body_captures(x), fixed_tangents = body_captures(dx);
  auto tangents_after = [&](const Mask& moving) {
    Arrays roots = placeholders(types_of(carry(x)), "jvp");
    Arrays directions = placeholders(types_of(carry(x)), "jvp");
    Arrays tangents(count());
    for (std::size_t i = 0; i < count(); i++) {
      if (moving[i]) tangents[i] = directions[i];
    }
    return push_forward(body.outputs, body.leaves(), joined(roots, fixed),
                        joined(tangents, fixed_tangents))
        .tangents;
  };
  Mask moving = fixed_point(present(carry(dx)),
                            [&](const Mask& mask) { return present(tangents_after(mask)); });
  Arrays tangents = chosen(or_zeros(carry(dx), types_of(carry(x))), moving);
  Arrays results = make_while(
      [&](const Arrays& all) { return condition(joined(carry(all), condition_captures(x))); },
      [&](const Arrays& all) {
        Arrays directions = scattered(part(all, count(), tangents.size()), moving);
        Duals duals = push_forward(body.outputs, body.leaves(), joined(carry(all), fixed),
                                   joined(directions, fixed_tangents));
        return joined(duals.values,
                      chosen(or_zeros(duals.tangents, types_of(duals.values)), moving));
      },
      joined(carry(x), tangents), function);
  return scattered(part(results, count(), tangents.size()), moving);
}

Arrays While::batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
  Mask carry_mask(mapped.begin(), mapped.begin() + static_cast<std::ptrdiff_t>(carried));
  Mask condition_mask(mapped.begin() + static_cast<std::ptrdiff_t>(carried),
                      mapped.begin() + static_cast<std::ptrdiff_t>(carried + in_condition));
  Mask body_mask(mapped.begin() + static_cast<std::ptrdiff_t>(carried + in_condition),
                 mapped.end());
  ArrayTypes one(body.parameters.begin(),
                 body.parameters.begin() + static_cast<std::ptrdiff_t>(carried));
  bool mapped_condition = false;
  carry_mask = fixed_point(carry_mask, [&](const Mask& mask) {
    Arrays trial = placeholders(mapped_types(one, mask, n), "vmap");
    Mask after, go_on;
    spread_call(condition, joined(trial, condition_captures(x)), joined(mask, condition_mask), n,
                go_on);
    spread_call(body, joined(trial, body_captures(x)), joined(mask, body_mask), n, after);
    mapped_condition = go_on[0];
    // Problems that end at different times each keep their own values.
    return mapped_condition ? Mask(mask.size(), true) : after;
  });
  Arrays start = all_mapped(carry(x), mapped, carry_mask, n);
  auto go_on = [&](const Arrays& all, Mask& is_mapped) {
    return spread_call(condition, joined(all, condition_captures(x)),
                       joined(carry_mask, condition_mask), n, is_mapped);
  };
  return make_while(
      [&](const Arrays& all) {
        Mask is_mapped;
        Arrays result = go_on(all, is_mapped);
        if (is_mapped[0]) result[0] = sturnus::any(result[0]);  // while any of them goes on
        return result;
      },
      [&](const Arrays& all) {
        Mask after, is_mapped;
        Arrays next = spread_call(body, joined(all, body_captures(x)),
                                  joined(carry_mask, body_mask), n, after);
        next = all_mapped(next, after, carry_mask, n);
        if (!mapped_condition) return next;
        Array active = go_on(all, is_mapped)[0];
        for (std::size_t i = 0; i < next.size(); i++) {
          next[i] = select(broadcast(active, next[i].shape(), {0}), next[i], all[i]);
        }
        return next;
      },
      start, function);
}

std::vector<Series> While::jet(const std::vector<Series>& x) const {
  std::size_t order = x[0].size() - 1;
  auto own = [&](std::size_t begin, std::size_t count) {
    auto first = x.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::vector<Series>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  std::size_t before = count() + static_cast<std::size_t>(in_condition);
  std::vector<Series> start = own(0, count()), fixed = own(before, x.size() - before);
  Arrays fixed_in_condition;
  for (const Series& c : own(count(), before - count())) fixed_in_condition.push_back(c[0]);
  auto step = [&](const Arrays& flat, const Mask& moves) {
    std::vector<Series> series = unpacked(flat, moves, order);
    series.insert(series.end(), fixed.begin(), fixed.end());
    return push_series(body.outputs, body.leaves(), series, order);
  };
  Mask moves = fixed_point(moving(start), [&](const Mask& mask) {
    return moving(step(placeholders(types_of(packed(start, mask)), "jet"), mask));
  });
  Arrays end = make_while(
      [&](const Arrays& flat) {
        return condition(joined(part(flat, 0, count()), fixed_in_condition));
      },
      [&](const Arrays& flat) { return packed(step(flat, moves), moves); }, packed(start, moves),
      function);
  return unpacked(end, moves, order);
}

// `other` goes on as long as this one, and carries all that this one carries, from the same start
// by the same step.
Arrays While::run_within(const Arrays& x, const While& other, const Arrays& other_x) const {
  std::vector<std::size_t> place = places(carry(x), other.carry(other_x));
  if (place.empty()) return {};
  Arrays values = placeholders(types_of(other.carry(other_x)), "while_loop"), own_values;
  for (std::size_t i : place) own_values.push_back(values[i]);
  Array go_on = condition(joined(own_values, condition_captures(x)))[0];
  bool fits = go_on.same(other.condition(joined(values, other.condition_captures(other_x)))[0]);
  Arrays own = body(joined(own_values, body_captures(x)));
  Arrays next = other.body(joined(values, other.body_captures(other_x)));
  for (std::size_t i = 0; i < own.size(); i++) fits = fits && own[i].same(next[place[i]]);
  if (!fits) return {};
  Arrays all = make_all(other, other_x), result;
  for (std::size_t i : place) result.push_back(all[i]);
  return joined(result, all);
}

void While::replay(const Arrays& x, const RunGraph& run) const {
  Arrays values = carry(x);
  for (std::int64_t i = 0;; i++) {
    std::string place = "iteration " + std::to_string(i) + " of " + function;
    Arrays go_on =
        run(condition.outputs, condition.leaves(), joined(values, condition_captures(x)), place);
    if (!go_on[0].item<bool>()) return;
    values = run(body.outputs, body.leaves(), joined(values, body_captures(x)), place);
  }
}

void While::lower(Emitter& emitter, const Node& node) const {
  // The regions of StableHLO's while capture nothing: what is fixed is carried along.
  Arrays parameters = placeholders(types_of(node.inputs), "while_loop");
  Arrays go_on = condition(joined(carry(parameters), condition_captures(parameters)));
  Arrays next = body(joined(carry(parameters), body_captures(parameters)));
  next = joined(next, part(parameters, count(), parameters.size() - count()));
  emitter.loop(node, parameters, go_on[0], next);
}

}  // namespace

Arrays while_loop(std::string_view name, const FlatFunction& condition, const FlatFunction& body,
                  const Arrays& start, const std::vector<std::string>& paths, Where where) {
  Arrays results;
  {
    Trace trace;
    results = make_while(condition, body, start, name, paths, where);
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
