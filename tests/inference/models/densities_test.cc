#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/transcendental.h>

#include <boost/math/distributions.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

namespace bm = boost::math;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Case {
  std::string name;
  std::function<Array(const Array&)> log_density;
  std::function<double(double)> density;  // an independent one
  double low, split, high;                // where it lives, and where it may have a kink
  Doubles places, outside;
};

template <class Distribution>
std::function<double(double)> pdf_of(Distribution d) {
  return [d](double x) { return bm::pdf(d, x); };
}

std::vector<Case> continuous_cases() {
  bm::normal_distribution<> normal(1.5, 0.7), around_zero(0, 0.7);
  bm::cauchy_distribution<> half_cauchy(0, 5);
  bm::students_t_distribution<> student(3.5);
  return {
      {"normal",
       [](const Array& x) { return normal_log_density(x, 1.5, 0.7); },
       pdf_of(normal),
       -infinity,
       1.5,
       infinity,
       {-2, 0.1, 1.5, 4},
       {}},
      {"log_normal",
       [](const Array& x) { return log_normal_log_density(x, 0.3, 0.7); },
       pdf_of(bm::lognormal_distribution<>(0.3, 0.7)),
       0,
       1,
       infinity,
       {1e-3, 0.5, 1, 7},
       {0, -1}},
      {"half_normal",
       [](const Array& x) { return half_normal_log_density(x, 0.7); },
       [=](double x) { return 2 * bm::pdf(around_zero, x); },
       0,
       1,
       infinity,
       {0, 0.3, 2},
       {-0.1}},
      {"uniform",
       [](const Array& x) { return uniform_log_density(x, -1.0, 2.5); },
       pdf_of(bm::uniform_distribution<>(-1, 2.5)),
       -1,
       0,
       2.5,
       {-0.9, 0, 2.4},
       {-1.1, 2.6}},
      {"exponential",
       [](const Array& x) { return exponential_log_density(x, 2.5); },
       pdf_of(bm::exponential_distribution<>(2.5)),
       0,
       1,
       infinity,
       {0, 0.1, 3},
       {-0.1}},
      {"gamma",
       [](const Array& x) { return gamma_log_density(x, 2.2, 3.0); },
       pdf_of(bm::gamma_distribution<>(2.2, 1 / 3.0)),
       0,
       1,
       infinity,
       {0.01, 0.6, 5},
       {0, -1}},
      {"inverse_gamma",
       [](const Array& x) { return inverse_gamma_log_density(x, 2.2, 3.0); },
       pdf_of(bm::inverse_gamma_distribution<>(2.2, 3.0)),
       0,
       1,
       infinity,
       {0.3, 1, 9},
       {0, -1}},
      {"beta",
       [](const Array& x) { return beta_log_density(x, 0.7, 2.4); },
       pdf_of(bm::beta_distribution<>(0.7, 2.4)),
       0,
       0.5,
       1,
       {0.01, 0.4, 0.9},
       {-0.1, 0, 1, 1.1}},
      {"cauchy",
       [](const Array& x) { return cauchy_log_density(x, -1.0, 0.4); },
       pdf_of(bm::cauchy_distribution<>(-1, 0.4)),
       -infinity,
       -1,
       infinity,
       {-50, -1, 0.3},
       {}},
      {"half_cauchy",
       [](const Array& x) { return half_cauchy_log_density(x, 5.0); },
       [=](double x) { return 2 * bm::pdf(half_cauchy, x); },
       0,
       1,
       infinity,
       {0, 4, 90},
       {-1}},
      {"student_t",
       [](const Array& x) { return student_t_log_density(x, 3.5, 1.0, 2.0); },
       [=](double x) { return bm::pdf(student, (x - 1) / 2) / 2; },
       -infinity,
       1,
       infinity,
       {-20, 1, 3},
       {}},
      {"weibull",
       [](const Array& x) { return weibull_log_density(x, 1.7, 2.5); },
       pdf_of(bm::weibull_distribution<>(1.7, 2.5)),
       0,
       1,
       infinity,
       {0.01, 1, 7},
       {0, -1}},
      {"laplace",
       [](const Array& x) { return laplace_log_density(x, 0.5, 1.3); },
       pdf_of(bm::laplace_distribution<>(0.5, 1.3)),
       -infinity,
       0.5,
       infinity,
       {-3, 0.4, 6},
       {}},
  };
}

/// The integral of exp(f) from `from`, where it may be singular, to `to`, by the double exponential
/// rule.
double integral(const Case& c, double from, double to) {
  Doubles places, weights;
  double step = 1.0 / 64, half_pi = std::acos(0.0);
  for (double t = -4.2; t <= 4.2; t += step) {
    double s = half_pi * std::sinh(t), ds = half_pi * std::cosh(t);
    double distance, weight;
    if (std::isinf(to)) {
      distance = std::exp(s);
      weight = distance * ds;
    } else {
      double length = std::abs(to - from);
      distance = length / (1 + std::exp(-2 * s));
      weight = length * ds / (2 * std::cosh(s) * std::cosh(s));
    }
    if (!std::isfinite(distance) || !(weight > 0) || !std::isfinite(weight)) continue;
    double x = to > from ? from + distance : from - distance;
    if (x <= c.low || x >= c.high) continue;
    places.push_back(x);
    weights.push_back(weight * step);
  }
  Doubles values = doubles(c.log_density(array(places)));
  double total = 0;
  for (std::size_t i = 0; i < values.size(); i++) total += std::exp(values[i]) * weights[i];
  return total;
}

