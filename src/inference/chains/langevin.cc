#include <sturnus/inference/chains/langevin.h>

namespace sturnus {
namespace {

/// The proposal of Langevin dynamics is one leapfrog step from a fresh momentum, and the ratio of
/// densities and proposals in Mala is that of the energies.
MetropolisChoice propose(const Key& key, const LogDensity& log_density, const DensityPoint& from,
                         const Array& step_size, const Metric& metric) {
  auto [for_momentum, for_choice] = split(key);
  PhasePoint start = {from, normal(for_momentum, from.position.shape(), from.position.dtype())};
  return metropolis(for_choice, start, leapfrog(log_density, metric, start, step_size));
}

}  // namespace

Langevin::State Langevin::init(const LogDensity& log_density, const Array& position) const {
  return evaluate(log_density, position);
}

std::pair<Langevin::State, Langevin::Info> Langevin::step(const Key& key,
                                                          const LogDensity& log_density,
                                                          const State& state,
                                                          const Array& step_size,
                                                          const Metric& metric) const {
  MetropolisChoice choice = propose(key, log_density, state, step_size, metric);
  return {choice.proposed, {choice.accept}};
}

Mala::State Mala::init(const LogDensity& log_density, const Array& position) const {
  return evaluate(log_density, position);
}

std::pair<Mala::State, Mala::Info> Mala::step(const Key& key, const LogDensity& log_density,
                                              const State& state, const Array& step_size,
                                              const Metric& metric) const {
  MetropolisChoice choice = propose(key, log_density, state, step_size, metric);
  return {choice.chosen, {choice.accept, choice.accepted}};
}

}  // namespace sturnus
