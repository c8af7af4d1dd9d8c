#include <sturnus/runtime/log.h>

#include <iostream>
#include <memory>
#include <mutex>
#include <utility>

namespace sturnus {
namespace {

void print_warnings(LogLevel level, std::string_view message) {
  if (level == LogLevel::warning) std::cerr << "sturnus: warning: " << message << std::endl;
}

struct Registered {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink = std::make_shared<const LogSink>(print_warnings);
};

Registered& registered() {
  static Registered instance;
  return instance;
}

}  // namespace

void set_log_sink(LogSink sink) {
  auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  std::lock_guard lock(registered().mutex);
  registered().sink = std::move(next);
}

void log(LogLevel level, std::string_view message) {
  std::shared_ptr<const LogSink> sink;
  {
    std::lock_guard lock(registered().mutex);
    sink = registered().sink;
  }
  // Called outside the lock: a sink may itself set another sink.
  if (sink) (*sink)(level, message);
}

}  // namespace sturnus