TEST(Densities, AgreeWithBoostAndIntegrateToOne) {
  for (const Case& c : continuous_cases()) {
    SCOPED_TRACE(c.name);
    Doubles values = doubles(c.log_density(array(c.places)));
    for (std::size_t i = 0; i < values.size(); i++) {
      EXPECT_NEAR(values[i], std::log(c.density(c.places[i])), 1e-12) << "at " << c.places[i];
    }
    // A singularity at an end is integrated from that end, where distances are exact.
    double below = std::isinf(c.low) ? integral(c, c.split, c.low) : integral(c, c.low, c.split);
    EXPECT_NEAR(below + integral(c, c.split, c.high), 1, 1e-9);
  }
}

TEST(Densities, SlopesAgreeWithDifferencesAndOutsideThereIsNothing) {
  for (const Case& c : continuous_cases()) {
    SCOPED_TRACE(c.name);
    auto slopes = [&](const Doubles& places) {
      return doubles(vmap(grad(c.log_density))(array(places)));
    };
    Doubles slope = slopes(c.places);
    for (std::size_t i = 0; i < slope.size(); i++) {
      double x = c.places[i], h = 1e-5 * std::max(1e-2, std::abs(x));
      if (x == c.low || x == c.split) continue;
      double expected = (std::log(c.density(x + h)) - std::log(c.density(x - h))) / (2 * h);
      EXPECT_NEAR(slope[i], expected, 1e-5 * std::max(1.0, std::abs(expected))) << "at " << x;
    }
    if (c.outside.empty()) continue;
    for (double value : doubles(c.log_density(array(c.outside)))) EXPECT_EQ(value, -infinity);
    for (double value : slopes(c.outside)) EXPECT_EQ(value, 0);
  }
}

TEST(Densities, OfWholeNumbersSumToOne) {
  Array counts = arange(200);
  Doubles poisson = doubles(poisson_log_density(counts, Array(7.3, DType::f64)));
  bm::poisson_distribution<> expected(7.3);
  double total = 0;
  for (std::size_t n = 0; n < poisson.size(); n++) {
    total += std::exp(poisson[n]);
    if (n >= 60) continue;
    EXPECT_NEAR(poisson[n], std::log(bm::pdf(expected, static_cast<double>(n))), 1e-11);
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_EQ(doubles(poisson_log_density(device_array({-1, 0.5}, {2}), 2.0)), Doubles(2, -infinity));

  for (double logit : {-800.0, -1.5, 0.0, 3.0, 800.0}) {
    Array both = bernoulli_logit_log_density(array(std::vector<bool>{false, true}, {2}),
                                             Array(logit, DType::f64));
    Doubles p = doubles(both);
    EXPECT_NEAR(std::exp(p[0]) + std::exp(p[1]), 1, 1e-14);
    EXPECT_NEAR(p[1] - p[0], logit, 1e-12 * std::abs(logit));
  }
}

TEST(Densities, OfCountsAgreeWithBoost) {
  Array counts = arange(12);
  double p = 1 / (1 + std::exp(-0.4));
  Doubles binomial = doubles(binomial_logit_log_density(counts, 9.0, Array(0.4, DType::f64)));
  Doubles negative = doubles(negative_binomial_log_density(counts, Array(3.5, DType::f64), 1.3));
  bm::binomial_distribution<> of_trials(9, p);
  bm::negative_binomial_distribution<> spread(1.3, 1.3 / (1.3 + 3.5));
  for (std::size_t n = 0; n < 12; n++) {
    auto count = static_cast<double>(n);
    EXPECT_NEAR(negative[n], std::log(bm::pdf(spread, count)), 1e-12) << n;
    double expected = n <= 9 ? bm::pdf(of_trials, count) : 0;
    EXPECT_NEAR(std::exp(binomial[n]), expected, 1e-12 * expected) << n;
  }
  for (double sure : {-800.0, 800.0}) {  // none or all
    Doubles ends = doubles(binomial_logit_log_density(device_array({0, 9}, {2}), 9.0, sure));
    EXPECT_EQ(ends[sure < 0 ? 0 : 1], 0);
  }
  Array none = device_array({-1, 0.5}, {2});
  EXPECT_EQ(doubles(binomial_logit_log_density(none, 9.0, 0.4)), Doubles(2, -infinity));
  EXPECT_EQ(doubles(negative_binomial_log_density(none, 2.0, 0.4)), Doubles(2, -infinity));
}

TEST(Densities, OfKindsHaveTheirSharesOfTheWhole) {
  Doubles t = {0.3, -1, 2};
  double whole = std::exp(0.3) + std::exp(-1) + std::exp(2);
  Array logits = device_array(t, {3});
  Doubles kinds = doubles(categorical_logit_log_density(arange(4), logits));
  for (std::size_t i = 0; i < 3; i++) EXPECT_NEAR(kinds[i], t[i] - std::log(whole), 1e-14);
  EXPECT_EQ(kinds[3], -infinity);
  EXPECT_EQ(doubles(categorical_logit_log_density(0.5, logits))[0], -infinity);

  // 5 of three kinds: all ways add up to 1, and two kinds are the binomial.
  double total = 0;
  for (double a = 0; a <= 5; a++) {
    for (double b = 0; a + b <= 5; b++) {
      Array counts = device_array({a, b, 5 - a - b}, {3});
      total += std::exp(doubles(multinomial_logit_log_density(counts, logits))[0]);
    }
    Doubles two = doubles(
        multinomial_logit_log_density(device_array({a, 5 - a}, {2}), device_array({0.4, 0}, {2})));
    Doubles expected = doubles(binomial_logit_log_density(device_array({a}, {1}), 5.0, 0.4));
    EXPECT_NEAR(two[0], expected[0], 1e-12) << a;
  }
  EXPECT_NEAR(total, 1, 1e-12);
  Doubles wrong = doubles(multinomial_logit_log_density(device_array({1, 0.5, 2}, {3}), logits));
  EXPECT_EQ(wrong[0], -infinity);
  Doubles slope = doubles(grad([&](const Array& x) {
    return multinomial_logit_log_density(device_array({1, 0, 2}, {3}), x);
  })(logits));
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_NEAR(slope[i], (i == 1 ? 0.0 : i == 0 ? 1.0 : 2.0) - 3 * std::exp(t[i]) / whole, 1e-12);
  }
}

