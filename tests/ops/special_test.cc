// Elementwise functions against Boost.Math and the C++ library over wide ranges, in f64 and f32,
// and at the ends of their domains.
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace sturnus {
namespace {

using Doubles = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Function {
  std::string name;
  std::function<Array(Array)> f;
  std::function<double(double)> reference;
  std::vector<std::pair<double, double>> ranges;  // where the relative error counts
  bool near_zero = false;                         // small results count as if they were 1
  double f32_tolerance = 5e-7;
};

// Numbers spread evenly, and evenly in their logarithm, over a range.
Doubles points(double low, double high) {
  Doubles x;
  for (int i = 0; i <= 400; i++) x.push_back(low + (high - low) * i / 400);
  if (low > 0) {
    for (int i = 0; i <= 400; i++) x.push_back(low * std::pow(high / low, i / 400.0));
  }
  return x;
}

template <class T>
double largest_error(const Function& function) {
  double largest = 0;
  for (auto [low, high] : function.ranges) {
    std::vector<T> x;
    for (double point : points(low, high)) {
      T rounded = static_cast<T>(point);
      double value = function.reference(static_cast<double>(rounded));
      bool normal = std::abs(value) > 10 * static_cast<double>(std::numeric_limits<T>::min()) &&
                    std::abs(value) < static_cast<double>(std::numeric_limits<T>::max()) / 2;
      if (normal || value == 0) x.push_back(rounded);
    }
    auto y = jit(function.f)(array(x)).template to_vector<T>();
    double worst = 0, worst_at = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
      double expected = function.reference(static_cast<double>(x[i]));
      double scale = std::abs(expected);
      if (function.near_zero) scale = std::max(scale, 1.0);
      double difference = std::abs(static_cast<double>(y[i]) - expected);
      double error = difference == 0 ? 0 : difference / scale;
      if (!(error <= worst)) {
        worst = error;
        worst_at = static_cast<double>(x[i]);
      }
    }
    EXPECT_FALSE(std::isnan(worst)) << "NaN at " << worst_at;
    largest = std::max(largest, worst);
  }
  return largest;
}

const std::vector<Function>& functions() {
  static const std::vector<Function> list = {
      {"exp2", exp2, [](double x) { return std::exp2(x); }, {{-120, 120}, {-1e-3, 1e-3}}},
      {"log2", log2, [](double x) { return std::log2(x); }, {{1e-30, 1e30}, {0.9, 1.1}}},
      {"log10", log10, [](double x) { return std::log10(x); }, {{1e-30, 1e30}, {0.9, 1.1}}},
      {"cbrt", cbrt, [](double x) { return std::cbrt(x); }, {{1e-30, 1e30}, {-8, 8}}, false, 1e-6},
      {"tan", tan, [](double x) { return std::tan(x); }, {{-1.5, 1.5}, {1e-20, 1}}},
      {"asin", asin, [](double x) { return std::asin(x); }, {{-1, 1}, {1e-20, 1}}},
      {"acos", acos, [](double x) { return std::acos(x); }, {{-1, 1}}},
      {"atan", atan, [](double x) { return std::atan(x); }, {{-50, 50}, {1e-20, 1e20}}},
      {"sinh", sinh, [](double x) { return std::sinh(x); }, {{-88, 88}, {1e-20, 1}}},
      {"cosh", cosh, [](double x) { return std::cosh(x); }, {{-88, 88}}},
      {"asinh", asinh, [](double x) { return std::asinh(x); }, {{-50, 50}, {1e-20, 1e30}}},
      {"acosh", acosh, [](double x) { return std::acosh(x); }, {{1, 2}, {1, 1e30}}},
      {"atanh", atanh, [](double x) { return std::atanh(x); }, {{-0.999, 0.999}, {1e-20, 0.9}}},
      {"erf", erf, [](double x) { return boost::math::erf(x); }, {{-6, 6}, {1e-20, 10}}},
      {"erfc", erfc, [](double x) { return boost::math::erfc(x); }, {{-6, 30}, {1e-20, 10}}},
      {"erf_inv",
       erf_inv,
       [](double x) { return boost::math::erf_inv(x); },
       {{-0.9999, 0.9999}, {1e-20, 0.99}, {0.99, 0.9999999}}},
      {"lgamma", lgamma, [](double x) { return std::lgamma(x); }, {{1e-20, 1e20}, {0.01, 20}}},
      {"lgamma of negative",
       lgamma,
       [](double x) { return std::lgamma(x); },
       {{-30.45, -0.05}},
       /*near_zero=*/true,
       2e-6},
      {"digamma",
       digamma,
       [](double x) { return boost::math::digamma(x); },
       {{1e-10, 1e10}, {0.1, 20}, {-10.45, -0.55}},
       /*near_zero=*/true,
       1e-6},
      {"trigamma",
       [](Array x) { return polygamma(1, x); },
       [](double x) { return boost::math::polygamma(1, x); },
       {{1e-3, 1e5}, {-10.45, -0.55}}},
      {"polygamma(2)",
       [](Array x) { return polygamma(2, x); },
       [](double x) { return boost::math::polygamma(2, x); },
       {{1e-3, 1e5}}},
      {"polygamma(4)",
       [](Array x) { return polygamma(4, x); },
       [](double x) { return boost::math::polygamma(4, x); },
       {{1e-2, 1e5}}},
      {"softplus",
       softplus,
       [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); },
       {{-80, 80}}},
      {"gelu",
       gelu,
       [](double x) { return 0.5 * x * boost::math::erfc(-x / std::sqrt(2.0)); },
       {{-3, 10}},
       false,
       1e-6},
      {"hypot with 3",
       [](Array x) { return hypot(x, 3.0); },
       [](double x) { return std::hypot(x, 3); },
       {{-10, 10}, {1e-30, 1e30}}},
      {"atan2 of -2",
       [](Array x) { return atan2(-2.0, x); },
       [](double x) { return std::atan2(-2, x); },
       {{-10, 10}}},
  };
  return list;
}

