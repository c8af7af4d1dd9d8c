// Hamiltonian Monte Carlo with trajectories of a fixed number of steps.
#pragma once

#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <utility>

namespace sturnus {

/// The method of S. Duane et al. (Phys. Lett. B 195, 1987). For one chain; vmap makes it many.
struct Hmc {
  using State = DensityPoint;
  struct Info {
    Array accept;     // the probability with which the end was taken
    Array accepted;   // whether it was
    Array divergent;  // whether the energy rose by more than `divergence`
    Array energy;     // at the start of the trajectory
  };

  std::int64_t leapfrogs = 16;
  double divergence = 1000;

  State init(const LogDensity& log_density, const Array& position) const;
  std::pair<State, Info> step(const Key& key, const LogDensity& log_density, const State& state,
                              const Array& step_size, const Metric& metric) const;
};

}  // namespace sturnus
