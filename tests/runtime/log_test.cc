#include <gtest/gtest.h>
#include <sturnus/runtime/log.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

class Log : public testing::Test {
 protected:
  ~Log() override { set_log_sink({}); }
};

// Before any other test sets a sink.
TEST_F(Log, PrintsWarningsUntilASinkIsSet) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  log(LogLevel::warning, "everybody hears this");
  log(LogLevel::info, "but not that");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "sturnus: warning: everybody hears this\n");
}

TEST_F(Log, IsSilentWithAnEmptySink) {
  set_log_sink({});
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  log(LogLevel::warning, "nobody hears this");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Log, HandsLevelAndMessageToTheLatestSink) {
  using Messages = std::vector<std::pair<LogLevel, std::string>>;
  Messages first, second;
  set_log_sink([&](LogLevel level, std::string_view text) { first.emplace_back(level, text); });
  log(LogLevel::info, "one");
  log(LogLevel::warning, "two");
  set_log_sink([&](LogLevel level, std::string_view text) { second.emplace_back(level, text); });
  log(LogLevel::info, "three");
  set_log_sink({});
  log(LogLevel::warning, "four");
  EXPECT_EQ(first, (Messages{{LogLevel::info, "one"}, {LogLevel::warning, "two"}}));
  EXPECT_EQ(second, (Messages{{LogLevel::info, "three"}}));
}

TEST_F(Log, ASinkMaySetAnotherSinkAndLog) {
  std::string heard;
  set_log_sink([&](LogLevel, std::string_view text) {
    heard += text;
    set_log_sink([&](LogLevel, std::string_view later) { heard += later; });
    log(LogLevel::info, "b");
  });
  log(LogLevel::info, "a");
  log(LogLevel::info, "c");
  EXPECT_EQ(heard, "abc");
}

TEST_F(Log, TakesMessagesFromManyThreadsWhileTheSinkChanges) {
  constexpr int threads = 8, messages = 500;
  std::atomic<int> heard = 0;
  auto count = [&heard](LogLevel, std::string_view) { heard++; };
  set_log_sink(count);
  std::vector<std::jthread> speakers;
  for (int t = 0; t < threads; t++) {
    speakers.emplace_back([] {
      for (int i = 0; i < messages; i++) log(LogLevel::info, "x");
    });
  }
  for (int i = 0; i < messages; i++) set_log_sink(count);
  speakers.clear();
  EXPECT_EQ(heard, threads * messages);
}

}  // namespace
}  // namespace sturnus
