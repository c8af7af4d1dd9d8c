#include <sturnus/functional/grad.h>
#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

#include <limits>

namespace sturnus {

Array Metric::times(const Array& momentum) const {
  return factor.rank() == 2 ? matmul(factor, momentum) : factor * momentum;
}

Array Metric::transposed_times(const Array& slope) const {
  return factor.rank() == 2 ? matmul(transpose(factor), slope) : factor * slope;
}

DensityPoint evaluate(const LogDensity& log_density, const Array& position) {
  auto [value, slope] = value_and_grad(log_density)(position);
  return {position, value, slope};
}

Array energy(const PhasePoint& point) {
  Array total = 0.5 * sum(square(point.momentum)) - point.at.value;
  return nan_to(total, std::numeric_limits<double>::infinity());
}

PhasePoint leapfrog(const LogDensity& log_density, const Metric& metric, const PhasePoint& point,
                    const Array& step) {
  Array half = 0.5 * step;
  Array between = point.momentum + half * metric.transposed_times(point.at.slope);
  Array position = point.at.position + step * metric.times(between);
  DensityPoint at = evaluate(log_density, position);
  return {at, between + half * metric.transposed_times(at.slope)};
}

MetropolisChoice metropolis(const Key& key, const PhasePoint& start, const PhasePoint& end) {
  Array rise = energy(end) - energy(start);
  Array accept = minimum(exp(-rise), 1.0);
  Array accepted = uniform(key, {}, 0.0, 1.0, rise.dtype()) < accept;
  auto choose = [&](const Array& a, const Array& b) { return where(accepted, a, b); };
  return {tree_map(choose, end.at, start.at), end.at, accept, accepted, rise};
}

}  // namespace sturnus
