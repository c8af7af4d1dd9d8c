#include <sturnus/inference/optimizers/optimizer.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/setting_error.h>

#include <cmath>
#include <string>

namespace sturnus {
namespace {

// All that a member has of x in one row.
Array rows(const Array& x) { return reshape(x, {x.shape()[0], -1}); }

// One factor per member, to be multiplied with x.
Array of_members(const Array& factor, const Array& x) {
  Shape shape(static_cast<std::size_t>(x.rank()), 1);
  shape[0] = x.shape()[0];
  return reshape(factor, shape);
}

Arrays clipped(const Arrays& gradients, double longest) {
  Arrays parts;
  for (const Array& g : gradients) parts.push_back(rows(g));
  Array all = concatenate(parts, 1);
  // In units of the largest element, so that squares do not overflow.
  Array largest = maximum(max(abs(all), Over({1}, true)), 1e-30);
  Array length = squeeze(largest, {1}) * norm(all / largest, 1);
  Array factor = minimum(longest / maximum(length, 1e-30), 1.0);
  Arrays result;
  for (const Array& g : gradients) result.push_back(g * of_members(factor, g));
  return result;
}

// 1 - beta^t, of which 1 - pow would lose the digits that beta has in common with 1.
Array one_minus_power(double beta, const Array& t) { return -expm1(std::log(beta) * t); }

Arrays zeros_like_all(const Arrays& arrays) {
  Arrays result;
  for (const Array& a : arrays) result.push_back(zeros_like(a));
  return result;
}

void require(bool holds, const char* name, double value, const char* range) {
  if (!holds) {
    throw SettingError(name, std::string("Optimizer: ") + name + " is " + std::to_string(value) +
                                 ". It must be " + range);
  }
}

// A setting that a method does not know must be as it is by default.
void require_unused(double value, double by_default, const char* name, const char* method) {
  if (value == by_default) return;
  throw SettingError(name, std::string("Optimizer: ") + method + " has no " + name +
                               ". Leave it out, or take another method");
}

}  // namespace

void Optimizer::check() const {
  rate.check("Optimizer, rate");
  require(rate.value > 0, "rate", rate.value, "positive");
  require(rate.least() >= 0, "rate", rate.least(), "at least 0 everywhere");
  require(beta1 >= 0 && beta1 < 1, "beta1", beta1, "at least 0 and below 1");
  require(beta2 >= 0 && beta2 < 1, "beta2", beta2, "at least 0 and below 1");
  require(epsilon > 0, "epsilon", epsilon, "positive");
  require(momentum >= 0 && momentum < 1, "momentum", momentum, "at least 0 and below 1");
  require(weight_decay >= 0, "weight_decay", weight_decay, "at least 0");
  require(!clip_norm || *clip_norm > 0, "clip_norm", clip_norm.value_or(0), "positive");
  const Optimizer usual;
  if (method == Method::sgd) {
    require_unused(beta1, usual.beta1, "beta1", "sgd");
    require_unused(beta2, usual.beta2, "beta2", "sgd");
    require_unused(epsilon, usual.epsilon, "epsilon", "sgd");
  } else {
    require_unused(momentum, usual.momentum, "momentum", method == Method::adam ? "adam" : "adamw");
  }
}

OptimizerState Optimizer::init(const Arrays& parameters) const {
  OptimizerState state;
  if (method != Method::sgd || momentum > 0) state.mean = zeros_like_all(parameters);
  if (method != Method::sgd) state.square = zeros_like_all(parameters);
  state.steps = zeros({parameters.empty() ? 0 : parameters.front().shape()[0]}, DType::i32);
  return state;
}

Optimizer::Step Optimizer::step(const Arrays& parameters, const Arrays& gradients,
                                const OptimizerState& state, const Array& iteration) const {
  Arrays g = clip_norm ? clipped(gradients, *clip_norm) : gradients;
  DType dtype = parameters.empty() ? DType::f32 : parameters.front().dtype();
  Array r = rate.at(iteration, dtype);
  Step next;
  next.state.steps = state.steps + 1;
  Array t = convert(next.state.steps, dtype);
  // Both corrections in two numbers for each member: r m / c1 / (sqrt(v / c2) + eps) =
  // (r sqrt(c2) / c1) m / (sqrt(v) + eps sqrt(c2)).
  Array root = sqrt(one_minus_power(beta2, t));
  Array scale = r * root / one_minus_power(beta1, t), floor = epsilon * root;
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const Array& p = parameters[i];
    bool decay_in_gradient = weight_decay > 0 && method != Method::adamw;
    Array d = decay_in_gradient ? g[i] + weight_decay * p : g[i];
    Array moved;
    if (method == Method::sgd) {
      if (momentum > 0) next.state.mean.push_back(momentum * state.mean[i] + d);
      moved = p - r * (momentum > 0 ? next.state.mean[i] : d);
    } else {
      next.state.mean.push_back(beta1 * state.mean[i] + (1 - beta1) * d);
      next.state.square.push_back(beta2 * state.square[i] + (1 - beta2) * square(d));
      moved = p - of_members(scale, p) * next.state.mean[i] /
                      (sqrt(next.state.square[i]) + of_members(floor, p));
      if (weight_decay > 0 && method == Method::adamw) moved = moved - r * weight_decay * p;
    }
    next.parameters.push_back(moved);
  }
  return next;
}

}  // namespace sturnus
