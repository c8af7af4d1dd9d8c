#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/variational/gaussian.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <cmath>
#include <numbers>

namespace sturnus {
namespace {

bool is_diagonal(const Gaussian& q) { return q.factor.rank() == 1; }
Array scales(const Gaussian& q) { return is_diagonal(q) ? q.factor : diagonal(q.factor); }
Array triangle(const Gaussian& q) { return is_diagonal(q) ? diag(q.factor) : q.factor; }

/// L^-1 x.
Array whitened(const Gaussian& q, const Array& x) {
  return is_diagonal(q) ? x / q.factor : triangular_solve(q.factor, x);
}

}  // namespace

Array transported(const Gaussian& q, const Array& z) {
  return q.mean + (is_diagonal(q) ? z * q.factor : matmul(z, transpose(q.factor)));
}

Array covariance(const Gaussian& q) {
  Array l = triangle(q);
  return matmul(l, transpose(l));
}

Array log_density(const Gaussian& q, const Array& x) {
  if (is_diagonal(q)) return sum(normal_log_density(x, q.mean, q.factor), 1);
  return multivariate_normal_log_density(x, q.mean, q.factor);
}

Array entropy(const Gaussian& q) {
  auto size = static_cast<double>(q.mean.size());
  return 0.5 * size * (1 + std::log(2 * std::numbers::pi)) + sum(log(scales(q)));
}

Array divergence(const Gaussian& q, const Gaussian& p) {
  auto size = static_cast<double>(q.mean.size());
  bool diagonal = is_diagonal(q) && is_diagonal(p);
  Array spread = diagonal ? q.factor / p.factor : triangular_solve(triangle(p), triangle(q));
  Array shift = whitened(p, q.mean - p.mean);
  return sum(log(scales(p) / scales(q))) + 0.5 * (sum(square(spread)) + sum(square(shift)) - size);
}

}  // namespace sturnus