TEST(Densities, DirichletIsBetaForTwoAndIntegratesToOneForThree) {
  for (double x : {0.1, 0.5, 0.93}) {
    Doubles two = doubles(
        dirichlet_log_density(device_array({x, 1 - x}, {2}), device_array({0.7, 2.4}, {2})));
    EXPECT_NEAR(two[0], std::log(bm::pdf(bm::beta_distribution<>(0.7, 2.4), x)), 1e-12);
  }
  using Rule = bm::quadrature::gauss<double, 15>;
  auto density = [](double a, double b) {
    Array at = device_array({a, b, 1 - a - b}, {3});
    return std::exp(doubles(dirichlet_log_density(at, device_array({3, 2, 4}, {3})))[0]);
  };
  double total = Rule::integrate(
      [&](double a) {
        return (1 - a) * Rule::integrate([&](double t) { return density(a, (1 - a) * t); }, 0, 1);
      },
      0, 1);
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(Densities, MultivariateNormalIsThatOfItsWhitenedElements) {
  // l z + m has the density of z over |det l|, for one vector and for stacks of vectors.
  Array l = device_array({2, 0, 0, 0.5, 1.5, 0, -1, 0.3, 0.8}, {3, 3});
  Doubles z = random_numbers(12, 3), mean = {1, -2, 0.5}, x(12);
  Doubles factor = doubles(l);
  for (std::size_t row = 0; row < 4; row++) {
    for (std::size_t i = 0; i < 3; i++) {
      x[3 * row + i] = mean[i];
      for (std::size_t j = 0; j <= i; j++) x[3 * row + i] += factor[3 * i + j] * z[3 * row + j];
    }
  }
  Doubles expected(4, -std::log(2 * 1.5 * 0.8));
  for (std::size_t i = 0; i < 12; i++) {
    expected[i / 3] += std::log(bm::pdf(bm::normal_distribution<>(), z[i]));
  }
  auto log_density = [&](const Array& at) {
    return multivariate_normal_log_density(at, device_array(mean, {3}), l);
  };
  for (Shape shape : {Shape{4, 3}, Shape{2, 2, 3}}) {
    Doubles found = doubles(log_density(device_array(x, shape)));
    ASSERT_EQ(found.size(), 4u);
    for (std::size_t i = 0; i < 4; i++) EXPECT_NEAR(found[i], expected[i], 1e-13);
  }
  Doubles mapped = doubles(vmap(log_density)(device_array(x, {4, 3})));
  for (std::size_t i = 0; i < 4; i++) EXPECT_NEAR(mapped[i], expected[i], 1e-13);
}

TEST(Densities, NumbersTakeThePrecisionOfArraysAndShapesBroadcast) {
  // log(0.7) in f32 would be off by 1e-8.
  Array x = device_array({0.5}, {1});
  EXPECT_NEAR(doubles(normal_log_density(x, 0.1, 0.7))[0],
              std::log(bm::pdf(bm::normal_distribution<>(0.1, 0.7), 0.5)), 1e-15);
  EXPECT_EQ(normal_log_density(0.5, 0.0, 1.0).dtype(), DType::f32);
  EXPECT_EQ(normal_log_density(zeros({4, 1}), zeros({3}), 1.0).shape(), (Shape{4, 3}));
}

}  // namespace
}  // namespace sturnus
