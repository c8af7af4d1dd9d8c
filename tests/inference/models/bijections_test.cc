#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/inference/models/bijections.h>
#include <sturnus/ops/creation.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

struct Case {
  Bijection bijection;
  std::int64_t size;  // of the constrained vector
};

std::vector<Case> cases() {
  return {{Bijection::identity(), 3},      {Bijection::positive(), 4},
          {Bijection::interval(-2, 5), 3}, {Bijection::interval(0, 1e-3), 2},
          {Bijection::ordered(), 1},       {Bijection::ordered(), 5},
          {Bijection::simplex(), 2},       {Bijection::simplex(), 5}};
}

Array free_numbers(const Case& c, double sd, unsigned seed) {
  Shape shape = c.bijection.free_shape({c.size});
  return device_array(random_numbers(static_cast<std::size_t>(shape[0]), seed, sd), shape);
}

/// log |det| by elimination with pivoting.
double log_abs_det(Doubles a, std::size_t n) {
  double result = 0;
  for (std::size_t k = 0; k < n; k++) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; i++) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    for (std::size_t j = 0; j < n; j++) std::swap(a[k * n + j], a[pivot * n + j]);
    result += std::log(std::abs(a[k * n + k]));
    for (std::size_t i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return result;
}

TEST(Bijections, GoThereAndBack) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.bijection.name + std::to_string(c.size));
    for (unsigned seed = 0; seed < 5; seed++) {
      Array y = free_numbers(c, 2, seed);
      Array x = c.bijection.forward(y);
      EXPECT_EQ(x.shape(), Shape{c.size});
      Doubles expected = doubles(y), found = doubles(c.bijection.inverse(x));
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], expected[i], 1e-10);
    }
  }
}

TEST(Bijections, ReachTheirSet) {
  for (double sd : {0.1, 3.0, 30.0}) {
    for (double x :
         doubles(Bijection::positive().forward(device_array(random_numbers(9, 1, sd), {9})))) {
      EXPECT_GT(x, 0);
    }
    for (double x :
         doubles(Bijection::interval(2, 3).forward(device_array(random_numbers(9, 1, sd), {9})))) {
      EXPECT_GE(x, 2);
      EXPECT_LE(x, 3);
    }
    Doubles x = doubles(Bijection::ordered().forward(device_array(random_numbers(6, 2, sd), {6})));
    for (std::size_t i = 1; i < x.size(); i++) EXPECT_GE(x[i], x[i - 1]);
    Doubles p = doubles(Bijection::simplex().forward(device_array(random_numbers(6, 2, sd), {6})));
    double total = 0;
    for (double part : p) {
      EXPECT_GE(part, 0);
      total += part;
    }
    EXPECT_NEAR(total, 1, 1e-14);
  }
  // Zero is the middle.
  for (double part : doubles(Bijection::simplex().forward(zeros({4}, DType::f64)))) {
    EXPECT_NEAR(part, 0.2, 1e-15);
  }
  EXPECT_EQ(doubles(Bijection::simplex().forward(zeros({0}, DType::f64))), Doubles{1});
}

TEST(Bijections, LogDetIsThatOfTheJacobian) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.bijection.name + std::to_string(c.size));
    for (unsigned seed = 0; seed < 5; seed++) {
      Array y = free_numbers(c, 1.5, seed);
      auto n = static_cast<std::size_t>(y.size());
      // Of a simplex, all but the last number, which follows from the others.
      Doubles jacobian = doubles(jacfwd(c.bijection.forward)(y));
      jacobian.resize(n * n);
      EXPECT_NEAR(c.bijection.log_det(y).item<double>(), log_abs_det(jacobian, n), 1e-11);
    }
  }
}

TEST(Bijections, TreatStacksRowByRow) {
  for (const Bijection& b : {Bijection::ordered(), Bijection::simplex()}) {
    Doubles numbers = random_numbers(12, 7);
    Doubles all = doubles(b.forward(device_array(numbers, {3, 4}))), rows;
    double log_det = 0;
    for (std::size_t r = 0; r < 3; r++) {
      auto from = numbers.begin() + static_cast<std::ptrdiff_t>(4 * r);
      Array row = device_array(Doubles(from, from + 4), {4});
      for (double x : doubles(b.forward(row))) rows.push_back(x);
      log_det += b.log_det(row).item<double>();
    }
    ASSERT_EQ(all.size(), rows.size());
    for (std::size_t i = 0; i < all.size(); i++) EXPECT_NEAR(all[i], rows[i], 1e-14) << b.name;
    EXPECT_NEAR(b.log_det(device_array(numbers, {3, 4})).item<double>(), log_det, 1e-12) << b.name;
  }
}

TEST(Bijections, RefuseWhatMakesNoSense) {
  EXPECT_THROW(Bijection::interval(2, 2), Error);
  EXPECT_THROW(Bijection::interval(0, INFINITY), Error);
  EXPECT_THROW(Bijection::simplex().free_shape({}), ShapeError);
  EXPECT_THROW(Bijection::ordered().free_shape({3, 0}), ShapeError);
}

}  // namespace
}  // namespace sturnus
