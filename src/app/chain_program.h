// Chains of any method as one program, and what of them is kept in a file.
#pragma once

#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/results/matrix_view.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "src/app/chain_settings.h"
#include "src/app/kept_work.h"

namespace sturnus::app {

struct ChainProgram {
  /// The chains where they begin.
  std::function<ChainState()> init;
  /// The chains after so many more transitions, and what these drew; 0 compiles the program and
  /// draws nothing. Uses up the given state.
  std::function<std::pair<ChainState, Draws>(ChainState, std::int64_t)> advance;
  /// What one transition gives, without values: no start is looked for, nothing is compiled.
  std::function<std::pair<ChainState, Draws>()> like;
};

/// Where chains begin: free numbers [chains, size].
using ChainStarts = std::function<Array(std::int64_t chains, std::uint64_t seed)>;

/// The chains of a posterior that the settings ask for, from promising_starts where there are no
/// others. Throws Error, before anything is compiled, for settings that make no sense.
ChainProgram chain_program(const Target& target, const ChainSettings& settings,
                           const ChainStarts& starts = {});

/// The inverse mass matrix of each chain as StanCsvRun wants it: one row for a diagonal; none for
/// the unit metric.
std::vector<Matrix> inverse_metrics(const ChainState& state);

/// Chains under way.
struct Sampling {
  ChainState state;
  std::vector<Draws> chunks;     // what was drawn after the warm-up
  std::int64_t transitions = 0;  // those of the warm-up included
  std::int64_t warmup_divergences = 0, divergences = 0;
  double warmup_seconds = 0, sampling_seconds = 0;
};

/// <folder>/sampling.part.
KeptWork kept_sampling(const RunPlaces& places, const nlohmann::json& settings);

void save_sampling(const KeptWork& kept, const Sampling& sampling);

/// What was kept, or chains that begin. Throws Error as KeptWork does.
Sampling load_sampling(const KeptWork& kept, const ChainProgram& program);

}  // namespace sturnus::app
