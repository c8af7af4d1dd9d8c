// The density in the metric of the members' covariance: against plain loops, and at rest on
// Gaussian targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/ensembles/correlated_density.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/triangular.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Rows draws(std::int64_t n, std::int64_t d, std::uint32_t seed) {
  Array x = normal(key(seed), {n, d}, DType::f64);
  Doubles values = doubles(x);
  Rows rows = Eigen::Map<Rows>(values.data(), n, d);
  for (std::int64_t j = 1; j < d; j++) rows.col(j) = 0.1 * rows.col(j) + 2.0 * rows.col(j - 1);
  return rows;
}

Array to_array(const Rows& rows) {
  return array(Doubles(rows.data(), rows.data() + rows.size()), {rows.rows(), rows.cols()});
}

// Compiled as a whole: quicker than operation by operation.
Doubles density(const Rows& members, const Array& others = {}) {
  Array x = to_array(members);
  if (others.empty()) return doubles(jit([](Array m) { return log_correlated_density(m); })(x));
  static auto program = jit([](Array m, Array o) { return log_correlated_density(m, o); });
  return doubles(program(x, others));
}

// The formula of the header with Eigen's inverse in place of a triangular solve.
Doubles plain_density(const Rows& x) {
  auto n = static_cast<double>(x.rows()), d = static_cast<double>(x.cols());
  Eigen::RowVectorXd mean = x.colwise().mean();
  Rows centred = x.rowwise() - mean;
  Eigen::MatrixXd covariance = centred.transpose() * centred / (n - 1);
  for (int j = 0; j < covariance.rows(); j++) covariance(j, j) *= 1 + 1e-5;
  Eigen::MatrixXd inverse = covariance.inverse();
  double h = std::pow(4 / ((d + 2) * n), 1 / (d + 4)), a = std::sqrt(1 - h * h);
  Doubles result;
  for (int i = 0; i < x.rows(); i++) {
    double sum = 0;
    for (int j = 0; j < x.rows(); j++) {
      Eigen::VectorXd gap = (centred.row(i) - a * centred.row(j)).transpose();
      sum += std::exp(-0.5 * gap.dot(inverse * gap) / (h * h));
    }
    result.push_back(std::log(sum) - 0.5 * std::log(covariance.determinant()) - d * std::log(h));
  }
  return result;
}

TEST(CorrelatedDensity, EqualsItsFormula) {
  for (std::int64_t d : {1, 2, 4}) {
    Rows x = draws(25, d, 3);
    Doubles expected = plain_density(x), got = density(x);
    for (std::size_t i = 0; i < expected.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-8) << i;
  }
}

// A member moves, the others and their covariance stay.
TEST(CorrelatedDensity, DifferentiatesByTheMemberAlone) {
  Rows x = draws(12, 3, 5);
  Array others = to_array(x);
  auto total = [](Array m, Array o) { return sum(log_correlated_density(m, o)); };
  auto alone = [](Array m) { return sum(log_correlated_density(m)); };
  Doubles slope = doubles(jit(grad(total))(others, others));
  Doubles own = doubles(jit(grad(alone))(others));
  constexpr double step = 1e-5;
  for (std::size_t at = 0; at < slope.size(); at++) {
    auto member = at / 3;
    Rows up = x, down = x;
    up.data()[at] += step;
    down.data()[at] -= step;
    double difference = (density(up, others)[member] - density(down, others)[member]) / (2 * step);
    EXPECT_NEAR(slope[at], difference, 1e-6 * (1 + std::abs(difference)));
    EXPECT_NEAR(own[at], slope[at], 1e-12 * (1 + std::abs(slope[at])));
  }
}

// Gradient flow on a Gaussian target with strong correlations: members come to rest with its mean
// and covariance, which kernels without shrinkage would miss by a third.
TEST(CorrelatedDensity, RestsWithTheCovarianceOfAGaussian) {
  Eigen::Matrix2d covariance;
  covariance << 1.0, 0.95, 0.95, 1.0;
  Eigen::Matrix2d inverse = covariance.inverse();
  Array precision =
      array(Doubles{inverse(0, 0), inverse(0, 1), inverse(1, 0), inverse(1, 1)}, {2, 2});
  Array mean = array(Doubles{0.3, -2.0});
  auto loss = [&](Array x) {
    Array gap = x - mean;
    return sum(0.5 * sum(gap * matmul(gap, precision), 1) + log_correlated_density(x));
  };
  auto flow = jit([&](Array x) {
    return fori_loop(
        0, 6000, [&](Array, Array x) { return x - 0.01 * grad(loss)(x); }, x);
  });
  Doubles end = doubles(flow(normal(key(1), {40, 2}, DType::f64)));
  Rows x = Eigen::Map<Rows>(end.data(), 40, 2);
  Eigen::RowVectorXd at = x.colwise().mean();
  EXPECT_NEAR(at(0), 0.3, 0.02);
  EXPECT_NEAR(at(1), -2.0, 0.02);
  Rows centred = x.rowwise() - at;
  Eigen::Matrix2d got = centred.transpose() * centred / 39;
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) EXPECT_NEAR(got(i, j), covariance(i, j), 0.12) << i << j;
  }
}

