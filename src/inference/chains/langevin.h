// Langevin dynamics: one step along the slope of a log density, and noise.
#pragma once

#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/ops/random.h>

#include <utility>

namespace sturnus {

/// The unadjusted method: x + step^2 / 2 L L^T slope(x) + step L z with z standard normal, always
/// taken. Its draws have an error of the order of step^2. For one chain; vmap makes it many.
struct Langevin {
  using State = DensityPoint;
  struct Info {
    Array accept;  // the probability with which Mala would have taken the step
  };

  State init(const LogDensity& log_density, const Array& position) const;
  std::pair<State, Info> step(const Key& key, const LogDensity& log_density, const State& state,
                              const Array& step_size, const Metric& metric) const;
};

/// The Metropolis-adjusted method (G. Roberts, R. Tweedie, 1996): the same proposal, taken or not
/// so that draws have no error. Best near an acceptance of 0.57.
struct Mala {
  using State = DensityPoint;
  struct Info {
    Array accept;    // the probability with which the proposal was taken
    Array accepted;  // whether it was
  };

  State init(const LogDensity& log_density, const Array& position) const;
  std::pair<State, Info> step(const Key& key, const LogDensity& log_density, const State& state,
                              const Array& step_size, const Metric& metric) const;
};

}  // namespace sturnus
