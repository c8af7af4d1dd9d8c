#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/results/metrics.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace sturnus {
namespace {

using testing::HasSubstr;

// Five members, three values; what follows from them is recorded from NumPy and SciPy.
const std::vector<double> ensemble_values = {0.1,  1.0, -2.0, 0.4,  1.5, -2.5, -0.3, 0.2,
                                             -1.0, 0.9, 1.1,  -1.7, 0.2, 1.3,  -2.2};
const MatrixView ensemble = {ensemble_values.data(), 5, 3};
const std::vector<double> truth = {0.5, 0.9, -1.5};

/// A sample with ties, so that zero differences occur.
std::vector<double> random_sample(std::size_t n, std::uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<double> sample(n);
  for (double& value : sample) {
    value = static_cast<double>(bits() % 1000) / 97;
    if (bits() % 4 == 0) value = std::floor(value);
  }
  return sample;
}

double pairwise_lower_median(const std::vector<double>& sample) {
  std::vector<double> differences;
  for (std::size_t j = 0; j < sample.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (sample[i] != sample[j]) differences.push_back(std::abs(sample[i] - sample[j]));
    }
  }
  std::sort(differences.begin(), differences.end());
  return differences[(differences.size() - 1) / 2];
}

/// The share of the sample that is at most x.
double cdf(const std::vector<double>& sample, double x) {
  auto count = std::count_if(sample.begin(), sample.end(), [x](double v) { return v <= x; });
  return static_cast<double>(count) / static_cast<double>(sample.size());
}

/// The integral of g(x) over all x, for a g that is constant between the given points and 0
/// outside.
double integrate_steps(std::vector<double> points, const std::function<double(double)>& g) {
  std::sort(points.begin(), points.end());
  double sum = 0;
  for (std::size_t i = 0; i + 1 < points.size(); ++i)
    sum += g(points[i]) * (points[i + 1] - points[i]);
  return sum;
}

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Metrics, AgreeWithNumpyAndScipy) {
  EXPECT_NEAR(rmse(ensemble, truth), 0.26857649437978254, 1e-15);
  EXPECT_NEAR(abs_dlambda(ensemble, truth), 0.2466666666666667, 1e-15);
  EXPECT_NEAR(logl_lambda(ensemble, truth).value, -1.8519314105625377, 1e-14);
  EXPECT_NEAR(logl_per_n(ensemble, truth, 3).value, -0.6173104701875126, 1e-14);
  EXPECT_NEAR(predictive_log_density(ensemble, truth, 0.3), -0.6413617915197879, 1e-14);
  EXPECT_NEAR(mean_crps(ensemble, truth), 0.21733333333333338, 1e-15);

  const std::vector<double> reference = {0.0, 1.2, -2.1, 0.5, 0.7, -1.1};
  EXPECT_NEAR(mean_wasserstein(ensemble, {reference.data(), 2, 3}), 0.2866666666666667, 1e-15);

  // scipy.stats.wasserstein_distance, and the integral of (F - step)^2.
  const std::vector<double> a = {0.3, -1.2, 2.5, 0.3, 4.0};
  EXPECT_NEAR(wasserstein(a, std::vector<double>{1.0, -0.7, 0.2, 3.3, 3.3, -2.0, 0.9}),
              0.7285714285714286, 1e-15);
  EXPECT_NEAR(crps(a, 1.1), 0.632, 1e-15);

  // Central half of the three columns by numpy.quantile(method="weibull"): the truth is in the
  // first and the third, 0.9 is in the second.
  std::vector<BandScore> bands = band_scores(ensemble, truth, {0.5});
  EXPECT_DOUBLE_EQ(bands[0].coverage, 1.0);
  EXPECT_NEAR(bands[0].width, (0.75 + 0.8 + 1.0) / 3, 1e-15);
}

