#include <gtest/gtest.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/posteriors/calibration.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

std::vector<int> repeated(int rank, std::size_t times) { return std::vector<int>(times, rank); }

TEST(RankTest, IsContentWithEvenRanks) {
  std::vector<int> ranks;
  for (int i = 0; i < 300; i++) ranks.push_back(i % 100);
  RankTest test = test_uniformity(ranks, 99);
  EXPECT_NEAR(test.chi_square, 0, 1e-12);
  EXPECT_NEAR(test.distance, 0, 1e-12);
  EXPECT_EQ(test.chi_square_p, 1);
  EXPECT_EQ(test.distance_p, 1);
}

// With two bins chi^2 has one degree of freedom: p = erfc(sqrt(chi^2 / 2)).
TEST(RankTest, CountsInBins) {
  std::vector<int> ranks = repeated(1, 30);
  for (int rank : repeated(3, 10)) ranks.push_back(rank);
  RankTest test = test_uniformity(ranks, 3, 2);
  EXPECT_NEAR(test.chi_square, 10, 1e-12);
  EXPECT_NEAR(test.chi_square_p, std::erfc(std::sqrt(5.0)), 1e-12);
  EXPECT_NEAR(test.distance, 0.25, 1e-12);  // 0 of 1/4, 3/4 of 1/2, 3/4 of 3/4
}

// 1.3581 is the published 5 % point of Kolmogorov's distribution.
TEST(RankTest, KnowsKolmogorovsDistribution) {
  const double n = 10000, distance = 1.3581 / (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
  auto low = static_cast<std::size_t>(std::lround((0.5 + distance) * n));
  std::vector<int> ranks = repeated(0, low);
  for (int rank : repeated(1, static_cast<std::size_t>(n) - low)) ranks.push_back(rank);
  EXPECT_NEAR(test_uniformity(ranks, 1, 2).distance_p, 0.05, 2e-3);  // ranks are whole
}

TEST(RankTest, RefusesRanksThatAreNone) {
  std::vector<int> none, beyond = {0, 8};
  EXPECT_THROW(test_uniformity(none, 99), Error);
  EXPECT_THROW(test_uniformity(beyond, 7, 2), Error);
  EXPECT_THROW(test_uniformity(repeated(1, 5), 99, 7), Error);
  try {
    test_uniformity(repeated(5, 2), 4, 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "test_uniformity: 2 ranks among 4 draws in 5 bins. Give ranks of 0 to 4, and bins "
                 "that divide one more than the draws");
  }
}

struct Place {
  Array x;
};

/// Two normal numbers, each measured twice with noise 0.5; the posterior may believe another noise,
/// or begin where the density is not a number.
Simulator normal_simulator(double believed, bool broken = false) {
  auto prior = [](const Key& key) { return normal(key, {2}, DType::f64); };
  auto data = [](const Key& key, const Array& x) {
    return x + 0.5 * normal(key, {2, 2}, DType::f64);
  };
  auto posterior = [=](const Array& y) -> Target {
    return Model(
        [=](const Place& p) {
          Array density =
              sum(normal_log_density(p.x, 0.0, 1.0)) + sum(normal_log_density(y, p.x, believed));
          return broken ? density / 0.0 * 0.0 : density;
        },
        Place{zeros({2})});
  };
  return {prior, data, posterior};
}

const CalibrationOptions quick = {.replicates = 200, .warmup = 60, .draws = 19, .thin = 2};

TEST(Calibration, NutsIsCalibratedAndAWrongNoiseIsNot) {
  CalibrationResult right = calibrate(normal_simulator(0.5), quick);
  EXPECT_EQ(right.names, (std::vector<std::string>{"x[0]", "x[1]"}));
  EXPECT_EQ(right.divergences, 0);
  ASSERT_EQ(right.ranks.size(), 2u);
  for (const std::vector<int>& ranks : right.ranks) {
    ASSERT_EQ(ranks.size(), 200u);
    RankTest test = test_uniformity(ranks, right.draws, 10);
    EXPECT_GT(test.chi_square_p, 1e-3);
    EXPECT_GT(test.distance_p, 1e-3);
  }
  // Too narrow posteriors have too many ranks at both ends.
  CalibrationResult wrong = calibrate(normal_simulator(0.2), quick);
  for (const std::vector<int>& ranks : wrong.ranks) {
    EXPECT_LT(test_uniformity(ranks, wrong.draws, 10).chi_square_p, 1e-6);
  }
}

TEST(Calibration, SaysWhatIsWrong) {
  EXPECT_THROW(calibrate(normal_simulator(0.5), {.replicates = 0}), Error);
  EXPECT_THROW(calibrate(normal_simulator(0.5), {.warmup = 10}), Error);
  try {
    calibrate(normal_simulator(0.5, true), {.replicates = 2, .warmup = 20, .draws = 1});
    FAIL();
  } catch (const Error& error) {
    std::string text = error.what();
    EXPECT_TRUE(text.starts_with("calibrate: the log density of replicate 0 is ")) << text;
  }
}

}  // namespace
}  // namespace sturnus
