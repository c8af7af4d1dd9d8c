// Distributions against numbers recorded from JAX and distribution functions of Boost.Math.
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <boost/math/distributions/cauchy.hpp>
#include <boost/math/distributions/exponential.hpp>
#include <boost/math/distributions/extreme_value.hpp>
#include <boost/math/distributions/laplace.hpp>
#include <boost/math/distributions/logistic.hpp>
#include <boost/math/distributions/normal.hpp>
#include <limits>
#include <set>

#include "tests/ops/random_values.h"
#include "tests/ops/sample_tests.h"

namespace sturnus::testing {
namespace {

using Draw = Array (*)(const Key&, const Shape&, DType, Where);

Array truncated(const Key& key, const Shape& shape, DType dtype, Where) {
  return truncated_normal(key, -1, 2, shape, dtype);
}

template <class Distribution>
std::function<double(double)> cdf_of(Distribution distribution) {
  return [distribution](double x) { return boost::math::cdf(distribution, x); };
}

double truncated_cdf(double x) {
  boost::math::normal_distribution<> normal;
  double low = cdf(normal, -1), high = cdf(normal, 2);
  return (cdf(normal, x) - low) / (high - low);
}

struct Case {
  std::string name;
  Draw draw;
  std::function<double(double)> cdf;
  const std::vector<float>& single;
  const std::vector<double>& precise;
};

std::vector<Case> cases() {
  namespace r = recorded;
  return {
      {"exponential", exponential, cdf_of(boost::math::exponential_distribution<>()),
       r::exponential_f32, r::exponential_f64},
      {"laplace", laplace, cdf_of(boost::math::laplace_distribution<>()), r::laplace_f32,
       r::laplace_f64},
      {"logistic", logistic, cdf_of(boost::math::logistic_distribution<>()), r::logistic_f32,
       r::logistic_f64},
      {"gumbel", gumbel, cdf_of(boost::math::extreme_value_distribution<>()), r::gumbel_f32,
       r::gumbel_f64},
      {"cauchy", cauchy, cdf_of(boost::math::cauchy_distribution<>()), r::cauchy_f32,
       r::cauchy_f64},
      {"truncated_normal", truncated, truncated_cdf, r::truncated_normal_f32,
       r::truncated_normal_f64},
      {"normal", normal, cdf_of(boost::math::normal_distribution<>()), r::normal_f32,
       r::normal_f64},
  };
}

TEST(Distributions, NumbersAreThoseOfJax) {
  for (const Case& one : cases()) {
    Shape shape = one.name == "normal" ? Shape{4, 16} : Shape{12};
    auto single = numbers(one.draw(key(42), shape, DType::f32, {}));
    auto precise = numbers(one.draw(key(42), shape, DType::f64, {}));
    ASSERT_EQ(single.size(), one.single.size());
    for (std::size_t i = 0; i < single.size(); i++) {
      EXPECT_NEAR(single[i], one.single[i], 2e-6 * std::max(1.0, std::abs(single[i]))) << one.name;
      EXPECT_NEAR(precise[i], one.precise[i], 4e-15 * std::max(1.0, std::abs(precise[i])))
          << one.name;
    }
  }
}

TEST(Distributions, SamplesHaveTheirDistribution) {
  for (const Case& one : cases()) {
    for (DType dtype : {DType::f32, DType::f64}) {
      Array x = one.draw(key(7), {50000}, dtype, {});
      EXPECT_LT(ks_statistic(numbers(x), one.cdf), 2.2) << one.name << " " << name_of(dtype);
    }
  }
}

// However far out: what lies beyond x, as a share of what lies beyond low, is uniform.
TEST(Distributions, TruncatedNumbersStayInside) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  boost::math::normal_distribution<> normal;
  for (const auto& bounds : {std::pair(-1.0, 2.0), std::pair(2.0, 2.001), std::pair(-3.0, -2.5),
                             std::pair(-infinity, 0.0), std::pair(1.9, infinity),
                             std::pair(4.5, infinity), std::pair(-infinity, -6.0),
                             std::pair(10.0, 11.0), std::pair(-30.0, -20.0), std::pair(3.0, 3.5)}) {
    double low = bounds.first, high = bounds.second;
    double from = low > 0 ? low : -high, to = low > 0 ? high : -low;
    for (DType dtype : low == 4.5 ? std::vector{DType::f32, DType::f64} : std::vector{DType::f32}) {
      Array x = truncated_normal(key(1), low, high, {20000}, dtype);
      double least = numbers(min(x))[0], most = numbers(max(x))[0];
      EXPECT_GT(least, low) << low << " " << high;
      EXPECT_LT(most, high) << low << " " << high;
      if (from < 2.5) continue;
      double all = cdf(complement(normal, from)), none = to < 40 ? cdf(complement(normal, to)) : 0;
      auto share = [&](double y) {
        return 1 - (cdf(complement(normal, low > 0 ? y : -y)) - none) / (all - none);
      };
      EXPECT_LT(ks_statistic(numbers(low > 0 ? x : -x),
                             [&](double y) { return share(low > 0 ? y : -y); }),
                2.2)
          << low << " " << high << " " << name_of(dtype);
    }
  }
  Array far = truncated_normal(key(1), 1e6, infinity, {1000}, DType::f64);
  EXPECT_NEAR(numbers(mean(far - 1e6))[0], 1e-6, 1e-7);
}

TEST(Distributions, TruncatedNumbersHaveEndsOfEachTheirOwn) {
  Array low = array({-1, 3, -8, 0}, DType::f64),
        high = array({{1, 5, -6, 0.5}, {2, 9, -7, 1}}, DType::f64);
  Array x = truncated_normal(key(3), low, high);
  EXPECT_EQ(x.type(), (ArrayType{DType::f64, {2, 4}}));
  EXPECT_TRUE(all((x > low) & (x < high)).item<bool>());
  // The derivatives by the ends, against those of the numbers themselves.
  auto f = [](Array a, Array b) { return truncated_normal(key(3), a, b); };
  Array b = high[1], none = zeros_like(low), one = ones_like(low);
  Array by_low = jvp(f, std::tuple(low, b), std::tuple(one, none)).second;
  Array by_high = jvp(f, std::tuple(low, b), std::tuple(none, one)).second;
  Array low_difference = (f(low + 1e-6, b) - f(low - 1e-6, b)) / 2e-6;
  Array high_difference = (f(low, b + 1e-6) - f(low, b - 1e-6)) / 2e-6;
  EXPECT_LT(numbers(max(abs(by_low - low_difference)))[0], 1e-6);
  EXPECT_LT(numbers(max(abs(by_high - high_difference)))[0], 1e-6);
}

TEST(Distributions, DecisionsAreThoseOfJax) {
  Array p = linspace(0.1, 0.9, 12);
  std::vector<bool> heads;
  for (double value : numbers(bernoulli(key(42), p))) heads.push_back(value != 0);
  EXPECT_EQ(heads, recorded::bernoulli);
  Array logits = log(array({{0.1, 0.2, 0.7}, {0.5, 0.25, 0.25}}));
  auto indices = categorical(key(42), logits, Shape{10, 2}).to_vector<std::int32_t>();
  EXPECT_EQ(std::vector(indices.begin(), indices.end()), recorded::categorical);
  auto order = permutation(key(42), 20).to_vector<std::int32_t>();
  EXPECT_EQ(std::vector(order.begin(), order.end()), recorded::permutation_20);
}

TEST(Distributions, RowsArePermutedWhole) {
  Array x = iota({5, 3}, 0, DType::f32) * 10.0 + iota({5, 3}, 1, DType::f32);
  Array y = permutation(key(3), x);
  Array order = permutation(key(3), 5);
  Array expected = reshape(convert(order, DType::f32), {5, 1}) * 10.0 + iota({5, 3}, 1, DType::f32);
  EXPECT_EQ(numbers(y), numbers(expected));
  Array columns = permutation(key(3), transpose(x), 1);
  EXPECT_EQ(numbers(columns), numbers(transpose(expected)));
}

TEST(Distributions, PermutationsAreUniform) {
  Array orders = vmap([](const Key& k) { return permutation(k, 4); })(split(key(8), 24000));
  auto x = numbers(orders);
  std::vector<double> codes;
  for (std::size_t i = 0; i < x.size(); i += 4) {
    int code = 0;  // which of the 24
    for (std::size_t j = 0; j < 4; j++) {
      int smaller = 0;
      for (std::size_t k = j + 1; k < 4; k++) smaller += x[i + k] < x[i + j];
      code = code * static_cast<int>(4 - j) + smaller;
    }
    codes.push_back(code);
  }
  EXPECT_LT(std::abs(chi_square_score(codes, [](std::int64_t) { return 1.0 / 24; })), 4);
}

TEST(Distributions, ChoicesHaveTheirProbabilities) {
  std::vector<double> p = {0.1, 0.4, 0.2, 0.3};
  auto probability = [&](std::int64_t i) { return p[static_cast<std::size_t>(i)]; };
  Array weights = array({1, 4, 2, 3});
  auto x = numbers(choice(key(1), 4, {40000}, {.weights = weights}));
  EXPECT_LT(std::abs(chi_square_score(x, probability)), 4);
  x = numbers(choice(key(1), 4, {40000}));
  EXPECT_LT(std::abs(chi_square_score(x, [](std::int64_t) { return 0.25; })), 4);
  auto pairs = [&](const Key& k) {
    return choice(k, 4, {2}, {.replace = false, .weights = weights});
  };
  x = numbers(vmap(pairs)(split(key(2), 30000)));
  std::vector<double> codes;
  for (std::size_t i = 0; i < x.size(); i += 2) codes.push_back(4 * x[i] + x[i + 1]);
  auto pair_probability = [&](std::int64_t code) {
    double first = probability(code / 4), second = probability(code % 4);
    return code / 4 == code % 4 ? 0 : first * second / (1 - first);
  };
  EXPECT_LT(std::abs(chi_square_score(codes, pair_probability)), 4);
  auto few = numbers(choice(key(5), 10, {2, 5}, {.replace = false}));
  EXPECT_EQ(std::set<double>(few.begin(), few.end()).size(), 10u);
}

TEST(Distributions, ChoicesAreThoseOfJax) {
  namespace r = recorded;
  auto integers = [](const Array& x) {
    auto values = x.to_vector<std::int32_t>();
    return std::vector(values.begin(), values.end());
  };
  Key k = key(42);
  Array table = reshape(arange(12), {3, 4}), weights = array({0.1, 0.4, 0.2, 0.3});
  EXPECT_EQ(integers(choice(k, 20, {8})), r::choice_even);
  EXPECT_EQ(integers(choice(k, 20, {8}, {.replace = false})), r::choice_once);
  EXPECT_EQ(integers(choice(k, 4, {16}, {.weights = weights})), r::choice_weighted);
  EXPECT_EQ(integers(choice(k, 4, {3}, {.replace = false, .weights = weights})),
            r::choice_weighted_once);
  Array rows = choice(k, table, {2, 2});
  EXPECT_EQ(rows.type(), (ArrayType{DType::i32, {2, 2, 4}}));
  EXPECT_EQ(integers(rows), r::choice_rows);
  Array columns = choice(k, table, {2}, {.replace = false, .axis = 1});
  EXPECT_EQ(columns.type(), (ArrayType{DType::i32, {3, 2}}));
  EXPECT_EQ(integers(columns), r::choice_columns);
  EXPECT_EQ(integers(choice(k, table, {5}, {.weights = weights, .axis = -1})),
            r::choice_weighted_columns);
  EXPECT_EQ(choice(k, array({5, 6, 7})).shape(), Shape{});
}

// Chosen elements, weighted and not, are differentiated as elements that were taken.
TEST(Distributions, ChoicesHaveDerivatives) {
  Array x = array({1, 10, 100, 1000});
  auto total = [](const Array& y) { return sum(square(choice(key(42), y, {8}))); };
  std::vector<double> count(4), expected;
  for (double i : numbers(choice(key(42), 4, {8}))) count[static_cast<std::size_t>(i)]++;
  auto values = numbers(x);
  for (std::size_t i = 0; i < 4; i++) expected.push_back(2 * count[i] * values[i]);
  EXPECT_EQ(numbers(grad(total)(x)), expected);
}

TEST(Distributions, CorrelatedNumbers) {
  Array mean_vector = array({1, -2}), covariance = array({{2, 0.6}, {0.6, 0.5}});
  Array x = multivariate_normal(key(3), mean_vector, covariance, Shape{50000});
  EXPECT_EQ(x.shape(), (Shape{50000, 2}));
  Array centred = x - mean_vector;
  auto found = numbers(matmul(transpose(centred), centred) / 50000.0);
  std::vector<double> expected = {2, 0.6, 0.6, 0.5};
  for (std::size_t i = 0; i < 4; i++) EXPECT_NEAR(found[i], expected[i], 0.05);
  // The first, and the second without what it has of the first.
  Array first = slice(centred, {0, 0}, {50000, 1}), second = slice(centred, {0, 1}, {50000, 2});
  auto standard = cdf_of(boost::math::normal_distribution<>());
  EXPECT_LT(ks_statistic(numbers(first / std::sqrt(2.0)), standard), 2.2);
  EXPECT_LT(ks_statistic(numbers((second - 0.3 * first) / std::sqrt(0.32)), standard), 2.2);
  EXPECT_EQ(multivariate_normal(key(3), zeros({4, 2}), covariance).shape(), (Shape{4, 2}));
  EXPECT_THROW(multivariate_normal(key(3), zeros({3}), covariance), ShapeError);
}

TEST(Distributions, MeanAndCovarianceMeetInOneType) {
  const DType f32 = DType::f32, f64 = DType::f64, i32 = DType::i32;
  auto type = [](DType mean, DType covariance) {
    return multivariate_normal(key(3), zeros({2}, mean), eye(2, covariance)).type();
  };
  EXPECT_EQ(type(f32, f32), (ArrayType{f32, {2}}));
  EXPECT_EQ(type(f64, f32), (ArrayType{f64, {2}}));
  EXPECT_EQ(type(f32, f64), (ArrayType{f64, {2}}));
  EXPECT_EQ(type(i32, f64), (ArrayType{f64, {2}}));
  EXPECT_EQ(type(i32, i32), (ArrayType{f32, {2}}));
  // No digit of the mean is lost.
  Array mean = array(std::vector<double>{0.1, 0.2}), none = zeros({2, 2}) + 1e-30 * eye(2);
  EXPECT_NEAR(numbers(multivariate_normal(key(3), mean, none))[0], 0.1, 1e-13);
}

TEST(Distributions, BallIsFilledEvenly) {
  Array x = ball(key(6), 3, {20000});
  Array radius = sqrt(sum(x * x, -1));
  EXPECT_LT(ks_statistic(numbers(radius), [](double r) { return r * r * r; }), 2.2);
  Array first = slice(x, {0, 0}, {20000, 1});
  EXPECT_LT(ks_statistic(numbers(first), [](double t) { return (2 + 3 * t - t * t * t) / 4; }),
            2.2);
  auto signs = numbers(rademacher(key(2), {10000}));
  EXPECT_NEAR(mean_of(signs), 0, 0.04);
  EXPECT_EQ(std::set<double>(signs.begin(), signs.end()), (std::set<double>{-1, 1}));
}

TEST(Distributions, Errors) {
  EXPECT_THROW(truncated_normal(key(1), 2, 1), Error);
  EXPECT_THROW(choice(key(1), 3, {4}, {.replace = false}), ShapeError);
  EXPECT_THROW(choice(key(1), 3, {4}, {.weights = array({1, 2})}), ShapeError);
  EXPECT_THROW(choice(key(1), 0, {4}), ShapeError);
  EXPECT_THROW(choice(key(1), array({1, 2}), {2}, {.axis = 1}), ShapeError);
  EXPECT_THROW(choice(key(1), Array(1.0), {2}), ShapeError);
  EXPECT_THROW(categorical(key(1), 1.0), ShapeError);
  EXPECT_THROW(permutation(key(1), array({1, 2}), 1), ShapeError);
}

}  // namespace
}  // namespace sturnus::testing
