#include <sturnus/functional/doubles.h>
#include <sturnus/functional/ravel.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/posteriors/bayesian_pinn.h>
#include <sturnus/inference/problems/collocation.h>
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

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

struct Unknowns {
  std::vector<Array> lambda;
  Layers layers;
};

/// Every weight and bias a number.
Layers filled(const Network& network, double weight, double bias) {
  Layers layers = network.init(key(0));
  for (Dense& layer : layers) {
    layer = {full(layer.w.shape(), weight, DType::f64), full(layer.b.shape(), bias, DType::f64)};
  }
  return layers;
}

Unknowns like(const Problem& problem, const Network& network) {
  return {std::vector<Array>(problem.parameters.size(), Array(0.0, DType::f64)),
          filled(network, 0, 0)};
}

/// Points [n] of one input, or [n, inputs] of several.
Array points_of(const std::vector<double>& x, std::int64_t inputs) {
  auto count = static_cast<std::int64_t>(x.size()) / inputs;
  return array(x, inputs == 1 ? Shape{count} : Shape{count, inputs}, DType::f64);
}

void check(const Problem& problem, const Network& network, const BayesianPinnOptions& options) {
  problem.check();
  network.check();
  if (network.inputs != problem.inputs() || network.outputs != problem.outputs()) {
    throw Error("bayesian_pinn: a network of " + std::to_string(network.inputs) + " inputs and " +
                std::to_string(network.outputs) + " outputs for a problem of " +
                std::to_string(problem.inputs()) + " and " + std::to_string(problem.outputs()) +
                ". Give both the same");
  }
  if (!(options.weight_sd > 0) || !(options.bias_sd > 0) || !(options.residual_sd > 0) ||
      options.points < 2) {
    throw Error("bayesian_pinn: weight_sd " + std::to_string(options.weight_sd) + ", bias_sd " +
                std::to_string(options.bias_sd) + ", residual_sd " +
                std::to_string(options.residual_sd) + " and " + std::to_string(options.points) +
                " points. Give positive deviations and at least 2 points");
  }
  if (!options.lambda.empty() && options.lambda.size() != problem.parameters.size()) {
    throw Error("bayesian_pinn: " + std::to_string(options.lambda.size()) + " bijections for " +
                std::to_string(problem.parameters.size()) +
                " parameters of the equation. Give one each, or none");
  }
}

/// Numbers, of any shape, of lambda and weights.
using OfUnknowns = std::function<Array(const Array& lambda, const Layers& layers)>;

/// offset + v rows for weights that are v times their prior's deviations.
struct Affine {
  Array offset;  // [numbers]
  Array rows;    // [weights, numbers]
};

Affine affine(const OfUnknowns& f, const Array& lambda, const Layers& deviations) {
  auto [sd, back] = ravel(deviations);
  auto at = [&, sd = sd, back = back](const Array& v) {
    return reshape(f(lambda, back(sd * v)), {-1});
  };
  std::int64_t weights = sd.shape()[0];
  Array offset = at(zeros({weights}, DType::f64));
  return {offset, vmap([&](const Array& v) { return at(v) - offset; })(eye(weights, DType::f64))};
}

void check_affine(const OfUnknowns& f, const Array& lambda, const Layers& deviations) {
  auto [sd, back] = ravel(deviations);
  Array v = normal(key(0), sd.shape(), DType::f64);
  auto [offset, rows] = affine(f, lambda, deviations);
  Array expected = offset + matmul(v, rows), value = f(lambda, back(sd * v));
  double difference = max(abs(reshape(value, {-1}) - expected)).item<double>();
  if (difference <= 1e-6 * max(abs(expected)).item<double>()) return;
  throw Error(
      "bayesian_pinn: forget_residual and given_lambda need residuals that are affine in the "
      "weights, but one is " +
      std::to_string(difference) +
      " off. Give a linear equation and a network without hidden layers, or leave both out");
}

/// The log density of numbers around 0 being 0, over all weights of the prior.
Array log_evidence(const Affine& numbers, double sd) {
  auto [offset, rows] = numbers;
  Array covariance = matmul(transpose(rows), rows) + sd * sd * eye(offset.shape()[0], DType::f64);
  return multivariate_normal_log_density(offset, 0.0, cholesky(covariance));
}

/// Weights, in units of their prior's deviations, of independent normal numbers u.
struct GivenLambda {
  Array weights, log_det;
};

/// `known` are numbers that are measured to be 0, and the deviations of their noise.
GivenLambda given_lambda(const std::vector<std::pair<Affine, double>>& known, const Array& u) {
  Array precision = eye(u.shape()[0], DType::f64), pull = zeros_like(u);
  for (const auto& [numbers, sd] : known) {
    Array scaled = numbers.rows / (sd * sd);
    precision = precision + matmul(scaled, transpose(numbers.rows));
    pull = pull - matmul(scaled, numbers.offset);
  }
  Array l = cholesky(precision);
  Array centered = u + triangular_solve(l, pull);
  return {triangular_solve(l, centered, {.transposed = true}), -sum(log(diagonal(l)))};
}

}  // namespace