// One member far away, and one that is not finite: the others have the density they have without.
TEST(CorrelatedDensity, IgnoresTheLost) {
  Rows x = draws(20, 2, 8);
  Rows with(22, 2);
  with.topRows(20) = x;
  with.row(20) << 1e6, -1e6;
  with.row(21) << std::numeric_limits<double>::quiet_NaN(), 1.0;
  auto slope = [](const Rows& rows) {
    auto total = [](Array m) { return sum(log_correlated_density(m)); };
    return doubles(jit(grad(total))(to_array(rows)));
  };
  Doubles all = slope(with);
  EXPECT_EQ(all[40], 0);
  EXPECT_EQ(all[41], 0);
  EXPECT_EQ(all[42], 0);
  EXPECT_EQ(all[43], 0);
  Doubles few = slope(x);
  for (std::size_t i = 0; i < 40; i++) EXPECT_NEAR(all[i], few[i], 1e-9 * (1 + std::abs(few[i])));
}

// However many are lost, most of them too.
TEST(CorrelatedDensity, OfTheOthersIsWhatItIsWithoutTheLost) {
  Rows x = draws(10, 2, 9);
  Doubles alone = density(x);
  for (int lost : {4, 11, 30}) {
    Rows all = Rows::Constant(10 + lost, 2, std::numeric_limits<double>::quiet_NaN());
    for (int i = 0; i < 10; i++) all.row(lost / 2 + i) = x.row(i);
    Doubles with = density(all);
    for (int i = 0; i < 10; i++) {
      EXPECT_NEAR(with[static_cast<std::size_t>(lost / 2 + i)], alone[static_cast<std::size_t>(i)],
                  1e-10)
          << lost;
    }
  }
}

// With fewer than have a covariance: finite, and no repulsion for one that is left alone.
TEST(CorrelatedDensity, OfFewThatAreLeftIsFinite) {
  auto total = [](Array m) {
    Array each = log_correlated_density(m);
    return std::pair(sum(each), each);
  };
  for (std::int64_t d : {1, 2, 3}) {
    auto program = jit(value_and_grad(total));
    for (std::int64_t left : {0, 1, 2}) {
      Rows x = draws(6, d, 4);
      x.bottomRows(6 - left).setConstant(std::numeric_limits<double>::quiet_NaN());
      auto [value, gradient] = program(to_array(x));
      for (double each : doubles(value.second)) EXPECT_TRUE(std::isfinite(each)) << d << left;
      Doubles slopes = doubles(gradient);
      for (std::size_t i = 0; i < static_cast<std::size_t>(left * d); i++) {
        EXPECT_TRUE(left == 1 ? slopes[i] == 0 : std::isfinite(slopes[i])) << d << left;
      }
    }
  }
}

TEST(CorrelatedDensity, OfIdenticalMembersIsFiniteAndFlat) {
  auto total = [](Array m) { return sum(log_correlated_density(m)); };
  Rows same = Rows::Constant(6, 2, 0.5);
  for (double value : density(same)) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(doubles(jit(grad(total))(to_array(same))), Doubles(12, 0));
}

// As documented.
TEST(CorrelatedDensity, TakesMemoryForOneArrayOfPairsByValues) {
  constexpr std::int64_t n = 600;
  for (std::int64_t d : {2, 12}) {
    auto total = [](Array m) { return sum(log_correlated_density(m)); };
    auto program = jit(value_and_grad(total)).compile(zeros({n, d}, DType::f32));
    std::int64_t temporary = program.program().executable().memory_stats().temporary;
    EXPECT_LT(temporary, 4 * ((d + 2) * n * n + 100 * n * d)) << d;
  }
}

TEST(CorrelatedDensity, NeedsMoreMembersThanDimensions) {
  EXPECT_THAT(
      [] {
        log_correlated_density(zeros({4, 3}, DType::f64));
      },
      ::testing::ThrowsMessage<Error>(::testing::HasSubstr(
          "4 members of 3 values have no covariance. Take at least 5 members")));
}

}  // namespace
}  // namespace sturnus
