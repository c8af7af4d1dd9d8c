#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/results/diagnostics.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/inference/results/diagnostics_values.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

struct Diagnostic {
  const char* name;
  std::function<double(MatrixView)> of;
};

// In the order of the recorded table.
const std::vector<Diagnostic> diagnostics = {
    {"rhat", rhat},
    {"ess_bulk", ess_bulk},
    {"ess_tail", ess_tail},
    {"ess_mean", ess_mean},
    {"ess_sd", ess_sd},
    {"ess_median", ess_median},
    {"ess_quantile 0.1", [](MatrixView x) { return ess_quantile(x, 0.1); }},
    {"ess_quantile 0.3", [](MatrixView x) { return ess_quantile(x, 0.3); }},
    {"mcse_mean", mcse_mean},
    {"mcse_sd", mcse_sd},
    {"mcse_quantile 0.5", [](MatrixView x) { return mcse_quantile(x, 0.5); }},
    {"mcse_quantile 0.1", [](MatrixView x) { return mcse_quantile(x, 0.1); }},
    {"mcse_quantile 0.3", [](MatrixView x) { return mcse_quantile(x, 0.3); }},
};
constexpr std::size_t rhat_place = 0;
constexpr std::size_t ess_sd_place = 4;

Matrix chains_of(const RecordedChains& recorded) {
  Matrix chains(recorded.chains, recorded.draws.size() / recorded.chains);
  std::transform(recorded.draws.begin(), recorded.draws.end(), chains.values.begin(),
                 [](double draw) { return draw / 1024; });
  return chains;
}

Matrix mapped(const Matrix& chains, const std::function<double(double)>& function) {
  Matrix result = chains;
  for (double& value : result.values) value = function(value);
  return result;
}

/// Stationary, x_i = phi x_{i-1} + noise, of unit variance.
Matrix autoregressive(std::size_t chains, std::size_t draws, double phi, std::uint32_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  Matrix x(chains, draws);
  for (std::size_t chain = 0; chain < chains; ++chain) {
    x(chain, 0) = normal(bits);
    for (std::size_t i = 1; i < draws; ++i) {
      x(chain, i) = phi * x(chain, i - 1) + std::sqrt(1 - phi * phi) * normal(bits);
    }
  }
  return x;
}

void expect_close(double value, double expected, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(value)) << what << ": " << value;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(value, expected) << what;
  } else {
    EXPECT_NEAR(value, expected, 1e-8 * std::abs(expected)) << what;
  }
}

bool all_finite(const Matrix& chains) {
  return std::all_of(chains.values.begin(), chains.values.end(),
                     [](double draw) { return std::isfinite(draw); });
}

