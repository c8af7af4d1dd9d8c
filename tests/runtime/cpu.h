// What the tests on the real CPU plugin share: one client, small programs, ways to ask for errors.
#pragma once

#include <gtest/gtest.h>
#include <spawn.h>
#include <sturnus/runtime/executable.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A sanitizer's allocator is to fail as any other does when a program asks for too much. It asks
// for this before it is ready to watch what it calls.
extern "C" [[gnu::used, gnu::no_sanitize_thread]] inline const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" [[gnu::used, gnu::no_sanitize_thread]] inline const char* __tsan_default_options() {
  return __asan_default_options();
}

namespace sturnus {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

/// The client of the process, with four devices.
inline const Client& cpu() {
  static const Client client = Client::cpu(4);
  return client;
}

/// f32[n] of the given values, on the first device unless another is given.
inline Buffer vector_of(std::vector<float> values, const Device& device = cpu().device()) {
  auto size = static_cast<std::int64_t>(values.size());
  return Buffer::from_host<float>(device, values, {size});
}

/// What `action` complains of; the test fails when it does not, or throws something else.
template <class Expected = Error, class Action>
std::string error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no exception";
  return {};
}

namespace programs {

/// f32[4] -> f32[4]: a + a.
inline constexpr std::string_view twice = R"(module @twice {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";

/// i64[], f32[32,32] -> f32[32,32]: n times m <- tanh(m x) + m / 2, from m = x. A while loop, a dot
/// and a fusion; runs as long as one likes.
inline constexpr std::string_view loop = R"(module @loop {
  func.func public @main(%n: tensor<i64>, %x: tensor<32x32xf32>) -> tensor<32x32xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i64>
    %half = stablehlo.constant dense<0.5> : tensor<32x32xf32>
    %r:2 = stablehlo.while(%i = %zero, %m = %x) : tensor<i64>, tensor<32x32xf32>
    cond {
      %more = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i64>
      %next = stablehlo.add %i, %one : tensor<i64>
      %d = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0]
          : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %t = stablehlo.tanh %d : tensor<32x32xf32>
      %h = stablehlo.multiply %m, %half : tensor<32x32xf32>
      %s = stablehlo.add %t, %h : tensor<32x32xf32>
      stablehlo.return %next, %s : tensor<i64>, tensor<32x32xf32>
    }
    return %r#1 : tensor<32x32xf32>
  }
})";

/// f32[] -> f32[1000000,1000000]: needs 4 TB, which no allocator gives.
inline constexpr std::string_view too_large = R"(module @too_large {
  func.func public @main(%a: tensor<f32>) -> tensor<1000000x1000000xf32> {
    %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<1000000x1000000xf32>
    return %0 : tensor<1000000x1000000xf32>
  }
})";

/// f32[32,32] -> f32[]: element (0, 0).
inline constexpr std::string_view first = R"(module @first {
  func.func public @main(%x: tensor<32x32xf32>) -> tensor<f32> {
    %0 = stablehlo.slice %x [0:1, 0:1] : (tensor<32x32xf32>) -> tensor<1x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
})";

}  // namespace programs

/// A program for the first device, compiled once in the process.
inline const LoadedExecutable& compiled(std::string_view program) {
  static std::map<std::string_view, LoadedExecutable> all;
  auto found = all.find(program);
  if (found == all.end()) found = all.emplace(program, cpu().compile(program)).first;
  return found->second;
}

/// The result of programs::loop after so many steps that it is on its way for tenths of a second.
inline Buffer slow_result(const LoadedExecutable& loop = compiled(programs::loop)) {
  Device device = loop.devices()[0];
  Buffer count = Buffer::scalar(device, std::int64_t{20000});
  std::vector<float> values(32 * 32, 0.01f);
  Buffer x = Buffer::from_host<float>(device, values, {32, 32});
  return std::move(loop.run({&count, &x})[0]);
}

/// A result whose program fails after it was started: it waits for another, then lacks memory.
inline Buffer failing_result() {
  const LoadedExecutable& first = compiled(programs::first);
  const LoadedExecutable& too_large = compiled(programs::too_large);
  Buffer slow = slow_result();
  Buffer number = std::move(first.run({&slow})[0]);
  return std::move(too_large.run({&number})[0]);
}

/// A folder of its own for a test, removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = testing::TempDir() + "sturnusXXXXXX";
    if (mkdtemp(path.data()) == nullptr) throw Error("TemporaryFolder: cannot make " + path);
    path_ = path;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Starts this test's program again, with other arguments.
inline pid_t start_self(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/proc/self/exe");
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, words[0], nullptr, nullptr, words.data(), environ) != 0) {
    throw Error("start_self: cannot start another process");
  }
  return child;
}

/// The exit code of a process, -1 when a signal ended it.
inline int exit_code(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace sturnus
