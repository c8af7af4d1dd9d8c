// Forward mode, reverse mode, and their combination.
#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/transform.h>
#include <sturnus/functional/tree_def.h>

#include <unordered_set>

#include "src/functional/lists.h"
#include "src/functional/recharge.h"
#include "src/functional/reverse_only.h"
#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus::internal {

Arrays settle(Arrays results) {
  if (Trace::open()) return results;
  Arrays open;
  for (const Array& result : results) {
    if (!result.concrete()) open.push_back(result);
  }
  if (open.empty()) return results;
  Arrays values = evaluate(open);
  std::size_t next = 0;
  for (Array& result : results) {
    if (!result.concrete()) result = values[next++];
  }
  return results;
}

namespace {

// Those of `nodes` whose tangents reach an output: what only a comparison or a stop_gradient sees
// needs none, and no rule for one.
std::unordered_set<const Node*> with_tangents(const std::vector<const Node*>& nodes,
                                              const Arrays& outputs) {
  std::unordered_set<const Node*> needed;
  for (const Array& output : outputs) needed.insert(output.node().get());
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    if (needed.count(*it) == 0 || (*it)->op->is_stepwise()) continue;
    for (const Array& input : (*it)->inputs) needed.insert(input.node().get());
  }
  return needed;
}

}  // namespace

Duals push_forward(const Arrays& outputs, const Arrays& roots, const Arrays& values,
                   const Arrays& tangents) {
  Image value, tangent;
  for (std::size_t i = 0; i < roots.size(); i++) {
    value.set(roots[i], values[i]);
    tangent.set(roots[i], tangents[i]);
  }
  auto tangent_of = [&tangent](const Array& x) { return tangent.has(x) ? tangent(x) : Array(); };
  std::vector<const Node*> nodes = dependents(outputs, roots);
  std::unordered_set<const Node*> needed = with_tangents(nodes, outputs);
  for (const Node* node : nodes) {
    Recharge recharge(node->where);
    Arrays x = value(node->inputs);
    Arrays y = node->op->apply(x);
    value.set(*node, y);
    if (needed.count(node) == 0) continue;
    Arrays dx;
    bool moves = false;
    for (const Array& input : node->inputs) {
      dx.push_back(tangent_of(input));
      moves = moves || !dx.back().empty();
    }
    if (moves) {
      Arrays dy = node->op->jvp(x, y, dx);
      dy.resize(y.size());
      tangent.set(*node, dy);
    }
  }
  Duals result;
  for (const Array& output : outputs) {
    result.values.push_back(value(output));
    result.tangents.push_back(tangent_of(output));
  }
  return result;
}

namespace {

// Cotangents depend on tangents only where a rule that a user wrote is not linear in these.
void check_linear(const Arrays& cotangents, const Arrays& roots) {
  Arrays given = chosen(cotangents, present(cotangents));
  std::vector<const Node*> nodes = dependents(given, roots);
  if (nodes.empty()) return;
  Blame blame(nodes[0]->where);
  throw Error(message(
      "custom_jvp", "the rule is not linear in the tangents, so reverse mode has no meaning for it",
      "Make it so, or use forward mode (jvp, jacfwd)"));
}

}  // namespace

Arrays pull_back(const Arrays& outputs, const Arrays& cotangents, const Arrays& roots) {
  std::vector<const Node*> nodes;
  Arrays linear_outputs;
  for (const Array& output : outputs) {
    if (!output.empty()) linear_outputs.push_back(output);
  }
  nodes = dependents(linear_outputs, roots);
  std::unordered_set<const Node*> linear(nodes.begin(), nodes.end());
  for (const Array& root : roots) linear.insert(root.node().get());

  Image cotangent;
  auto cotangent_of = [&](const Array& x) { return cotangent.has(x) ? cotangent(x) : Array(); };
  auto accumulate = [&](const Array& x, const Array& ct) {
    if (!ct.empty()) cotangent.set(x, add_tangents(cotangent_of(x), ct));
  };
  for (std::size_t i = 0; i < outputs.size(); i++) {
    if (!outputs[i].empty() && linear.count(outputs[i].node().get()) > 0) {
      accumulate(outputs[i], cotangents[i]);
    }
  }
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = **it;
    Arrays ct;
    bool reached = false;
    for (std::size_t i = 0; i < node.types.size(); i++) {
      ct.push_back(cotangent_of(Array(node.shared_from_this(), static_cast<int>(i))));
      reached = reached || !ct.back().empty();
    }
    if (!reached) continue;
    Mask mask;
    for (const Array& input : node.inputs) mask.push_back(linear.count(input.node().get()) > 0);
    Recharge recharge(node.where);
    Arrays back = node.op->transpose(ct, node.inputs, mask);
    for (std::size_t i = 0; i < back.size(); i++) {
      if (mask[i]) accumulate(node.inputs[i], back[i]);
    }
  }
  Arrays result;
  for (const Array& root : roots) result.push_back(cotangent_of(root));
  check_linear(result, roots);
  return result;
}

