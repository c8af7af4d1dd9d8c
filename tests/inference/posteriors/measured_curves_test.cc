#include <gtest/gtest.h>
#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace sturnus {
namespace {

// So many equal draws of one chain.
ChainDraws draws_of(const std::vector<std::pair<std::string, std::vector<double>>>& parameters,
                    std::size_t count = 1) {
  ChainDraws draws;
  draws.chains = 1;
  draws.draws = count;
  for (const auto& [name, values] : parameters) {
    ParameterDraws parameter = {name, {}, {}};
    if (values.size() > 1) parameter.shape = {values.size()};
    for (std::size_t i = 0; i < count; i++) {
      parameter.values.insert(parameter.values.end(), values.begin(), values.end());
    }
    draws.parameters.push_back(parameter);
  }
  return draws;
}

const std::vector<double> times = {0, 1.5, 4, 9};

TEST(MeasuredCurves, ClosedForms) {
  ExperimentData exponential = published_data(Experiment::exponential, 0);
  Matrix f = curves(curve_posterior(exponential).curve,
                    draws_of({{"f0", {1.5}}, {"lambda", {0.2}}}), times);
  ASSERT_EQ(f.cols, 4u);
  ExperimentData oscillator = published_data(Experiment::oscillator, 0);
  Matrix fixed = curves(curve_posterior(oscillator).curve,
                        draws_of({{"f0", {1.2}}, {"omega", {0.9}}, {"zeta", {0.1}}}), times);
  Matrix free = curves(
      curve_posterior(oscillator, true).curve,
      draws_of({{"sine", {1.2}}, {"cosine", {-0.4}}, {"omega", {0.9}}, {"zeta", {0.1}}}), times);
  double w = 0.9 * std::sqrt(0.99);
  for (std::size_t i = 0; i < times.size(); i++) {
    double t = times[i], decay = std::exp(-0.09 * t);
    EXPECT_NEAR(f(0, i), 1.5 * std::exp(0.2 * t), 1e-12) << t;
    EXPECT_NEAR(fixed(0, i), 1.2 * decay * std::sin(w * t), 1e-12) << t;
    EXPECT_NEAR(free(0, i), decay * (1.2 * std::sin(w * t) - 0.4 * std::cos(w * t)), 1e-12) << t;
  }
}

// The parameters that made the data give their noise-free truth.
TEST(MeasuredCurves, LotkaVolterraIsTheTruthAtItsParameters) {
  ExperimentData data = published_data(Experiment::lotka_volterra, 0);
  MeasuredCurve curve = curve_posterior(data).curve;
  ChainDraws truth = draws_of(
      {{"start", {10, 5}}, {"alpha", {1.5}}, {"beta", {1}}, {"gamma", {3}}, {"delta", {1}}});
  Matrix f = curves(curve, truth, curve.plot.x);
  ASSERT_EQ(f.cols, curve.plot.truth.size());
  for (std::size_t i = 0; i < f.cols; i++) EXPECT_NEAR(f(0, i), curve.plot.truth[i], 2e-3) << i;
  // From the first measurement on, wherever one looks.
  std::vector<double> later = {curve.plot.x[50], curve.plot.x[120]};
  EXPECT_NEAR(curves(curve, truth, later)(0, 2), f(0, 240), 2e-3);
  try {
    curves(curve, truth, std::vector<double>{-1});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("its solution begins at the first measurement"),
              std::string::npos)
        << error.what();
  }
}

