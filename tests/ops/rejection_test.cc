// Samples by rejection against distribution functions of Boost.Math, and their derivatives against
// those of the distribution functions.
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/rejection.h>
#include <sturnus/ops/shape.h>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/ops/sample_tests.h"

namespace sturnus::testing {
namespace {

constexpr std::int64_t many = 20000;

template <class Distribution>
std::function<double(double)> cdf_of(Distribution distribution) {
  return [distribution](double x) { return boost::math::cdf(distribution, x); };
}

struct Case {
  std::string name;
  std::function<Array(const Key&, DType)> draw;
  std::function<double(double)> cdf;
};

Array number(double value, DType dtype) { return Array(value, dtype); }

std::vector<Case> continuous() {
  std::vector<Case> cases;
  for (double a : {0.05, 0.7, 1.0, 2.5, 40.0, 1e4}) {
    cases.push_back({"gamma " + std::to_string(a),
                     [a](const Key& k, DType t) { return gamma(k, number(a, t), Shape{many}); },
                     cdf_of(boost::math::gamma_distribution<>(a))});
    cases.push_back({"loggamma " + std::to_string(a),
                     [a](const Key& k, DType t) { return loggamma(k, number(a, t), Shape{many}); },
                     [a](double y) { return boost::math::gamma_p(a, std::exp(y)); }});
  }
  for (auto [a, b] : {std::pair(0.5, 0.5), std::pair(2.0, 5.0), std::pair(30.0, 0.8)}) {
    cases.push_back({"beta " + std::to_string(a),
                     [a = a, b = b](const Key& k, DType t) {
                       return beta(k, number(a, t), number(b, t), Shape{many});
                     },
                     cdf_of(boost::math::beta_distribution<>(a, b))});
  }
  for (double degrees : {1.0, 3.0, 30.0}) {
    cases.push_back(
        {"student_t " + std::to_string(degrees),
         [=](const Key& k, DType t) { return student_t(k, number(degrees, t), Shape{many}); },
         cdf_of(boost::math::students_t_distribution<>(degrees))});
    cases.push_back(
        {"chi_square " + std::to_string(degrees),
         [=](const Key& k, DType t) { return chi_square(k, number(degrees, t), Shape{many}); },
         cdf_of(boost::math::chi_squared_distribution<>(degrees))});
  }
  return cases;
}

TEST(Rejection, SamplesHaveTheirDistribution) {
  std::uint64_t seed = 1;
  for (DType dtype : {DType::f32, DType::f64}) {
    for (const Case& one : continuous()) {
      Array x = one.draw(key(seed++), dtype);
      EXPECT_EQ(x.dtype(), dtype);
      EXPECT_LT(ks_statistic(numbers(x), one.cdf), 2.2) << one.name << " " << name_of(dtype);
    }
  }
}

TEST(Rejection, PoissonCountsHaveTheirDistribution) {
  std::uint64_t seed = 100;
  for (DType dtype : {DType::f32, DType::f64}) {
    for (double rate : {0.2, 3.0, 9.9, 10.1, 12.0, 60.0, 3000.0}) {
      auto x = numbers(poisson(key(seed++), number(rate, dtype), Shape{many}));
      boost::math::poisson_distribution<> exact(rate);
      auto probability = [&](std::int64_t k) {
        return boost::math::pdf(exact, static_cast<double>(k));
      };
      EXPECT_LT(std::abs(chi_square_score(x, probability)), 4) << rate;
      EXPECT_NEAR(mean_of(x), rate, 4 * std::sqrt(rate / many)) << rate;
      EXPECT_NEAR(variance_of(x) / rate, 1, 4 * std::sqrt((2 + 1 / rate) / many)) << rate;
    }
  }
  EXPECT_EQ(max(poisson(key(1), zeros({50}))).item<std::int32_t>(), 0);
}

TEST(Rejection, DirichletPartsHaveBetaMarginals) {
  Array x = dirichlet(key(4), array({0.5, 2, 3}), Shape{many});
  EXPECT_EQ(x.shape(), (Shape{many, 3}));
  for (double total : numbers(sum(x, 1))) EXPECT_NEAR(total, 1, 1e-6);
  std::vector<double> a = {0.5, 2, 3};
  for (std::int64_t i = 0; i < 3; i++) {
    double own = a[static_cast<std::size_t>(i)];
    EXPECT_LT(ks_statistic(numbers(slice(x, {0, i}, {many, i + 1})),
                           cdf_of(boost::math::beta_distribution<>(own, 5.5 - own))),
              2.2);
  }
}

// A sample moves as the quantile of its probability does: first and second derivatives against
// differences of quantiles. (Below 1 the parameter is raised, which other quantiles belong to.)
TEST(Rejection, GammaSamplesMoveAsQuantiles) {
  for (double a : {1.1, 1.5, 4.0, 25.0, 300.0}) {
    auto draw = [](const Array& b) { return gamma(key(7), b, Shape{200}); };
    auto slope = [&](const Array& b) {
      return jvp(draw, std::tuple(b), std::tuple(number(1, DType::f64))).second;
    };
    Array at = number(a, DType::f64);
    auto x = numbers(draw(at)), first = numbers(slope(at));
    auto second = numbers(jvp(slope, std::tuple(at), std::tuple(number(1, DType::f64))).second);
    double h = 1e-3 * a;
    for (std::size_t i = 0; i < x.size(); i++) {
      double p = boost::math::gamma_p(a, x[i]), q = boost::math::gamma_q(a, x[i]);
      auto quantile = [&](double b) {
        return p < 0.5 ? boost::math::gamma_p_inv(b, p) : boost::math::gamma_q_inv(b, q);
      };
      double near = quantile(a + h) - quantile(a - h),
             far = quantile(a + 2 * h) - quantile(a - 2 * h);
      double near_sum = quantile(a + h) + quantile(a - h);
      double far_sum = quantile(a + 2 * h) + quantile(a - 2 * h);
      EXPECT_NEAR(first[i], (8 * near - far) / (12 * h), 1e-8) << a << " " << x[i];
      EXPECT_NEAR(second[i], (16 * near_sum - far_sum - 30 * x[i]) / (12 * h * h), 1e-6)
          << a << " " << x[i];
    }
  }
}

// E x = a, E log x = psi(a), whose derivatives are known; a below 1 is raised.
TEST(Rejection, DerivativesOfMeansAreThoseOfTheMean) {
  for (double a : {0.3, 0.9, 3.0}) {
    auto mean_sample = [&](const Array& b) { return mean(gamma(key(3), b, Shape{many})); };
    double slope = grad(mean_sample)(number(a, DType::f64)).item<double>();
    EXPECT_NEAR(slope, 1, 0.05) << a;
    auto mean_beta = [&](const Array& b) { return mean(beta(key(3), b, 2.0, Shape{many})); };
    slope = grad(mean_beta)(number(a, DType::f64)).item<double>();
    EXPECT_NEAR(slope, 2 / ((a + 2) * (a + 2)), 0.02) << a;
  }
}

TEST(Rejection, MappedOverKeysIsALoop) {
  Key keys = split(key(1), 4);
  Array rates = array({0.5, 3, 20, 100});
  auto both = [](const Key& k, const Array& rate) {
    return std::pair(poisson(k, rate, Shape{3}), loggamma(k, rate, Shape{3}));
  };
  auto [counts, logs] = vmap(both)(keys, rates);
  for (int i = 0; i < 4; i++) {
    auto [count, log] = both(key_at(keys, i), reshape(slice(rates, {i}, {i + 1}), {}));
    auto expected = numbers(count), expected_log = numbers(log);
    EXPECT_EQ(numbers(slice(counts, {i, 0}, {i + 1, 3})), expected);
    auto mapped = numbers(slice(logs, {i, 0}, {i + 1, 3}));
    for (std::size_t j = 0; j < 3; j++) EXPECT_NEAR(mapped[j], expected_log[j], 1e-5);
  }
}

// Trials that could never be accepted are not begun.
TEST(Rejection, ParametersWithoutADistributionEndAtOnce) {
  double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Array odd = array(std::vector<double>{nan, -1, -infinity, infinity, 0, 2});
  auto x = gamma(key(1), odd).to_vector<double>();
  for (std::size_t i : {0u, 1u, 2u}) EXPECT_TRUE(std::isnan(x[i])) << i;
  EXPECT_EQ(x[3], infinity);
  EXPECT_EQ(x[4], 0);
  EXPECT_GT(x[5], 0);
  auto counts = poisson(key(1), odd).to_vector<std::int32_t>();
  for (std::size_t i : {0u, 1u, 2u, 3u}) EXPECT_EQ(counts[i], -1) << i;
  EXPECT_EQ(counts[4], 0);
  EXPECT_GE(counts[5], 0);
}

TEST(Rejection, EmptyShapes) {
  EXPECT_EQ(gamma(key(1), 2.0, Shape{0}).shape(), Shape{0});
  EXPECT_EQ(poisson(key(1), 2.0, Shape{3, 0}).shape(), (Shape{3, 0}));
}

}  // namespace
}  // namespace sturnus::testing
