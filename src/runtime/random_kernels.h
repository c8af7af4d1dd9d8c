// Random words for the CPU. In the same library as the products, and for the same reason.
#pragma once

#include <cstdint>

namespace sturnus::internal {

/// Threefry-2x32 with 20 rounds: the hash of the counters c under the keys k, element by element.
void threefry_here(std::int64_t count, const std::uint32_t* k0, const std::uint32_t* k1,
                   const std::uint32_t* c0, const std::uint32_t* c1, std::uint32_t* first,
                   std::uint32_t* second);

}  // namespace sturnus::internal
