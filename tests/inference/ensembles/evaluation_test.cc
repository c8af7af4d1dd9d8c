#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/evaluation.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

// Members exp(lambda t) with an offset each, at the experiment's own points; lambda is given by its
// differences from the truth.
Predictions growing(const ExperimentData& data, Doubles lambda) {
  for (double& value : lambda) value += data.parameters[0];
  Predictions result = {Matrix(lambda.size(), data.test.points),
                        Matrix(lambda.size(), data.plot.points), Matrix(lambda.size(), 1)};
  for (std::size_t i = 0; i < lambda.size(); i++) {
    result.lambda(i, 0) = lambda[i];
    auto f = [&](double t) { return std::exp(lambda[i] * t) + 0.01 * static_cast<double>(i); };
    for (std::size_t j = 0; j < data.test.points; j++) result.test(i, j) = f(data.test.x[j]);
    for (std::size_t j = 0; j < data.plot.points; j++) result.plot(i, j) = f(data.plot.x[j]);
  }
  return result;
}

Doubles column(const Matrix& m, std::size_t j) {
  Doubles result;
  for (std::size_t i = 0; i < m.rows; i++) result.push_back(m(i, j));
  return result;
}

double mean_of(const Doubles& x) {
  double total = 0;
  for (double value : x) total += value;
  return total / static_cast<double>(x.size());
}

double sd_of(const Doubles& x) {
  double total = 0;
  for (double value : x) total += std::pow(value - mean_of(x), 2);
  return std::sqrt(total / static_cast<double>(x.size()));
}

// The lower median of nonzero distances over sqrt(ln n).
double bandwidth_of(const Doubles& x) {
  Doubles distances;
  for (std::size_t i = 0; i < x.size(); i++) {
    for (std::size_t j = i + 1; j < x.size(); j++) distances.push_back(std::abs(x[i] - x[j]));
  }
  std::sort(distances.begin(), distances.end());
  return distances[(distances.size() - 1) / 2] / std::sqrt(std::log(x.size()));
}

double log_mixture(const Doubles& x, double width, double at) {
  double nearest = INFINITY, total = 0;
  for (double value : x) nearest = std::min(nearest, std::pow((at - value) / width, 2));
  for (double value : x) total += std::exp(0.5 * (nearest - std::pow((at - value) / width, 2)));
  double norm = static_cast<double>(x.size()) * width * std::sqrt(2 * std::numbers::pi);
  return std::log(total / norm) - 0.5 * nearest;
}

// By definition: E|X - x| - E|X - X'| / 2.
double crps_of(const Doubles& x, double at) {
  double near = 0, apart = 0;
  auto n = static_cast<double>(x.size());
  for (double a : x) {
    near += std::abs(a - at) / n;
    for (double b : x) apart += std::abs(a - b) / (n * n);
  }
  return near - apart / 2;
}

// The integral of |F - G| by the values where either jumps.
double distance_of(const Doubles& a, const Doubles& b) {
  Doubles jumps = a;
  jumps.insert(jumps.end(), b.begin(), b.end());
  std::sort(jumps.begin(), jumps.end());
  auto share = [](const Doubles& x, double below) {
    auto count = std::count_if(x.begin(), x.end(), [&](double value) { return value <= below; });
    return static_cast<double>(count) / static_cast<double>(x.size());
  };
  double total = 0;
  for (std::size_t i = 1; i < jumps.size(); i++) {
    total += std::abs(share(a, jumps[i - 1]) - share(b, jumps[i - 1])) * (jumps[i] - jumps[i - 1]);
  }
  return total;
}

TEST(Evaluate, GivesEveryScoreByItsDefinition) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  Predictions p = growing(data, {-0.011, 0.027, -0.005, 0.009});
  EvaluationOptions options = {.reference_draws = 40, .floor_repetitions = 0};
  Evaluation found = evaluate(data, p, options);

  std::size_t points = data.test.points;
  double squares = 0, densities = 0, predictive = 0, crps_f = 0;
  Doubles spreads;
  for (std::size_t j = 0; j < points; j++) {
    Doubles f = column(p.test, j);
    squares += std::pow(mean_of(f) - data.test.truth[j], 2);
    densities += log_mixture(f, bandwidth_of(f), data.test.y[j]);
    predictive += log_mixture(f, data.noise_sd, data.test.y[j]);
    crps_f += crps_of(f, data.test.truth[j]);
    spreads.push_back(sd_of(f));
  }
  auto n = static_cast<double>(points);
  EXPECT_NEAR(found.rmse, std::sqrt(squares / n), 1e-12);
  EXPECT_NEAR(found.logl_per_n.value, densities / n, 1e-9 * std::abs(densities));
  EXPECT_NEAR(found.predictive_log_density, predictive / n, 1e-10 * std::abs(predictive));
  EXPECT_NEAR(found.crps_f, crps_f / n, 1e-12);
  EXPECT_NEAR(found.predictive_spread.mean, mean_of(spreads), 1e-12);
  EXPECT_NEAR(found.predictive_spread.sd, sd_of(spreads), 1e-12);

  Doubles lambda = column(p.lambda, 0);
  double truth = data.parameters[0];
  EXPECT_NEAR(found.abs_dlambda, std::abs(mean_of(lambda) - truth), 1e-12);
  EXPECT_NEAR(found.logl_lambda.value, log_mixture(lambda, bandwidth_of(lambda), truth), 1e-10);
  EXPECT_NEAR(found.crps_lambda, crps_of(lambda, truth), 1e-12);

  ASSERT_EQ(found.exact.size(), 1u);
  EXPECT_EQ(found.exact[0].name, "exact");
  auto posterior = exact_posterior_of(data);
  PosteriorDraws draws = posterior->draws(40, 1);
  EXPECT_NEAR(found.exact[0].w_lambda, distance_of(lambda, column(draws.lambda, 0)), 1e-12);
  Matrix f = posterior->predict(draws, data.plot.x);
  double total = 0;
  for (std::size_t j = 0; j < f.cols; j++) total += distance_of(column(p.plot, j), column(f, j));
  EXPECT_NEAR(found.exact[0].w_f, total / static_cast<double>(f.cols), 1e-12);
  EXPECT_EQ(found.exact[0].floor_w_f.mean, 0);
}

