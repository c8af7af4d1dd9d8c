#include <gtest/gtest.h>
#include <sturnus/inference/variational/gaussian.h>
#include <sturnus/ops/triangular.h>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <functional>
#include <numbers>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

double number(const Array& x) { return x.item<double>(); }

/// Of one dimension.
Gaussian normal_of(double mean, double sd) {
  return {device_array({mean}, {1}), device_array({sd}, {1})};
}

double log_normal_density(double x, double mean, double sd) {
  double z = (x - mean) / sd;
  return -0.5 * z * z - std::log(sd) - 0.5 * std::log(2 * std::numbers::pi);
}

/// E_q[f] of q in one dimension, by quadrature.
double expected(double mean, double sd, const std::function<double(double)>& f) {
  auto integrand = [&](double x) { return std::exp(log_normal_density(x, mean, sd)) * f(x); };
  return boost::math::quadrature::gauss_kronrod<double, 61>::integrate(integrand, mean - 12 * sd,
                                                                       mean + 12 * sd, 10, 1e-13);
}

TEST(Gaussian, EntropyAndDivergenceAreTheIntegrals) {
  double mean = 0.7, sd = 0.3, prior_mean = -0.2, prior_sd = 1.4;
  Gaussian q = normal_of(mean, sd), p = normal_of(prior_mean, prior_sd);
  EXPECT_NEAR(number(entropy(q)),
              expected(mean, sd, [&](double x) { return -log_normal_density(x, mean, sd); }),
              1e-10);
  EXPECT_NEAR(number(divergence(q, p)),
              expected(mean, sd,
                       [&](double x) {
                         return log_normal_density(x, mean, sd) -
                                log_normal_density(x, prior_mean, prior_sd);
                       }),
              1e-10);
  EXPECT_NEAR(number(divergence(q, q)), 0, 1e-14);
}

/// Two correlated Gaussians in 3 dimensions, with triangles or with their diagonals only.
Gaussian correlated(bool triangle) {
  Array mean = device_array({0.1, -0.4, 0.8}, {3});
  if (!triangle) return {mean, device_array({0.5, 1.2, 0.8}, {3})};
  return {mean, device_array({0.5, 0, 0, 0.3, 1.2, 0, -0.2, 0.4, 0.8}, {3, 3})};
}
Gaussian other(bool triangle) {
  Array mean = device_array({0.3, 0, 0.5}, {3});
  if (!triangle) return {mean, device_array({0.9, 1.5, 1.1}, {3})};
  return {mean, device_array({0.9, 0, 0, -0.1, 1.5, 0, 0.6, 0.2, 1.1}, {3, 3})};
}

TEST(Gaussian, DivergenceIsTheMeanOfLogRatios) {
  const std::int64_t draws = 200000;
  Array z = device_array(random_numbers(3 * draws, 5), {draws, 3});
  for (bool q_triangle : {false, true}) {
    for (bool p_triangle : {false, true}) {
      SCOPED_TRACE(testing::Message() << q_triangle << " " << p_triangle);
      Gaussian q = correlated(q_triangle), p = other(p_triangle);
      Array x = transported(q, z);
      Doubles ratios = doubles(log_density(q, x) - log_density(p, x));
      double mean = 0, variance = 0;
      for (double r : ratios) mean += r / draws;
      for (double r : ratios) variance += (r - mean) * (r - mean) / draws;
      EXPECT_NEAR(number(divergence(q, p)), mean, 4 * std::sqrt(variance / draws));
      EXPECT_GT(mean, 0.1);
      Doubles own = doubles(log_density(q, x));
      double total = 0;
      for (double l : own) total -= l / draws;
      EXPECT_NEAR(number(entropy(q)), total, 0.02);
    }
  }
}

TEST(Gaussian, ADiagonalIsATriangleWithoutTheRest) {
  Gaussian q = correlated(false);
  Gaussian same = {q.mean, device_array({0.5, 0, 0, 0, 1.2, 0, 0, 0, 0.8}, {3, 3})};
  Array z = device_array(random_numbers(12, 1), {4, 3});
  auto expect_equal = [](const Array& a, const Array& b) {
    Doubles x = doubles(a), y = doubles(b);
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); i++) EXPECT_NEAR(x[i], y[i], 1e-13);
  };
  expect_equal(transported(q, z), transported(same, z));
  expect_equal(covariance(q), covariance(same));
  expect_equal(log_density(q, z), log_density(same, z));
  expect_equal(entropy(q), entropy(same));
  expect_equal(divergence(q, other(true)), divergence(same, other(true)));
  expect_equal(divergence(other(true), q), divergence(other(true), same));
  Gaussian triangle = correlated(true);
  expect_equal(cholesky(covariance(triangle)), triangle.factor);
}

}  // namespace
}  // namespace sturnus
