#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/ravel.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/posteriors/advection_posterior.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace sturnus {
namespace {

/// What offset, sines and cosines are multiplied by: [points, 1 + 2 waves].
Array basis(const Array& beta, const Array& points, std::int64_t waves) {
  Array s = points(ellipsis, 1) - beta * points(ellipsis, 0);
  Array angle = outer(s, 2 * std::numbers::pi * (1.0 + arange(waves, points.dtype())));
  return concatenate({ones({s.size(), 1}, points.dtype()), sin(angle), cos(angle)}, 1);
}

void check(const Samples& data, double sigma, const AdvectionPrior& prior) {
  bool fits = data.points > 0 && data.inputs == 2 && data.outputs == 1 &&
              data.x.size() == 2 * data.points && data.y.size() == data.points;
  if (!fits) {
    throw Error("advection_posterior: " + std::to_string(data.points) + " points with " +
                std::to_string(data.x.size()) + " inputs and " + std::to_string(data.y.size()) +
                " measured outputs. Give t and x of each point, and what was measured there");
  }
  for (std::size_t i = 0; i < data.points; i++) {
    double t = data.x[2 * i], x = data.x[2 * i + 1], y = data.y[i];
    if (std::isfinite(t) && std::isfinite(x) && std::isfinite(y)) continue;
    throw Error("advection_posterior: measurement " + std::to_string(i) + " is " +
                std::to_string(y) + " at t = " + std::to_string(t) +
                " and x = " + std::to_string(x) + ". Leave out what is not finite");
  }
  auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(sigma) || !positive(prior.amplitude_sd) || prior.waves < 1) {
    throw Error("advection_posterior: noise " + std::to_string(sigma) + ", amplitudes of " +
                std::to_string(prior.amplitude_sd) + " and " + std::to_string(prior.waves) +
                " waves. Give positive, finite numbers");
  }
}

std::vector<std::string> names_of(std::int64_t waves) {
  std::vector<std::string> names = {"beta", "offset"};
  for (const char* kind : {"sine", "cosine"}) {
    for (std::int64_t k = 0; k < waves; k++) {
      names.push_back(std::string(kind) + "[" + std::to_string(k) + "]");
    }
  }
  return names;
}

}  // namespace

Array curve(const Advection& p, const Array& points) {
  Array amplitudes = concatenate({reshape(p.offset, {1}), p.sine, p.cosine});
  return matmul(basis(p.beta, points, p.sine.size()), amplitudes);
}

Target advection_posterior(const Samples& data, double sigma, const AdvectionPrior& prior) {
  check(data, sigma, prior);
  auto count = static_cast<std::int64_t>(data.points);
  Array points = array(data.x, {count, 2}, DType::f64), y = array(data.y, {count}, DType::f64);
  Bijection inside = Bijection::interval(prior.beta.low, prior.beta.high);
  std::int64_t size = 2 + 2 * prior.waves;
  double sd = prior.amplitude_sd;

  struct Place {
    Array beta, basis;
    Array precision;  // the factor R
    Array amplitudes;
  };
  auto place = [=, waves = prior.waves](const Array& free) {
    Place p;
    p.beta = inside.forward(free(0));
    p.basis = basis(p.beta, points, waves);
    Array transposed = swapaxes(p.basis, 0, 1);
    Array unit = eye(size - 1, DType::f64);
    p.precision = cholesky(matmul(transposed, p.basis) / (sigma * sigma) + unit / (sd * sd));
    // R^-T (R^-1 b + z): the mean, and what z adds to it.
    Array whitened =
        triangular_solve(p.precision, matmul(transposed, y) / (sigma * sigma)) + free(Slice{1});
    p.amplitudes = triangular_solve(p.precision, whitened, {.transposed = true});
    return p;
  };

  Target target;
  target.size = size;
  target.log_density = [=, interval = prior.beta](const Array& free) {
    Place p = place(free);
    Array log_joint = uniform_log_density(p.beta, interval.low, interval.high) +
                      sum(normal_log_density(p.amplitudes, 0.0, sd)) +
                      sum(normal_log_density(y, matmul(p.basis, p.amplitudes), sigma));
    return log_joint + inside.log_det(free(0)) - sum(log(diagonal(p.precision)));
  };
  target.parameters = [=](const Array& free) {
    Place p = place(free);
    return concatenate({reshape(p.beta, {1}), p.amplitudes});
  };
  target.names = target.free_names = names_of(prior.waves);
  return target;
}

Matrix advection_curves(MatrixView parameters, const Samples& at) {
  // So many rows at once: each needs a basis of its own.
  constexpr std::size_t block = 100;
  auto waves = static_cast<std::int64_t>(parameters.cols - 2) / 2;
  Array points = array(at.x, {static_cast<std::int64_t>(at.points), 2}, DType::f64);
  auto one = [=](const Array& p) {
    return curve({p(0), p(1), p(Slice{2, 2 + waves}), p(Slice{2 + waves})}, points);
  };
  auto all = jit([=](const Array& rows) { return vmap(one)(rows); });
  Matrix result(parameters.rows, at.points);
  for (std::size_t first = 0; first < parameters.rows; first += block) {
    std::size_t count = std::min(block, parameters.rows - first);
    const double* values = parameters.data + first * parameters.cols;
    Array rows = array(std::vector<double>(values, values + count * parameters.cols),
                       {static_cast<std::int64_t>(count), 2 + 2 * waves}, DType::f64);
    std::vector<double> u = to_doubles(all(rows));
    std::copy(u.begin(), u.end(), &result(first, 0));
  }
  return result;
}

MeasuredCurve advection_curve(const ExperimentData& data, const AdvectionPrior& prior) {
  MeasuredCurve result;
  result.data = data.train;
  result.noise_sd = data.noise_sd;
  result.plot = data.train;
  result.plot.y.clear();
  result.input = "measurement";
  result.outputs = {"u"};
  result.continuous = false;
  Array amplitudes = zeros({prior.waves}, DType::f64), zero(0.0, DType::f64);
  auto back = ravel(Advection{zero, zero, amplitudes, amplitudes}).second;
  result.values = [back](const Array& parameters, std::span<const double> points) {
    auto count = static_cast<std::int64_t>(points.size() / 2);
    return curve(back(parameters),
                 array(std::vector<double>(points.begin(), points.end()), {count, 2}, DType::f64));
  };
  result.measured = with_normal_noise(data.noise_sd);
  return result;
}

}  // namespace sturnus
