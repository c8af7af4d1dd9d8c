// Ops that are functions of the host on the CPU: their programs for other devices, run on the CPU,
// give the same bits.
#include <gtest/gtest.h>
#include <sturnus/functional/emitter.h>
#include <sturnus/functional/graph.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/pair_order.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/sobol.h>
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
  }
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
}

}  // namespace
}  // namespace sturnus::testing
