// Ops that are functions of the host on the CPU: their programs for other devices, run on the CPU,
// give the same bits.
#include <gtest/gtest.h>
#include <sturnus/functional/emitter.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/pair_order.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/sobol.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/executable.h>
#include <sturnus/runtime/host_callback.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace sturnus::testing {
namespace {

using Function = std::function<Array(const Array&)>;

struct Program {
  std::string text;
  bool calls_host;
};

Program lowered(const Function& f, const ArrayType& type, std::string_view platform, bool on_host) {
  internal::Trace trace;
  Array x = internal::placeholder(type, "test");
  std::string text = internal::Emitter::module("main", {x}, {f(x)}, {}, platform, on_host);
  return {text, text.find(internal::host_callback_target) != std::string::npos};
}

std::vector<double> run(const Program& program, const Array& x) {
  LoadedExecutable executable = default_device().owner().compile(program.text);
  auto result = std::make_shared<const Buffer>(std::move(executable.run({&x.buffer()})[0]));
  return convert(internal::constant(result), DType::f64).to_vector<double>();
}

void expect_same_everywhere(const char* name, const Function& f, const Array& x) {
  Program host = lowered(f, x.type(), "cpu", true);
  Program cpu = lowered(f, x.type(), "cpu", false), device = lowered(f, x.type(), "cuda", false);
  EXPECT_TRUE(host.calls_host) << name;
  EXPECT_FALSE(cpu.calls_host || device.calls_host) << name;
  std::vector<double> expected = run(host, x);
  EXPECT_EQ(run(cpu, x), expected) << name << " on the CPU without the host";
  EXPECT_EQ(run(device, x), expected) << name << " on a device";
}

// Rows of normal numbers, some of them equal, infinite in the last row.
Array rows_of(std::int64_t rows, std::int64_t length, DType dtype) {
  Array x = normal(key(5), {rows, length}, dtype);
  x = where(abs(x) < 0.1, 0.0, x);
  Array last = broadcast_to(expand_dims(arange(rows) == rows - 1, 1), x.shape());
  return where(last & (x > 1.5), std::numeric_limits<double>::infinity(), x);
}

TEST(Lowerings, GiveTheSameBits) {
  for (DType dtype : {DType::f32, DType::f64}) {
    Array x = rows_of(3, 25, dtype), many = rows_of(2, 230, dtype);
    Array ranks = array(std::vector<int>{0, 11, 24}),
          pair_ranks = array(std::vector<int>{0, 150, 299});
    expect_same_everywhere(
        "order_statistic", [](const Array& x) { return order_statistic(x, 7); }, x);
    expect_same_everywhere(
        "order_statistic of columns", [](const Array& x) { return order_statistic(x, 1, 0); }, x);
    expect_same_everywhere(
        "order_statistic of ranks", [&](const Array& x) { return order_statistic(x, ranks); }, x);
    expect_same_everywhere(
        "order_statistic of ranks in columns",
        [&](const Array& x) { return order_statistic(x, arange(25) % 3, 0); }, x);
    expect_same_everywhere(
        "median", [](const Array& x) { return median(x, 1); }, many);
    expect_same_everywhere(
        "pair_order_statistic", [&](const Array& x) { return pair_order_statistic(x, pair_ranks); },
        x);
    expect_same_everywhere(
        "pair_order_statistic of many",
        [](const Array& x) {
          return pair_order_statistic(x, array(std::vector<int>{700, 26334}));
        },
        many);
    auto median_of = [](const Array& x) {
      PairMedian found = pair_median(x);
      return stack({found.distance, convert(found.count, x.dtype())}, 0);
    };
    expect_same_everywhere("pair_median", median_of, x);
    expect_same_everywhere("pair_median of many", median_of, many);
    expect_same_everywhere(
        "pair_median of columns", [&](const Array& x) { return median_of(transpose(x)); }, x);
    Array lost = full({2, 4}, std::numeric_limits<double>::quiet_NaN(), dtype);
    expect_same_everywhere("pair_median of nothing", median_of, lost);
  }
}

// Layers of networks whose weights are columns of one matrix: products read them where they are.
TEST(Lowerings, MultiplyColumnsOfAMatrixInPlace) {
  Array x = normal(key(8), {8, 230}, DType::f64);
  auto part = [](const Array& x, std::int64_t from) {
    return reshape(slice(x, {0, from}, {8, from + 100}), {8, 10, 10});
  };
  const Function products[] = {
      [&](const Array& x) { return matmul(part(x, 3), part(x, 120)); },
      [&](const Array& x) { return matmul(part(x, 0), swapaxes(part(x, 130), 1, 2)); },
      [&](const Array& x) { return matmul(swapaxes(part(x, 7), 1, 2), sin(part(x, 50))); },
      // Half of the rows is another matrix.
      [&](const Array& x) {
        return matmul(part(x, 3), reshape(slice(x, {0, 5}, {4, 205}), {8, 10, 10}));
      },
      // All matrices by one, which stands in a row or is columns itself.
      [&](const Array& x) {
        Array one = reshape(slice(x, {2, 40}, {3, 140}), {10, 10});
        return matmul(part(x, 9), one);
      },
      [&](const Array& x) {
        return dot_general(part(x, 9), slice(x, {0, 1}, {8, 11}), {{}, {}, {1}, {1}});
      }};
  for (const Function& f : products) {
    Program host = lowered(f, x.type(), "cpu", true), device = lowered(f, x.type(), "cuda", false);
    EXPECT_TRUE(host.calls_host);
    std::vector<double> found = run(host, x), expected = run(device, x);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], expected[i], 1e-12);
  }
}

// A few columns of long rows are taken out by the host.
TEST(Lowerings, TakeColumns) {
  for (DType dtype : {DType::f32, DType::f64, DType::i32}) {
    Array x = convert(100.0 * normal(key(9), {32, 8200}), dtype);
    for (auto [from, to] : {std::pair(0, 1), {4000, 4100}, {8190, 8200}}) {
      expect_same_everywhere(
          "columns",
          [from = from, to = to](const Array& x) {
            return slice(x, {0, from}, {32, to});
          },
          x);
    }
  }
}

// XLA would repeat a sine in each of the kernels that need it.
TEST(Lowerings, ComputeASineOnce) {
  auto f = [](const Array& x) {
    Array s = sin(x);
    return std::vector<Array>{sum(s * s), sum(s * x), max(s + x), s - x};
  };
  std::string program = jit(f).compile(normal(key(1), {200}, DType::f64)).program().optimized();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = program.find("sine(", at)) != program.npos; at++) count++;
  EXPECT_EQ(count, 1u) << program;
}

TEST(Lowerings, DrawTheSameNumbers) {
  auto key_of = [](const Array& x) { return fold_in(key(3), x); };
  Array seed = Array(4);
  expect_same_everywhere(
      "uniform",
      [&](const Array& x) {
        return uniform(key_of(x), {40, 3});
      },
      seed);
  expect_same_everywhere(
      "sobol", [&](const Array& x) { return sobol(key_of(x), 50, 3); }, seed);
  for (DType dtype : {DType::f32, DType::f64}) {
    expect_same_everywhere(
        "sobol of several keys",
        [&](const Array& x) {
          auto draw = [&](const Key& k) {
            return sobol(k, 33, 2, {.first = 1000, .dtype = dtype});
          };
          return vmap(vmap(draw))(
              vmap([](const Key& k) { return split(k, 2); })(split(key_of(x), 3)));
        },
        seed);
  }
}

}  // namespace
}  // namespace sturnus::testing