std::string Caller::leaf_name(std::size_t i) const {
  for (const auto& [number, tree] : arguments) {
    if (i >= tree.leaf_count()) {
      i -= tree.leaf_count();
      continue;
    }
    std::string path = tree.leaf_paths()[i];
    return "argument " + std::to_string(number) + (path.empty() ? "" : " " + path);
  }
  return "an argument";
}

namespace {

bool is_differentiable(const Array& x) { return is_floating(x.dtype()) || is_complex(x.dtype()); }

}  // namespace

Duals jvp(const FlatFunction& f, const Arrays& x, const Arrays& tangents, Arrays& aux,
          const Caller& caller) {
  check_some_differentiable(x, caller);
  for (std::size_t i = 0; i < x.size(); i++) {
    if (x[i].type() == tangents[i].type()) continue;
    Blame blame(caller.where);
    throw ShapeError(message(caller.name,
                             caller.leaf_name(i) + " is " + x[i].type().str() +
                                 ", its tangent is " + tangents[i].type().str(),
                             "Give tangents of the arguments' types"));
  }
  Duals duals;
  {
    Trace trace;
    Arrays roots = placeholders(types_of(x), caller.name, caller.where);
    Arrays directions = tangents;
    for (std::size_t i = 0; i < x.size(); i++) {
      if (!is_differentiable(x[i])) directions[i] = Array();
    }
    duals = push_forward(f(roots), roots, x, directions);
    aux = substitute(aux, roots, x);
    for (std::size_t i = 0; i < duals.tangents.size(); i++) {
      if (duals.tangents[i].empty()) duals.tangents[i] = zeros_of(duals.values[i].type());
    }
  }
  std::size_t count = duals.values.size();
  Arrays all = settle(joined(joined(duals.values, duals.tangents), aux));
  aux = part(all, 2 * count, aux.size());
  return {part(all, 0, count), part(all, count, count)};
}

namespace {

[[noreturn]] void throw_no_derivative(const Arrays& x, std::size_t i, const Caller& caller) {
  Blame blame(caller.where);
  throw DtypeError(message(
      caller.name, caller.leaf_name(i) + " is " + x[i].type().str() + ", which has no derivative",
      "Convert it to f32, or leave it out of the arguments to differentiate by"));
}

}  // namespace

void check_differentiable(const Arrays& x, const Caller& caller) {
  for (std::size_t i = 0; i < x.size(); i++) {
    if (!is_differentiable(x[i])) throw_no_derivative(x, i, caller);
  }
}

void check_some_differentiable(const Arrays& x, const Caller& caller) {
  std::size_t first = 0;
  for (const auto& [number, tree] : caller.arguments) {
    auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
    auto end = begin + static_cast<std::ptrdiff_t>(tree.leaf_count());
    if (begin != end && std::none_of(begin, end, is_differentiable)) {
      throw_no_derivative(x, first, caller);
    }
    first += tree.leaf_count();
  }
}

namespace {

void check_scalar(const Array& y, const Caller& caller) {
  if (y.rank() == 0 && is_floating(y.dtype())) return;
  Blame blame(caller.where);
  std::string line = y.node()->where.str();
  std::string what = "the function returns " + y.type().str() +
                     (line.empty() ? line : ", made at " + line) +
                     ", but a gradient is of one real number, such as f32[]";
  if (y.rank() > 0) {
    throw ShapeError(message(caller.name, what, "Reduce it, for instance with sum, or use jacrev"));
  }
  throw DtypeError(message(caller.name, what,
                           is_complex(y.dtype()) ? "Take a real number of it, such as abs or real"
                                                 : "Compute it in f32; whole numbers do not vary"));
}

}  // namespace

ValueAndGrad value_and_grad(const FlatFunction& f, const Arrays& x, const Caller& caller) {
  check_differentiable(x, caller);
  ValueAndGrad result;
  {
    Trace trace;
    Arrays roots = placeholders(types_of(x), caller.name, caller.where);
    std::uint64_t before = ReverseOnly::traced();
    Arrays outputs = f(roots);
    check_scalar(outputs[0], caller);
    // One number in, one number out: forward mode costs less, and nests without growing.
    bool one_number = x.size() == 1 && x[0].rank() == 0 && is_floating(x[0].dtype());
    bool forward = one_number && ReverseOnly::traced() == before;
    Arrays directions =
        forward ? Arrays{ones_of(x[0].type())} : placeholders(types_of(x), caller.name);
    Duals duals = push_forward({outputs[0]}, roots, x, directions);
    Arrays beside(outputs.begin() + 1, outputs.end());
    result.outputs = joined(duals.values, substitute(beside, roots, x));
    result.gradient = forward ? duals.tangents
                              : pull_back(duals.tangents, {ones_of(outputs[0].type())}, directions);
    for (std::size_t i = 0; i < x.size(); i++) {
      if (result.gradient[i].empty()) result.gradient[i] = zeros_of(x[i].type());
    }
  }
  std::size_t count = result.outputs.size();
  Arrays all = settle(joined(result.outputs, result.gradient));
  return {part(all, 0, count), part(all, count, all.size() - count)};
}

}  // namespace sturnus::internal
