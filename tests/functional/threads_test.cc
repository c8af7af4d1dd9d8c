// Several threads trace, transform, compile and run at once, the same functions and different ones.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/debug.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace sturnus {
namespace {

constexpr int thread_count = 4;

// Runs `work` with the numbers 0, 1, ... of the threads; what one throws is a failure.
void on_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  std::atomic<int> ready = 0;
  for (int t = 0; t < thread_count; t++) {
    threads.emplace_back([&, t] {
      ready++;
      while (ready < thread_count) std::this_thread::yield();
      try {
        work(t);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << t << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

Array f64(double value) { return Array(value, DType::f64); }
Array cubed_sine(Array x) { return sin(x * x * x); }

TEST(Threads, TheSameJittedFunction) {
  auto f = jit(grad([](Array x) { return sum(cubed_sine(x)); }));
  on_threads([&](int t) {
    for (int i = 0; i < 20; i++) {
      // Different shapes, so that some are traced while others run.
      double x = 0.1 * t + 0.01 * i;
      std::size_t n = static_cast<std::size_t>(i % 4) + 1;
      auto slopes = f(array(std::vector<double>(n, x))).to_vector<double>();
      ASSERT_EQ(slopes.size(), n);
      for (double slope : slopes) {
        EXPECT_NEAR(slope, 3 * x * x * std::cos(x * x * x), 1e-12);
      }
    }
  });
}

TEST(Threads, TracesAreTheThreadsOwn) {
  on_threads([](int t) {
    for (int i = 0; i < 10; i++) {
      double x = 0.3 + 0.1 * t;
      // Each captures its own number, so that no two programs are equal.
      auto power = [&](Array y) {
        return fori_loop(
            0, t + 1, [&](Array, Array c) { return c * y; }, f64(1));
      };
      EXPECT_NEAR(grad(power)(f64(x)).item<double>(), (t + 1) * std::pow(x, t), 1e-12);
      EXPECT_NEAR(grad(grad(power))(f64(x)).item<double>(), (t + 1) * t * std::pow(x, t - 1),
                  1e-11);
      auto together = vmap(power)(array({x, 2 * x}, DType::f64)).to_vector<double>();
      EXPECT_NEAR(together[1], std::pow(2 * x, t + 1), 1e-12);
    }
  });
}

// The same nodes, made and dropped by all: the table that finds equal nodes is shared.
TEST(Threads, EqualGraphsAtOnce) {
  on_threads([](int) {
    for (int i = 0; i < 200; i++) {
      Array x = abstract_array(DType::f64, {3});
      Lowered program = lower([](Array y) { return sum(cubed_sine(y) * 2.0 + cubed_sine(y)); }, x);
      EXPECT_EQ(program.result_types()[0].str(), "f64[]");
    }
  });
}

TEST(Threads, ErrorsAndGuardsOfOneThreadAreNotThoseOfAnother) {
  on_threads([](int t) {
    auto f = jit([](Array x) { return log(x); });
    if (t % 2 == 0) {
      DebugNans guard;
      EXPECT_THROW(f(f64(-1)), Error);
      EXPECT_THROW(jit([](Array x) { return x + Array(x.item<double>()); })(f64(1)), TraceError);
    } else {
      for (int i = 0; i < 10; i++) EXPECT_TRUE(std::isnan(f(f64(-1 - i)).item<double>()));
    }
    EXPECT_FALSE(internal::Trace::open());
  });
}

TEST(Threads, LinesOfDebugPrintComeOneAtATime) {
  std::vector<std::string> lines;  // no lock: the sink is called by one thread at a time
  set_debug_sink([&lines](const std::string& line) { lines.push_back(line); });
  auto f = jit([](Array x) { return debug_print("x", x) + 1.0; });
  on_threads([&](int) {
    for (int i = 0; i < 50; i++) f(f64(i)).await();
  });
  set_debug_sink({});
  EXPECT_EQ(lines.size(), 50u * thread_count);
}

}  // namespace
}  // namespace sturnus
