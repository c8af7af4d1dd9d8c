// Convolutions against plain loops.
#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/convolution.h>
#include <sturnus/ops/creation.h>

#include <random>

namespace sturnus::testing {
namespace {

using Doubles = std::vector<double>;

Doubles random_numbers(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Doubles values(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size()));
  for (double& value : values) value = normal(generator);
  return values;
}

// Two spatial axes, all options given.
Doubles plain_convolution(const Doubles& x, const Shape& xs, const Doubles& kernel, const Shape& ks,
                          const ConvolutionOptions& o, Shape& result) {
  auto dilated = [](std::int64_t n, std::int64_t d) { return (n - 1) * d + 1; };
  result = {xs[0], ks[0], 0, 0};
  for (std::size_t i : {0u, 1u}) {
    std::int64_t room =
        dilated(xs[i + 2], o.x_dilation[i]) + o.padding[i].first + o.padding[i].second;
    result[i + 2] = (room - dilated(ks[i + 2], o.kernel_dilation[i])) / o.strides[i] + 1;
  }
  auto read = [&](std::int64_t b, std::int64_t f, std::int64_t r, std::int64_t c) {
    r -= o.padding[0].first;
    c -= o.padding[1].first;
    if (r < 0 || c < 0 || r % o.x_dilation[0] != 0 || c % o.x_dilation[1] != 0) return 0.0;
    r /= o.x_dilation[0];
    c /= o.x_dilation[1];
    if (r >= xs[2] || c >= xs[3]) return 0.0;
    return x[static_cast<std::size_t>(((b * xs[1] + f) * xs[2] + r) * xs[3] + c)];
  };
  Doubles y;
  for (std::int64_t b = 0; b < result[0]; b++) {
    for (std::int64_t f = 0; f < result[1]; f++) {
      std::int64_t group = f / (ks[0] / o.groups);
      for (std::int64_t r = 0; r < result[2]; r++) {
        for (std::int64_t c = 0; c < result[3]; c++) {
          double total = 0;
          for (std::int64_t i = 0; i < ks[1]; i++) {
            for (std::int64_t s = 0; s < ks[2]; s++) {
              for (std::int64_t t = 0; t < ks[3]; t++) {
                double weight =
                    kernel[static_cast<std::size_t>(((f * ks[1] + i) * ks[2] + s) * ks[3] + t)];
                total +=
                    weight * read(b, group * ks[1] + i, r * o.strides[0] + s * o.kernel_dilation[0],
                                  c * o.strides[1] + t * o.kernel_dilation[1]);
              }
            }
          }
          y.push_back(total);
        }
      }
    }
  }
  return y;
}

TEST(Convolution, IsThePlainSum) {
  Shape xs = {2, 4, 6, 7};
  for (std::int64_t groups : {1, 2, 4}) {
    for (std::int64_t stride : {1, 2}) {
      for (std::int64_t dilation : {1, 3}) {
        for (std::int64_t low : {-1, 0, 2}) {
          ConvolutionOptions options{
              {stride, 1}, {{low, 1}, {1, low}}, {dilation, 1}, {1, 2}, groups};
          Shape ks = {4, 4 / groups, 3, 2}, shape;
          Doubles x = random_numbers(xs, 1), kernel = random_numbers(ks, 2);
          Doubles expected = plain_convolution(x, xs, kernel, ks, options, shape);
          Array y = convolution(array(x, xs), array(kernel, ks), options);
          ASSERT_EQ(y.shape(), shape);
          Doubles values = y.to_vector<double>();
          for (std::size_t i = 0; i < values.size(); i++)
            EXPECT_NEAR(values[i], expected[i], 1e-12);
        }
      }
    }
  }
}

TEST(Convolution, SamePaddingKeepsTheExtent) {
  for (std::int64_t stride : {1, 2, 3}) {
    for (std::int64_t window : {1, 2, 5}) {
      ConvolutionOptions options{.strides = {stride}};
      Shape x = {1, 1, 10}, kernel = {1, 1, window};
      options.padding = same_padding(x, kernel, options);
      EXPECT_EQ(convolution(zeros(x), zeros(kernel), options).shape()[2],
                (10 + stride - 1) / stride);
    }
  }
}

TEST(Convolve, IsThePlainSum) {
  for (auto [n, m] :
       {std::pair<std::int64_t, std::int64_t>{5, 3}, {3, 5}, {6, 2}, {1, 1}, {4, 4}}) {
    Doubles a = random_numbers({n}, 1), v = random_numbers({m}, 2);
    Doubles full(static_cast<std::size_t>(n + m - 1), 0.0);
    for (std::size_t i = 0; i < a.size(); i++) {
      for (std::size_t j = 0; j < v.size(); j++) full[i + j] += a[i] * v[j];
    }
    auto shorter = std::min(n, m), longer = std::max(n, m);
    auto part = [&](std::int64_t begin, std::int64_t count) {
      return Doubles(full.begin() + begin, full.begin() + begin + count);
    };
    auto expect = [&](ConvolveMode mode, const Doubles& expected) {
      Doubles y = convolve(array(a), array(v), mode).to_vector<double>();
      ASSERT_EQ(y.size(), expected.size());
      for (std::size_t i = 0; i < y.size(); i++) EXPECT_NEAR(y[i], expected[i], 1e-13);
    };
    expect(ConvolveMode::full, full);
    expect(ConvolveMode::same, part((shorter - 1) / 2, longer));
    expect(ConvolveMode::valid, part(shorter - 1, longer - shorter + 1));
  }
}

TEST(Convolution, Errors) {
  Array x = zeros({1, 4, 5});
  EXPECT_THROW(convolution(x, zeros({2, 3, 3})), ShapeError);
  EXPECT_THROW(convolution(x, zeros({3, 2, 3}), {.groups = 2}), ShapeError);
  EXPECT_THROW(convolution(x, zeros({2, 4, 3, 3})), ShapeError);
  EXPECT_THROW(convolution(x, zeros({2, 4, 3}), {.strides = {1, 1}}), ShapeError);
  EXPECT_THROW(convolution(x, zeros({2, 4, 3}), {.strides = {0}}), ShapeError);
  EXPECT_EQ(convolution(x, zeros({2, 4, 9})).shape(), (Shape{1, 2, 0}));
  EXPECT_THROW(convolve(zeros({0}), zeros({2})), ShapeError);
}

}  // namespace
}  // namespace sturnus::testing
