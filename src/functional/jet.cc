// Taylor mode: the image of a value is its series along a curve.
//
// An op without a rule of its own follows from its jvp: y(t) = f(x(t)) has
//   y'(t) = jvp(x(t), y(t), x'(t)),
// so coefficient k of y is coefficient k - 1 of that graph divided by k, and needs only lower
// coefficients of y. What these graphs share (the cosine in a sine's derivative, the sine in the
// cosine's) is one node, so order k costs k^2.
#include <sturnus/functional/transform.h>
#include <sturnus/ops/arithmetic.h>

#include <algorithm>
#include <unordered_map>

#include "src/functional/lists.h"
#include "src/functional/recharge.h"

namespace sturnus::internal {
namespace {

class Taylor {
 public:
  Taylor(const Arrays& roots, const std::vector<Series>& series) {
    for (std::size_t i = 0; i < roots.size(); i++) {
      const Node& node = *roots[i].node();
      oldest_root_ = std::min(oldest_root_, node.id);
      progress_[&node] = {true, true, true, {series[i]}, moving({series[i]}), {}, {}};
    }
  }

  /// Coefficient k of a value's series.
  Array coefficient(const Array& value, std::size_t k) {
    if (bases_.has(value)) {
      Array above = coefficient(bases_(value), k + 1);
      return above.empty() ? above : above * static_cast<double>(k + 1);
    }
    if (!depends(value)) return k == 0 ? value : Array();
    Progress& progress = progress_.at(value.node().get());
    Series& known = progress.y[static_cast<std::size_t>(value.output())];
    if (progress.given) return k < known.size() ? known[k] : Array();
    for (std::size_t next = known.size(); next <= k; next++) {
      Arrays coefficients = advance(*value.node(), progress, next);
      for (std::size_t i = 0; i < coefficients.size(); i++) {
        progress.y[i].push_back(coefficients[i]);
      }
    }
    return known[k];
  }

 private:
  struct Progress {
    bool depends = false;     // on a root
    bool given = false;       // is a root
    bool classified = false;  // whether the following is known
    std::vector<Series> y = {};
    Mask moves = {};
    Arrays rates = {};  // y'(t), as graphs of x, y and the derivatives of x
    Mask linear = {};   // marks rates that depend on nothing that moves but the derivatives of x
  };

  Series series(const Array& value, std::size_t k) {
    Series result;
    for (std::size_t i = 0; i <= k; i++) result.push_back(coefficient(value, i));
    return result;
  }
  // A value that stands for the derivative of `value` along the curve.
  Array derivative(const Array& value) {
    if (!derivatives_.has(value)) {
      Array made = placeholder(value.type(), "jet");
      derivatives_.set(value, made);
      bases_.set(made, value);
    }
    return derivatives_(value);
  }
  bool depends(const Array& value);
  bool moves(const Array& value);
  void classify(const Node& node, Progress& progress);
  bool reaches_moving(const Array& rate, const Node& node);
  Arrays advance(const Node& node, Progress& progress, std::size_t k);

