// What a sampler drew, brought to the host for summaries and files.
#pragma once

#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/results/draws.h>

#include <string>
#include <vector>

namespace sturnus {

/// Chunks of draws, one behind another. Elements "theta[0]", "theta[1]", ... become one parameter
/// theta of that shape, and names of nested structs what files can hold: "groups[0].spread" is
/// groups_0_spread. Throws Error when there is no chunk, or chunks do not fit each other.
ChainDraws chain_draws(const std::vector<Draws>& chunks);

/// Values [chains, draws, parameters] with such names; no statistics. Throws Error when they do not
/// fit each other.
ChainDraws chain_draws(const std::vector<std::string>& names, const Array& values);

}  // namespace sturnus
