// Simulation-based calibration: does a sampler draw from the posteriors that it claims to?
//
// Parameters are drawn from the prior, data simulated with them, the posterior of the data is
// sampled. Over many such replicates the rank of the true parameter among the draws is uniform if
// all is right (S. Talts et al., arXiv:1804.06788): a U says too narrow, a slope says biased.
//
//   CalibrationResult result = calibrate(exponential_simulator(), {.replicates = 500});
//   RankTest test = test_uniformity(result.ranks[0], result.draws);
#pragma once

#include <sturnus/inference/models/model.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sturnus {

/// A prior, data that follow from it, and what is believed to be their posterior. `posterior` is
/// called with data that are being traced.
struct Simulator {
  std::function<Array(const Key&)> prior;  // free numbers of the posterior
  std::function<Array(const Key&, const Array& free)> data;
  std::function<Target(const Array& data)> posterior;
};

struct CalibrationOptions {
  std::int64_t replicates = 500;
  std::int64_t warmup = 300;
  std::int64_t draws = 99;  ///< That ranks are taken among,
  std::int64_t thin = 3;    ///< one of so many transitions each.
  double target_accept = 0.9;
  std::uint64_t seed = 0;
};

struct CalibrationResult {
  std::vector<std::string> names;  // of the parameters
  /// By parameter and replicate, how many draws are below the true value: 0 to `draws`.
  std::vector<std::vector<int>> ranks;
  int draws = 0;
  int divergences = 0;  // among all draws of all replicates
};

/// All replicates in one program, each with one chain of NUTS that begins at another draw of the
/// prior and warms up as those of Sampler do, with a dense metric. Throws Error for settings that
/// make no sense, or when a replicate's posterior is not finite there.
CalibrationResult calibrate(const Simulator& simulator, const CalibrationOptions& options = {});

/// Two tests of whether ranks 0 to `draws` are uniform, with the probability of a larger deviation
/// if they are.
struct RankTest {
  double chi_square = 0, chi_square_p = 1;  // of counts in equal bins
  double distance = 0, distance_p = 1;  // Kolmogorov's; somewhat too large a p, for ranks are whole
};
/// Throws Error unless there are ranks, each of 0 to `draws`, and 2 bins or more divide draws + 1.
RankTest test_uniformity(std::span<const int> ranks, int draws, int bins = 20);

/// Measurements as published of the exponential and of the oscillator whose phase is known, with
/// priors under which the data have a size: f0 U(0.5, 1.5), lambda U(0, 0.4); f0 U(0.5, 1.5), omega
/// U(0.9, 1.1), zeta U(0.02, 0.2). `believed_noise` times the true noise is what the posterior
/// takes it to be: 1, unless a test wants it to be wrong.
Simulator exponential_simulator(double believed_noise = 1);
Simulator oscillator_simulator(double believed_noise = 1);

}  // namespace sturnus