  std::unordered_map<const Node*, Progress> progress_;
  std::uint64_t oldest_root_ = UINT64_MAX;
  Image derivatives_, bases_;
};

bool Taylor::depends(const Array& value) {
  if (bases_.has(value)) return true;
  const Node& node = *value.node();
  if (auto found = progress_.find(&node); found != progress_.end()) return found->second.depends;
  bool result = false;
  if (node.id > oldest_root_) {
    for (const Array& input : node.inputs) result = depends(input) || result;
  }
  Progress& progress = progress_[&node];
  progress.depends = result;
  progress.y.resize(node.types.size());
  return result;
}

bool Taylor::moves(const Array& value) {
  if (bases_.has(value)) return true;
  if (!depends(value)) return false;
  Progress& progress = progress_.at(value.node().get());
  classify(*value.node(), progress);
  return progress.moves[static_cast<std::size_t>(value.output())];
}

// Whether the rate of `node` depends on a moving argument or result itself, not on derivatives
// only.
bool Taylor::reaches_moving(const Array& rate, const Node& node) {
  Arrays waiting = {rate};
  Image seen;
  while (!waiting.empty()) {
    Array value = waiting.back();
    waiting.pop_back();
    if (bases_.has(value) || seen.has(value) || !depends(value)) continue;
    seen.set(value, value);
    if (value.node().get() == &node || progress_.at(value.node().get()).given) return true;
    auto same = [&](const Array& x) { return x.same(value); };
    if (std::any_of(node.inputs.begin(), node.inputs.end(), same)) {
      if (moves(value)) return true;
    } else {
      const Arrays& inputs = value.node()->inputs;
      waiting.insert(waiting.end(), inputs.begin(), inputs.end());
    }
  }
  return false;
}

void Taylor::classify(const Node& node, Progress& progress) {
  if (progress.classified) return;
  progress.classified = true;
  Arrays dx, y;
  for (const Array& input : node.inputs) dx.push_back(moves(input) ? derivative(input) : Array());
  for (std::size_t i = 0; i < node.types.size(); i++) {
    y.push_back({node.shared_from_this(), static_cast<int>(i)});
  }
  bool driven = any(present(dx));
  progress.moves.assign(y.size(), driven);
  if (!driven || node.op->has_jet()) return;
  progress.rates = node.op->jvp(node.inputs, y, dx);
  progress.rates.resize(y.size());
  progress.moves = present(progress.rates);
  for (const Array& rate : progress.rates) {
    progress.linear.push_back(!rate.empty() && !reaches_moving(rate, node));
  }
}

Arrays Taylor::advance(const Node& node, Progress& progress, std::size_t k) {
  Recharge recharge(node.where);
  Arrays x, dx, y;
  for (const Array& input : node.inputs) x.push_back(coefficient(input, 0));
  if (k == 0) return node.op->apply(x);
  classify(node, progress);
  Arrays result(progress.y.size());
  if (!any(progress.moves)) return result;
  if (node.op->has_jet()) {
    std::vector<Series> arguments;
    for (const Array& input : node.inputs) arguments.push_back(series(input, k));
    return node.op->jet(arguments, progress.y, k);
  }
  for (const Array& input : node.inputs) {
    dx.push_back(moves(input) ? coefficient(input, k) : Array());
  }
  for (const Series& known : progress.y) y.push_back(known[0]);
  Arrays linear;
  if (any(progress.linear) && any(present(dx))) linear = node.op->jvp(x, y, dx);
  linear.resize(y.size());
  for (std::size_t i = 0; i < y.size(); i++) {
    if (progress.linear[i]) {
      result[i] = linear[i];
    } else if (!progress.rates[i].empty()) {
      Array rate = coefficient(progress.rates[i], k - 1);
      if (!rate.empty()) result[i] = rate * (1.0 / static_cast<double>(k));
    }
  }
  return result;
}

}  // namespace

std::vector<Series> push_series(const Arrays& outputs, const Arrays& roots,
                                const std::vector<Series>& series, std::size_t order) {
  Taylor taylor(roots, series);
  auto all = [&](const Array& value) {
    Series result;
    for (std::size_t k = 0; k <= order; k++) result.push_back(taylor.coefficient(value, k));
    return result;
  };
  // Inputs before users, so that the recursion in `coefficient` stays shallow.
  for (const Node* node : dependents(outputs, roots)) {
    for (std::size_t i = 0; i < node->types.size(); i++) {
      all({node->shared_from_this(), static_cast<int>(i)});
    }
  }
  std::vector<Series> result;
  for (const Array& output : outputs) result.push_back(all(output));
  return result;
}

Arrays jet(const FlatFunction& f, const Arrays& x, const std::vector<Arrays>& derivatives,
           std::vector<Arrays>& result_derivatives, Arrays& aux, const Caller& caller) {
  check_some_differentiable(x, caller);
  std::size_t order = derivatives.size();
  for (std::size_t k = 0; k < order; k++) {
    for (std::size_t i = 0; i < x.size(); i++) {
      if (derivatives[k][i].empty() || derivatives[k][i].type() == x[i].type()) continue;
      Blame blame(caller.where);
      throw ShapeError(message(caller.name,
                               caller.leaf_name(i) + " is " + x[i].type().str() +
                                   ", its derivative of order " + std::to_string(k + 1) + " is " +
                                   derivatives[k][i].type().str(),
                               "Give derivatives of the arguments' types"));
    }
  }
  Arrays all;
  std::size_t results = 0;
  {
    Trace trace;
    Arrays roots = placeholders(types_of(x), "jet", caller.where);
    std::vector<Series> series;
    for (std::size_t i = 0; i < x.size(); i++) {
      Series c = {x[i]};
      double factorial = 1;
      for (std::size_t k = 1; k <= order; k++) {
        factorial *= static_cast<double>(k);
        const Array& derivative = derivatives[k - 1][i];
        bool real = is_floating(x[i].dtype()) || is_complex(x[i].dtype());
        bool zero = !real || derivative.empty() || splat(derivative) == 0.0;
        c.push_back(zero ? Array() : derivative * (1 / factorial));
      }
      series.push_back(std::move(c));
    }
    std::vector<Series> outputs = push_series(f(roots), roots, series, order);
    results = outputs.size();
    double factorial = 1;
    for (std::size_t k = 0; k <= order; k++) {
      if (k > 0) factorial *= static_cast<double>(k);
      for (const Series& c : outputs) {
        all.push_back(c[k].empty() ? full(0, c[0].type()) : c[k] * factorial);
      }
    }
    aux = substitute(aux, roots, x);
  }
  std::size_t count = all.size();
  all = settle(joined(std::move(all), aux));
  aux = part(all, count, aux.size());
  for (std::size_t k = 1; k <= order; k++) {
    result_derivatives.push_back(part(all, k * results, results));
  }
  return part(all, 0, results);
}

Arrays straight_line(const Array& x, int order, Where where) {
  Blame blame(where);
  if (x.rank() != 0 || !is_floating(x.dtype())) {
    bool whole = x.rank() == 0 && !is_complex(x.dtype());
    throw ShapeError(message("derivatives",
                             "the argument is " + x.type().str() + ", but must be a real scalar",
                             whole ? "Write 3.0 rather than 3, or convert it to f32"
                                   : "Use jet for curves in other spaces"));
  }
  if (order < 0) {
    throw Error(message("derivatives", "the order is " + std::to_string(order),
                        "Give the highest order wanted, 0 or more"));
  }
  Arrays line(static_cast<std::size_t>(order), full(0, x.type()));
  if (!line.empty()) line[0] = full(1, x.type());
  return line;
}

}  // namespace sturnus::internal
