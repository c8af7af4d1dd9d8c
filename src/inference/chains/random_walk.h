// The random-walk Metropolis method.
#pragma once

#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/ops/random.h>

#include <utility>

namespace sturnus {

/// Proposes x + L z with z standard normal, and takes it with probability min(1, p(x') / p(x)).
/// For one chain; vmap makes it many.
struct RandomWalk {
  struct State {
    Array position, value;
  };
  struct Info {
    Array accept;    // the probability with which the proposal was taken
    Array accepted;  // whether it was
  };

  State init(const LogDensity& log_density, const Array& position) const;
  /// `proposal` is the factor L of the proposal's covariance L L^T.
  std::pair<State, Info> step(const Key& key, const LogDensity& log_density, const State& state,
                              const Metric& proposal) const;
};

}  // namespace sturnus