class Special : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Special, IsAccurate) {
  const Function& function = functions()[GetParam()];
  EXPECT_LT(largest_error<double>(function), 1e-13);
  EXPECT_LT(largest_error<float>(function), function.f32_tolerance);
}

INSTANTIATE_TEST_SUITE_P(Functions, Special, ::testing::Range<std::size_t>(0, functions().size()),
                         [](const auto& info) {
                           std::string name = functions()[info.param].name;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name;
                         });

TEST(SpecialEnds, AreTheLimits) {
  struct Case {
    std::string name;
    std::function<Array(Array)> f;
    double x, expected;
  };
  const std::vector<Case> cases = {
      {"erf", erf, infinity, 1},
      {"erf", erf, -infinity, -1},
      {"erf", erf, nan, nan},
      {"erfc", erfc, infinity, 0},
      {"erfc", erfc, -infinity, 2},
      {"erf_inv", erf_inv, 1, infinity},
      {"erf_inv", erf_inv, -1, -infinity},
      {"erf_inv", erf_inv, 1.5, nan},
      {"erf_inv", erf_inv, 0, 0},
      {"lgamma", lgamma, 1, 0},
      {"lgamma", lgamma, 2, 0},
      {"lgamma", lgamma, 0, infinity},
      {"lgamma", lgamma, -3, infinity},
      {"lgamma", lgamma, infinity, infinity},
      {"lgamma", lgamma, -infinity, infinity},
      {"lgamma", lgamma, nan, nan},
      {"digamma", digamma, infinity, infinity},
      {"digamma", digamma, nan, nan},
      {"sinh", sinh, 710, std::sinh(710.0)},
      {"sinh", sinh, -infinity, -infinity},
      {"cosh", cosh, -710, std::cosh(710.0)},
      {"asinh", asinh, -1e300, std::asinh(-1e300)},
      {"asinh", asinh, infinity, infinity},
      {"acosh", acosh, 0.5, nan},
      {"acosh", acosh, -2, nan},
      {"acosh", acosh, -1e9, nan},
      {"acosh", acosh, -infinity, nan},
      {"acosh", acosh, infinity, infinity},
      {"angle", angle, -2, std::numbers::pi},
      {"angle", angle, 2, 0},
      {"angle", angle, nan, nan},
      {"atanh", atanh, 1, infinity},
      {"asin", asin, 1.1, nan},
      {"acos", acos, -1, M_PI},
      {"cbrt", cbrt, -8, -2},
      {"log2", log2, 0, -infinity},
      {"softplus", softplus, 1000, 1000},
      {"softplus", softplus, -1000, 0},
      {"log_sigmoid", log_sigmoid, -1000, -1000},
      {"relu", relu, nan, nan},
      {"relu", relu, -infinity, 0},
      {"elu", [](Array x) { return elu(x); }, 1000, 1000},
      {"hypot", [](Array x) { return hypot(x, 1e200); }, 1e200, std::sqrt(2.0) * 1e200},
      {"hypot", [](Array x) { return hypot(x, 1.0); }, infinity, infinity},
      {"hypot", [](Array x) { return hypot(x, 0.0); }, 0, 0},
      {"trunc", trunc, -1.7, -1},
      {"trunc", trunc, 1.7, 1},
      {"nan_to_num", nan_to_num, nan, 0},
      {"nan_to_num", nan_to_num, -infinity, -std::numeric_limits<double>::max()},
      {"nan_to_num", nan_to_num, 2.5, 2.5},
      // derivatives
      {"relu at 0", grad([](Array x) { return relu(x); }), 0, 0},
      {"elu far", grad([](Array x) { return elu(x); }), 1000, 1},
      {"softplus, twice at 0", grad(grad([](Array x) { return softplus(x); })), 0, 0.25},
      {"softplus far", grad([](Array x) { return softplus(x); }), -1000, 0},
      {"hypot at 0", grad([](Array x) { return hypot(x, 0.0); }), 0, 0},
      {"atan2 at 0", grad([](Array x) { return atan2(x, 0.0); }), 0, 0},
      {"digamma, three times", grad(grad(grad([](Array x) { return digamma(x); }))), 1,
       boost::math::polygamma(3, 1.0)},
  };
  for (const Case& c : cases) {
    double value = c.f(Array(c.x, DType::f64)).item<double>();
    if (std::isfinite(c.expected)) {
      EXPECT_NEAR(value, c.expected, 1e-13 * std::max(1.0, std::abs(c.expected)))
          << c.name << " of " << c.x;
    } else {
      EXPECT_TRUE(value == c.expected || (std::isnan(value) && std::isnan(c.expected)))
          << c.name << " of " << c.x << " is " << value;
    }
  }
}