TEST(Metrics, TwoOutputsPerPointAreSummedAndDividedByPoints) {
  std::vector<double> twice;
  for (std::size_t i = 0; i < ensemble.rows; ++i) {
    for (int copy = 0; copy < 2; ++copy) {
      twice.insert(twice.end(), ensemble.row(i).begin(), ensemble.row(i).end());
    }
  }
  MatrixView members = {twice.data(), 5, 6};
  EXPECT_NEAR(logl_per_n(members, joined(truth, truth), 3).value,
              2 * logl_per_n(ensemble, truth, 3).value, 1e-14);
}

TEST(KdeBandwidth, IsTheLowerMedianOfAllNonzeroPairs) {
  for (std::size_t n : {2, 3, 4, 5, 10, 25, 50, 100, 333}) {
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      std::vector<double> sample = random_sample(n, seed);
      if (sample.front() == sample.back() && n == 2) continue;
      EXPECT_DOUBLE_EQ(kde_bandwidth(sample),
                       pairwise_lower_median(sample) / std::sqrt(std::log(n)))
          << n << " values, seed " << seed;
    }
  }
}

TEST(KdeBandwidth, HoldsOverAllMagnitudes) {
  for (double scale : {1e-300, 1e-12, 1.0, 1e12, 1e300}) {
    EXPECT_NEAR(
        kde_bandwidth(std::vector<double>{0, scale, 3 * scale}) * std::sqrt(std::log(3.0)) / scale,
        2, 1e-12);
  }
}

TEST(KdeScore, LeavesOutColumnsWithoutSpread) {
  std::vector<double> values = ensemble_values;
  for (std::size_t i = 0; i < 5; ++i) values[3 * i + 1] = 7;
  MatrixView members = {values.data(), 5, 3};
  KdeScore sum = logl_lambda(members, truth);
  EXPECT_EQ(sum.skipped, 1u);
  KdeScore mean = logl_per_n(members, truth, 3);
  EXPECT_EQ(mean.skipped, 1u);
  EXPECT_NEAR(mean.value, sum.value / 2, 1e-15);  // two of three columns are left

  std::vector<double> same(4, 1.0);
  EXPECT_EQ(logl_per_n({same.data(), 2, 2}, std::vector<double>{1, 2}, 2).value,
            -std::numeric_limits<double>::infinity());
}

TEST(KdeLogDensity, IsAFiniteNumberFarFromTheSample) {
  // One kernel dominates: -z^2 / 2 with z = 1e5 kernel widths.
  double value = kde_log_density(std::vector<double>{0, -1}, 1e-3, 100);
  EXPECT_NEAR(value, -0.5e10 - std::log(2e-3 * std::sqrt(2 * std::numbers::pi)), 1e-5);
}

TEST(Wasserstein, IsTheIntegralOfTheDifferenceOfDistributions) {
  for (std::size_t n : {1, 2, 7, 25, 50}) {
    for (std::size_t m : {1, 3, 7, 40, 500}) {
      std::vector<double> a = random_sample(n, 1), b = random_sample(m, 2);
      double expected =
          integrate_steps(joined(a, b), [&](double x) { return std::abs(cdf(a, x) - cdf(b, x)); });
      EXPECT_NEAR(wasserstein(a, b), expected, 1e-12) << n << " and " << m;
    }
  }
}

TEST(Wasserstein, IsAMetricThatScalesAndShifts) {
  std::vector<double> a = random_sample(12, 1), b = random_sample(35, 2), c = random_sample(8, 3);
  double d = wasserstein(a, b);
  EXPECT_DOUBLE_EQ(wasserstein(b, a), d);
  EXPECT_EQ(wasserstein(a, a), 0);
  EXPECT_LE(d, wasserstein(a, c) + wasserstein(c, b));
  auto mapped = [](std::vector<double> sample) {
    for (double& x : sample) x = 5 - 3 * x;
    return sample;
  };
  EXPECT_NEAR(wasserstein(mapped(a), mapped(b)), 3 * d, 1e-12);
  EXPECT_NEAR(wasserstein(joined(a, a), b), d,
              1e-12);  // only the distribution counts, not the size
}

