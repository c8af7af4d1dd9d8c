// An ensemble of walkers that move along the differences of others.
//
//   WalkResult walk = walk_ensemble(target, starts, {.draws = 200, .steps = 50});
//   std::vector<ParameterSummary> rows = summarize(chain_draws(target.names, walk.values));
//
// The walkers' own spread is the scale of their steps: nothing is tuned, and no gradient is needed.
#pragma once

#include <sturnus/inference/models/model.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <utility>

namespace sturnus {

/// Differential evolution (C. ter Braak, Statistics and Computing 16, 2006). Walkers of one half
/// propose x + g (a - b), where a and b are two of the other half, then those of the other half; so
/// the product of all their densities is left as it is. g is `scale` 2.38 / sqrt(2 size) times a
/// number uniform in (0.5, 1.5), or now and then 1, which leads from mode to mode.
struct DifferentialEvolution {
  struct State {
    Array positions;  // [walkers, size]
    Array values;     // [walkers]
  };
  struct Info {
    Array accept;  // the mean probability with which a proposal was taken
  };

  double scale = 1;
  double jumps = 0.1;  // how often g is 1

  State init(const LogDensity& log_density, const Array& positions) const;
  std::pair<State, Info> step(const Key& key, const LogDensity& log_density,
                              const State& state) const;
};

struct WalkOptions {
  std::int64_t draws = 200;  ///< Of each walker that are kept,
  std::int64_t steps = 50;   ///< and how many steps lie between them.
  std::uint64_t seed = 0;
  DifferentialEvolution kernel = {};
};

struct WalkResult {
  Array values;       // [walkers, draws, parameters]
  Array log_density;  // [walkers, draws], of the free numbers
  Array accept;       // [draws]
};

/// Of so many free numbers: two groups, each of which spans the space of the other's steps.
constexpr std::int64_t least_walkers(std::int64_t size) { return 2 * (size + 1); }

/// Walks from `start`, free numbers [walkers, size], in one program. Throws Error unless there are
/// at least least_walkers(size) walkers, and a walker at a finite density; ShapeError for another
/// shape.
WalkResult walk_ensemble(const Target& target, const Array& start, const WalkOptions& options = {});

}  // namespace sturnus
