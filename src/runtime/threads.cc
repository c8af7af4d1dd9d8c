#include "src/runtime/threads.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <memory>
#include <thread>

namespace sturnus::internal {
namespace {

/// Parts that whoever comes claims one by one. The caller claims too, so that nothing waits for a
/// thread that is late; such a one finds no part left.
class Job {
 public:
  Job(std::int64_t parts, const std::function<void(std::int64_t)>& body)
      : body_(body), unclaimed_(parts), unfinished_(parts) {
    std::fegetenv(&rounding_);
  }

  void work() {
    std::int64_t left = unclaimed_.load(std::memory_order_relaxed);
    while (left > 0) {
      if (!unclaimed_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) continue;
      body_(left - 1);
      unfinished_.fetch_sub(1, std::memory_order_release);
      left = unclaimed_.load(std::memory_order_relaxed);
    }
  }

  void work_as_guest() {
    if (unclaimed_.load(std::memory_order_relaxed) == 0) return;
    std::fenv_t own;
    std::fegetenv(&own);
    std::fesetenv(&rounding_);
    work();
    std::fesetenv(&own);
  }

  /// Only parts that somebody is doing right now are left, which takes microseconds.
  void wait() const {
    for (int i = 0; unfinished_.load(std::memory_order_acquire) > 0; i++) {
      if (i > 1000) std::this_thread::yield();
    }
  }

 private:
  const std::function<void(std::int64_t)>& body_;  // lives while a part is unfinished
  std::atomic<std::int64_t> unclaimed_, unfinished_;
  std::fenv_t rounding_;  // the caller's
};

}  // namespace

void in_parallel(const Threads* threads, std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t first, std::int64_t last)>& body) {
  std::int64_t parts = count / std::max<std::int64_t>(grain, 1);
  std::int64_t most = threads == nullptr || parts <= 1 ? 1 : threads->count();
  if (most == 1) return body(0, count);
  parts = std::min(parts, 2 * most);  // so that nobody waits long for the last one
  std::function<void(std::int64_t)> part = [&](std::int64_t i) {
    body(count * i / parts, count * (i + 1) / parts);
  };
  auto job = std::make_shared<Job>(parts, part);
  for (std::int64_t i = 1; i < std::min(parts, most); i++) {
    auto guest = std::make_unique<std::shared_ptr<Job>>(job);
    auto task = [](void* data) {
      std::unique_ptr<std::shared_ptr<Job>> own(static_cast<std::shared_ptr<Job>*>(data));
      (*own)->work_as_guest();
    };
    if (!threads->schedule(task, guest.get())) break;
    (void)guest.release();
  }
  job->work();
  job->wait();
}

}  // namespace sturnus::internal
