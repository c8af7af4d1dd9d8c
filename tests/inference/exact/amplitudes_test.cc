#include "src/inference/exact/amplitudes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace sturnus {
namespace {

using boost::math::quadrature::gauss;

struct Case {
  const char* name;
  std::vector<Pair> basis;
  std::vector<double> y;
  double sigma;
  std::vector<PriorInterval> priors;
  // Parts are narrower than the whole, so their sum ripples: more so, the closer c_0 follows c_1.
  // The posteriors that use them average over hundreds of such sums.
  double ripple = 0.01;
};

const std::vector<Case> cases = {
    {"one, whole", {{1, 0}, {0.5, 0}}, {1, 0.2}, 0.1, {{-3, 3}}},
    {"one, cut", {{1, 0}, {0.5, 0}}, {1, 0.2}, 0.5, {{0, 0.8}}},
    {"two, whole", {{1, 0}, {0, 1}, {1, 1}}, {0.4, -0.3, 0.2}, 0.1, {{-5, 5}, {-5, 5}}},
    {"first cut", {{1, 0}, {0, 1}, {1, 1}}, {0.4, -0.3, 0.2}, 0.1, {{0.45, 2}, {-5, 5}}},
    {"second cut", {{1, 0}, {0, 1}, {1, 1}}, {0.4, -0.3, 0.2}, 0.1, {{-5, 5}, {-1, -0.2}}},
    {"a corner", {{1, 0.9}, {1, 1.1}}, {0.5, 0.7}, 0.1, {{-1, 0.1}, {0.3, 2}}},
    {"a diagonal ridge", {{1, 0.98}, {1, 1.02}}, {0.5, 0.6}, 0.1, {{-2, 2}, {-2, 2}}, 0.02},
    {"best outside", {{1, 0}, {0, 1}}, {3, 4}, 0.5, {{0, 1}, {0, 2}}},
    {"only the sum is known", {{1, 1}, {2, 2}}, {0.3, 0.5}, 0.1, {{-1, 1}, {-1, 1}}},
    {"first unknown", {{0, 1}}, {0.5}, 0.2, {{-1, 2}, {0, 1}}},
};

double half_squares(const Case& c, const Pair& at) {
  double sum = 0;
  for (std::size_t i = 0; i < c.y.size(); ++i) {
    double residual = (c.y[i] - dot(c.basis[i], at)) / c.sigma;
    sum += 0.5 * residual * residual;
  }
  return sum;
}

template <class Integrand>
double integrate(double low, double high, Integrand integrand) {
  if (!(low < high)) return 0;
  const int panels = 40;
  double sum = 0;
  for (int i = 0; i < panels; ++i) {
    sum += gauss<double, 10>::integrate(integrand, low + (high - low) * i / panels,
                                        low + (high - low) * (i + 1) / panels);
  }
  return sum;
}

/// The integral of weight(c) times the likelihood over the part of the priors' box with g . c <= x.
template <class Weight>
double brute_force(const Case& c, const Pair& g, double x, Weight weight) {
  auto likelihood = [&](const Pair& at) { return weight(at) * std::exp(-half_squares(c, at)); };
  // The inner integral ends where g . c = x, so it is over the amplitude that g sees more of.
  std::size_t inner = std::abs(g[1]) > std::abs(g[0]) ? 1 : 0, outer = 1 - inner;
  bool ascending = g[inner] > 0;
  PriorInterval range = c.priors[inner];
  auto inner_integral = [&](double known) {
    double edge = (x - g[outer] * known) / g[inner];
    double low = ascending ? range.low : std::max(range.low, edge);
    double high = ascending ? std::min(range.high, edge) : range.high;
    return integrate(low, high, [&](double u) {
      Pair at;
      at[inner] = u;
      at[outer] = known;
      return likelihood(at);
    });
  };
  if (c.priors.size() == 1) return inner_integral(0);
  // It has kinks where that edge meets the box.
  std::vector<double> ends = {c.priors[outer].low, c.priors[outer].high};
  for (double bound : {range.low, range.high}) {
    double kink = (x - g[inner] * bound) / g[outer];
    if (ends[0] < kink && kink < ends[1]) ends.push_back(kink);
  }
  std::sort(ends.begin(), ends.end());
  double sum = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    sum += integrate(ends[i], ends[i + 1], inner_integral);
  return sum;
}

const double infinity = std::numeric_limits<double>::infinity();

double one(const Pair&) { return 1; }

TEST(Amplitudes, AgreeWithBruteForce) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Amplitudes amplitudes(c.basis, c.y, c.sigma, c.priors);
    double total = brute_force(c, {1, 0}, infinity, one);
    EXPECT_NEAR(amplitudes.log_integral(-infinity), std::log(total), 1e-9);

