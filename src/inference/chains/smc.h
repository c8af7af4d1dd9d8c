// Sequential Monte Carlo: from a density that can be drawn from to one that cannot, over densities
// between them.
//
//   SmcResult found = smc(model, prior, {.particles = 1024});
//   found.particles;     // free numbers [particles, size], draws of the model
//   found.log_evidence;  // log of the integral of the model's density
//
// Modes are weighed: particles in a mode that has little of the density die out on the way. Chains
// that begin at the particles are therefore in the right modes.
#pragma once

#include <sturnus/inference/chains/differential_evolution.h>
#include <sturnus/inference/models/model.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace sturnus {

/// A normalised density of free numbers that can be drawn from: a prior, or a wide guess.
struct Reference {
  std::function<Array(const Key&)> draw;  // a vector
  LogDensity log_density;

  /// Independent normal numbers with mean 0.
  static Reference normal(std::int64_t size, double sd);
};

struct SmcOptions {
  std::int64_t particles = 1024;
  std::int64_t moves = 50;  ///< Of differential evolution, at each temperature.
  /// The next temperature is where the effective number of particles falls to this share.
  double ess = 0.5;
  std::int64_t max_temperatures = 200;
  std::uint64_t seed = 0;
  DifferentialEvolution kernel = {};
};

struct SmcResult {
  Array particles;    // [particles, size], equally weighted
  Array log_density;  // [particles]
  double log_evidence = 0;
  /// The exponents b of reference^(1 - b) target^b, the last of which is 1, and the mean acceptance
  /// of the moves at each.
  std::vector<double> temperatures, accept;
};

/// All of it in one program: weights between neighbouring temperatures, systematic resampling,
/// moves (P. Del Moral, A. Doucet, A. Jasra, J. R. Stat. Soc. B 68, 2006; A. Jasra et al., Scand.
/// J. Stat. 38, 2011). Throws Error for settings that make no sense, when fewer than least_walkers
/// draws of the reference have a finite density, and when the temperatures do not reach 1;
/// ShapeError when the reference draws another number of free numbers.
SmcResult smc(const Target& target, const Reference& reference, const SmcOptions& options = {});

}  // namespace sturnus
