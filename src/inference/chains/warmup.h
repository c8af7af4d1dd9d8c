// What samplers learn before they count: a step size and a metric, by Stan's rules and constants.
#pragma once

#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace sturnus {

/// Transitions of the warm-up, numbered from 0, whose places are collected for the metric.
struct WarmupWindows {
  std::int64_t begin = 0, end = 0;
  /// The last transition of each window, after which the metric is made anew.
  std::vector<std::int64_t> last;
};

/// Stan's windows: the first 75 transitions and the last 50 are for the step size alone; between
/// them a window of 25, then each twice as long as the one before, the last stretched to the end.
/// A warm-up of less than 150 has one window, after 15 % and before 10 % of it; one of less than 20
/// has none.
WarmupWindows warmup_windows(std::int64_t warmup);

/// A step size whose acceptance tends to a target (M. Hoffman and A. Gelman, 2014, section 3.2).
/// With t updates done and m = log(10 first step):
///   error <- (1 - 1 / (t + 10)) error + (target - accept) / (t + 10)
///   log step = m - sqrt(t) / 0.05 error
///   log average <- t^-0.75 log step + (1 - t^-0.75) log average
struct DualAveraging {
  struct State {
    Array center, error, log_step, log_average, count;
  };

  double target = 0.8, shrinkage = 0.05, decay = 0.75, delay = 10;

  State init(const Array& step_size) const;
  State update(const State& state, const Array& accept) const;
};

/// The search for a first step size: doubled or halved until the acceptance of one leapfrog step
/// crosses 0.8, or the size is beyond what a density could ask for. Each trial is a transition of
/// one step.
struct StepSearch {
  static constexpr double longest = 1e7, shortest = 1e-12;

  struct State {
    Array size;
    Array direction;  // i32: 1 up, -1 down, 2 not known yet, 0 the search is over
  };

  State init(const Array& step_size) const;
  State update(const State& state, const Array& accept) const;
  /// The whole search at one place; momenta are those of fold_in(key, trial), trial + 1, ... Where
  /// it ended, and the number of the next trial.
  std::pair<State, Array> find(const Key& key, const Array& trial, const LogDensity& log_density,
                               const Metric& metric, const DensityPoint& at,
                               const State& begin) const;
};

enum class MetricKind { unit, diagonal, dense };

/// The mean and the variances (or covariances) of places that come one after another, by Welford's
/// method, and the metric for them.
struct RunningMoments {
  struct State {
    Array count, mean, squares;  // squares: [size], dense [size, size]
  };

  MetricKind kind = MetricKind::diagonal;

  State init(std::int64_t size, DType dtype) const;
  State add(const State& state, const Array& position) const;
  /// L of n / (n + 5) covariance + 0.001 * 5 / (n + 5) of n places; the unit metric for
  /// MetricKind::unit.
  Metric metric(const State& state) const;
};

}  // namespace sturnus
