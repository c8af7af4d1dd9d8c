#include <sturnus/functional/control_flow.h>
#include <sturnus/inference/hmc.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/transcendental.h>

namespace sturnus {

Hmc::State Hmc::init(const LogDensity& log_density, const Array& position) const {
  return evaluate(log_density, position);
}

std::pair<Hmc::State, Hmc::Info> Hmc::step(const Key& key, const LogDensity& log_density,
                                           const State& state, const Array& step_size,
                                           const Metric& metric) const {
  auto [for_momentum, for_choice] = split(key);
  DType dtype = state.position.dtype();
  PhasePoint start = {state, normal(for_momentum, state.position.shape(), dtype)};
  auto body = [&](const Array&, const PhasePoint& p) {
    return leapfrog(log_density, metric, p, step_size);
  };
  PhasePoint end = fori_loop(Array(0), Array(leapfrogs), body, start);
  Array before = energy(start), rise = energy(end) - before;
  Array accept = minimum(exp(-rise), 1.0);
  Array accepted = uniform(for_choice, {}, 0.0, 1.0, dtype) < accept;
  State next = tree_map([&](const Array& a, const Array& b) { return where(accepted, a, b); },
                        end.at, state);
  return {next, {accept, accepted, !(rise <= divergence), before}};
}

}  // namespace sturnus
