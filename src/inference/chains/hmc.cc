#include <sturnus/functional/control_flow.h>
#include <sturnus/inference/chains/hmc.h>
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
  PhasePoint start = {state, normal(for_momentum, state.position.shape(), state.position.dtype())};
  auto body = [&](const Array&, const PhasePoint& p) {
    return leapfrog(log_density, metric, p, step_size);
  };
  PhasePoint end = fori_loop(Array(0), Array(leapfrogs), body, start);
  MetropolisChoice choice = metropolis(for_choice, start, end);
  return {choice.chosen,
          {choice.accept, choice.accepted, !(choice.rise <= divergence), energy(start)}};
}

}  // namespace sturnus