    AmplitudeParts parts = amplitudes.parts(1e-12);
    auto mean_of = [&](auto weight) { return brute_force(c, {1, 0}, infinity, weight) / total; };
    double a = mean_of([](const Pair&p) { return p[0]; }),
           b = mean_of([](const Pair&p) { return p[1]; });
    EXPECT_NEAR(parts.mean[0], a, 1e-8);
    EXPECT_NEAR(parts.mean[1], b, 1e-8);
    EXPECT_NEAR(parts.covariance.aa,
                mean_of([&](const Pair& p) { return (p[0] - a) * (p[0] - a); }), 1e-8);
    EXPECT_NEAR(parts.covariance.ab,
                mean_of([&](const Pair& p) { return (p[0] - a) * (p[1] - b); }), 1e-8);
    EXPECT_NEAR(parts.covariance.bb,
                mean_of([&](const Pair& p) { return (p[1] - b) * (p[1] - b); }), 1e-8);

    std::vector<Pair> directions = {{1, 0}};
    if (c.priors.size() == 2) {
      directions.insert(directions.end(), {{0, 1}, {1, 1}, {0.3, -1}, {2, 0.5}});
    }
    for (const Pair& g : directions) {
      double centre = dot(g, parts.mean), sd = std::sqrt(parts.covariance.along(g));
      for (double z : {-1.0, 0.1, 1.3}) {
        double cdf = 0;
        for (const AmplitudePart& part : parts.along(g))
          cdf += part.weight * part.along(g).cdf(centre + z * sd);
        EXPECT_NEAR(cdf, brute_force(c, g, centre + z * sd, one) / total, c.ripple)
            << g[0] << ' ' << g[1] << ' ' << z;
      }
    }
  }
}

TEST(Amplitudes, AreNotWorkedOutWhereTheyDoNotMatter) {
  for (const Case& c : cases) {
    Amplitudes amplitudes(c.basis, c.y, c.sigma, c.priors);
    double exact = amplitudes.log_integral(-infinity);
    EXPECT_DOUBLE_EQ(amplitudes.log_integral(exact - 1), exact) << c.name;
    EXPECT_LT(amplitudes.log_integral(exact + 100), exact + 100) << c.name;
  }
}

TEST(Amplitudes, DrawsFollowTheParts) {
  const std::size_t n = 4000;
  for (const Case& c : cases) {
    Amplitudes amplitudes(c.basis, c.y, c.sigma, c.priors);
    AmplitudeParts parts = amplitudes.parts(1e-9);
    NumpyRandom random(1);
    std::vector<Pair> draws;
    for (std::size_t i = 0; i < n; ++i) draws.push_back(amplitudes.draw(random));
    for (const Pair& g : {Pair{1, 0}, Pair{0, 1}, Pair{1, -0.7}}) {
      if (c.priors.size() == 1 && g[0] == 0) continue;
      double centre = dot(g, parts.mean), sd = std::sqrt(parts.covariance.along(g));
      for (double z : {-1.0, 0.0, 1.0}) {
        double x = centre + z * sd, cdf = 0;
        for (const AmplitudePart& part : parts.along(g)) cdf += part.weight * part.along(g).cdf(x);
        auto below = std::count_if(draws.begin(), draws.end(),
                                   [&](const Pair& p) { return dot(g, p) <= x; });
        double error = std::sqrt(cdf * (1 - cdf) / n);
        EXPECT_NEAR(static_cast<double>(below) / n, cdf, 4 * error + c.ripple)
            << c.name << ": " << g[0] << ' ' << g[1] << ' ' << z;
      }
    }
    for (const Pair& draw : draws) {
      for (std::size_t i = 0; i < c.priors.size(); ++i) {
        EXPECT_TRUE(c.priors[i].low <= draw[i] && draw[i] <= c.priors[i].high) << c.name;
      }
    }
  }
}

}  // namespace
}  // namespace sturnus
