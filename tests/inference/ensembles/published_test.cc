#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

Array point_of(const Doubles& x) { return x.size() == 1 ? Array(x[0], DType::f64) : array(x); }

Doubles residual(const Equation& equation, const Field& f, const Doubles& at,
                 const Doubles& lambda) {
  auto program = jit([&](const Array& x, const Array& p) { return equation(f, x, p); });
  return doubles(program(point_of(at), array(lambda)));
}

// The field at the point is the exact solution, and the residual there is 0.
void expect_solved(Experiment experiment, const Equation& equation, const Field& f,
                   const Doubles& at, const Doubles& lambda, double error) {
  Doubles exact = exact_solution(experiment, at);
  Doubles value = doubles(jit([&](const Array& x) { return f(x); })(point_of(at)));
  ASSERT_EQ(value.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); i++) EXPECT_NEAR(value[i], exact[i], error);
  Doubles r = residual(equation, f, at, lambda);
  EXPECT_EQ(r.size(), exact.size());
  for (double number : r) EXPECT_NEAR(number, 0, error);
}

TEST(PublishedEquation, OfTheExponential) {
  Field exact = [](const Array& t) { return exp(0.3 * t); };
  for (double t : {0.0, 3.0, 10.0}) {
    expect_solved(Experiment::exponential, exponential_equation(), exact, {t}, {0.3}, 1e-12);
  }
  Field cubic = [](const Array& t) { return t * t * t - 2.0 * t; };
  double t = 1.7, lambda = 0.4;
  EXPECT_NEAR(residual(exponential_equation(), cubic, {t}, {lambda})[0],
              3 * t * t - 2 - lambda * (t * t * t - 2 * t), 1e-12);
}

TEST(PublishedEquation, OfTheOscillator) {
  Field exact = [](const Array& t) { return exp(-0.1 * t) * sin(std::sqrt(0.99) * t); };
  for (double t : {0.0, 1.0, 7.0, 20.0}) {
    expect_solved(Experiment::oscillator, oscillator_equation(), exact, {t}, {1, 0.1}, 1e-13);
  }
  Field cubic = [](const Array& t) { return t * t * t - 2.0 * t; };
  double t = 1.7, omega = 1.3, zeta = 0.4;
  EXPECT_NEAR(residual(oscillator_equation(), cubic, {t}, {omega, zeta})[0],
              6 * t + 2 * zeta * omega * (3 * t * t - 2) + omega * omega * (t * t * t - 2 * t),
              1e-12);
}

TEST(PublishedEquation, OfAdvection) {
  AdvectionProfile profile;
  Field exact = [&](const Array& tx) {
    Array x = tx[1] - 0.2 * tx[0];
    Array total;
    for (int k = 0; k < 4; k++) {
      auto i = static_cast<std::size_t>(k);
      double wave = 2 * std::numbers::pi * (k + 1) * profile.count[i] / (1023.0 / 1024);
      Array term = profile.amplitude[i] * sin(wave * x + profile.phase[i]);
      total = k == 0 ? term : total + term;
    }
    return profile.sign * total;
  };
  for (const Doubles& tx : {Doubles{0, 0.3}, {1, 0.9}, {1.5, 0.35}}) {
    expect_solved(Experiment::advection, advection_equation(), exact, tx, {0.2}, 1e-12);
  }
  Field other = [](const Array& tx) { return tx[0] * tx[0] * tx[1] + 3.0 * tx[1] * tx[1]; };
  double t = 0.7, x = 0.4, beta = -1.5;
  EXPECT_NEAR(residual(advection_equation(), other, {t, x}, {beta})[0],
              2 * t * x + beta * (t * t + 6 * x), 1e-12);
}

// The solution near a point by its Taylor series, whose coefficients the equation gives one after
// another.
TEST(PublishedEquation, OfLotkaAndVolterra) {
  const Doubles lambda = {1.5, 1, 3, 1};
  constexpr std::size_t terms = 16;
  for (double start : {0.0, 0.5, 4.0}) {
    Doubles exact = exact_solution(Experiment::lotka_volterra, Doubles{start});
    Doubles x = {exact[0]}, y = {exact[1]};
    for (std::size_t k = 0; k + 1 < terms; k++) {
      double product = 0;
      for (std::size_t i = 0; i <= k; i++) product += x[i] * y[k - i];
      auto next = static_cast<double>(k + 1);
      x.push_back((lambda[0] * x[k] - lambda[1] * product) / next);
      y.push_back((-lambda[2] * y[k] + lambda[3] * product) / next);
    }
    Field series = [&](const Array& t) {
      Array s = t - start, a = x.back() + 0.0 * s, b = y.back() + 0.0 * s;
      for (std::size_t k = terms - 1; k-- > 0;) {
        a = a * s + x[k];
        b = b * s + y[k];
      }
      return stack({a, b}, 0);
    };
    for (double t : {start, start + 0.01, start + 0.02}) {
      expect_solved(Experiment::lotka_volterra, lotka_volterra_equation(), series, {t}, lambda,
                    1e-7);
      for (double r : residual(lotka_volterra_equation(), series, {t}, lambda)) {
        EXPECT_NEAR(r, 0, 1e-10);
      }
    }
  }
  Field other = [](const Array& t) { return stack({t * t, 1.0 + t}, 0); };
  double t = 1.7, alpha = 0.4, beta = 0.7, gamma = 2, delta = -0.3;
  Doubles found = residual(lotka_volterra_equation(), other, {t}, {alpha, beta, gamma, delta});
  EXPECT_NEAR(found[0], 2 * t - t * t * (alpha - beta * (1 + t)), 1e-12);
  EXPECT_NEAR(found[1], 1 + (1 + t) * (gamma - delta * t * t), 1e-12);
}

