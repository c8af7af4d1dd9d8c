// Stein variational gradient descent: particles that climb a log density and repel each other.
#pragma once

#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/inference/optimizers/optimizer.h>

#include <utility>

namespace sturnus {

/// The method of Q. Liu and D. Wang (2016). Particle i of n moves along
///   phi_i = 1/n sum_j k(x_i, x_j) slope(x_j) + 2 / h (x_i - x_j) k(x_i, x_j)
/// with k(x, y) = exp(-|x - y|^2 / h) and h = median |x_i - x_j|^2 / log(n + 1) over all pairs,
/// the lower of two in the middle. A single particle climbs to a mode.
struct Stein {
  struct State {
    Array particles;  // [particles, size]
    OptimizerState optimizer;
    Array iteration;  // i32
  };
  struct Info {
    Array bandwidth;  // h
    Array direction;  // root mean square of phi: 0 where the particles have come to rest
  };

  /// Takes phi as the way down: Method::sgd makes plain steps of rate phi.
  Optimizer optimizer = {.rate = 0.1};

  /// Throws ShapeError unless particles are [particles, size], at least 1 of them.
  State init(const Array& particles) const;
  /// A particle where the slope is not finite is only repelled.
  std::pair<State, Info> step(const LogDensity& log_density, const State& state) const;
};

}  // namespace sturnus
