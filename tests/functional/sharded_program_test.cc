#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/sharded_program.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

#include "tests/runtime/cpu.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

// What needs nobody else, and what needs all: x and y are cut, w and the total are not.
std::pair<Array, Array> work(const Array& x, const Array& w, const Array& y) {
  Array distance = abs(expand_dims(y, 1) - expand_dims(y, 0));
  return {tanh(x) * w + max(distance, Over({1}, true)), sum(x) + sum(w)};
}

TEST(ShardedProgram, GivesTheResultsOfOneDevice) {
  std::vector<double> numbers;
  for (int i = 0; i < 24; i++) numbers.push_back(0.1 * i * i - 3);
  Array x = array(numbers, {8, 3}, DType::f64), w = array({1, -2, 3}, DType::f64);
  Array y = array({4, 1, 7, 2, 9, 3, 5, 8}, DType::f64);
  auto [expected, total] = jit(work)(x, w, y);
  Lowered lowered = lower(work, x, w, y);
  std::vector<Device> all = Client::cpu(4).addressable_devices();
  for (std::size_t count : {1, 2, 4}) {
    ASSERT_GE(all.size(), count);
    std::vector<Device> devices(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    ShardedProgram program(lowered, devices, {{true, false, true}, {true, false}});
    EXPECT_EQ(program.executable().devices().size(), count);
    auto part = static_cast<std::int64_t>(8 / count);
    EXPECT_EQ(program.executable().parameter_types()[0]->shape, (Shape{part, 3}));
    Arrays found = program.run({x, w, y});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].type(), expected.type());
    std::vector<double> a = to_doubles(found[0]), b = to_doubles(expected);
    for (std::size_t i = 0; i < b.size(); i++) EXPECT_NEAR(a[i], b[i], 1e-12);
    EXPECT_NEAR(found[1].item<double>(), total.item<double>(), 1e-12);
  }
}

TEST(ShardedProgram, SaysWhatCannotBeCut) {
  Array x = zeros({6, 3}), w = zeros({3}), y = zeros({6});
  Lowered lowered = lower(work, x, w, y);
  auto text = [&](std::size_t devices, Cut cut) {
    return error_of([&] { ShardedProgram::stablehlo(lowered, devices, cut); });
  };
  EXPECT_THAT(text(4, {{true, false, true}, {true, false}}),
              HasSubstr("ShardedProgram: argument 0, f32[6,3], cannot be cut into 4 equal parts"));
  EXPECT_THAT(text(2, {{true, false, true}, {true, true}}),
              HasSubstr("result 1, f32[], cannot be cut"));
  EXPECT_THAT(text(2, {{true}, {true, false}}),
              HasSubstr("3 arguments, but 1 are said to be cut or not"));
  EXPECT_THAT(error_of([&] {
                ShardedProgram(lowered, {}, {{true, false, true}, {true, false}});
              }),
              HasSubstr("there is no device"));
}

}  // namespace
}  // namespace sturnus
