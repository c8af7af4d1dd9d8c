// Hamiltonian dynamics on a log density: what HMC and NUTS share.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/ops/random.h>

#include <functional>

namespace sturnus {

/// The logarithm of a density, up to a constant, at a vector: a scalar.
using LogDensity = std::function<Array(const Array& position)>;

/// A Euclidean metric by the factor L of its inverse mass matrix L L^T, best near the density's
/// covariance: a scalar (L times the unit matrix), a vector (the diagonal of L), or a lower
/// triangle. Momenta v = L^T p are those of the coordinates L^-1 x, in which the metric is unit:
/// they are standard normal, the kinetic energy is |v|^2 / 2, and products p^T L L^T q are v . w.
struct Metric {
  Array factor;

  /// L v.
  Array times(const Array& momentum) const;
  /// L^T g.
  Array transposed_times(const Array& slope) const;
};

/// A place, and value and gradient of the log density there.
struct DensityPoint {
  Array position, value, slope;
};
DensityPoint evaluate(const LogDensity& log_density, const Array& position);

/// A place and a momentum v, as Metric says.
struct PhasePoint {
  DensityPoint at;
  Array momentum;
};

/// -log density + |v|^2 / 2; infinite where that is not a number.
Array energy(const PhasePoint& point);

/// One step of the leapfrog method, of one evaluation of the density:
///   v' = v + step / 2 L^T g(x),  x <- x + step L v',  v <- v' + step / 2 L^T g(x).
PhasePoint leapfrog(const LogDensity& log_density, const Metric& metric, const PhasePoint& point,
                    const Array& step);

/// Whether to go from the start of a trajectory to its end: with probability
/// min(1, exp(-rise)), where `rise` is that of the energy.
struct MetropolisChoice {
  DensityPoint chosen, proposed;
  Array accept, accepted;  // the probability, and whether it happened
  Array rise;
};
MetropolisChoice metropolis(const Key& key, const PhasePoint& start, const PhasePoint& end);

}  // namespace sturnus
