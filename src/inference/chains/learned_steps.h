// What step sizes that chains learned say of a density.
#pragma once

#include <sturnus/inference/chains/sampling.h>

namespace sturnus::internal {

/// Throws Error when the warm-up is over and a chain has steps longer than a search tries: a flat
/// density, on which no step is too long. Steps of a chain that is stuck are short; R-hat tells.
void check_learned_steps(const ChainState& chains, const SamplingOptions& options);

}  // namespace sturnus::internal
