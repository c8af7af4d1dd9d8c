#include "src/inference/exact/piecewise_density.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace sturnus {
namespace {

double log_normal(double x, double mean, double sd) {
  double z = (x - mean) / sd;
  return -0.5 * z * z - std::log(sd * std::sqrt(2 * std::numbers::pi));
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double log_add(double a, double b) {
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

TEST(PiecewiseDensity, OfANormalIsTheNormal) {
  // From wide to so narrow that no first node is within 20 sd of the peak.
  for (double sd : {1.0, 1e-2, 1e-4, 1e-6}) {
    PiecewiseDensity density([&](double x, double) { return 5 + log_normal(x, 0.7 + sd / 3, sd); },
                             {{-10, 10, 4}});
    EXPECT_NEAR(density.log_total(), 5, 1e-9) << sd;
    for (double z : {-3.0, -0.4, 0.0, 2.2}) {
      double x = 0.7 + sd / 3 + z * sd;
      EXPECT_NEAR(density.density(0, x) * sd, std::exp(log_normal(z, 0, 1)), 1e-9)
          << sd << " at " << z;
      EXPECT_NEAR(density.cdf(0, x), normal_cdf(z), 1e-9) << sd << " at " << z;
      EXPECT_NEAR(density.quantile(0, normal_cdf(z)), x, 1e-7 * sd) << sd << " at " << z;
    }
  }
}

TEST(PiecewiseDensity, FindsModesOfDifferentWidth) {
  // Half of the mass in a broad mode, half in one a thousand times narrower: no first node sees
  // that but as a rise towards it, so there must be enough of them.
  auto log_density = [](double x, double) {
    return log_add(log_normal(x, -2, 0.5), log_normal(x, 3.21, 5e-3));
  };
  PiecewiseDensity density(log_density, {{-10, 10, 100}});
  EXPECT_NEAR(density.log_total(), std::log(2), 1e-9);
  EXPECT_NEAR(density.cdf(0, 2), 0.5, 1e-9);
  EXPECT_NEAR(density.cdf(0, 3.21), 0.75, 1e-9);
}

TEST(PiecewiseDensity, EndsAtItsBox) {
  PiecewiseDensity density([](double x, double) { return -2 * x; }, {{0, 1, 1}});
  double total = (1 - std::exp(-2)) / 2;
  EXPECT_NEAR(density.log_total(), std::log(total), 1e-12);
  EXPECT_NEAR(density.density(0, 0), 1 / total, 1e-9);
  EXPECT_NEAR(density.density(0, 1), std::exp(-2) / total, 1e-9);
  EXPECT_EQ(density.density(0, 1.1), 0);
  EXPECT_EQ(density.cdf(0, -0.1), 0);
  EXPECT_EQ(density.cdf(0, 2), 1);
  EXPECT_NEAR(density.quantile(0, 0.25), -0.5 * std::log(1 - 0.25 * 2 * total), 1e-10);
}

/// A bivariate normal with correlation 0.95, of which the box cuts off nothing to speak of.
struct Correlated {
  static constexpr double rho = 0.95, sd_x = 0.1, sd_y = 0.02;
  static double log_density(double x, double y) {
    double u = (x - 1) / sd_x, v = (y - 0.4) / sd_y;
    return -0.5 * (u * u - 2 * rho * u * v + v * v) / (1 - rho * rho);
  }
  PiecewiseDensity density = PiecewiseDensity(log_density, {{0, 3, 4}, {0, 0.9, 4}});
};

TEST(PiecewiseDensity, IntegratesTheOtherAxisAway) {
  Correlated c;
  double expected = std::log(2 * std::numbers::pi * c.sd_x * c.sd_y * std::sqrt(1 - c.rho * c.rho));
  EXPECT_NEAR(c.density.log_total(), expected, 1e-9);
  for (double z : {-2.5, -1.0, 0.3, 2.0}) {
    EXPECT_NEAR(c.density.cdf(0, 1 + z * c.sd_x), normal_cdf(z), 1e-9) << z;
    EXPECT_NEAR(c.density.cdf(1, 0.4 + z * c.sd_y), normal_cdf(z), 1e-9) << z;
    EXPECT_NEAR(c.density.density(0, 1 + z * c.sd_x) * c.sd_x, std::exp(log_normal(z, 0, 1)), 1e-8)
        << z;
    EXPECT_NEAR(c.density.density(1, 0.4 + z * c.sd_y) * c.sd_y, std::exp(log_normal(z, 0, 1)),
                1e-8)
        << z;
  }
}

TEST(PiecewiseDensity, NodesCarryTheMoments) {
  Correlated c;
  for (std::size_t per_axis : {10, 20, 30}) {
    std::vector<PiecewiseDensity::Node> nodes = c.density.nodes(per_axis, 1e-10);
    double total = 0, x = 0, xx = 0, xy = 0;
    for (const auto& node : nodes) {
      double u = (node.x[0] - 1) / c.sd_x, v = (node.x[1] - 0.4) / c.sd_y;
      total += node.weight;
      x += node.weight * u;
      xx += node.weight * u * u;
      xy += node.weight * u * v;
    }
    EXPECT_NEAR(total, 1, 1e-12);
    EXPECT_NEAR(x, 0, 1e-8);
    EXPECT_NEAR(xx, 1, 1e-7);
    EXPECT_NEAR(xy, c.rho, 1e-7);
    EXPECT_LT(c.density.nodes(per_axis, 1e-3).size(), nodes.size() / 2);
  }
}

TEST(PiecewiseDensity, DrawsFollowIt) {
  Correlated c;
  NumpyRandom random(1);
  const int n = 20000;
  // Independent uniforms, if the draws are right: of x, and of y given x.
  std::vector<double> first, second;
  for (int i = 0; i < n; ++i) {
    auto [x, y] = c.density.draw(random);
    double u = (x - 1) / c.sd_x, v = (y - 0.4) / c.sd_y;
    first.push_back(normal_cdf(u));
    second.push_back(normal_cdf((v - c.rho * u) / std::sqrt(1 - c.rho * c.rho)));
  }
  double product = 0;
  for (int i = 0; i < n; ++i) product += (first[i] - 0.5) * (second[i] - 0.5) * 12 / n;
  EXPECT_NEAR(product, 0, 4 / std::sqrt(n));
  for (auto* values : {&first, &second}) {
    std::sort(values->begin(), values->end());
    double distance = 0;  // Kolmogorov-Smirnov
    for (int i = 0; i < n; ++i)
      distance = std::max(distance, std::abs((*values)[i] - (i + 0.5) / n));
    EXPECT_LT(distance, 1.95 / std::sqrt(n));  // exceeded once in a thousand seeds
  }
}

TEST(PiecewiseDensity, RefusesWhatItCannotIntegrate) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (double value : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(PiecewiseDensity([value](double, double) { return value; }, {{0, 1, 2}}), Error)
        << value;
  }
  // Noise is no density: there is no scale at which it becomes smooth.
  auto noise = [](double x, double) { return std::fmod(std::abs(x * 1e9), 7.0); };
  EXPECT_THROW(PiecewiseDensity(noise, {{0, 1, 2}}), Error);
}

}  // namespace
}  // namespace sturnus