// Of draws 0, 1, ..., 99 every choice of 4 that are 25 apart: by the plain definition.
TEST(WassersteinFloor, IsTheMeanOverSpreadChoices) {
  Matrix draws(100, 2);
  for (std::size_t i = 0; i < 100; i++) {
    draws(i, 0) = static_cast<double>(i);
    draws(i, 1) = std::sin(static_cast<double>(i * i));
  }
  std::vector<double> scores;
  for (std::size_t first : {0, 5, 10, 15, 20}) {
    Matrix some(4, 2);
    for (std::size_t i = 0; i < 4; i++) {
      for (std::size_t j = 0; j < 2; j++) some(i, j) = draws(first + 25 * i, j);
    }
    scores.push_back(mean_wasserstein(some, draws));
  }
  MeanSd expected = mean_sd(scores), floor = wasserstein_floor(draws, 4, 5);
  EXPECT_NEAR(floor.mean, expected.mean, 1e-13);
  EXPECT_NEAR(floor.sd, expected.sd, 1e-13);
  EXPECT_NEAR(wasserstein_floor(draws, 100, 1).mean, 0, 1e-13);
  EXPECT_THROW(wasserstein_floor(draws, 101), Error);
  EXPECT_THROW(wasserstein_floor(draws, 0), Error);
}

TEST(Crps, IsTheIntegralOfTheSquaredDifference) {
  for (std::size_t n : {1, 2, 9, 50}) {
    std::vector<double> sample = random_sample(n, 4);
    for (double x : {-3.0, 0.0, 4.2, sample[0], 30.0}) {
      double expected = integrate_steps(joined(sample, {x}), [&](double u) {
        double difference = cdf(sample, u) - (u >= x ? 1 : 0);
        return difference * difference;
      });
      EXPECT_NEAR(crps(sample, x), expected, 1e-12) << n << " values at " << x;
    }
  }
}

TEST(Crps, IsNotSpoiltByACommonOffset) {
  std::vector<double> sample = random_sample(50, 5);
  double near = crps(sample, 4);
  for (double& value : sample) value += 1e9;
  EXPECT_NEAR(crps(sample, 1e9 + 4), near, 1e-6);
}

TEST(PredictiveLogDensity, OfOneMemberIsTheNormalDensity) {
  const std::vector<double> f = {1.0, 2.0};
  // Distances 1 and 2 with sigma = 2: z = 1/2 and 1.
  double expected = -0.5 * (0.25 + 1) / 2 - std::log(2 * std::sqrt(2 * std::numbers::pi));
  EXPECT_NEAR(predictive_log_density({f.data(), 1, 2}, std::vector<double>{2.0, 4.0}, 2), expected,
              1e-15);
}

TEST(PredictiveLogDensity, PunishesOverdispersionThatThePublishedScoreRewards) {
  // Truth 0, noise 1: members at the truth against members spread three times as wide as the noise.
  std::mt19937 bits(1);
  auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(bits()) * 0x1p-32;
    return sum;
  };
  const std::size_t members = 50, points = 200;
  std::vector<double> narrow(members * points), wide(members * points), observed(points);
  for (double& value : narrow) value = 0.05 * normal();
  for (double& value : wide) value = 2 * normal();
  for (double& value : observed) value = normal();
  MatrixView narrow_view = {narrow.data(), members, points},
             wide_view = {wide.data(), members, points};
  EXPECT_GT(logl_per_n(wide_view, observed, points).value,
            logl_per_n(narrow_view, observed, points).value);
  EXPECT_LT(predictive_log_density(wide_view, observed, 1),
            predictive_log_density(narrow_view, observed, 1));
}