// The published table, line by line.
struct Published {
  Experiment experiment;
  std::int64_t members, iterations;
  double rate, weight_decay;
  std::vector<std::int64_t> hidden;
  std::int64_t network_size, inputs, outputs;
  std::vector<std::string> names;
  Doubles truth, low, high;
  std::size_t points;
  std::int64_t collocation_points;
  double noise_sd;
  std::vector<std::pair<std::int64_t, double>> residual_weights;  // just before and after steps
  std::int64_t repulsion_start;
  bool positive;
};

const std::vector<Published> table = {
    {Experiment::exponential,
     50,
     10000,
     0.01,
     0,
     {20, 20},
     481,
     1,
     1,
     {"lambda"},
     {0.3},
     {0},
     {15},
     10,
     50,
     2,
     {{0, 5}, {7500, 5}, {7501, 10}, {9000, 10}, {9001, 25}, {9999, 25}},
     0,
     false},
    {Experiment::oscillator,
     25,
     15000,
     0.01,
     0,
     {20, 20, 20},
     901,
     1,
     1,
     {"omega", "zeta"},
     {1, 0.1},
     {0},
     {25},
     10,
     100,
     0.1,
     {{0, 1}, {5000, 1}, {5001, 5}, {7500, 5}, {7501, 10}, {14999, 10}},
     3000,
     true},
    {Experiment::advection,
     25,
     5000,
     0.003,
     5e-4,
     {100, 100, 100, 100},
     30701,
     2,
     1,
     {"beta"},
     {0.2},
     {0, 0},
     {2, 1},
     64,
     256,
     0.1,
     {{0, 0.1}, {4999, 0.1}},
     0,
     true},
    {Experiment::lotka_volterra,
     25,
     15000,
     0.01,
     0,
     {20, 20, 20},
     922,
     1,
     2,
     {"alpha", "beta", "gamma", "delta"},
     {1.5, 1, 3, 1},
     {0},
     {10},
     12,
     100,
     1,
     {{0, 0.5}, {5000, 0.5}, {5001, 1}, {7500, 1}, {7501, 2}, {14999, 2}},
     3000,
     true},
};

TEST(PublishedTraining, HasTheSettingsOfTheTable) {
  for (const Published& row : table) {
    for (const std::string& variant : published_variants()) {
      SCOPED_TRACE(std::string(name_of(row.experiment)) + " " + variant);
      Training training = published_training(row.experiment, variant);
      const EnsembleOptions& options = training.options;
      EXPECT_EQ(training.iterations, row.iterations);
      EXPECT_EQ(options.members, row.members);
      EXPECT_EQ(options.dtype, DType::f32);

      const Optimizer& optimizer = options.optimizer;
      EXPECT_EQ(optimizer.method, Optimizer::Method::adam);
      EXPECT_EQ(optimizer.rate.value, row.rate);
      EXPECT_TRUE(optimizer.rate.steps.empty());
      EXPECT_EQ(optimizer.weight_decay, row.weight_decay);
      EXPECT_EQ(optimizer.beta1, 0.9);
      EXPECT_EQ(optimizer.beta2, 0.999);
      EXPECT_EQ(optimizer.epsilon, 1e-8);
      EXPECT_FALSE(optimizer.clip_norm);

      EXPECT_EQ(options.network.hidden, row.hidden);
      EXPECT_EQ(options.network.activation, Activation::tanh);
      EXPECT_EQ(options.network.initializer, Initializer::torch_linear);

      const Collocation& collocation = options.collocation;
      bool resampled = row.experiment == Experiment::advection;
      EXPECT_EQ(collocation.kind, resampled ? Collocation::Kind::sobol : Collocation::Kind::grid);
      EXPECT_EQ(collocation.points, row.collocation_points);
      EXPECT_EQ(collocation.resample_every, resampled ? 1 : 0);
      EXPECT_EQ(collocation.per_member, resampled);

      Repulsion repulsion = published_repulsion(variant);
      EXPECT_EQ(options.repulsion.seen, repulsion.seen);
      EXPECT_EQ(options.repulsion.factorization, repulsion.factorization);
      EXPECT_EQ(options.repulsion.start, row.repulsion_start);
      EXPECT_EQ(options.repulsion.weight.value, 1);
      EXPECT_TRUE(options.repulsion.weight.steps.empty());
      for (auto [iteration, weight] : row.residual_weights) {
        Array at = options.residual_weight.at(Array(iteration));
        EXPECT_EQ(at.item<float>(), static_cast<float>(weight)) << "at " << iteration;
      }
    }
  }
  EXPECT_THAT(error_of([] { published_training(Experiment::advection, "some"); }),
              HasSubstr("no variant \"some\""));
}

