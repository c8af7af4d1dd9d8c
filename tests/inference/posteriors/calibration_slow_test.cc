// 500 replicates of each experiment: minutes, not seconds, so tagged slow.
#include <gtest/gtest.h>
#include <sturnus/inference/posteriors/calibration.h>

#include <string>
#include <vector>

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

}  // namespace
}  // namespace sturnus
