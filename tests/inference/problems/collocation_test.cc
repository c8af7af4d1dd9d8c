#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/problems/collocation.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::HasSubstr;
using Kind = Collocation::Kind;

Array no_residual(const Array&) {
  ADD_FAILURE() << "only adaptive points ask for residuals";
  return {};
}

Array points_of(const Collocation& collocation, const Doubles& low, const Doubles& high,
                unsigned seed = 1) {
  return jit([&](const Key& k) {
    return collocation_points(collocation, low, high, k, no_residual);
  })(key(seed));
}

TEST(Collocation, GridOfOneInputIsEquispacedWithItsEnds) {
  for (auto [points, low, high] : {std::tuple(50, 0.0, 15.0), {100, 0.0, 25.0}, {2, -3.0, 0.5}}) {
    Array grid = points_of({.points = points}, {low}, {high});
    EXPECT_EQ(grid.shape(), Shape{points});
    Doubles found = doubles(grid);
    EXPECT_EQ(found.front(), low);
    EXPECT_EQ(found.back(), high);
    for (int i = 0; i < points; i++) {
      EXPECT_NEAR(found[static_cast<std::size_t>(i)], low + i * (high - low) / (points - 1), 1e-5);
    }
  }
}

// Points of f64 are not numbers of f32.
TEST(Collocation, PointsHaveTheResolutionOfTheirType) {
  for (Kind kind : {Kind::grid, Kind::uniform, Kind::sobol, Kind::adaptive}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Collocation collocation = {.kind = kind, .points = 49, .candidates = 200};
    for (Doubles high : {Doubles{1.3}, Doubles{1.3, 2.7}}) {
      Doubles low(high.size(), 0.1);
      auto residual = [&](const Array& x) { return high.size() == 1 ? x : x(Slice{}, 0); };
      auto draw = jit([&](const Key& k) {
        return collocation_points(collocation, low, high, k, residual, DType::f64);
      });
      Array points = draw(key(1));
      EXPECT_EQ(points.dtype(), DType::f64);
      Doubles values = doubles(points);
      auto coarse = std::count_if(values.begin(), values.end(), [](double x) {
        return x == static_cast<double>(static_cast<float>(x));
      });
      EXPECT_LE(coarse, 7);  // of a grid, where one coordinate is 1/2
      if (kind != Kind::grid || high.size() > 1) continue;
      for (std::size_t i = 0; i < 49; i++) {
        EXPECT_NEAR(values[i], 0.1 + 1.2 * static_cast<double>(i) / 48, 1e-15);
      }
    }
  }
}

TEST(Collocation, GridOfSeveralInputsIsAProduct) {
  Array plane = points_of({.points = 25}, {0, -1}, {2, 3});
  EXPECT_EQ(plane.shape(), (Shape{25, 2}));
  std::set<std::pair<double, double>> found, expected;
  Doubles values = doubles(plane);
  for (std::size_t i = 0; i < 25; i++) found.insert({values[2 * i], values[2 * i + 1]});
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 5; j++) expected.insert({i / 2.0, j - 1.0});
  }
  EXPECT_EQ(found, expected);
  Array cube = points_of({.points = 27}, {0, 0, 0}, {1, 2, 4});
  EXPECT_EQ(cube.shape(), (Shape{27, 3}));
  Doubles corner = doubles(cube);
  EXPECT_EQ(Doubles(corner.end() - 3, corner.end()), (Doubles{1, 2, 4}));
}

// Of boxes that begin at a corner: how far the share of points is from the volume, at most.
double star_discrepancy(const Doubles& unit, std::size_t inputs) {
  double worst = 0;
  std::size_t count = unit.size() / inputs;
  for (int a = 1; a <= 20; a++) {
    for (int b = 1; b <= (inputs == 1 ? 1 : 20); b++) {
      double x = a / 20.0, y = inputs == 1 ? 1 : b / 20.0;
      double inside = 0;
      for (std::size_t i = 0; i < count; i++) {
        bool in = unit[i * inputs] < x && (inputs == 1 || unit[i * inputs + 1] < y);
        inside += in;
      }
      worst = std::max(worst, std::abs(inside / static_cast<double>(count) - x * y));
    }
  }
  return worst;
}

