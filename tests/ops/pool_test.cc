// Pooling against plain loops.
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/graph.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/pool.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sturnus::testing {
namespace {

using Doubles = std::vector<double>;

TEST(Pool, IsThePlainLoop) {
  std::int64_t extent = 9;
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  Doubles x(2 * 9);
  for (double& value : x) value = normal(generator);
  for (std::int64_t window : {1, 2, 4}) {
    for (std::int64_t stride : {1, 2, 3}) {
      for (std::int64_t low : {0, 1}) {
        Doubles largest, mean;
        for (std::int64_t row : {0, 1}) {
          for (std::int64_t at = -low; at + window <= extent + 1; at += stride) {
            Doubles inside;
            for (std::int64_t k = std::max<std::int64_t>(at, 0); k < std::min(at + window, extent);
                 k++) {
              inside.push_back(x[static_cast<std::size_t>(row * extent + k)]);
            }
            double total = 0;
            for (double value : inside) total += value;
            bool none = inside.empty();
            largest.push_back(none ? -INFINITY : *std::max_element(inside.begin(), inside.end()));
            mean.push_back(total / static_cast<double>(inside.size()));
          }
        }
        PoolOptions options{{stride}, {{low, 1}}};
        Array values = array(x, {2, 1, extent});
        EXPECT_EQ(max_pool(values, {window}, options).to_vector<double>(), largest);
        Doubles means = avg_pool(values, {window}, options).to_vector<double>();
        ASSERT_EQ(means.size(), mean.size());
        for (std::size_t i = 0; i < mean.size(); i++) {
          if (std::isnan(mean[i])) continue;  // a window without any element
          EXPECT_NEAR(means[i], mean[i], 1e-14);
        }
      }
    }
  }
}

// Each window gives its cotangent to its largest element.
TEST(Pool, GradientCountsTheWindowsThatAnElementWins) {
  std::int64_t rows = 5, columns = 6;
  std::mt19937 generator(2);
  std::normal_distribution<double> normal;
  Doubles x(30), expected(30, 0.0);
  for (double& value : x) value = normal(generator);
  for (std::int64_t r = 0; r + 2 <= rows; r++) {
    for (std::int64_t c = 0; c + 3 <= columns; c += 2) {
      std::int64_t best = r * columns + c;
      for (std::int64_t i = 0; i < 6; i++) {
        std::int64_t k = (r + i / 3) * columns + c + i % 3;
        if (x[static_cast<std::size_t>(k)] > x[static_cast<std::size_t>(best)]) best = k;
      }
      expected[static_cast<std::size_t>(best)] += 1;
    }
  }
  auto total = [](Array y) { return sum(max_pool(y, {2, 3}, {.strides = {1, 2}})); };
  EXPECT_EQ(grad(total)(array(x, {1, 1, rows, columns})).to_vector<double>(), expected);
}

TEST(Pool, WindowsStandSideBySideUnlessToldOtherwise) {
  Array x = array(Doubles{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {1, 1, 3, 5});
  EXPECT_EQ(max_pool(x, {3, 2}).to_vector<double>(), (Doubles{12, 14}));
  EXPECT_EQ(avg_pool(x, {3, 2}).to_vector<double>(), (Doubles{6.5, 8.5}));
}

TEST(Pool, OfIntegersIsExact) {
  Array x = array({16777217, -5, 16777216, -3}, DType::i32);
  Array largest = max_pool(reshape(x, {1, 1, 4}), {2});
  EXPECT_EQ(largest.dtype(), DType::i32);
  EXPECT_EQ(largest.to_vector<int>(), (std::vector<int>{16777217, 16777216}));
  for (DType dtype : {DType::i8, DType::u8, DType::i64, DType::u32, DType::boolean}) {
    Array one = ones({1, 1, 1}, dtype);
    Array padded = max_pool(one, {1}, {.strides = {1}, .padding = {{1, 0}}});
    EXPECT_EQ(padded.dtype(), dtype);
    Doubles values = convert(padded, DType::f64).to_vector<double>();
    double lowest = dtype == DType::i8 ? -128 : dtype == DType::i64 ? -0x1p63 : 0;
    EXPECT_EQ(values, (Doubles{lowest, 1})) << name_of(dtype);
  }
  EXPECT_EQ(avg_pool(reshape(x, {1, 1, 4}), {2}).dtype(), DType::f32);
}

TEST(Pool, OfPaddingAloneIsNothing) {
  PoolOptions options{{1}, {{2, 0}}};
  Array x = array({1}, DType::f64), row = reshape(x, {1, 1, 1});
  EXPECT_TRUE(std::isnan(avg_pool(row, {1}, options).to_vector<double>()[0]));
  EXPECT_EQ(max_pool(row, {1}, options).to_vector<double>()[0], -INFINITY);
}

TEST(Pool, Errors) {
  Array x = zeros({1, 1, 4});
  EXPECT_THROW(max_pool(x, {5}), ShapeError);
  EXPECT_THROW(max_pool(x, {2, 2}), ShapeError);
  EXPECT_THROW(avg_pool(x, {0}), ShapeError);
  EXPECT_THROW(avg_pool(x, {2}, {.strides = {0}}), ShapeError);
  EXPECT_THROW(avg_pool(zeros({4}), {2}), ShapeError);
}

}  // namespace
}  // namespace sturnus::testing