TEST(MeasuredCurves, NewMeasurementsHaveTheNoiseOfTheOldOnes) {
  ExperimentData data = published_data(Experiment::oscillator, 0);
  MeasuredCurve curve = curve_posterior(data).curve;
  ChainDraws draws = draws_of({{"f0", {1}}, {"omega", {1}}, {"zeta", {0.1}}}, 4000);
  std::vector<double> at = {0.0, 2.0};
  Matrix f = curves(curve, draws, at), y = predicted_measurements(curve, draws, at, 1);
  for (std::size_t j = 0; j < 2; j++) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < y.rows; i++) {
      double noise = (y(i, j) - f(i, j)) / data.noise_sd;
      mean += noise / 4000;
      square += noise * noise / 4000;
    }
    EXPECT_NEAR(mean, 0, 4 / std::sqrt(4000));
    EXPECT_NEAR(square, 1, 4 * std::sqrt(2.0 / 4000));
  }
  EXPECT_EQ(predicted_measurements(curve, draws, at, 1).values, y.values);

  // Noise of pelts is log-normal: their logarithms have a standard deviation of sigma.
  MeasuredCurve pelts = hare_lynx_curve();
  draws = draws_of(
      {{"theta", {0.55, 0.028, 0.8, 0.024}}, {"z_init", {34, 6}}, {"sigma", {0.2, 0.5}}}, 4000);
  std::vector<double> years = {1900, 1901};
  f = curves(pelts, draws, years), y = predicted_measurements(pelts, draws, years, 2);
  EXPECT_NEAR(f(0, 0), 34, 1e-12);
  EXPECT_NEAR(f(0, 1), 6, 1e-12);
  for (std::size_t j = 0; j < 4; j++) {
    double square = 0, sigma = j % 2 == 0 ? 0.2 : 0.5;
    for (std::size_t i = 0; i < y.rows; i++) {
      square += std::pow(std::log(y(i, j) / f(i, j)) / sigma, 2) / 4000;
    }
    EXPECT_NEAR(square, 1, 4 * std::sqrt(2.0 / 4000)) << j;
  }
}

// They are made a block of draws at a time, the last of which is not whole.
TEST(MeasuredCurves, ManyDrawsHaveTheirCurvesInOrder) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  MeasuredCurve curve = curve_posterior(data).curve;
  ChainDraws draws = draws_of({{"f0", {0}}, {"lambda", {-0.5}}}, 2345);
  for (std::size_t i = 0; i < 2345; i++) draws.parameters[0].values[i] = static_cast<double>(i);
  std::vector<double> at = {0.0, 2.0};
  Matrix rows = rows_of(draws, 2345);
  Matrix f = curves(curve, draws, at), y = predicted_measurements(curve, draws, at, 1);
  EXPECT_EQ(curves(curve, rows, at).values, f.values);
  EXPECT_EQ(predicted_measurements(curve, rows, at, 1).values, y.values);
  curve.measured = with_normal_noise(0);
  EXPECT_EQ(predicted_measurements(curve, rows, at, 1).values, f.values);
  ASSERT_EQ(f.rows, 2345u);
  for (std::size_t i = 0; i < f.rows; i++) {
    EXPECT_EQ(f(i, 0), static_cast<double>(i));
    EXPECT_NEAR(f(i, 1), f(i, 0) * std::exp(-1), 1e-12 * f(i, 0));
  }
  std::set<double> noise;  // no two draws have the same
  for (std::size_t i = 0; i < y.rows; i++) noise.insert(y(i, 0) - f(i, 0));
  EXPECT_GT(noise.size(), 2340u);
}

TEST(MeasuredCurves, SchoolsHaveTheirEffectsAndErrors) {
  MeasuredCurve schools = eight_schools_curve();
  std::vector<double> theta = {9, 7, 6, 5, 4, 3, 2, 1};
  ChainDraws draws =
      draws_of({{"mu", {4}}, {"tau", {3}}, {"offsets", theta}, {"theta", theta}}, 4000);
  const std::vector<double>& x = schools.data.x;
  Matrix f = curves(schools, draws, x), y = predicted_measurements(schools, draws, x, 3);
  const double errors[] = {15, 10, 16, 11, 9, 11, 10, 18};  // as published
  for (std::size_t j = 0; j < 8; j++) {
    EXPECT_EQ(f(17, j), theta[j]);
    double square = 0;
    for (std::size_t i = 0; i < y.rows; i++) {
      square += std::pow((y(i, j) - theta[j]) / errors[j], 2) / 4000;
    }
    EXPECT_NEAR(square, 1, 4 * std::sqrt(2.0 / 4000)) << j;
  }
  EXPECT_THROW(curves(schools, draws, std::vector<double>{1, 2}), Error);
}

TEST(MeasuredCurves, AdvectionHasNone) {
  EXPECT_THROW(curve_posterior(published_data(Experiment::advection, 0)), Error);
}

}  // namespace
}  // namespace sturnus