TEST(BandScores, CoverAnExchangeableTruthAsOftenAsTheySay) {
  struct Case {
    std::size_t members;
    double level, expected;
  };
  const std::vector<Case> cases = {{50, 0.5, 0.5}, {50, 0.8, 0.8},
                                   {50, 0.9, 0.9}, {50, 0.95, 0.95},
                                   {25, 0.9, 0.9}, {9, 0.8, 0.8},
                                   {9, 0.5, 0.5},  {25, 0.95, 24.0 / 26},
                                   {3, 0.9, 0.5}};  // cannot span the level
  const std::size_t columns = 20000;
  std::mt19937 bits(3);
  for (const Case& c : cases) {
    auto uniform = [&] { return static_cast<double>(bits()) * 0x1p-32; };
    std::vector<double> members(c.members * columns), drawn(columns);
    std::generate(members.begin(), members.end(), uniform);
    std::generate(drawn.begin(), drawn.end(), uniform);
    BandScore score = band_scores({members.data(), c.members, columns}, drawn, {c.level})[0];
    double error = std::sqrt(c.expected * (1 - c.expected) / columns);
    EXPECT_NEAR(score.coverage, c.expected, 4 * error)
        << c.members << " members, level " << c.level;
    EXPECT_NEAR(score.width, c.expected, 0.01) << c.members << " members, level " << c.level;
  }
}

TEST(BandScores, DefaultToFourLevels) {
  std::vector<BandScore> scores = band_scores(ensemble, truth);
  ASSERT_EQ(scores.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(scores[i].level, (std::vector<double>{0.5, 0.8, 0.9, 0.95})[i]);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_GE(scores[i].width, scores[i - 1].width);
}

TEST(MeanSd, DividesByTheNumberOfValues) {
  MeanSd score = mean_sd(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(score.mean, 5);
  EXPECT_DOUBLE_EQ(score.sd, 2);
}

TEST(Metrics, SayWhatIsWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> none, one = {1}, two = {1, 2}, bad = {1, 2, nan, 4};
  const MatrixView bad_view = {bad.data(), 2, 2};
  struct Case {
    std::function<void()> call;
    const char* message;
  };
  const std::vector<Case> cases = {
      {[&] { rmse(ensemble, two); },
       "rmse: members have 3 columns, the values to compare with are 2"},
      {[&] { rmse({}, none); }, "rmse: the ensemble is 0 x 0"},
      {[&] { mean_crps(bad_view, two); }, "member 1 has nan in column 0"},
      {[&] {
         abs_dlambda({two.data(), 1, 2}, std::vector<double>{1, nan});
       },
       "value to compare with 1 is nan"},
      {[&] { kde_bandwidth(one); }, "kde_bandwidth: the sample has 1 value"},
      {[&] { kde_bandwidth(none); }, "kde_bandwidth: the sample is empty"},
      {[&] { kde_log_density(two, 0, 1); }, "bandwidth is 0"},
      {[&] { logl_per_n(ensemble, truth, 2); }, "members have 3 columns, points are 2"},
      {[&] { logl_per_n(ensemble, truth, 0); }, "points are 0"},
      {[&] {
         logl_lambda({two.data(), 1, 2}, two);
       },
       "one value has no spread"},
      {[&] { wasserstein(none, two); }, "wasserstein: the sample is empty"},
      {[&] { wasserstein_sorted(two, none); }, "wasserstein: a sample is empty"},
      {[&] {
         mean_wasserstein(ensemble, {two.data(), 1, 2});
       },
       "members have 3 columns, the reference has 2"},
      {[&] { predictive_log_density(ensemble, truth, 0); }, "sigma is 0"},
      {[&] { predictive_log_density(ensemble, truth, nan); }, "sigma is nan"},
      {[&] { band_scores(ensemble, truth, {90.0}); }, "a level is 90"},
      {[&] { crps(none, 0); }, "crps: the sample is empty"},
      {[&] { mean_sd(none); }, "mean_sd: the sample is empty"},
  };
  for (const Case& c : cases) {
    try {
      c.call();
      ADD_FAILURE() << "no error: " << c.message;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
}

}  // namespace
}  // namespace sturnus