Target bayesian_pinn(const Problem& problem, const Network& network,
                     const BayesianPinnOptions& options) {
  check(problem, network, options);
  const Samples& data = problem.data;
  Array x = points_of(data.x, problem.inputs());
  auto count = static_cast<std::int64_t>(data.points);
  Array y =
      array(data.y, data.outputs == 1 ? Shape{count} : Shape{count, problem.outputs()}, DType::f64);
  Array grid = collocation_points({.points = options.points}, problem.low, problem.high, key(0), {},
                                  DType::f64);
  OfUnknowns residuals = [=](const Array& lambda, const Layers& layers) {
    Field f = [&](const Array& point) { return network(layers, point); };
    return vmap([&](const Array& point) { return problem.equation(f, point, lambda); })(grid);
  };
  OfUnknowns errors = [=](const Array&, const Layers& layers) {
    return vmap([&](const Array& point) { return network(layers, point); })(x) - y;
  };
  Layers deviations = filled(network, options.weight_sd, options.bias_sd);
  auto log_joint = [=](const Unknowns& u) {
    Array result(0.0, DType::f64), lambda = stack(u.lambda, 0);
    for (const Dense& layer : u.layers) {
      result = result + sum(normal_log_density(layer.w, 0.0, options.weight_sd)) +
               sum(normal_log_density(layer.b, 0.0, options.bias_sd));
    }
    for (std::size_t p = 0; p < problem.parameters.size(); p++) {
      Array penalty = problem.parameters[p].prior.penalty(u.lambda[p]);
      if (!penalty.empty()) result = result - penalty;
    }
    if (options.forget_residual) {
      result = result - log_evidence(affine(residuals, lambda, deviations), options.residual_sd);
    }
    return result + sum(normal_log_density(errors(lambda, u.layers), 0.0, problem.noise_sd)) +
           sum(normal_log_density(residuals(lambda, u.layers), 0.0, options.residual_sd));
  };
  Bijections bijections;
  for (std::size_t p = 0; p < options.lambda.size(); p++) {
    bijections.push_back({".lambda[" + std::to_string(p) + "]", options.lambda[p]});
  }
  Model<Unknowns> model(log_joint, like(problem, network), bijections);
  auto lambda_of = [=](const Array& free) { return stack(model.constrain(free).lambda, 0); };
  if (options.forget_residual || options.given_lambda) {
    check_affine(residuals, lambda_of(full({model.size}, 0.5, DType::f64)), deviations);
  }
  Target target = model;
  for (std::size_t p = 0; p < problem.parameters.size(); p++) {
    target.names[p] = target.free_names[p] = problem.parameters[p].name;
  }
  if (!options.given_lambda) return target;
  auto count_lambda = static_cast<std::int64_t>(problem.parameters.size());
  Array sd = ravel(deviations).first;
  // Free numbers of the model, and log |det| of these by those that samplers see.
  auto placed = [=](const Array& free) {
    Array lambda = lambda_of(free), u = free(Slice{count_lambda, {}});
    auto [weights, log_det] =
        given_lambda({{affine(residuals, lambda, deviations), options.residual_sd},
                      {affine(errors, lambda, deviations), problem.noise_sd}},
                     u);
    return std::pair(concatenate({free(Slice{0, count_lambda}), sd * weights}),
                     log_det + sum(log(sd)));
  };
  target.log_density = [=](const Array& free) {
    auto [at, log_det] = placed(free);
    return model.log_density(at) + log_det;
  };
  target.parameters = [=](const Array& free) { return model.parameters(placed(free).first); };
  return target;
}

MeasuredCurve bayesian_pinn_curve(const Problem& problem, const Network& network,
                                  const Samples& plot) {
  auto back = ravel(like(problem, network)).second;
  auto values = [=](const Array& parameters, std::span<const double> times) {
    Unknowns u = back(parameters);
    auto f = [&](const Array& point) { return network(u.layers, point); };
    return vmap(f)(points_of({times.begin(), times.end()}, network.inputs));
  };
  MeasuredCurve result;
  result.data = problem.data;
  result.noise_sd = problem.noise_sd;
  result.plot = plot;
  result.values = values;
  result.measured = with_normal_noise(problem.noise_sd);
  return result;
}

PoissonProblem poisson_problem(std::uint64_t seed) {
  constexpr double lambda = 0.01, end = 0.7, noise_sd = 0.1;
  struct Diffusivity {
    Array lambda;
  };
  auto residual = [](const Field& u, const Array& x, const Diffusivity& p) -> Array {
    // u'' = 216 sin(6 x) cos(6 x)^2 - 108 sin(6 x)^3 of the solution.
    Array s = sin(6.0 * x), c = cos(6.0 * x);
    return p.lambda * grad(grad(u))(x) - lambda * (216.0 * s * c * c - 108.0 * s * s * s);
  };
  auto at = [](int points) {
    Samples samples;
    samples.points = static_cast<std::size_t>(points);
    for (int i = 0; i < points; i++) {
      double x = -end + 2 * end * i / (points - 1);
      samples.x.push_back(x);
      samples.truth.push_back(std::pow(std::sin(6 * x), 3));
    }
    return samples;
  };
  PoissonProblem result;
  result.plot = at(141);
  Samples data = at(16);
  std::vector<double> noise = to_doubles(normal(key(seed), {16}, DType::f64));
  for (std::size_t i = 0; i < 16; i++) data.y.push_back(data.truth[i] + noise_sd * noise[i]);
  result.problem = {.name = "poisson",
                    .equation = residual,
                    .parameters = {{.name = "lambda",
                                    .prior = Prior::log_normal(std::log(0.03), 1),
                                    .truth = lambda}},
                    .low = {-end},
                    .high = {end},
                    .data = data,
                    .noise_sd = noise_sd};
  return result;
}

}  // namespace sturnus
