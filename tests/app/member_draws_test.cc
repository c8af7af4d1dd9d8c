#include "src/app/member_draws.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

namespace sturnus::app {
namespace {

TEST(MemberDraws, AreOneChainWithWhatItPredicts) {
  ExperimentData data = published_data(Experiment::oscillator, 0);
  constexpr std::size_t members = 2000;
  std::size_t points = data.train.points;
  Matrix lambda(members, 2), f(members, points);
  for (std::size_t i = 0; i < members; i++) {
    lambda(i, 0) = 1 + 0.001 * static_cast<double>(i);
    lambda(i, 1) = 0.1;
    for (std::size_t j = 0; j < points; j++) f(i, j) = static_cast<double>(j);
  }
  std::vector<double> numbers(members, 3.0);
  InferenceData result = member_draws(data, lambda, f, 7, {{"loss_data", numbers}});
  ASSERT_EQ(result.groups.size(), 5u);
  const DataGroup& posterior = result.groups[0];
  EXPECT_EQ(posterior.name, "posterior");
  EXPECT_EQ(posterior.variables[0].name, "omega");
  EXPECT_EQ(posterior.variables[1].name, "zeta");
  EXPECT_EQ(posterior.variables[0].shape, (std::vector<std::size_t>{1, members}));
  EXPECT_EQ(std::get<std::vector<double>>(posterior.variables[0].values)[3], 1.003);

  const DataGroup& stats = result.groups[1];
  EXPECT_EQ(stats.name, "sample_stats");
  EXPECT_EQ(stats.variables[0].name, "log_likelihood");
  EXPECT_EQ(stats.variables[0].shape, (std::vector<std::size_t>{1, members}));
  double log_likelihood = 0;
  for (std::size_t j = 0; j < points; j++) {
    boost::math::normal noise(static_cast<double>(j), data.noise_sd);
    log_likelihood += boost::math::logpdf(noise, data.train.y[j]);
  }
  EXPECT_NEAR(std::get<std::vector<double>>(stats.variables[0].values)[3], log_likelihood,
              1e-9 * std::abs(log_likelihood));
  EXPECT_EQ(stats.variables[1].name, "loss_data");
  EXPECT_EQ(std::get<std::vector<double>>(stats.variables[1].values), numbers);

  EXPECT_EQ(result.groups[2].name, "posterior_predictive");
  EXPECT_EQ(result.groups[2].variables[0].shape, (std::vector<std::size_t>{1, members, points}));
  const auto& y = std::get<std::vector<double>>(result.groups[2].variables[0].values);
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < y.size(); i++) {
    double noise = (y[i] - f.values[i]) / data.noise_sd;
    mean += noise / static_cast<double>(y.size());
    square += noise * noise / static_cast<double>(y.size());
  }
  double error = 4 / std::sqrt(static_cast<double>(y.size()));
  EXPECT_NEAR(mean, 0, error);
  EXPECT_NEAR(square, 1, std::sqrt(2.0) * error);

  EXPECT_EQ(result.groups[3].name, "observed_data");
  EXPECT_EQ(std::get<std::vector<double>>(result.groups[3].variables[0].values), data.train.y);
  EXPECT_EQ(result.groups[4].name, "constant_data");
}

}  // namespace
}  // namespace sturnus::app
