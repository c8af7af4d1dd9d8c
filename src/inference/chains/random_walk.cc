#include <sturnus/inference/chains/random_walk.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/transcendental.h>

namespace sturnus {

RandomWalk::State RandomWalk::init(const LogDensity& log_density, const Array& position) const {
  return {position, log_density(position)};
}

std::pair<RandomWalk::State, RandomWalk::Info> RandomWalk::step(const Key& key,
                                                                const LogDensity& log_density,
                                                                const State& state,
                                                                const Metric& proposal) const {
  auto [for_step, for_choice] = split(key);
  DType dtype = state.position.dtype();
  Array move = proposal.times(normal(for_step, state.position.shape(), dtype));
  Array position = state.position + move;
  Array value = log_density(position);
  // Where the density is not a number, it counts as 0.
  Array accept = nan_to(minimum(exp(value - state.value), 1.0), 0.0);
  Array accepted = uniform(for_choice, {}, 0.0, 1.0, dtype) < accept;
  State next = {where(accepted, position, state.position), where(accepted, value, state.value)};
  return {next, {accept, accepted}};
}

}  // namespace sturnus
