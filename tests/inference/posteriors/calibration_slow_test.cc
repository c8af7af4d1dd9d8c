// 500 replicates of each experiment: minutes, not seconds, so tagged slow.
#include <gtest/gtest.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/posteriors/calibration.h>
#include <sturnus/inference/posteriors/posteriors.h>

#include <string>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

// Of ten tests, all would be above 1e-3 in 99 of 100 correct programs.
void expect_calibrated(const Simulator& simulator) {
  CalibrationResult result = calibrate(simulator);
  for (std::size_t i = 0; i < result.ranks.size(); i++) {
    RankTest test = test_uniformity(result.ranks[i], result.draws);
    testing::Test::RecordProperty(result.names[i] + "_chi_square_p",
                                  std::to_string(test.chi_square_p));
    testing::Test::RecordProperty(result.names[i] + "_distance_p", std::to_string(test.distance_p));
    EXPECT_GT(test.chi_square_p, 1e-3) << result.names[i];
    EXPECT_GT(test.distance_p, 1e-3) << result.names[i];
  }
  EXPECT_LT(result.divergences, result.draws * static_cast<int>(result.ranks[0].size()) / 100);
}

TEST(CalibrationSlow, NutsOnTheExponential) { expect_calibrated(exponential_simulator()); }

TEST(CalibrationSlow, NutsOnTheOscillator) { expect_calibrated(oscillator_simulator()); }

TEST(CalibrationSlow, AWrongNoiseIsCaught) {
  CalibrationResult result = calibrate(oscillator_simulator(0.7));
  for (const std::vector<int>& ranks : result.ranks) {
    EXPECT_LT(test_uniformity(ranks, result.draws).chi_square_p, 1e-4);
  }
}

// The chains that users have, warmed up with a diagonal metric from promising places, rather than
// those of `calibrate`. The data are an argument of their program, which is compiled once.
void expect_chains_calibrated(const Simulator& simulator) {
  constexpr std::int64_t replicates = 200, chains = 4;
  constexpr std::size_t thin = 10, ranked = 99;
  std::vector<std::vector<int>> ranks;
  for (std::int64_t r = 0; r < replicates; r++) {
    auto [for_truth, for_data] = split(fold_in(key(17), Array(r)));
    Array truth = simulator.prior(for_truth);
    Target target = simulator.posterior(simulator.data(for_data, truth));
    auto seed = static_cast<std::uint64_t>(r);
    Draws draws = sample(target, {.chains = chains,
                                  .warmup = 300,
                                  .draws = 250,
                                  .seed = seed,
                                  .target_accept = 0.9,
                                  .start = promising_starts(target, chains, seed)});
    Doubles values = doubles(draws.values), expected = doubles(target.parameters(truth));
    ranks.resize(expected.size());
    for (std::size_t k = 0; k < expected.size(); k++) {
      int rank = 0;
      for (std::size_t i = 0; i < ranked; i++) {
        rank += values[i * thin * expected.size() + k] < expected[k];
      }
      ranks[k].push_back(rank);
    }
  }
  for (std::size_t k = 0; k < ranks.size(); k++) {
    RankTest test = test_uniformity(ranks[k], ranked, 10);
    testing::Test::RecordProperty("p" + std::to_string(k), std::to_string(test.chi_square_p));
    EXPECT_GT(test.chi_square_p, 1e-3) << k;
    EXPECT_GT(test.distance_p, 1e-3) << k;
  }
}

TEST(CalibrationSlow, ChainsOfTheExponential) { expect_chains_calibrated(exponential_simulator()); }

TEST(CalibrationSlow, ChainsOfTheOscillator) { expect_chains_calibrated(oscillator_simulator()); }

}  // namespace
}  // namespace sturnus
