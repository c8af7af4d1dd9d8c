// Fourier transforms against the sums that define them.
#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/shape.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

namespace sturnus::testing {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

Numbers random_numbers(std::size_t count) {
  std::mt19937 generator(static_cast<unsigned>(count));
  std::normal_distribution<double> normal;
  Numbers values(count);
  for (Number& value : values) value = {normal(generator), normal(generator)};
  return values;
}

// The transform along one axis of an array [before, n, behind].
Numbers transformed(const Numbers& x, std::size_t n, std::size_t behind, double sign) {
  Numbers y(x.size());
  for (std::size_t block = 0; block < x.size(); block += n * behind) {
    for (std::size_t column = 0; column < behind; column++) {
      for (std::size_t k = 0; k < n; k++) {
        Number total = 0;
        for (std::size_t j = 0; j < n; j++) {
          double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
          Number factor = std::polar(1.0, sign * 2 * std::numbers::pi * turns);
          total += x[block + j * behind + column] * factor;
        }
        y[block + k * behind + column] = total;
      }
    }
  }
  return y;
}

// Along the last `axes` axes.
Numbers transformed(Numbers x, const Shape& shape, int axes, double sign) {
  std::size_t behind = 1, count = 1;
  for (int i = 0; i < axes; i++) {
    auto n = static_cast<std::size_t>(shape[shape.size() - 1 - static_cast<std::size_t>(i)]);
    x = transformed(x, n, behind, sign);
    behind *= n;
    count *= n;
  }
  if (sign > 0) {
    for (Number& value : x) value /= static_cast<double>(count);
  }
  return x;
}

void expect_near(const Array& a, const Numbers& expected, double tolerance) {
  Numbers values = convert(a, DType::c128).to_vector<Number>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); i++) {
    EXPECT_LT(std::abs(values[i] - expected[i]), tolerance) << i;
  }
}

const std::vector<Shape> shapes = {{1}, {2}, {7}, {64}, {3, 10}, {2, 4, 5}, {2, 3, 2, 6}};

TEST(Fft, IsTheSumThatDefinesIt) {
  for (const Shape& shape : shapes) {
    for (int axes = 1; axes <= std::min<int>(3, static_cast<int>(shape.size())); axes++) {
      Numbers values =
          random_numbers(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size()));
      Array x = array(values, shape);
      expect_near(fft(x, axes), transformed(values, shape, axes, -1), 1e-12);
      expect_near(ifft(x, axes), transformed(values, shape, axes, 1), 1e-12);
      expect_near(fft(convert(x, DType::c64), axes), transformed(values, shape, axes, -1), 1e-4);
      expect_near(ifft(fft(x, axes), axes), values, 1e-12);
    }
  }
}

TEST(Fft, OfRealNumbersIsTheFirstHalf) {
  for (const Shape& shape : shapes) {
    for (int axes = 1; axes <= std::min<int>(3, static_cast<int>(shape.size())); axes++) {
      Array x = real(array(
          random_numbers(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size())), shape));
      Array half = rfft(x, axes);
      Shape start(shape.size(), 0), stop = shape;
      stop.back() = shape.back() / 2 + 1;
      Array whole = fft(x, axes);
      expect_near(half, slice(whole, start, stop).to_vector<Number>(), 1e-12);
      expect_near(irfft(half, axes, shape.back()), convert(x, DType::c128).to_vector<Number>(),
                  1e-12);
    }
  }
}

TEST(Fft, Errors) {
  EXPECT_THROW(fft(zeros({3}), 2), ShapeError);
  EXPECT_THROW(fft(zeros({3}), 0), ShapeError);
  EXPECT_THROW(fft(zeros({3, 0})), ShapeError);
  EXPECT_THROW(rfft(zeros({3}, DType::c64)), DtypeError);
  EXPECT_THROW(irfft(zeros({3}, DType::c64), 1, 7), ShapeError);
  EXPECT_THROW(irfft(zeros({1}, DType::c64)), ShapeError);
  EXPECT_EQ(fft(zeros({0, 3})).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace sturnus::testing