TEST(Collocation, RandomPointsFillTheDomainEvenly) {
  struct Domain {
    Doubles low, high;
  };
  for (const Domain& domain : {Domain{{-2}, {15}}, Domain{{0, -1}, {2, 0.5}}}) {
    std::size_t inputs = domain.low.size();
    double worst[2] = {};
    for (Kind kind : {Kind::uniform, Kind::sobol}) {
      Array points = points_of({.kind = kind, .points = 256}, domain.low, domain.high);
      EXPECT_EQ(points.shape(), inputs == 1 ? Shape{256} : (Shape{256, 2}));
      Doubles unit = doubles(points);
      for (std::size_t i = 0; i < unit.size(); i++) {
        double low = domain.low[i % inputs], high = domain.high[i % inputs];
        ASSERT_GE(unit[i], low);
        ASSERT_LE(unit[i], high);
        unit[i] = (unit[i] - low) / (high - low);
      }
      worst[kind == Kind::sobol] = star_discrepancy(unit, inputs);
    }
    // Independent points: of the order 1 / sqrt(256). Sobol's: of the order 1 / 256.
    EXPECT_LT(worst[0], 0.12);
    EXPECT_GT(worst[0], 0.01);
    EXPECT_LT(worst[1], inputs == 1 ? 0.008 : 0.02);
  }
}

TEST(Collocation, AnotherKeyGivesOtherPoints) {
  for (Kind kind : {Kind::uniform, Kind::sobol}) {
    Collocation collocation = {.kind = kind, .points = 16};
    EXPECT_EQ(bytes_of(points_of(collocation, {0, 0}, {2, 1}, 1)),
              bytes_of(points_of(collocation, {0, 0}, {2, 1}, 1)));
    EXPECT_NE(bytes_of(points_of(collocation, {0, 0}, {2, 1}, 1)),
              bytes_of(points_of(collocation, {0, 0}, {2, 1}, 2)));
  }
}

// A residual of 1 on a tenth of the domain, 0 elsewhere: there the weight is 10 + 1, elsewhere 1,
// so that draws one after another, of so many candidates, fall there with probability
// 1.1 / (1.1 + 0.9).
TEST(Collocation, AdaptivePointsGatherWhereTheResidualIsLarge) {
  Collocation collocation = {.kind = Kind::adaptive, .points = 400, .candidates = 20000};
  auto share = [&](double power, double height) {
    collocation.power = power;
    Array points = jit([&](const Key& k) {
      return collocation_points(collocation, {-10}, {10}, k, [&](const Array& x) {
        return where((x > 4.0) & (x < 6.0), height, 0.5);
      });
    })(key(3));
    EXPECT_EQ(points.shape(), Shape{400});
    Doubles values = doubles(points);
    EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 400u);  // no repetition
    double inside = 0;
    for (double x : values) {
      EXPECT_GE(x, -10);
      EXPECT_LE(x, 10);
      inside += x > 4 && x < 6;
    }
    return inside / 400;
  };
  auto expected = [](double power, double height) {
    double in = std::pow(height, power), out = std::pow(0.5, power);
    double mean = 0.1 * in + 0.9 * out;
    double weight_in = 0.1 * (in / mean + 1), weight_out = 0.9 * (out / mean + 1);
    return weight_in / (weight_in + weight_out);
  };
  // Four standard errors, and what 400 of 20000 use up.
  EXPECT_NEAR(share(2, 0.5), 0.1, 0.06);
  EXPECT_NEAR(share(2, 5), expected(2, 5), 0.1);
  EXPECT_NEAR(share(1, 5), expected(1, 5), 0.1);
  EXPECT_NEAR(share(1, 1), expected(1, 1), 0.07);
  EXPECT_GT(expected(2, 5), expected(1, 5) + 0.1);
}