// A floor is what exact draws score: as many of them as the ensemble has members come near it, and
// an ensemble that is displaced by ten standard deviations does not.
TEST(Evaluate, FloorsAreWhatExactDrawsScore) {
  ExperimentData data = published_data(Experiment::exponential, 1);
  auto posterior = exact_posterior_of(data);
  PosteriorDraws draws = posterior->draws(30, 5);
  Predictions exact = {posterior->predict(draws, data.test.x),
                       posterior->predict(draws, data.plot.x), draws.lambda};
  EvaluationOptions options = {.reference_draws = 1000, .floor_repetitions = 20};
  Evaluation found = evaluate(data, exact, options);
  for (auto [score, floor] : {std::pair(found.exact[0].w_f, found.exact[0].floor_w_f),
                              {found.exact[0].w_lambda, found.exact[0].floor_w_lambda}}) {
    EXPECT_GT(floor.mean, 0);
    EXPECT_GT(floor.sd, 0);
    EXPECT_NEAR(score, floor.mean, 5 * floor.sd);
  }
  double sd = posterior->sd(posterior->amplitudes());
  for (double& lambda : exact.lambda.values) lambda += 10 * sd;
  DistanceToExact away = evaluate(data, exact, options).exact[0];
  EXPECT_NEAR(away.w_lambda, 10 * sd, 0.5 * sd + found.exact[0].w_lambda);
  EXPECT_GT(away.w_lambda, away.floor_w_lambda.mean + 10 * away.floor_w_lambda.sd);
  // Fewer draws lie farther from the posterior.
  Predictions few = growing(data, {0, -0.01, 0.01});
  EXPECT_GT(evaluate(data, few, options).exact[0].floor_w_lambda.mean,
            found.exact[0].floor_w_lambda.mean);
}

TEST(Evaluate, KnowsWhichPosteriorsThereAre) {
  EvaluationOptions options = {.reference_draws = 20, .floor_repetitions = 0};
  auto names = [&](Experiment experiment) {
    ExperimentData data = published_data(experiment, 0);
    Predictions p = {Matrix(2, data.test.points * data.test.outputs),
                     Matrix(2, data.plot.points * data.plot.outputs),
                     Matrix(2, data.parameters.size())};
    for (Matrix* m : {&p.test, &p.plot, &p.lambda}) {
      for (std::size_t i = 0; i < m->values.size(); i++) {
        m->values[i] = std::sin(static_cast<double>(i));
      }
    }
    std::vector<std::string> result;
    for (const DistanceToExact& d : evaluate(data, p, options).exact) result.push_back(d.name);
    return result;
  };
  EXPECT_THAT(names(Experiment::exponential), testing::ElementsAre("exact"));
  EXPECT_THAT(names(Experiment::oscillator), testing::ElementsAre("fixed_phase", "free_phase"));
  EXPECT_THAT(names(Experiment::lotka_volterra), testing::IsEmpty());
  options.exact = false;
  EXPECT_THAT(names(Experiment::oscillator), testing::IsEmpty());
}

TEST(Evaluate, OfOneMemberHasNoDensities) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  Evaluation found = evaluate(data, growing(data, {0.01}), {.reference_draws = 20});
  EXPECT_TRUE(std::isnan(found.logl_per_n.value));
  EXPECT_TRUE(std::isnan(found.logl_lambda.value));
  EXPECT_TRUE(std::isfinite(found.rmse));
  // On average one draw lies E|X - X'| from the others.
  PosteriorDraws draws = exact_posterior_of(data)->draws(20000, 3);
  double apart = 0;
  for (std::size_t i = 0; i < 20000; i += 2) {
    apart += std::abs(draws.lambda(i, 0) - draws.lambda(i + 1, 0)) / 10000;
  }
  EXPECT_NEAR(found.exact[0].floor_w_lambda.mean, apart, 0.5 * apart);
  EXPECT_GT(found.exact[0].floor_w_f.mean, 0);
}

TEST(Evaluate, SaysWhichShapeIsWrong) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  Predictions good = growing(data, {0.01, 0.02});
  Predictions bad = good;
  bad.test = Matrix(2, 3);
  EXPECT_THAT(error_of([&] { evaluate(data, bad); }),
              HasSubstr("evaluate: predictions at the test points are 2 x 3, but 2 members and"));
  bad = good;
  bad.plot = Matrix(1, data.plot.points);
  EXPECT_THAT(error_of([&] { evaluate(data, bad); }), HasSubstr("at the plot points are 1 x"));
  bad.lambda = Matrix(0, 1);
  EXPECT_THAT(error_of([&] { evaluate(data, bad); }), HasSubstr("parameters are 0 x 1"));
}

}  // namespace
}  // namespace sturnus
