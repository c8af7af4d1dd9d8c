#include <sturnus/functional/doubles.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/posteriors/bayesian_pinn.h>
#include <sturnus/inference/problems/collocation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace sturnus {
namespace {

struct Unknowns {
  Array lambda;  // [parameters]
  Layers layers;
};

Unknowns like(const Problem& problem, const Network& network) {
  Layers layers =
      tree_map([](const Array& a) { return zeros(a.shape(), DType::f64); }, network.init(key(0)));
  return {zeros({static_cast<std::int64_t>(problem.parameters.size())}, DType::f64), layers};
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
  if (!(options.weight_sd > 0) || !(options.residual_sd > 0) || options.points < 2) {
    throw Error("bayesian_pinn: weight_sd " + std::to_string(options.weight_sd) + ", residual_sd " +
                std::to_string(options.residual_sd) + " and " + std::to_string(options.points) +
                " points. Give positive deviations and at least 2 points");
  }
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
  auto log_joint = [=](const Unknowns& u) {
    Field f = [&](const Array& point) { return network(u.layers, point); };
    Array result(0.0, DType::f64);
    for (const Array& w : tree_leaves(u.layers)) {
      result = result + sum(normal_log_density(w, 0.0, options.weight_sd));
    }
    for (std::size_t p = 0; p < problem.parameters.size(); p++) {
      Array penalty = problem.parameters[p].prior.penalty(u.lambda(static_cast<std::int64_t>(p)));
      if (!penalty.empty()) result = result - penalty;
    }
    auto residual = [&](const Array& point) { return problem.equation(f, point, u.lambda); };
    return result + sum(normal_log_density(y, vmap(f)(x), problem.noise_sd)) +
           sum(normal_log_density(vmap(residual)(grid), 0.0, options.residual_sd));
  };
  Target target = Model<Unknowns>(log_joint, like(problem, network), {{".lambda", options.lambda}});
  for (std::size_t p = 0; p < problem.parameters.size(); p++) {
    target.names[p] = target.free_names[p] = problem.parameters[p].name;
  }
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
