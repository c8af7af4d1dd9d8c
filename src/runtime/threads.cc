#include "src/runtime/threads.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <latch>
#include <mutex>
#include <thread>

namespace sturnus::internal {
namespace {

class Workers {
 public:
  static Workers& instance() {
    static auto& workers = *new Workers;  // programs may run while statics are destroyed
    return workers;
  }

  /// One less than the cores: the caller works too.
  std::int64_t count() const { return count_; }

  void add(std::function<void()> task) {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  Workers() : count_(std::max<std::int64_t>(std::thread::hardware_concurrency(), 1) - 1) {
    for (std::int64_t i = 0; i < count_; i++) std::thread(&Workers::work, this).detach();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return !tasks_.empty(); });
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::int64_t count_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
};

}  // namespace

void in_parallel(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t first, std::int64_t last)>& body) {
  std::int64_t parts = count / std::max<std::int64_t>(grain, 1);
  if (parts > 1) parts = std::min(parts, Workers::instance().count() + 1);
  if (parts <= 1) return body(0, count);
  std::latch done(parts - 1);
  for (std::int64_t part = 1; part < parts; part++) {
    Workers::instance().add([&, part] {
      body(count * part / parts, count * (part + 1) / parts);
      done.count_down();
    });
  }
  body(0, count / parts);
  done.wait();
}

}  // namespace sturnus::internal