/// The recorded number that the header says to be ours where ArviZ has another: NaN, as posterior,
/// of values that are all equal (ArviZ has ESS = draws), of infinite draws that are more than
/// ranked, and posterior's R-hat of one chain.
TEST(Diagnostics, AgreeWithArviz) {
  int compared = 0, unknown = 0;
  for (const RecordedChains& recorded : recorded_chains) {
    Matrix chains = chains_of(recorded);
    for (std::size_t i = 0; i < diagnostics.size(); ++i) {
      if (i == rhat_place && recorded.chains == 1) continue;  // where ArviZ has NaN
      std::string what = std::string(recorded.name) + ", " + diagnostics[i].name;
      double value = diagnostics[i].of(chains);
      if (std::isnan(value) && !std::isnan(recorded.arviz[i])) {
        EXPECT_TRUE(std::isnan(recorded.posterior[i])) << what;
        ++unknown;
      } else {
        expect_close(value, recorded.arviz[i], what);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 400);
  EXPECT_EQ(unknown, 53);
}

/// The ESS that a diagnostic is, or that its error is made of.
std::size_t ess_place_of(std::size_t i) {
  const std::size_t of_errors[] = {3, 4, 5, 6, 7};
  return i < 8 ? i : of_errors[i - 8];
}

TEST(Diagnostics, AgreeWithPosterior) {
  int compared = 0, without_pairs = 0;
  for (const RecordedChains& recorded : recorded_chains) {
    Matrix chains = chains_of(recorded);
    std::string name(recorded.name);
    std::size_t half = chains.cols / 2;
    for (std::size_t i = 0; i < diagnostics.size(); ++i) {
      std::string what = name + ", " + diagnostics[i].name;
      double value = diagnostics[i].of(chains), theirs = recorded.posterior[i];
      double ess = recorded.posterior[ess_place_of(i)];
      bool has_pairs = ess != static_cast<double>(recorded.chains * half);
      // What the header says posterior does otherwise.
      if (i == rhat_place && (name == "fair coin" || name == "one chain infinite")) {
        EXPECT_TRUE(std::isnan(theirs)) << what;
      } else if (i == rhat_place && name == "chains do not move") {
        EXPECT_GT(theirs, 1e15);  // 1 / 0, but for rounding
      } else if (i == rhat_place && chains.cols % 2 == 1 && !std::isnan(value)) {
        EXPECT_NEAR(theirs, value, 0.2) << what;
      } else if (i != rhat_place && half < 3) {
        EXPECT_TRUE(std::isnan(theirs)) << what;
      } else if (i != rhat_place && !has_pairs) {
        ++without_pairs;
      } else if (i != rhat_place && half % 2 == 1 && !std::isnan(value)) {
        EXPECT_NEAR(theirs, value, 0.5 * value) << what;
      } else {
        double mean = sample_mean(chains);
        if (i == ess_sd_place) {
          value = ess_mean(mapped(chains, [&](double x) { return std::abs(x - mean); }));
        }
        expect_close(value, theirs, what);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 250);
  EXPECT_GT(without_pairs, 30);
}

TEST(Diagnostics, IntervalsEnergiesAndQuantilesAgreeWithArvizAndNumpy) {
  for (const RecordedChains& recorded : recorded_chains) {
    SCOPED_TRACE(recorded.name);
    Matrix chains = chains_of(recorded);
    if (!all_finite(chains)) continue;
    Interval interval = hdi(chains, 0.8);
    EXPECT_EQ(interval.low, recorded.hdi[0]);
    EXPECT_EQ(interval.high, recorded.hdi[1]);
    std::vector<double> fractions = ebfmi(chains);
    ASSERT_EQ(fractions.size(), recorded.bfmi.size());
    for (std::size_t i = 0; i < fractions.size(); ++i) {
      expect_close(fractions[i], recorded.bfmi[i], "ebfmi");
    }
    std::vector<double> covariance = autocovariance(MatrixView(chains).row(0));
    ASSERT_EQ(covariance.size(), chains.cols);
    for (std::size_t lag = 0; lag < 4; ++lag) {
      EXPECT_NEAR(covariance[lag], recorded.autocovariance[lag], 1e-8 * covariance[0]);
    }
    const double probabilities[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(sample_quantile(chains, probabilities[i]), recorded.quantiles[i]);
    }
  }
}

TEST(Diagnostics, AutocovarianceIsTheSumItStandsFor) {
  for (std::size_t n : {1, 2, 3, 4, 5, 7, 8, 31, 64, 100, 257, 1000}) {
    Matrix x = mapped(autoregressive(1, n, 0.8, 1), [](double v) { return 1e3 + v; });
    double center = 0;
    for (double value : x.values) center += value / static_cast<double>(n);
    std::vector<double> covariance = autocovariance(x.values);
    ASSERT_EQ(covariance.size(), n);
    for (std::size_t lag = 0; lag < n; ++lag) {
      double sum = 0;
      for (std::size_t i = 0; i + lag < n; ++i) {
        sum += (x.values[i] - center) * (x.values[i + lag] - center);
      }
      EXPECT_NEAR(covariance[lag], sum / static_cast<double>(n), 1e-12) << n << " " << lag;
    }
  }
}

TEST(Diagnostics, EffectiveSizeOfAutoregressionsIsKnown) {
  // ess / n = (1 - phi) / (1 + phi), more than 1 when neighbours repel.
  for (double phi : {-0.6, -0.3, 0.0, 0.5, 0.8}) {
    Matrix x = autoregressive(4, 20000, phi, 3);
    double expected = 80000 * (1 - phi) / (1 + phi);
    EXPECT_NEAR(ess_mean(x), expected, 0.1 * expected) << phi;
    EXPECT_NEAR(ess_bulk(x), expected, 0.1 * expected) << phi;
    EXPECT_NEAR(mcse_mean(x), 1 / std::sqrt(expected), 0.1 / std::sqrt(expected)) << phi;
    EXPECT_LT(rhat(x), 1.005) << phi;
  }
}

TEST(Diagnostics, StandardErrorsAreTheSpreadOfEstimates) {
  const int repetitions = 400;
  double mean_squares = 0, mean_error = 0, sd_squares = 0, sd_error = 0, median_squares = 0,
         median_error = 0;
  for (int i = 0; i < repetitions; ++i) {
    Matrix x = autoregressive(2, 500, 0.6, 100 + static_cast<std::uint32_t>(i));
    mean_squares += std::pow(sample_mean(x), 2) / repetitions;
    mean_error += mcse_mean(x) / repetitions;
    sd_squares += std::pow(sample_sd(x) - 1, 2) / repetitions;
    sd_error += mcse_sd(x) / repetitions;
    median_squares += std::pow(sample_quantile(x, 0.5), 2) / repetitions;
    median_error += mcse_quantile(x, 0.5) / repetitions;
  }
  EXPECT_NEAR(mean_error / std::sqrt(mean_squares), 1, 0.15);
  EXPECT_NEAR(sd_error / std::sqrt(sd_squares), 1, 0.15);
  EXPECT_NEAR(median_error / std::sqrt(median_squares), 1, 0.15);
}

TEST(Diagnostics, RanksDoNotSeeMonotoneMapsNorUnits) {
  Matrix x = autoregressive(3, 101, 0.7, 5);
  Matrix curved = mapped(x, [](double v) { return std::exp(3 * v); });
  EXPECT_EQ(ess_bulk(curved), ess_bulk(x));
  // Powers of two scale exactly; 2^-100 is far below any fixed tolerance for "constant".
  for (double unit : {0x1p-100, 0x1p60}) {
    Matrix scaled = mapped(x, [&](double v) { return unit * v; });
    for (std::size_t i = 0; i < diagnostics.size(); ++i) {
      double factor = std::string(diagnostics[i].name).starts_with("mcse") ? unit : 1;
      expect_close(diagnostics[i].of(scaled), factor * diagnostics[i].of(x), diagnostics[i].name);
    }
  }
}

TEST(Diagnostics, OrderOfChainsDoesNotMatter) {
  Matrix x = autoregressive(3, 60, 0.5, 9);
  std::vector<std::vector<double>> rows;
  for (std::size_t chain : {2, 0, 1}) {
    auto row = MatrixView(x).row(chain);
    rows.emplace_back(row.begin(), row.end());
  }
  Matrix permuted = stack_chains(rows);
  for (const Diagnostic& diagnostic : diagnostics) {
    expect_close(diagnostic.of(permuted), diagnostic.of(x), diagnostic.name);
  }
}

TEST(Diagnostics, NothingIsKnownOfConstantsAndNonFiniteDraws) {
  Matrix good = autoregressive(2, 20, 0.3, 2);
  std::vector<Matrix> bad;
  bad.push_back(mapped(good, [](double) { return 0.1; }));
  for (double value : {nan, inf, -inf}) {
    bad.push_back(good);
    bad.back()(1, 7) = value;
    bad.push_back(mapped(good, [&](double) { return value; }));
  }
  for (const Matrix& x : bad) {
    bool all_equal = x(0, 0) == x(1, 0);
    for (const Diagnostic& diagnostic : diagnostics) {
      std::string name = diagnostic.name;
      if ((name == "rhat" || name == "ess_bulk") && std::isinf(x(1, 7)) && !all_equal) {
        EXPECT_TRUE(std::isfinite(diagnostic.of(x))) << name;  // it has a rank
        continue;
      }
      EXPECT_TRUE(std::isnan(diagnostic.of(x))) << diagnostic.name << " " << x(1, 7);
    }
  }
  EXPECT_EQ(sample_mean(bad[0]), 0.1);
  EXPECT_EQ(sample_sd(bad[0]), 0);
  EXPECT_EQ(hdi(bad[0], 0.5).low, 0.1);
  EXPECT_TRUE(std::isnan(ebfmi(bad[0])[0]));
  EXPECT_TRUE(std::isnan(sample_mean(bad[1])));
  EXPECT_TRUE(std::isnan(sample_sd(bad[1])));
  EXPECT_TRUE(std::isnan(sample_quantile(bad[1], 0.5)));
  EXPECT_TRUE(std::isnan(hdi(bad[1], 0.5).high));
  EXPECT_FALSE(std::isnan(ebfmi(bad[1])[0]));
  EXPECT_TRUE(std::isnan(ebfmi(bad[1])[1]));
}

TEST(Diagnostics, ChainsStuckApartHaveInfiniteRhatAndOneDrawEach) {
  Matrix x(3, 50);
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = 0.1 * static_cast<double>(i / 50);
  EXPECT_EQ(rhat(x), inf);
  EXPECT_LT(ess_mean(x), 6);
  EXPECT_GT(ess_mean(x), 1);
}

TEST(Diagnostics, RhatSeesPlaceAndSpread) {
  Matrix x = autoregressive(4, 500, 0.2, 4);
  EXPECT_LT(rhat(x), 1.01);
  Matrix moved = x, widened = x, drifting = x;
  for (std::size_t i = 0; i < x.cols; ++i) {
    moved(3, i) += 1;
    widened(3, i) *= 3;
    for (std::size_t chain = 0; chain < 4; ++chain) {
      drifting(chain, i) += 2 * static_cast<double>(i) / static_cast<double>(x.cols);
    }
  }
  EXPECT_GT(rhat(moved), 1.05);
  EXPECT_GT(rhat(widened), 1.05);
  EXPECT_GT(rhat(drifting), 1.05);
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Diagnostics, RefuseTooFewDraws) {
  for (const Matrix& x : {Matrix(0, 10), Matrix(0, 0), Matrix(3, 0), Matrix(2, 3)}) {
    std::string extents = std::to_string(x.rows) + " chains x " + std::to_string(x.cols) + " draws";
    for (const Diagnostic& diagnostic : diagnostics) {
      std::string name(diagnostic.name);
      EXPECT_THAT(message([&] { diagnostic.of(x); }),
                  testing::AllOf(testing::StartsWith(name.substr(0, name.find(' ')) + ": "),
                                 HasSubstr(extents), HasSubstr("at least 4 draws")));
    }
    EXPECT_THAT(message([&] { ebfmi(x); }), HasSubstr(extents));
    EXPECT_THAT(message([&] { hdi(x, 0.5); }), HasSubstr(extents));
    EXPECT_THAT(message([&] { sample_quantile(x, 0.5); }), HasSubstr(extents));
  }
}

TEST(Diagnostics, RefuseWhatIsNoProbability) {
  Matrix x = autoregressive(2, 10, 0, 1);
  for (double p : {0.0, 1.0, -0.1, 95.0, nan}) {
    EXPECT_THAT(message([&] { ess_quantile(x, p); }), HasSubstr("Write 95 % as 0.95"));
    EXPECT_THAT(message([&] { mcse_quantile(x, p); }), HasSubstr("Write 95 % as 0.95"));
    EXPECT_THAT(message([&] { sample_quantile(x, p); }), HasSubstr("Write 95 % as 0.95"));
    EXPECT_THAT(message([&] { hdi(x, p); }), HasSubstr("Write 95 % as 0.95"));
  }
}

TEST(Diagnostics, RefuseRaggedChains) {
  std::vector<std::vector<double>> ragged = {{1, 2, 3, 4}, {1, 2, 3}};
  EXPECT_EQ(message([&] { stack_chains(ragged); }),
            "stack_chains: chain 0 has 4 draws, chain 1 has 3. Cut them to the same length.");
  EXPECT_THAT(message([&] { stack_chains({}); }), HasSubstr("there are no chains"));
  EXPECT_THAT(message([&] { autocovariance({}); }), HasSubstr("there are no values"));
}

}  // namespace
}  // namespace sturnus
