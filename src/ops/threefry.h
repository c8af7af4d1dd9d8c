// Threefry-2x32 with 20 rounds: a hash of a counter under a key, of which all random numbers are
// made (J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011).
#pragma once

#include <sturnus/functional/array.h>

#include <utility>

namespace sturnus::internal {

/// Two words of 32 bits for each element.
using Words = std::pair<Array, Array>;

/// The hash of counters under keys, element by element; all arrays are u32 of one shape.
Words threefry(const Words& key, const Words& counter);

}  // namespace sturnus::internal
