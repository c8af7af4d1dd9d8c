// Sobol's sequence against SciPy's, and its scrambled forms against the laws that they keep.
#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/sobol.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <set>

#include "tests/ops/sample_tests.h"
#include "tests/ops/sobol_values.h"

namespace sturnus::testing {
namespace {

template <std::size_t rows, std::size_t columns>
void compare(const std::int64_t (&table)[rows][columns]) {
  for (const auto& row : table) {
    auto x = numbers(sobol(1, columns - 1, {.first = row[0], .dtype = DType::f64}));
    auto single = numbers(sobol(1, columns - 1, {.first = row[0]}));
    for (std::size_t d = 0; d < columns - 1; d++) {
      EXPECT_EQ(x[d], std::ldexp(row[d + 1], -30)) << row[0] << " " << d;
      EXPECT_EQ(single[d], std::ldexp(row[d + 1] >> 6, -24)) << row[0] << " " << d;
    }
  }
}

TEST(Sobol, PointsAreThoseOfScipy) {
  compare(recorded::sobol_in_5);
  compare(recorded::sobol_in_256);
}

TEST(Sobol, PartsMakeTheWhole) {
  auto whole = numbers(sobol(100, 3)), part = numbers(sobol(40, 3, {.first = 60}));
  EXPECT_EQ(std::vector(whole.begin() + 180, whole.end()), part);
  whole = numbers(sobol(key(1), 100, 3));
  part = numbers(sobol(key(1), 40, 3, {.first = 60}));
  EXPECT_EQ(std::vector(whole.begin() + 180, whole.end()), part);
}

// Of 2^m points one lies in each interval of length 2^-m of each axis, and in the first two
// dimensions one in each rectangle of area 2^-m, scrambled or not.
TEST(Sobol, OnePointPerStratum) {
  constexpr int m = 8, n = 1 << m, dimensions = 64;
  for (std::uint64_t seed = 0; seed < 4; seed++) {
    Array points = seed == 0 ? sobol(n, dimensions) : sobol(key(seed), n, dimensions);
    auto x = numbers(points);
    for (std::size_t d = 0; d < dimensions; d++) {
      std::set<int> strata;
      for (std::size_t i = 0; i < n; i++)
        strata.insert(static_cast<int>(x[i * dimensions + d] * n));
      EXPECT_EQ(strata.size(), static_cast<std::size_t>(n)) << d;
    }
    for (int k = 0; k <= m; k++) {
      std::set<std::pair<int, int>> rectangles;
      for (std::size_t i = 0; i < n; i++) {
        rectangles.insert({static_cast<int>(std::ldexp(x[i * dimensions], k)),
                           static_cast<int>(std::ldexp(x[i * dimensions + 1], m - k))});
      }
      EXPECT_EQ(rectangles.size(), static_cast<std::size_t>(n)) << k;
    }
  }
}

TEST(Sobol, ScrambledPointsAreUniform) {
  auto first = [](const Key& k) { return sobol(k, 3, 2); };
  auto x = numbers(vmap(first)(split(key(5), 20000)));
  for (std::size_t which = 0; which < 6; which++) {
    std::vector<double> sample;
    for (std::size_t i = which; i < x.size(); i += 6) sample.push_back(x[i]);
    EXPECT_LT(ks_statistic(sample, [](double u) { return u; }), 2.2) << which;
  }
}

// The mean of a product of 5 factors with mean 1 each, by 1024 points: root mean square error over
// 50 scrambles against that of independent points.
TEST(Sobol, MeansAreBetterThanThoseOfIndependentPoints) {
  auto error = [](const Array& points) {
    Array factor = 1.0 + 0.5 * (points - 0.5);
    Array product = exp(sum(log(factor), -1));
    return square(mean(product) - 1.0);
  };
  Key keys = split(key(11), 50);
  DType precise = DType::f64;
  auto even = [&](const Key& k) { return error(sobol(k, 1024, 5, {.dtype = precise})); };
  auto independent = [&](const Key& k) { return error(uniform(k, {1024, 5}, 0.0, 1.0, precise)); };
  double by_sobol = std::sqrt(mean(vmap(even)(keys)).item<double>());
  double by_chance = std::sqrt(mean(vmap(independent)(keys)).item<double>());
  EXPECT_LT(by_sobol, by_chance / 50);
}

TEST(Sobol, Errors) {
  EXPECT_THROW(sobol(4, 257), ShapeError);
  EXPECT_THROW(sobol(4, 2, {.first = -1}), ShapeError);
  EXPECT_THROW(sobol(4, 2, {.dtype = DType::i32}), DtypeError);
  EXPECT_EQ(sobol(0, 2).shape(), (Shape{0, 2}));
}

}  // namespace
}  // namespace sturnus::testing
