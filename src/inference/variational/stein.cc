#include <sturnus/functional/grad.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/variational/stein.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <cmath>

namespace sturnus {
namespace {

/// |x_i - x_j|^2, [particles, particles].
Array squared_distances(const Array& particles) {
  Array x = particles - mean(particles, 0);  // near 0 the differences below lose no digits
  Array lengths = sum(square(x), 1);
  Array products = matmul(x, transpose(x));
  return maximum(expand_dims(lengths, 1) + lengths - 2.0 * products, 0.0);
}

Array bandwidth_of(const Array& distances) {
  std::int64_t n = distances.shape()[0], pairs = n * (n - 1) / 2;
  if (pairs == 0) return Array(1.0, distances.dtype());
  // In order come n zeros of the diagonal, then every pair twice.
  Array middle = order_statistic(reshape(distances, {n * n}), n + 2 * ((pairs - 1) / 2));
  return maximum(middle / std::log(static_cast<double>(n + 1)), 1e-14);
}

}  // namespace

Stein::State Stein::init(const Array& particles) const {
  if (particles.rank() != 2 || particles.shape()[0] < 1) {
    throw ShapeError("Stein::init: the particles are " + particles.type().str() +
                     ". Give [particles, size], at least 1 of them");
  }
  return {particles, optimizer.init({particles}), Array(0)};
}

std::pair<Stein::State, Stein::Info> Stein::step(const LogDensity& log_density,
                                                 const State& state) const {
  const Array& x = state.particles;
  auto n = static_cast<double>(x.shape()[0]);
  Array slopes = vmap(grad(log_density))(x);
  slopes = where(is_finite(slopes), slopes, 0.0);
  Array distances = squared_distances(x), h = bandwidth_of(distances);
  Array kernel = exp(-distances / h);
  Array repulsion = (2.0 / h) * (x * sum(kernel, Over({1}, true)) - matmul(kernel, x));
  Array phi = (matmul(kernel, slopes) + repulsion) / n;
  Optimizer::Step moved = optimizer.step({x}, {-phi}, state.optimizer, state.iteration);
  return {{moved.parameters[0], moved.state, state.iteration + 1}, {h, sqrt(mean(square(phi)))}};
}

}  // namespace sturnus
