// Long runs of NUTS: against a reference posterior, in more dimensions, and with many chains.
#include <gtest/gtest.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/triangular.h>

#include <cmath>

#include "tests/inference/chains.h"

namespace sturnus {
namespace {

struct Place {
  Array x;
};

Model<Place> gaussian(std::int64_t size) {
  Array l = cholesky(device_array(test_covariance(static_cast<std::size_t>(size)), {size, size}));
  Array mean = arange(size, DType::f64);
  return Model([=](const Place& p) { return multivariate_normal_log_density(p.x, mean, l); },
               Place{zeros({size})});
}

TEST(SamplingSlow, FindsTheMomentsOfAGaussianWithEveryMetric) {
  for (MetricKind metric : {MetricKind::unit, MetricKind::diagonal, MetricKind::dense}) {
    SCOPED_TRACE(static_cast<int>(metric));
    Draws draws = sample(gaussian(6), {.chains = 4, .draws = 5000, .seed = 1, .metric = metric});
    expect_test_moments(doubles(draws.values), 4, 5000, 6);
    EXPECT_EQ(sum(convert(draws.stats.divergent, DType::i32)).item<int>(), 0);
  }
}

TEST(SamplingSlow, ChainsDoNotDependOnEachOther) {
  SamplingOptions options = {.chains = 2, .warmup = 60, .draws = 20};
  Doubles two = doubles(sample(gaussian(3), options).values);
  options.chains = 20;  // rows are written in another way
  Doubles twenty = doubles(sample(gaussian(3), options).values);
  for (std::size_t i = 0; i < two.size(); i++) ASSERT_NEAR(twenty[i], two[i], 1e-8) << i;
}

TEST(SamplingSlow, WorksInF32AndWithoutWarmUp) {
  Draws draws = sample(
      gaussian(3),
      {.chains = 1, .warmup = 0, .draws = 50, .metric = MetricKind::unit, .dtype = DType::f32});
  EXPECT_EQ(draws.values.type().str(), "f32[1,50,3]");
  // A step size was searched for, and stays.
  Doubles steps = doubles(draws.stats.step_size);
  EXPECT_GT(steps[0], 0.05);
  EXPECT_LT(steps[0], 4);
  EXPECT_EQ(steps[0], steps[49]);
}

struct Schools {
  Array mean, spread, offsets;
};

// posteriordb, eight_schools-eight_schools_noncentered: means of 10 chains of Stan, and their
// errors.
TEST(SamplingSlow, AgreesWithStanOnEightSchools) {
  Array y = device_array({28, 8, -3, 7, -1, 1, 18, 12}, {8});
  Array sd = device_array({15, 10, 16, 11, 9, 11, 10, 18}, {8});
  auto log_joint = [&](const Schools& s) {
    return normal_log_density(s.mean, 0.0, 5.0) + half_cauchy_log_density(s.spread, 5.0) +
           sum(normal_log_density(s.offsets, 0.0, 1.0)) +
           sum(normal_log_density(y, s.mean + s.spread * s.offsets, sd));
  };
  Model model(log_joint, Schools{0.0, 1.0, zeros({8})}, {{".spread", Bijection::positive()}});
  Draws draws = sample(model, {.chains = 4, .draws = 10000, .target_accept = 0.95});
  Doubles x = doubles(draws.values);
  auto expect = [&](auto f, double expected, double error) {
    // The reference has an error of its own, about that of 10000 draws.
    double mean = 0;
    for (std::size_t i = 0; i < x.size(); i += 10)
      mean += f(&x[i]) / (static_cast<double>(x.size()) / 10);
    EXPECT_NEAR(mean, expected, 4 * 1.5 * error);
  };
  expect([](const double* p) { return p[0]; }, 4.41052, 0.033);
  expect([](const double* p) { return p[1]; }, 3.60206, 0.032);
  const Doubles schools = {6.1505, 4.9396, 3.9059, 4.7960, 3.6144, 4.0511, 6.3172, 4.8840};
  for (std::size_t i = 0; i < 8; i++) {
    expect([&](const double* p) { return p[0] + p[1] * p[2 + i]; }, schools[i], 0.055);
  }
  EXPECT_LT(sum(convert(draws.stats.divergent, DType::i32)).item<int>(), 40);
}

}  // namespace
}  // namespace sturnus
