#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/problems/prior.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

struct Row {
  const char* name;
  Prior prior;
  std::function<double(double)> density;  // whatever its norm
  Doubles points;
};

double sigmoid_of(double z) { return 1 / (1 + std::exp(-z)); }

const Doubles everywhere = {-3, -0.7, -0.01, 0.02, 0.4, 1, 1.3, 2.5, 7};
const Doubles positive = {0.02, 0.1, 0.4, 1, 1.3, 2.5, 7};

const std::vector<Row> rows = {
    {"positive",
     Prior::positive(),
     [](double x) { return std::exp(-1000 * std::pow(std::min(x, 0.0), 2)); },
     {-0.5, -0.2, -0.01, 0.02, 0.4, 7}},
    {"uniform", Prior::uniform(-1, 2, 0.2),
     [](double x) { return sigmoid_of((x + 1) / 0.2) * sigmoid_of((2 - x) / 0.2); }, everywhere},
    {"uniform, its own width",
     Prior::uniform(0, 3),
     [](double x) { return sigmoid_of(x / 0.03) * sigmoid_of((3 - x) / 0.03); },
     {-0.5, -0.2, -0.01, 0.02, 1.5, 2.5, 3.1, 4}},
    {"normal", Prior::normal(0.5, 2),
     [](double x) { return std::exp(-std::pow((x - 0.5) / 2, 2) / 2); }, everywhere},
    {"log normal", Prior::log_normal(0.3, 0.8),
     [](double x) { return std::exp(-std::pow((std::log(x) - 0.3) / 0.8, 2) / 2) / x; }, positive},
    {"density", Prior::density([](const Array& x) { return -log(1.0 + square(x)); }),
     [](double x) { return 1 / (1 + x * x); }, everywhere},
};

TEST(Prior, IsMinusTheLogDensityUpToAConstant) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Array x = array(row.points);
    Doubles penalty = doubles(row.prior.penalty(x));
    ASSERT_EQ(penalty.size(), row.points.size());
    double constant = penalty.back() + std::log(row.density(row.points.back()));
    for (std::size_t i = 0; i < penalty.size(); i++) {
      double expected = constant - std::log(row.density(row.points[i]));
      EXPECT_NEAR(penalty[i], expected, 1e-10 * (1 + std::abs(expected))) << row.points[i];
    }
  }
}

TEST(Prior, DerivativeIsThatOfDifferences) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto total = jit([&](const Array& x) { return sum(row.prior.penalty(x)); });
    auto slopes = jit(grad([&](const Array& x) { return sum(row.prior.penalty(x)); }));
    Doubles found = doubles(slopes(array(row.points)));
    for (std::size_t i = 0; i < row.points.size(); i++) {
      double h = 1e-6;
      Doubles up = {row.points[i] + h}, down = {row.points[i] - h};
      double expected = (doubles(total(array(up)))[0] - doubles(total(array(down)))[0]) / (2 * h);
      EXPECT_NEAR(found[i], expected, 1e-5 * (1 + std::abs(expected))) << row.points[i];
    }
  }
}

TEST(Prior, SmoothedUniformIsFlatInsideAndGrowsOutside) {
  Prior prior = Prior::uniform(1, 3, 0.01);
  for (double penalty : doubles(prior.penalty(array(Doubles{1.2, 2, 2.8})))) {
    EXPECT_GE(penalty, 0);
    EXPECT_LT(penalty, 1e-8);
  }
  Doubles outside = doubles(prior.penalty(array(Doubles{0.9, 0.5, 0, -10, 3.1, 3.5, 4, 14})));
  for (std::size_t side : {0u, 4u}) {
    // A line of slope 1 / width.
    EXPECT_NEAR(outside[side], 10, 1e-4);
    EXPECT_NEAR(outside[side + 1], 50, 1e-10);
    EXPECT_NEAR(outside[side + 2], 100, 1e-10);
    EXPECT_NEAR(outside[side + 3], 1100, 1e-9);
  }
}

TEST(Prior, IsFiniteEverywhereWithItsDerivativeInSinglePrecision) {
  const std::vector<float> extreme = {-1e4f, -30, -1, -1e-3f, 0, 1e-30f, 1e-7f, 1, 50, 1e4f};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto total = [&](const Array& x) { return sum(row.prior.penalty(x)); };
    auto [value, slope] = jit(value_and_grad(total))(array(extreme));
    EXPECT_EQ(value.dtype(), DType::f32);
    EXPECT_TRUE(std::isfinite(doubles(value)[0]));
    for (double s : doubles(slope)) EXPECT_TRUE(std::isfinite(s));
  }
}

TEST(Prior, OfTheLogNormalHasAWallBelowZero) {
  Doubles penalty = doubles(Prior::log_normal(0, 1).penalty(array(Doubles{-1, -2, -3})));
  EXPECT_NEAR(penalty[1] - penalty[0], 3000, 1e-8);
  EXPECT_NEAR(penalty[2] - penalty[1], 5000, 1e-8);
}

