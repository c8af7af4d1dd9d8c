// The posterior of Lotka-Volterra measurements. It has no closed form, and chains from scattered
// starts do not find it: one in four ends in a mode that cycles twice as fast and has none of the
// posterior. Tempering leaves such modes.
//
//   TemperedPosterior found = tempered_lotka_volterra(data.train, data.noise_sd);
//   Matrix draws = rows_of(found.draws, 5000);
//   Matrix f = curves(curve_posterior(data).curve, draws, times);
#pragma once

#include <sturnus/inference/chains/differential_evolution.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/chains/smc.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/draws.h>

#include <cstddef>
#include <cstdint>

namespace sturnus {

struct TemperedPosterior {
  SmcResult tempering;
  ChainDraws draws;  // the walkers are the chains
  Array accept;      // of the walkers, [draws]
};

struct TemperedOptions {
  SmcOptions smc = {.particles = 1024, .moves = 30};
  std::int64_t walkers = 64;
  WalkOptions walk = {.draws = 1000, .steps = 60};
};

/// Draws of the posterior to begin at, by tempering from the prior. Throws Error as smc does.
SmcResult lotka_volterra_particles(const Samples& data, double sigma,
                                   const SmcOptions& options = TemperedOptions().smc,
                                   const LotkaVolterraPrior& prior = {});

/// Such particles, then a walk of some of the particles, whose R-hat and effective sample
/// size tell whether that was long enough. Throws Error as smc and walk_ensemble do, and before
/// both when there are more walkers than particles.
TemperedPosterior tempered_lotka_volterra(const Samples& data, double sigma,
                                          const TemperedOptions& options = {},
                                          const LotkaVolterraPrior& prior = {});

}  // namespace sturnus
