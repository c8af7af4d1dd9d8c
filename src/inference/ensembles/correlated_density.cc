#include <sturnus/functional/graph.h>
#include <sturnus/inference/ensembles/correlated_density.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>
#include <sturnus/runtime/error.h>

#include <limits>

namespace sturnus {
namespace {

// The median of every column over the rows that count.
Array median_over(const Array& counts, const Array& x) {
  std::int64_t columns = x.shape()[1];
  Array total = sum(convert(counts, DType::i32));
  Array ranked = where(expand_dims(counts, 1), x, std::numeric_limits<double>::infinity());
  auto for_all = [&](const Array& rank) { return broadcast_to(rank, {columns}); };
  Array ranks =
      concatenate({for_all(floor_divide(total - 1, 2)), for_all(floor_divide(total, 2))}, 0);
  // Both of the middle at once.
  Array middle = order_statistic(concatenate({ranked, ranked}, 1), ranks, 0);
  return mean(reshape(middle, {2, columns}), 0);
}

// Which members lie within 8 median deviations from the median (5.4 standard deviations of a
// Gaussian) in every dimension. One that got lost must neither widen the covariance nor be driven
// further away; the data will bring it back. False for values that are not finite.
Array near_the_others(const Array& members) {
  Array finite = all(is_finite(members), 1);
  Array x = where(expand_dims(finite, 1), members, 0.0);
  Array distance = abs(x - median_over(finite, x));
  return finite & all(distance <= 8.0 * median_over(finite, distance) + 1e-7, 1);
}

}  // namespace

Array log_correlated_density(const Array& members, const Array& others) {
  std::int64_t n = members.shape().at(0), d = members.shape().at(1);
  if (n < d + 2) {
    throw ShapeError("log_correlated_density: " + std::to_string(n) + " members of " +
                     std::to_string(d) + " values have no covariance. Take at least " +
                     std::to_string(d + 2) + " members, or let the density see less");
  }
  Array there = stop_gradient(others.empty() ? members : others);
  Array counts = near_the_others(there);
  Array counted = sum(convert(counts, members.dtype()));
  Array mean = sum(where(expand_dims(counts, 1), there, 0.0), 0) / maximum(counted, 1.0);
  Array centred = where(expand_dims(counts, 1), there - mean, 0.0);
  Array total = maximum(counted, 2.0);  // one alone lies at the mean, whatever the width
  Array covariance = matmul(transpose(centred), centred) / (total - 1.0);
  // Members that agree in some direction still have a (tiny) width there.
  constexpr double least = 1e-5;
  Array floor = least * diagonal(covariance) + 1e-14;
  Array root = cholesky(covariance + diag(floor));

  auto whitened = [&](const Array& x) { return triangular_solve(root, transpose(x)); };  // [d, n]
  auto dimensions = static_cast<double>(d);
  Array h = pow(4.0 / ((dimensions + 2) * total), 1 / (dimensions + 4));
  Array own = whitened(where(expand_dims(counts, 1), members - mean, 0.0));
  Array centres = sqrt(1.0 - h * h) * whitened(centred);
  Array distances = sum(square(expand_dims(own, 2) - expand_dims(centres, 1)), 0);  // [n, n]
  Array exponents = where(counts, -0.5 * distances / (h * h), -1e30);
  Array log_volume = sum(log(h * diagonal(root)));
  return logsumexp(exponents, 1) - log_volume;
}

}  // namespace sturnus
