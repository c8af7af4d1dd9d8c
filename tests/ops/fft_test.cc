// Fourier transforms against the sums that define them.
#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

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

// NumPy's, for even and odd n.
TEST(Fft, FrequenciesAreThoseOfTheEntries) {
  using Doubles = std::vector<double>;
  EXPECT_EQ(fftfreq(8, 0.5, DType::f64).to_vector<double>(),
            (Doubles{0, 0.25, 0.5, 0.75, -1, -0.75, -0.5, -0.25}));
  EXPECT_EQ(fftfreq(5, 0.2, DType::f64).to_vector<double>(), (Doubles{0, 1, 2, -2, -1}));
  EXPECT_EQ(fftfreq(1).to_vector<float>(), std::vector<float>{0});
  EXPECT_EQ(rfftfreq(8, 0.5, DType::f64).to_vector<double>(), (Doubles{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(rfftfreq(5, 0.2, DType::f64).to_vector<double>(), (Doubles{0, 1, 2}));
  // A wave of three turns in the samples has frequency 3.
  Array t = arange(16, DType::f64) / 16.0;
  Array power = square(abs(fft(cos(2 * std::numbers::pi * 3 * t))));
  Array at = fftfreq(16, 1.0 / 16, DType::f64);
  EXPECT_NEAR((sum(power * square(at)) / sum(power)).item<double>(), 9, 1e-12);
}

TEST(Fft, ShiftsPutFrequency0InTheMiddle) {
  using Doubles = std::vector<double>;
  for (std::int64_t n : {1, 2, 7, 8}) {
    Array at = fftfreq(n, 1.0 / static_cast<double>(n), DType::f64), shifted = fftshift(at);
    Doubles ascending;
    for (std::int64_t i = 0; i < n; i++) ascending.push_back(static_cast<double>(i - n / 2));
    EXPECT_EQ(shifted.to_vector<double>(), ascending);
    EXPECT_EQ(ifftshift(shifted).to_vector<double>(), at.to_vector<double>());
  }
  Array x = array({{0, 1, 2}, {3, 4, 5}}, DType::f64);
  EXPECT_EQ(fftshift(x).to_vector<double>(), (Doubles{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(fftshift(x, 1).to_vector<double>(), (Doubles{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(fftshift(x, -2).to_vector<double>(), (Doubles{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(ifftshift(fftshift(x)).to_vector<double>(), x.to_vector<double>());
  EXPECT_EQ(fftshift(Array(2.0)).item<float>(), 2);
}

TEST(Fft, Errors) {
  EXPECT_THROW(fftfreq(0), ShapeError);
  EXPECT_THROW(rfftfreq(-2), ShapeError);
  EXPECT_THROW(fftfreq(4, 1, DType::i32), DtypeError);
  EXPECT_THROW(fftshift(zeros({3}), 1), ShapeError);
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
