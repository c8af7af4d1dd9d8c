// Work that is shared among threads: all of it is done once, whoever comes, and rounds alike.

#include "src/runtime/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <mutex>
#include <thread>
#include <vector>

namespace sturnus::internal {
namespace {

// Threads of the test's own. Tasks that are late run when the test says so.
class TestThreads final : public Threads {
 public:
  explicit TestThreads(std::int64_t count, bool late = false, bool refuse = false)
      : count_(count), late_(late), refuse_(refuse) {}
  ~TestThreads() override { finish(); }

  std::int64_t count() const override { return count_; }
  bool schedule(void (*task)(void*), void* data) const override {
    if (refuse_) return false;
    std::lock_guard lock(mutex_);
    if (late_) {
      waiting_.emplace_back(task, data);
    } else {
      threads_.emplace_back(task, data);
    }
    return true;
  }
  void finish() {
    for (auto& [task, data] : waiting_) task(data);
    waiting_.clear();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::int64_t count_;
  bool late_, refuse_;
  mutable std::mutex mutex_;
  mutable std::vector<std::thread> threads_;
  mutable std::vector<std::pair<void (*)(void*), void*>> waiting_;
};

void expect_each_once(const Threads* threads, std::int64_t count, std::int64_t grain) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  in_parallel(threads, count, grain, [&](std::int64_t first, std::int64_t last) {
    EXPECT_GE(last - first, std::min(grain, count));
    for (std::int64_t i = first; i < last; i++) seen[static_cast<std::size_t>(i)]++;
  });
  for (const auto& times : seen) EXPECT_EQ(times, 1);
}

TEST(InParallel, DoesEverythingOnce) {
  for (std::int64_t count : {0, 1, 2, 7, 100}) {
    for (std::int64_t grain : {0, 1, 3, 200}) {
      expect_each_once(nullptr, count, grain);
      for (std::int64_t threads : {1, 2, 5}) {
        TestThreads some(threads);
        expect_each_once(&some, count, grain);
      }
    }
  }
}

TEST(InParallel, NeedsNobodyElse) {
  TestThreads late(4, true), unwilling(4, false, true);
  expect_each_once(&late, 100, 1);
  expect_each_once(&unwilling, 100, 1);
  late.finish();  // tasks that come when the work is gone
}

TEST(InParallel, RoundsAsTheCallerDoes) {
  TestThreads threads(4);
  std::fesetround(FE_UPWARD);
  std::vector<int> modes(64, -1);
  in_parallel(&threads, 64, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; i++)
      modes[static_cast<std::size_t>(i)] = std::fegetround();
    std::this_thread::yield();
  });
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(modes, std::vector<int>(64, FE_UPWARD));
}

}  // namespace
}  // namespace sturnus::internal
