#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <utility>

namespace sturnus {
namespace {

constexpr const char* own_variant = "correlated";

struct Rate {
  Array lambda;
};
struct Spring {
  Array omega, zeta;
};
struct Wind {
  Array beta;
};
struct Species {
  Array alpha, beta, gamma, delta;
};

Equation equation_of(Experiment experiment) {
  switch (experiment) {
    case Experiment::exponential:
      return exponential_equation();
    case Experiment::oscillator:
      return oscillator_equation();
    case Experiment::advection:
      return advection_equation();
    case Experiment::lotka_volterra:
      return lotka_volterra_equation();
  }
  throw Error("published: no such experiment");
}

// Steps after so many thousandths of all iterations; of several after one iteration the last.
Schedule stepwise_in(std::int64_t iterations, double value,
                     const std::vector<Schedule::Step>& thousandths) {
  std::vector<Schedule::Step> steps;
  for (const auto& [part, next] : thousandths) {
    std::int64_t after = iterations * part / 1000;
    if (!steps.empty() && steps.back().after == after) steps.pop_back();
    steps.push_back({after, next});
  }
  return Schedule::stepwise(value, steps);
}

}  // namespace

Equation exponential_equation() {
  return [](const Field& f, const Array& t, const Rate& p) { return grad(f)(t) - p.lambda * f(t); };
}

Equation oscillator_equation() {
  return [](const Field& f, const Array& t, const Spring& p) {
    auto df = grad(f);
    auto ddf = grad(df);
    return ddf(t) + 2.0 * p.zeta * p.omega * df(t) + square(p.omega) * f(t);
  };
}

Equation advection_equation() {
  // One derivative along (1, beta) instead of two along the axes.
  return [](const Field& u, const Array& tx, const Wind& p) {
    Array along = stack({ones_like(p.beta), p.beta}, 0);
    return jvp(u, tx, along).second;
  };
}

Equation lotka_volterra_equation() {
  return [](const Field& f, const Array& t, const Species& p) {
    Array now = f(t), change = jacfwd(f)(t);
    Array x = now[0], y = now[1];
    return stack({change[0] - x * (p.alpha - p.beta * y), change[1] + y * (p.gamma - p.delta * x)},
                 0);
  };
}

Problem problem_of(const ExperimentData& data) {
  Problem problem;
  problem.name = std::string(name_of(data.experiment));
  problem.equation = equation_of(data.experiment);
  bool positive = data.experiment != Experiment::exponential;
  for (std::size_t i = 0; i < data.parameters.size(); i++) {
    problem.parameters.push_back({.name = data.parameter_names[i],
                                  .prior = positive ? Prior::positive() : Prior(),
                                  .truth = data.parameters[i]});
  }
  problem.low = data.domain_low;
  problem.high = data.domain_high;
  problem.data = data.train;
  problem.noise_sd = data.noise_sd;
  return problem;
}

Training published_training(Experiment experiment, std::string_view variant,
                            std::optional<std::int64_t> iterations) {
  Training training;
  EnsembleOptions& options = training.options;
  options.repulsion = published_repulsion(variant);
  switch (experiment) {
    case Experiment::exponential:
      training.iterations = iterations.value_or(10000);
      options.members = 50;
      options.network.hidden = {20, 20};
      options.collocation.points = 50;
      options.residual_weight = stepwise_in(training.iterations, 5, {{750, 10}, {900, 25}});
      break;
    case Experiment::oscillator:
      training.iterations = iterations.value_or(15000);
      options.network.hidden = {20, 20, 20};
      options.residual_weight = Schedule::stepwise(1, {{5000, 5}, {7500, 10}});
      options.repulsion.start = 3000;
      break;
    case Experiment::advection:
      training.iterations = iterations.value_or(5000);
      options.network.hidden = {100, 100, 100, 100};
      options.collocation = {
          .kind = Collocation::Kind::sobol, .points = 256, .resample_every = 1, .per_member = true};
      options.optimizer.rate = 0.003;
      options.optimizer.weight_decay = 5e-4;
      options.residual_weight = 0.1;
      break;
    case Experiment::lotka_volterra:
      training.iterations = iterations.value_or(15000);
      options.network.hidden = {20, 20, 20};
      options.residual_weight = Schedule::stepwise(0.5, {{5000, 1}, {7500, 2}});
      options.repulsion.start = 3000;
      break;
  }
  return training;
}

Training correlated_training(Experiment experiment, std::optional<std::int64_t> iterations) {
  if (experiment == Experiment::advection) {
    throw Error(
        "correlated_training: advection has no settings of this name, since its solutions have no "
        "finite number of constants. Take one of the published variants");
  }
  Training training = published_training(experiment, "none");
  training.iterations = iterations.value_or(2 * training.iterations);
  std::int64_t end = training.iterations;
  EnsembleOptions& options = training.options;
  Repulsion& repulsion = options.repulsion;
  repulsion.seen = {Seen::point_values, Seen::parameters};
  repulsion.factorization = Factorization::correlated;
  // Measurements begin at 0. An equation of second order also has a slope there.
  repulsion.points = {0};
  if (experiment == Experiment::oscillator) repulsion.points.push_back(0.25);
  double weight = options.residual_weight.value;
  // At least one iteration long.
  std::int64_t grown = std::max(end / 6 + 1, 2 * end / 3), fallen = std::max(3 * end / 5 + 1, end);
  options.residual_weight = Schedule::exponential(weight, 100 * weight, end / 6, grown);
  options.optimizer.rate =
      Schedule::cosine(options.optimizer.rate.value, 1e-5, 3 * end / 5, fallen);
  return training;
}

std::vector<std::string> variants_of(Experiment experiment) {
  std::vector<std::string> names = published_variants();
  if (experiment != Experiment::advection) names.push_back(own_variant);
  return names;
}

Training training_of(Experiment experiment, std::string_view variant,
                     std::optional<std::int64_t> iterations) {
  return variant == own_variant ? correlated_training(experiment, iterations)
                                : published_training(experiment, variant, iterations);
}

}  // namespace sturnus
