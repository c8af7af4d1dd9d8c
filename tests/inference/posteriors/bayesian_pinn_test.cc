#include <gtest/gtest.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/posteriors/bayesian_pinn.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/diagnostics.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace sturnus {
namespace {

using Doubles = std::vector<double>;

struct Diffusivity {
  Array lambda;
};

// lambda u'' = -2 sin(2 x), solved by u = sin(2 x) for lambda = 0.5, on [-1, 1].
Problem small_problem() {
  auto residual = [](const Field& u, const Array& x, const Diffusivity& p) -> Array {
    return p.lambda * grad(grad(u))(x) + 2.0 * sin(2.0 * x);
  };
  Doubles x, y;
  for (int i = 0; i < 12; i++) {
    x.push_back(-1 + 2.0 * i / 11);
    y.push_back(std::sin(2 * x.back()) + 0.05 * std::cos(17.0 * i * i));  // a made-up noise
  }
  return {.name = "poisson",
          .equation = residual,
          .parameters = {{.name = "lambda", .prior = Prior::normal(1, 0.7), .truth = 0.5}},
          .low = {-1},
          .high = {1},
          .data = measurements(x, y),
          .noise_sd = 0.05};
}

double log_normal_density(double x, double mean, double sd) {
  double z = (x - mean) / sd;
  return -0.5 * z * z - std::log(sd) - 0.5 * std::log(2 * std::numbers::pi);
}

TEST(BayesianPinn, DensityIsThatOfAPlainLoop) {
  Problem problem = small_problem();
  Network network = {.hidden = {3}};
  BayesianPinnOptions options = {.weight_sd = 1.5,
                                 .bias_sd = 0.7,
                                 .points = 7,
                                 .residual_sd = 0.2,
                                 .lambda = {Bijection::positive()}};
  Target target = bayesian_pinn(problem, network, options);
  ASSERT_EQ(target.size, 1 + network.size());
  EXPECT_EQ(target.names[0], "lambda");

  // log lambda, then weights and biases of both layers.
  const Doubles free = {-0.4, 1.1, -0.7, 0.3, 0.2, -0.5, 0.9, 0.8, -1.2, 0.6, 0.1};
  const double *w = &free[1], *b = &free[4], *v = &free[7], offset = free[10];
  double lambda = std::exp(free[0]);
  double expected = free[0];                           // log of d lambda / d free
  expected += -0.5 * std::pow((lambda - 1) / 0.7, 2);  // a prior is known up to its constant
  for (int i = 1; i <= 10; i++) {
    bool bias = (i >= 4 && i <= 6) || i == 10;
    expected += log_normal_density(free[i], 0, bias ? 0.7 : 1.5);
  }
  auto value = [&](double x, int order) {
    double sum = order == 0 ? offset : 0;
    for (int j = 0; j < 3; j++) {
      double t = std::tanh(w[j] * x + b[j]);
      sum += v[j] * (order == 0 ? t : w[j] * w[j] * -2 * t * (1 - t * t));
    }
    return sum;
  };
  for (std::size_t i = 0; i < problem.data.points; i++) {
    expected += log_normal_density(problem.data.y[i], value(problem.data.x[i], 0), 0.05);
  }
  for (int i = 0; i < 7; i++) {
    double x = -1 + 2.0 * i / 6;
    expected += log_normal_density(lambda * value(x, 2) + 2 * std::sin(2 * x), 0, 0.2);
  }
  Array at = array(free, {11}, DType::f64);
  EXPECT_NEAR(target.log_density(at).item<double>(), expected, 1e-9 * std::abs(expected));

  Doubles parameters = to_doubles(target.parameters(at));
  EXPECT_NEAR(parameters[0], lambda, 1e-15);
  MeasuredCurve curve = bayesian_pinn_curve(problem, network, {});
  Doubles f = to_doubles(curve.values(target.parameters(at), Doubles{-0.5, 0.25}));
  EXPECT_NEAR(f[0], value(-0.5, 0), 1e-12);
  EXPECT_NEAR(f[1], value(0.25, 0), 1e-12);
}

// One frequency: a sine, a cosine and a bias, which solve no equation exactly.
Network wave() { return {.hidden = {}, .fourier_features = 1, .fourier_scale = 0.3}; }

TEST(BayesianPinn, ForgettingTheResidualTakesItsEvidenceAway) {
  BayesianPinnOptions options = {.weight_sd = 1.5, .bias_sd = 0.7, .points = 3, .residual_sd = 1};
  Target known = bayesian_pinn(small_problem(), wave(), options);
  options.forget_residual = true;
  Target forgotten = bayesian_pinn(small_problem(), wave(), options);
  double k = 2 * std::numbers::pi * 0.3 * normal(key(0), {1, 1}).item<float>();
  for (double lambda : {0.4, 1.3}) {
    // The bias has no slope, so two integrals are left.
    double evidence = 0, step = 0.05;
    for (double a = -12; a < 12; a += step) {
      for (double b = -12; b < 12; b += step) {
        double log_density = log_normal_density(a, 0, 1.5) + log_normal_density(b, 0, 1.5);
        for (double x : {-1.0, 0.0, 1.0}) {
          double bend = -k * k * (a * std::sin(k * x) + b * std::cos(k * x));
          log_density += log_normal_density(lambda * bend + 2 * std::sin(2 * x), 0, 1);
        }
        evidence += std::exp(log_density) * step * step;
      }
    }
    Array at = array(Doubles{lambda, 0.3, -0.8, 0.5}, {4}, DType::f64);
    double difference =
        known.log_density(at).item<double>() - forgotten.log_density(at).item<double>();
    EXPECT_NEAR(difference, std::log(evidence), 1e-5);
  }
}

TEST(BayesianPinn, WeightsGivenLambdaAreStandardNormalNumbers) {
  BayesianPinnOptions options = {.weight_sd = 1.5,
                                 .bias_sd = 0.7,
                                 .points = 3,
                                 .residual_sd = 0.4,
                                 .lambda = {Bijection::positive()}};
  Target plain = bayesian_pinn(small_problem(), wave(), options);
  options.given_lambda = true;
  Target given = bayesian_pinn(small_problem(), wave(), options);
  EXPECT_EQ(given.names, plain.names);
  auto vector = [](const Doubles& x) {
    return array(x, {static_cast<std::int64_t>(x.size())}, DType::f64);
  };
  auto density = [&](const Target& target, const Doubles& x) {
    return target.log_density(vector(x)).item<double>();
  };
  for (double log_lambda : {-0.9, 0.4}) {
    Doubles zero = {log_lambda, 0, 0, 0}, u = {log_lambda, 0.7, -1.1, 0.4};
    double half = 0.5 * (0.7 * 0.7 + 1.1 * 1.1 + 0.4 * 0.4);
    EXPECT_NEAR(density(given, u) - density(given, zero), -half, 1e-8);

    // The same density at the same place, but for the volume.
    auto weights = [&](Doubles x) {
      x = to_doubles(given.parameters(vector(x)));
      EXPECT_NEAR(x[0], std::exp(log_lambda), 1e-14);
      x[0] = log_lambda;
      return x;
    };
    double m[3][3];
    for (std::size_t j = 0; j < 3; j++) {
      Doubles moved = zero;
      moved[j + 1] = 1;
      for (std::size_t i = 0; i < 3; i++) m[i][j] = weights(moved)[i + 1] - weights(zero)[i + 1];
    }
    double det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                 m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                 m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    EXPECT_NEAR(density(given, u), density(plain, weights(u)) + std::log(std::abs(det)), 1e-8);
  }
}

// Chosen because chains mix here. With {8} and 0.3, or with {6}, weights of sd 2, 0.05 and starts
// anywhere, two chains disagreed: posteriors of networks have several modes.
TEST(BayesianPinn, PosteriorOfTheParameterCoversTheTruth) {
  Target target =
      bayesian_pinn(small_problem(), {.hidden = {6}}, {.points = 15, .residual_sd = 0.2});
  SamplingOptions options = {.chains = 2, .warmup = 300, .draws = 300, .seed = 1, .max_depth = 8};
  options.start = promising_starts(target, 2, 1);
  ChainDraws draws = chain_draws({sample(target, options)});
  Matrix lambda = chains_of(draws, draws.parameters[0], elements(draws.parameters[0])[0]);
  EXPECT_LT(rhat(lambda), 1.05);
  EXPECT_LT(sample_quantile(lambda, 0.05), 0.5);
  EXPECT_GT(sample_quantile(lambda, 0.95), 0.5);
  EXPECT_LT(sample_sd(lambda), 0.2);  // of 0.7 before the data
}

TEST(BayesianPinn, PoissonProblemHasItsSolution) {
  PoissonProblem poisson = poisson_problem();
  poisson.problem.check();
  Field truth = [](const Array& x) { return pow(sin(6.0 * x), 3.0); };
  Array lambda = array(Doubles{0.01}, {1}, DType::f64);
  for (double x : {-0.6, -0.1, 0.3, 0.7}) {
    Array residual = poisson.problem.equation(truth, Array(x, DType::f64), lambda);
    EXPECT_NEAR(residual.item<double>(), 0, 1e-12) << x;
  }
  EXPECT_EQ(poisson.problem.data.y.size(), 16u);
  EXPECT_EQ(poisson_problem(1).problem.data.x, poisson.problem.data.x);
  EXPECT_NE(poisson_problem(1).problem.data.y, poisson.problem.data.y);
}

TEST(BayesianPinn, RefusesWhatMakesNoSense) {
  Problem problem = small_problem();
  EXPECT_THROW(bayesian_pinn(problem, {.inputs = 2}), Error);
  EXPECT_THROW(bayesian_pinn(problem, {}, {.weight_sd = 0}), Error);
  EXPECT_THROW(bayesian_pinn(problem, {}, {.bias_sd = 0}), Error);
  EXPECT_THROW(bayesian_pinn(problem, {}, {.points = 1}), Error);
  EXPECT_THROW(bayesian_pinn(problem, {}, {.lambda = {2, Bijection::positive()}}), Error);
  for (BayesianPinnOptions options :
       {BayesianPinnOptions{.forget_residual = true}, BayesianPinnOptions{.given_lambda = true}}) {
    EXPECT_NO_THROW(bayesian_pinn(problem, wave(), options));
    try {
      bayesian_pinn(problem, {.hidden = {3}}, options);
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("network without hidden layers"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_THROW(bayesian_pinn(problem, {}, {.residual_sd = -1}), Error);
  problem.data.y.clear();
  EXPECT_THROW(bayesian_pinn(problem, {}), Error);
}

}  // namespace
}  // namespace sturnus
