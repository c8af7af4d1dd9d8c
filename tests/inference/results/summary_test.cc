#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/results/diagnostics.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace sturnus {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Matrix normal_draws(std::size_t chains, std::size_t draws, std::uint32_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  Matrix x(chains, draws);
  for (double& value : x.values) value = normal(bits);
  return x;
}

/// Element (i, j) of beta has mean 10 i + j.
ChainDraws example() {
  ChainDraws draws;
  draws.chains = 4;
  draws.draws = 250;
  draws.parameters.push_back({"mu", {}, normal_draws(4, 250, 1).values});
  ParameterDraws beta = {"beta", {2, 3}, {}};
  for (double noise : normal_draws(4, 250, 2).values) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) beta.values.push_back(10 * i + j + 0.01 * noise);
    }
  }
  draws.parameters.push_back(beta);
  return draws;
}

TEST(Summary, HasARowPerScalarInStansOrder) {
  std::vector<ParameterSummary> rows = summarize(example());
  std::vector<std::string> names;
  for (const ParameterSummary& row : rows) names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("mu", "beta[1,1]", "beta[2,1]", "beta[1,2]", "beta[2,2]",
                                 "beta[1,3]", "beta[2,3]"));
  const double means[] = {0, 0, 10, 1, 11, 2, 12};
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_NEAR(rows[i].mean, means[i], 0.002);
}

TEST(Summary, HoldsTheDiagnostics) {
  Matrix x = normal_draws(3, 101, 7);
  ParameterSummary row = summarize("x", x);
  EXPECT_EQ(row.mean, sample_mean(x));
  EXPECT_EQ(row.mcse, mcse_mean(x));
  EXPECT_EQ(row.sd, sample_sd(x));
  EXPECT_EQ(row.q05, sample_quantile(x, 0.05));
  EXPECT_EQ(row.q25, sample_quantile(x, 0.25));
  EXPECT_EQ(row.q50, sample_quantile(x, 0.5));
  EXPECT_EQ(row.q75, sample_quantile(x, 0.75));
  EXPECT_EQ(row.q95, sample_quantile(x, 0.95));
  EXPECT_EQ(row.ess_bulk, ess_bulk(x));
  EXPECT_EQ(row.ess_tail, ess_tail(x));
  EXPECT_EQ(row.rhat, rhat(x));
  EXPECT_EQ(row.chains, 3u);
  EXPECT_EQ(row.hdi90.low, hdi(x, 0.9).low);
  EXPECT_EQ(row.hdi90.high, hdi(x, 0.9).high);
  EXPECT_EQ(row.mad, sample_mad(x));
}

// Of 0, 1, 2, 3, 10, 4, 5: the median is 3, the distances from it 3, 2, 1, 0, 7, 1, 2.
TEST(Summary, HasTheMedianDistanceFromTheMedian) {
  Matrix x(1, 7);
  x.values = {0, 1, 2, 3, 10, 4, 5};
  EXPECT_DOUBLE_EQ(sample_mad(x), 1.4826 * 2);
  EXPECT_NEAR(sample_mad(normal_draws(4, 5000, 3)) / sample_sd(normal_draws(4, 5000, 3)), 1, 0.03);
  x.values[4] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(sample_mad(x)));
}

TEST(Summary, TableIsAlignedAndShowsDigitsOnTheScaleOfTheSpread) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<ParameterSummary> rows = {
      {"mu", 1.23456, 0.0123, 0.5, 0.4, 0.9, 1.2, 1.6, 2.1, 1234.4, 987.6, 1.0012, 4, {}, 0.48},
      {"λ[1,2]",
       300.024,
       0.02,
       1.013,
       298.4,
       299.3,
       300,
       300.7,
       301.7,
       1234.4,
       987.6,
       nan,
       4,
       {},
       1},
      {"N", 123456.7, 15, 2345, 1e5, 1.2e5, 123456.4, 1.3e5, 1.4e5, 90, 80, 1.5, 4, {}, 2300},
      {"k", 1e-12, 1e-14, 1e-13, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12, 90, 80, 1, 4, {}, 1e-13},
      {"c", 2, nan, 0, 2, 2, 2, 2, 2, nan, nan, nan, 4, {}, 0},
      {"d", nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, 4, {}, nan}};
  EXPECT_EQ("\n" + summary_table(rows), R"(
          mean   mcse     sd    mad      5%     25%     50%     75%     95%  ess_bulk  ess_tail   rhat
mu       1.235  0.012  0.500  0.480   0.400   0.900   1.200   1.600   2.100      1234       988  1.001
λ[1,2]  300.02   0.02   1.01   1.00  298.40  299.30  300.00  300.70  301.70      1234       988    nan
N       123457     15   2345   2300  100000  120000  123456  130000  140000        90        80  1.500
k        1e-12  1e-14  1e-13  1e-13   1e-12   1e-12   1e-12   1e-12   1e-12        90        80  1.000
c            2    nan      0      0       2       2       2       2       2       nan       nan    nan
d          nan    nan    nan    nan     nan     nan     nan     nan     nan       nan       nan    nan
)");
  EXPECT_EQ("\n" + summary_table(std::span(rows).first(1), 2), R"(
     mean   mcse     sd    mad     5%    25%    50%    75%    95%  ess_bulk  ess_tail  ess/s   rhat
mu  1.235  0.012  0.500  0.480  0.400  0.900  1.200  1.600  2.100      1234       988    617  1.001
)");
}