TEST(TrainingOf, TakesEveryNameOfTheExperiment) {
  for (const Published& row : table) {
    std::vector<std::string> names = variants_of(row.experiment);
    for (const std::string& name : names) {
      bool published = std::find(published_variants().begin(), published_variants().end(), name) !=
                       published_variants().end();
      EXPECT_EQ(training_of(row.experiment, name).iterations,
                published_training(row.experiment, "none").iterations * (published ? 1 : 2))
          << name_of(row.experiment) << " " << name;
    }
    EXPECT_EQ(names.size(),
              published_variants().size() + (row.experiment == Experiment::advection ? 0 : 1));
  }
  EXPECT_THAT(error_of([] { training_of(Experiment::advection, "correlated"); }),
              HasSubstr("advection has no settings of this name"));
}

// The published text has fractions for the exponential, and fixed iterations for the others.
TEST(TrainingOf, OfOtherIterationsHasItsSchedulesInThem) {
  auto weights = [](const Schedule& schedule, std::vector<std::int64_t> iterations) {
    Doubles result;
    for (std::int64_t i : iterations) result.push_back(doubles(schedule.at(Array(i)))[0]);
    return result;
  };
  for (std::int64_t n : {1, 2, 3, 4, 5, 7, 100, 1001, 20000}) {
    Training training = training_of(Experiment::exponential, "full", n);
    EXPECT_EQ(training.iterations, n);
    EXPECT_NO_THROW(training.options.residual_weight.check(""));
    for (std::int64_t i = std::max<std::int64_t>(0, n - 2000); i < n; i++) {
      auto at = static_cast<double>(i), all = static_cast<double>(n);
      EXPECT_EQ(weights(training.options.residual_weight, {i}), Doubles{at > 0.9 * all    ? 25.0
                                                                        : at > 0.75 * all ? 10.0
                                                                                          : 5.0})
          << i << " of " << n;
      if (n > 1001 && i > n - 1990) break;
    }
    for (Experiment experiment : all_experiments) {
      if (experiment == Experiment::advection) continue;
      EnsembleOptions own = training_of(experiment, "correlated", n).options;
      EXPECT_NO_THROW(own.residual_weight.check(""));
      EXPECT_NO_THROW(own.optimizer.rate.check(""));
      EXPECT_EQ(own.optimizer.rate.end, n);
      EXPECT_LE(own.residual_weight.end, n);
    }
  }
  for (Experiment experiment : {Experiment::oscillator, Experiment::lotka_volterra}) {
    EnsembleOptions options = training_of(experiment, "full", 100).options;
    EXPECT_EQ(options.residual_weight.steps[0].after, 5000);
    EXPECT_EQ(options.repulsion.start, 3000);
  }
}

TEST(PublishedProblem, IsThatOfTheTable) {
  for (const Published& row : table) {
    for (int run = 0; run < published_runs; run++) {
      SCOPED_TRACE(std::string(name_of(row.experiment)) + " " + std::to_string(run));
      ExperimentData data = published_data(row.experiment, run);
      Problem problem = problem_of(data);
      EXPECT_NO_THROW(problem.check());
      EXPECT_EQ(problem.name, name_of(row.experiment));
      EXPECT_EQ(problem.inputs(), row.inputs);
      EXPECT_EQ(problem.outputs(), row.outputs);
      EXPECT_EQ(problem.low, row.low);
      EXPECT_EQ(problem.high, row.high);
      EXPECT_EQ(problem.noise_sd, row.noise_sd);
      EXPECT_EQ(problem.data.points, row.points);
      EXPECT_EQ(problem.data.y, data.train.y);
      ASSERT_EQ(problem.parameters.size(), row.names.size());
      for (std::size_t i = 0; i < row.names.size(); i++) {
        const Parameter& parameter = problem.parameters[i];
        EXPECT_EQ(parameter.name, row.names[i]);
        EXPECT_EQ(problem.equation.names()[i], "." + row.names[i]);
        EXPECT_EQ(parameter.truth, row.truth[i]);
        EXPECT_FALSE(parameter.start);
        Array penalty = parameter.prior.penalty(array(Doubles{-0.5, 0.5}));
        EXPECT_EQ(penalty.empty(), !row.positive);
        if (!row.positive) continue;
        EXPECT_EQ(doubles(penalty), (Doubles{250, 0}));
      }

      Ensemble ensemble(problem, published_training(row.experiment, "full").options);
      const Network& network = ensemble.options().network;
      EXPECT_EQ(network.size(), row.network_size);
      EXPECT_EQ(network.input_low, row.low);
      EXPECT_EQ(network.input_high, row.high);
      EXPECT_EQ(network.output_range->first,
                *std::min_element(data.train.y.begin(), data.train.y.end()));
      EXPECT_EQ(network.output_range->second,
                *std::max_element(data.train.y.begin(), data.train.y.end()));
    }
  }
}

}  // namespace
}  // namespace sturnus
