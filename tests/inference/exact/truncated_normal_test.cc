#include "src/inference/exact/truncated_normal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace sturnus {
namespace {

struct Case {
  const char* name;
  double precision, linear, low, high;
};

const std::vector<Case> cases = {
    {"wide around the mean", 4, 2, -30, 40},         {"cut on both sides", 1, 0.3, -1, 2},
    {"cut near the mean", 1, 1, -3, 1.0001},         {"mean at the lower bound", 1, -1, -1, 5},
    {"mean at the upper bound", 2, 4, -5, 2},        {"mean 4 sd above", 1, 4, -2, 0},
    {"mean 60 sd below", 100, -600, 0, 1},           {"mean 1e4 sd above", 1e8, 2e8, 0, 1},
    {"narrow interval", 1, 0.2, 0.1, 0.1 + 1e-7},    {"flat", 0, 0, -10, 10},
    {"flat but for a tilt", 0, 0.5, -10, 10},        {"steep tilt", 0, -80, 0, 3},
    {"tiny precision and tilt", 1e-20, 1e-3, -5, 5}, {"far from the origin", 1, 1000, 998, 1001},
};

/// The exponent, relative to its largest value on the interval.
struct Exponent {
  explicit Exponent(const Case& c) : c(c) {
    mode = c.precision > 0 ? std::clamp(c.linear / c.precision, c.low, c.high)
           : c.linear > 0  ? c.high
                           : c.low;
  }
  double operator()(double x) const {
    // Exact for the difference of the two quadratics, without subtracting large numbers.
    return (x - mode) * (c.linear - 0.5 * c.precision * (x + mode));
  }
  const Case& c;
  double mode;
};

/// The integral of g times the density, by a thousand panels over where the density matters.
double integrate(const Case& c, double low, double high, const std::function<double(double)>& g) {
  Exponent exponent(c);
  auto reach = [&](double sign, double end) {
    double distance = 1e-12;
    while (distance < end && exponent(exponent.mode + sign * distance) > -50) distance *= 1.5;
    return std::min(distance, end);
  };
  low = std::max(low, exponent.mode - reach(-1, exponent.mode - c.low));
  high = std::min(high, exponent.mode + reach(1, c.high - exponent.mode));
  if (!(low < high)) return 0;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    auto integrand = [&](double x) { return g(x) * std::exp(exponent(x)); };
    sum += boost::math::quadrature::gauss<double, 10>::integrate(
        integrand, low + (high - low) * i / 1000, low + (high - low) * (i + 1) / 1000);
  }
  return sum;
}

TEST(TruncatedNormal, AgreesWithQuadratureInEveryRegime) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TruncatedNormal normal = TruncatedNormal::from_quadratic(c.precision, c.linear, c.low, c.high);
    Exponent exponent(c);
    double total = integrate(c, c.low, c.high, [](double) { return 1; });
    double peak = exponent.mode * (c.linear - 0.5 * c.precision * exponent.mode);
    EXPECT_NEAR(normal.log_integral(), peak + std::log(total), 1e-11 * (1 + std::abs(peak)));

    double mean = exponent.mode +
                  integrate(c, c.low, c.high, [&](double x) { return x - exponent.mode; }) / total;
    double variance =
        integrate(c, c.low, c.high, [&](double x) { return (x - mean) * (x - mean); }) / total;
    double sd = std::sqrt(variance);
    EXPECT_NEAR(normal.moments().mean, mean, 1e-9 * sd + 1e-15 * std::abs(mean));
    EXPECT_NEAR(normal.moments().variance, variance, 1e-9 * variance);
    for (double z : {-3.0, -1.0, -0.2, 0.5, 1.4}) {
      double x = mean + z * sd;
      if (x <= c.low || x >= c.high) continue;
      EXPECT_NEAR(normal.density(x) * sd, std::exp(exponent(x)) / total * sd, 1e-9)
          << "at " << z << " sd";
      EXPECT_NEAR(normal.cdf(x), integrate(c, c.low, x, [](double) { return 1; }) / total, 1e-9)
          << "at " << z << " sd";
    }
  }
}

TEST(TruncatedNormal, QuantileInvertsTheDistribution) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TruncatedNormal normal = TruncatedNormal::from_quadratic(c.precision, c.linear, c.low, c.high);
    double last = c.low;
    for (double p : {1e-12, 1e-5, 0.1, 0.5, 0.7, 0.999}) {
      double x = normal.quantile(p);
      double rounding = std::abs(x) * 2e-16 * normal.density(x);
      EXPECT_NEAR(normal.cdf(x), p, 1e-11 + 2 * rounding) << p;
      EXPECT_GE(x, last);
      EXPECT_LE(x, c.high);
      last = x;
    }
  }
}

TEST(TruncatedNormal, StaysInItsInterval) {
  for (const Case& c : cases) {
    TruncatedNormal normal = TruncatedNormal::from_quadratic(c.precision, c.linear, c.low, c.high);
    EXPECT_EQ(normal.cdf(c.low - 1), 0) << c.name;
    EXPECT_EQ(normal.cdf(c.high + 1), 1) << c.name;
    EXPECT_EQ(normal.density(c.high + 1), 0) << c.name;
  }
}

TEST(TruncatedNormal, WithoutBoundsIsTheNormal) {
  TruncatedNormal normal = TruncatedNormal::normal(3, 2);
  for (double z : {-6.0, -1.0, 0.0, 0.5, 4.0}) {
    EXPECT_NEAR(normal.cdf(3 + 2 * z), 0.5 * std::erfc(-z / std::numbers::sqrt2), 1e-15) << z;
  }
  EXPECT_NEAR(normal.quantile(0.975), 3 + 2 * 1.959963984540054, 1e-13);
  EXPECT_DOUBLE_EQ(normal.moments().mean, 3);
  EXPECT_DOUBLE_EQ(normal.moments().variance, 4);
}

TEST(TruncatedNormal, MapsAffinely) {
  TruncatedNormal normal = TruncatedNormal::from_quadratic(1, 0.3, -1, 2);
  for (double scale : {2.5, -0.4}) {
    TruncatedNormal mapped = normal.affine(scale, 7);
    for (double x : {-0.9, 0.0, 0.6, 1.9}) {
      double expected = scale > 0 ? normal.cdf(x) : 1 - normal.cdf(x);
      EXPECT_NEAR(mapped.cdf(scale * x + 7), expected, 1e-14) << scale << " at " << x;
      EXPECT_NEAR(mapped.density(scale * x + 7), normal.density(x) / std::abs(scale), 1e-14);
    }
    EXPECT_NEAR(mapped.moments().mean, scale * normal.moments().mean + 7, 1e-13);
    EXPECT_NEAR(mapped.moments().variance, scale * scale * normal.moments().variance, 1e-13);
  }
}

TEST(TruncatedNormal, OfScaleZeroIsAPoint) {
  TruncatedNormal point = TruncatedNormal::from_quadratic(1, 0.3, -1, 2).affine(0, 5);
  EXPECT_EQ(point.cdf(4.999), 0);
  EXPECT_EQ(point.cdf(5), 1);
  EXPECT_EQ(point.moments().mean, 5);
  EXPECT_EQ(point.moments().variance, 0);
}

}  // namespace
}  // namespace sturnus