TEST(FloorDivide, IsThatOfPython) {
  std::vector<std::int32_t> a = {7, -7, 7, -7, 6, -6}, b = {3, 3, -3, -3, 3, -3};
  Array x = array(a), y = array(b);
  auto quotients = floor_divide(x, y).to_vector<std::int32_t>();
  auto rests = mod(x, y).to_vector<std::int32_t>();
  EXPECT_EQ(std::vector<std::int32_t>(quotients.begin(), quotients.end()),
            (std::vector<std::int32_t>{2, -3, -3, 2, 2, 2}));
  EXPECT_EQ(std::vector<std::int32_t>(rests.begin(), rests.end()),
            (std::vector<std::int32_t>{1, 2, -2, -1, 0, 0}));
}

TEST(Logic, TakesNumbersAsTruth) {
  Array x = array(Doubles{0, 2, 0, nan}), y = array(Doubles{0, 0, 3, 1});
  auto bits = [](const Array& z) {
    std::string text;
    for (bool bit : z.to_vector<bool>()) text += bit ? '1' : '0';
    return text;
  };
  EXPECT_EQ(bits(logical_and(x, y)), "0001");
  EXPECT_EQ(bits(logical_or(x, y)), "0111");
  EXPECT_EQ(bits(logical_xor(x, y)), "0110");
  EXPECT_EQ(bits(logical_not(x)), "1010");
  EXPECT_EQ(bits(is_inf(array(Doubles{1, infinity, -infinity, nan}))), "0110");
}

TEST(SpecialTypes, SixteenBitsAreComputedWithThirtyTwo) {
  Array x = convert(Array(1.5), DType::bf16);
  EXPECT_EQ(erf(x).dtype(), DType::bf16);
  EXPECT_NEAR(convert(erf(x), DType::f32).item<float>(), std::erf(1.5), 4e-3);
  EXPECT_NEAR(convert(digamma(x), DType::f32).item<float>(), boost::math::digamma(1.5), 4e-3);
}

TEST(NanTo, ReplacesNothingElse) {
  double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Array x = array({nan, 1, infinity});
  EXPECT_EQ(nan_to(x, 5.0).to_vector<float>(),
            (HostVector<float>{5, 1, static_cast<float>(infinity)}));
  EXPECT_EQ(nan_to_num(x).to_vector<float>(),
            (HostVector<float>{0, 1, std::numeric_limits<float>::max()}));
}

TEST(Polygamma, RefusesNegativeOrders) { EXPECT_THROW(polygamma(-1, 1.0), Error); }

}  // namespace
}  // namespace sturnus
