// The plugin's threads, for work of the host that is worth sharing. A pool of our own beside XLA's
// would have more busy threads than there are cores.
#pragma once

#include <cstdint>
#include <functional>

namespace sturnus::internal {

/// Where tasks may run beside the caller.
class Threads {
 public:
  virtual ~Threads() = default;
  /// How many tasks may run at once, the caller's among them.
  virtual std::int64_t count() const = 0;
  /// Has task(data) called by another thread, at any later time. False if that is not possible.
  virtual bool schedule(void (*task)(void* data), void* data) const = 0;
};

/// Calls `body(first, last)` for ranges that make up [0, count), each of at least `grain` unless
/// there is only one; returns when all are done. `threads` may be null: then there is only one
/// range. `body` must not throw. Results do not depend on who does which range, also not below the
/// smallest normal number: every thread rounds as the caller does.
void in_parallel(const Threads* threads, std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t first, std::int64_t last)>& body);

}  // namespace sturnus::internal