// Down to 1e-6 the density itself, below it flat, and from 0 on the wall; no jump on the way.
TEST(Prior, OfTheLogNormalNearZero) {
  double mean = 0.3, sd = 0.8;
  auto exact = [&](double x) { return 0.5 * std::pow((std::log(x) - mean) / sd, 2) + std::log(x); };
  Prior prior = Prior::log_normal(mean, sd);
  const Doubles points = {1e-2, 1e-4, 1e-6, 5e-7, 1e-12, 0, -1e-3};
  const Doubles expected = {exact(1e-2), exact(1e-4), exact(1e-6),       exact(1e-6),
                            exact(1e-6), exact(1e-6), exact(1e-6) + 1e-3};
  Doubles found = doubles(prior.penalty(array(points)));
  for (std::size_t i = 0; i < points.size(); i++) {
    EXPECT_NEAR(found[i], expected[i], 1e-10) << points[i];
  }
  auto slope = jit(grad([&](const Array& x) { return sum(prior.penalty(x)); }));
  Doubles slopes = doubles(slope(array(Doubles{1e-4, 5e-7, 1e-12, -1e-3})));
  EXPECT_NEAR(slopes[0], ((std::log(1e-4) - mean) / (sd * sd) + 1) / 1e-4, 1e-5);
  EXPECT_EQ(slopes[1], 0);
  EXPECT_EQ(slopes[2], 0);
  EXPECT_NEAR(slopes[3], -2, 1e-12);
}

TEST(Prior, WallsBeginAtZeroWithoutAKink) {
  auto slope = jit(grad([](const Array& x) { return sum(Prior::positive().penalty(x)); }));
  const Doubles points = {-1e-3, -1e-9, 0, 1e-9, 1};
  Doubles found = doubles(Prior::positive().penalty(array(points))),
          slopes = doubles(slope(array(points)));
  for (std::size_t i = 0; i < points.size(); i++) {
    double below = std::min(points[i], 0.0);
    EXPECT_NEAR(found[i], 1000 * below * below, 1e-15);
    EXPECT_NEAR(slopes[i], 2000 * below, 1e-12);
  }
}

TEST(Prior, OfNothingIsEmpty) { EXPECT_TRUE(Prior().penalty(Array(1.0)).empty()); }

TEST(Prior, SaysWhatIsWrong) {
  double nan = std::nan("");
  EXPECT_THAT(error_of([] { Prior::uniform(2, 2); }),
              HasSubstr("Prior::uniform: from 2.000000 to 2.000000"));
  EXPECT_THAT(error_of([] { Prior::uniform(3, 2); }), HasSubstr("must be below the second"));
  EXPECT_THAT(error_of([&] { Prior::uniform(nan, 2); }), HasSubstr("Prior::uniform"));
  EXPECT_THAT(error_of([&] { Prior::uniform(1, 2, -0.1); }), HasSubstr("width -0.100000"));
  EXPECT_THAT(error_of([&] { Prior::uniform(1, 2, nan); }), HasSubstr("width"));
  double infinity = INFINITY;
  EXPECT_THAT(error_of([&] { Prior::uniform(0, infinity); }),
              HasSubstr("Prior::uniform: from 0.000000 to inf, steps of width 0.000000. All must "
                        "be finite"));
  EXPECT_THAT(error_of([&] { Prior::uniform(0, infinity, 1); }), HasSubstr("must be finite"));
  EXPECT_THAT(error_of([&] { Prior::uniform(-infinity, 0, 1); }), HasSubstr("must be finite"));
  EXPECT_THAT(error_of([&] { Prior::uniform(0, 1, infinity); }), HasSubstr("must be finite"));
  EXPECT_THAT(error_of([&] { Prior::normal(nan, 1); }),
              HasSubstr("Prior::normal: the mean is nan. It must be finite"));
  EXPECT_THAT(error_of([&] { Prior::log_normal(infinity, 1); }),
              HasSubstr("Prior::log_normal: the mean is inf. It must be finite"));
  EXPECT_THAT(error_of([&] { Prior::normal(0, infinity); }),
              HasSubstr("the standard deviation is inf. It must be positive and finite"));
  EXPECT_THAT(error_of([] { Prior::normal(0, 0); }),
              HasSubstr("Prior::normal: the standard deviation is 0.000000. It must be positive"));
  EXPECT_THAT(error_of([&] { Prior::normal(0, nan); }), HasSubstr("must be positive"));
  EXPECT_THAT(error_of([] { Prior::log_normal(0, -1); }),
              HasSubstr("Prior::log_normal: the standard deviation is -1.000000"));
}

}  // namespace
}  // namespace sturnus
