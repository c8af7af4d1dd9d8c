#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/differential_evolution.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/take.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <limits>
#include <string>

namespace sturnus {
namespace {

using State = DifferentialEvolution::State;

Array values_at(const LogDensity& log_density, const Array& positions) {
  return vmap([&](const Array& x) { return log_density(x); })(positions);
}

/// `moving` after one step along differences of `others`, and the probabilities of acceptance.
std::pair<State, Array> moved(const DifferentialEvolution& kernel, const Key& key,
                              const LogDensity& log_density, const State& moving,
                              const Array& others) {
  auto [for_first, for_second, for_length, for_jump, for_choice] = split<5>(key);
  std::int64_t count = moving.positions.shape()[0], size = moving.positions.shape()[1];
  std::int64_t available = others.shape()[0];
  DType dtype = moving.positions.dtype();
  Array first = randint(for_first, {count}, 0, available);
  Array second = (first + randint(for_second, {count}, 1, available)) % available;
  double usual = kernel.scale * 2.38 / std::sqrt(2.0 * static_cast<double>(size));
  Array length = usual * uniform(for_length, {count}, 0.5, 1.5, dtype);
  Array jump = uniform(for_jump, {count}, 0.0, 1.0, dtype) < kernel.jumps;
  length = expand_dims(where(jump, ones({count}, dtype), length), 1);

  Array positions = moving.positions + length * (take(others, first) - take(others, second));
  Array values = values_at(log_density, positions);
  // Where the density is not a number, it counts as 0.
  Array accept = nan_to(minimum(exp(values - moving.values), 1.0), 0.0);
  Array accepted = uniform(for_choice, {count}, 0.0, 1.0, dtype) < accept;
  State next = {where(expand_dims(accepted, 1), positions, moving.positions),
                where(accepted, values, moving.values)};
  return {next, accept};
}

}  // namespace

State DifferentialEvolution::init(const LogDensity& log_density, const Array& positions) const {
  // As where it proposes: a walker at no number would take no step away from there.
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  return {positions, nan_to(values_at(log_density, positions), nothing)};
}

std::pair<State, DifferentialEvolution::Info> DifferentialEvolution::step(
    const Key& key, const LogDensity& log_density, const State& state) const {
  auto [for_front, for_back] = split(key);
  std::vector<std::int64_t> middle = {state.values.shape()[0] / 2};
  Arrays positions = split(state.positions, middle), values = split(state.values, middle);
  auto [front, front_accept] =
      moved(*this, for_front, log_density, {positions[0], values[0]}, positions[1]);
  auto [back, back_accept] =
      moved(*this, for_back, log_density, {positions[1], values[1]}, front.positions);
  State next = {concatenate({front.positions, back.positions}),
                concatenate({front.values, back.values})};
  return {next, {mean(concatenate({front_accept, back_accept}))}};
}

WalkResult walk_ensemble(const Target& target, const Array& start, const WalkOptions& options) {
  if (start.rank() != 2 || start.shape()[1] != target.size) {
    throw ShapeError("walk_ensemble: the start is " + start.type().str() + ", but the model has " +
                     std::to_string(target.size) + " free numbers. Give [walkers, " +
                     std::to_string(target.size) + "]");
  }
  std::int64_t walkers = start.shape()[0], least = least_walkers(target.size);
  if (walkers < least || options.draws < 1 || options.steps < 1) {
    throw Error("walk_ensemble: " + std::to_string(walkers) + " walkers, " +
                std::to_string(options.draws) + " draws of each and " +
                std::to_string(options.steps) + " steps between them. Give at least " +
                std::to_string(least) + " walkers for " + std::to_string(target.size) +
                " free numbers, and 1 of the others");
  }
  auto whole_walk = [&](const Key& key, const Array& positions) {
    auto go_on = [&](const State& state, const Array& draw) {
      auto one_step = [&](const Array& i, const std::pair<State, Array>& so_far) {
        auto [next, info] =
            options.kernel.step(fold_in(fold_in(key, draw), i), target.log_density, so_far.first);
        return std::pair(next, so_far.second + info.accept);
      };
      auto [next, accept] =
          fori_loop(0, options.steps, one_step, std::pair(state, Array(0.0, DType::f64)));
      Array rate = accept / static_cast<double>(options.steps);
      return std::pair(next,
                       std::tuple(vmap(target.parameters)(next.positions), next.values, rate));
    };
    State begin = options.kernel.init(target.log_density, positions);
    auto drawn = scan(go_on, begin, arange(options.draws)).second;
    return std::pair(begin.values, drawn);
  };
  auto [first_values, drawn] = jit(whole_walk)(key(options.seed), convert(start, DType::f64));
  if (!any(is_finite(first_values)).item<bool>()) {
    throw Error("walk_ensemble: the log density is finite at none of the " +
                std::to_string(walkers) + " starts. Give starts where it is, as smc draws them");
  }
  auto& [values, log_density, accept] = drawn;
  return {moveaxis(values, 0, 1), transpose(log_density), accept};
}

}  // namespace sturnus