TEST(Collocation, AdaptivePointsOfTwoInputsAreRowsOfCandidates) {
  Collocation collocation = {.kind = Kind::adaptive, .points = 64, .candidates = 2000};
  auto points = jit([&](const Key& k) {
    return collocation_points(collocation, {0, 0}, {2, 1}, k, [](const Array& x) {
      EXPECT_EQ(x.shape(), (Shape{2000, 2}));
      return exp(-40.0 * square(x(ellipsis, 1) - 0.5));  // a ridge along the first input
    });
  });
  Array found = points(key(1));
  EXPECT_EQ(found.shape(), (Shape{64, 2}));
  Doubles values = doubles(found);
  double near = 0, left = 0;
  for (std::size_t i = 0; i < 64; i++) {
    near += std::abs(values[2 * i + 1] - 0.5) < 0.15;
    left += values[2 * i] < 1;
  }
  EXPECT_GT(near, 34);  // of uniform ones 19
  EXPECT_NEAR(left, 32, 16);
}

TEST(Collocation, AdaptivePointsOfEveryCandidateAndOfNoResidual) {
  Collocation collocation = {.kind = Kind::adaptive, .points = 50, .candidates = 50};
  for (double residual : {0.0, 1e-30, 1e30, std::nan("")}) {
    Doubles values = doubles(jit([&](const Key& k) {
      return collocation_points(collocation, {0}, {1}, k,
                                [&](const Array& x) { return 0.0 * x + residual; });
    })(key(3)));
    EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 50u) << residual;
    for (double x : values) EXPECT_TRUE(x >= 0 && x < 1);
  }
}

TEST(Collocation, SaysWhatIsWrong) {
  struct Bad {
    Collocation collocation;
    std::int64_t inputs;
    const char* message;
  };
  const std::vector<Bad> table = {
      {{.points = 0}, 1, "Collocation: 0 points. Give at least 1"},
      {{.kind = Kind::sobol, .points = -4}, 2, "Collocation: -4 points"},
      {{.resample_every = -1}, 1, "resample_every is -1"},
      {{.points = 50},
       2,
       "a grid of 50 points in 2 dimensions. Give a power, for instance 49, or another kind"},
      {{.points = 26}, 3, "for instance 27"},
      {{.kind = Kind::adaptive, .points = 100, .candidates = 99},
       1,
       "100 adaptive points of 99 candidates"},
      {{.kind = Kind::adaptive, .power = 0}, 1, "power 0.000000"},
      {{.kind = Kind::adaptive, .power = std::nan("")}, 1, "a positive power"},
      {{.kind = Kind::adaptive}, 1, "adaptive points that are never drawn anew"},
      {{.resample_every = 5}, 1, "a grid drawn anew every 5 iterations would be the same"},
      {{.candidates = 99}, 1, "99 candidates for points that are not adaptive"},
      {{.kind = Kind::sobol, .power = 3}, 1, "a power of residuals, 3.000000, for points"},
  };
  for (const Bad& bad : table) {
    EXPECT_THAT(error_of([&] { bad.collocation.check(bad.inputs); }), HasSubstr(bad.message));
  }
  EXPECT_NO_THROW((Collocation{.points = 50}.check(1)));
  EXPECT_NO_THROW((Collocation{.points = 1}.check(3)));
  EXPECT_NO_THROW((Collocation{.points = 343}.check(3)));
  EXPECT_NO_THROW((Collocation{.kind = Kind::sobol, .points = 50}.check(2)));
  Collocation adaptive = {
      .kind = Kind::adaptive, .points = 5, .resample_every = 1, .candidates = 5};
  EXPECT_NO_THROW(adaptive.check(2));
}

}  // namespace
}  // namespace sturnus
