// The machine's cores, for work of the host that is worth sharing.
#pragma once

#include <cstdint>
#include <functional>

namespace sturnus::internal {

/// Calls `body(first, last)` for ranges that make up [0, count), each of at least `grain` unless
/// there is only one, at most one per core; returns when all are done. `body` must not throw.
void in_parallel(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t first, std::int64_t last)>& body);

}  // namespace sturnus::internal