TEST(Summary, RefusesArraysThatDoNotFit) {
  ChainDraws draws = example();
  draws.parameters[1].values.pop_back();
  EXPECT_THROW(
      try { summarize(draws); } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "summarize: parameter beta has 5999 values, 4 chains x 250 draws of its shape "
                     "have 6000. Give one value per chain, draw and element.");
        throw;
      },
      Error);
  draws = example();
  draws.parameters[1].name = "mu";
  EXPECT_THROW(summarize(draws), Error);
  draws = example();
  draws.statistics.energy = Matrix(4, 249);
  EXPECT_THROW(summarize(draws), Error);
  for (const char* name : {"", "1x", "a.b", "a,b", "lp__", "x\n"}) {
    draws = example();
    draws.parameters[0].name = name;
    EXPECT_THROW(summarize(draws), Error) << name;
  }
}

TEST(Warnings, AreSilentWhenAllIsWell) {
  SamplerStatistics statistics;
  statistics.divergent = Matrix(4, 250);
  statistics.tree_depth = Matrix(4, 250);
  statistics.energy = normal_draws(4, 250, 3);
  EXPECT_THAT(warnings(summarize(example()), statistics), IsEmpty());
}

TEST(Warnings, NameTheWorstParameterAndWhatToDo) {
  auto row = [](const char* name, double bulk, double tail, double rhat) {
    ParameterSummary row;
    row.name = name;
    row.ess_bulk = bulk;
    row.ess_tail = tail;
    row.rhat = rhat;
    row.chains = 4;
    return row;
  };
  std::vector<ParameterSummary> rows = {row("a", 1000, 900, 1.0), row("b", 150, 500, 1.02),
                                        row("c", 300, 75, 1.31)};
  EXPECT_THAT(
      warnings(rows),
      ElementsAre(
          AllOf(StartsWith("R-hat is above 1.01 for 2 of 3 scalars, the largest is 1.310 for c"),
                HasSubstr("draw longer")),
          AllOf(StartsWith("The effective sample size is below 100 per chain for 2 of 3 "
                           "scalars, the smallest is 75 (tail) for c"),
                HasSubstr("Draw about 6 times as long"))));
  // Exactly at the limits nothing is said.
  EXPECT_THAT(warnings(std::vector<ParameterSummary>{row("a", 400, 400, 1.01)}), IsEmpty());
}

TEST(Warnings, SpeakOfParametersThatDoNotMove) {
  ParameterSummary stuck = summarize("tau", Matrix(2, 10));
  EXPECT_THAT(warnings(std::vector<ParameterSummary>{stuck}),
              ElementsAre(AllOf(StartsWith("1 of 1 scalars, first tau, have no diagnostics"),
                                HasSubstr("Leave constants out"))));
}

TEST(Warnings, CountDivergencesAndDepths) {
  SamplerStatistics statistics;
  statistics.divergent = Matrix(2, 100);
  statistics.divergent(1, 5) = statistics.divergent(0, 7) = statistics.divergent(0, 8) = 1;
  statistics.tree_depth = Matrix(2, 100);
  for (double& depth : statistics.tree_depth.values) depth = 9;
  statistics.tree_depth(1, 1) = 10;
  EXPECT_THAT(
      warnings({}, statistics),
      ElementsAre(
          AllOf(StartsWith("3 of 200 draws (1.5 %) diverged"), HasSubstr("target acceptance")),
          AllOf(StartsWith("1 of 200 draws (0.5 %) reached the largest tree depth, 10"),
                HasSubstr("larger depth"))));
  EXPECT_EQ(warnings({}, statistics, 9).size(), 2u);
  EXPECT_THAT(warnings({}, statistics, 9)[1], StartsWith("200 of 200 draws (100 %)"));
}

TEST(Warnings, SpeakOfSlowEnergies) {
  SamplerStatistics statistics;
  statistics.energy = normal_draws(3, 300, 5);
  double sum = 0;
  for (std::size_t i = 0; i < 300; ++i) sum = statistics.energy(1, i) += sum;  // a random walk
  EXPECT_THAT(warnings({}, statistics),
              ElementsAre(AllOf(StartsWith("E-BFMI of chain 2 is 0.0"), HasSubstr("below 0.3"),
                                HasSubstr("Reparametrise"))));
}

}  // namespace
}  // namespace sturnus
