// L-BFGS for many independent problems at once: one row each.
#pragma once

#include <sturnus/functional/array.h>

#include <cstdint>
#include <functional>

namespace sturnus {

/// The limited-memory BFGS method (J. Nocedal and S. Wright, Numerical Optimization, section 7.2)
/// with a bisecting line search for the weak Wolfe conditions (A. Lewis and M. Overton, 2013).
/// Values that are not finite count as too high, so that a step never leads there; a row that finds
/// no better point stays where it is and forgets what it knew. Best in f64.
struct Lbfgs {
  /// The value of each row of [rows, size]: [rows]. Rows do not depend on each other.
  using Objective = std::function<Array(const Array& x)>;

  struct State {
    Array x;         // [rows, size]
    Array value;     // [rows]
    Array gradient;  // [rows, size]
    /// The last steps and changes of the gradient, the newest last, and 1 / (step . change), which
    /// is 0 for those not there: [history, rows, size] and [history, rows].
    Array steps, changes, curvature;
  };

  std::int64_t history = 10;
  /// Points tried along a direction.
  std::int64_t trials = 25;
  double sufficient_decrease = 1e-4, sufficient_flattening = 0.9;

  /// Throws Error unless there is a history and a trial.
  void check() const;
  State init(const Objective& objective, const Array& x) const;
  State step(const Objective& objective, const State& state) const;
};

}  // namespace sturnus
