#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/variational/stein.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <algorithm>
#include <cmath>

#include "tests/inference/chains.h"

namespace sturnus {
namespace {

LogDensity gaussian() {
  Array l = cholesky(device_array(test_covariance(2), {2, 2}));
  Array mean = device_array({0, 1}, {2});
  return [=](const Array& x) { return multivariate_normal_log_density(x, mean, l); };
}

Stein::State advanced(const Stein& stein, const LogDensity& density, const Array& particles,
                      std::int64_t steps) {
  return jit([&](const Array& x) {
    auto body = [&](const Array&, const Stein::State& s) { return stein.step(density, s).first; };
    return fori_loop(Array(0), Array(steps), body, stein.init(x));
  })(particles);
}

/// phi of independent standard normal numbers, by a loop over pairs.
Doubles host_direction(const Doubles& x, std::size_t n, std::size_t d) {
  auto distance = [&](std::size_t i, std::size_t j) {
    double total = 0;
    for (std::size_t k = 0; k < d; k++) total += std::pow(x[i * d + k] - x[j * d + k], 2);
    return total;
  };
  Doubles pairs;
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < i; j++) pairs.push_back(distance(i, j));
  }
  std::sort(pairs.begin(), pairs.end());
  double h = pairs[(pairs.size() - 1) / 2] / std::log(static_cast<double>(n) + 1);
  Doubles phi(n * d, 0);
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < n; j++) {
      double k = std::exp(-distance(i, j) / h);
      for (std::size_t c = 0; c < d; c++) {
        double slope = -x[j * d + c];
        phi[i * d + c] += k * (slope + 2 / h * (x[i * d + c] - x[j * d + c])) / n;
      }
    }
  }
  return phi;
}

TEST(Stein, APlainStepIsThatOfTheFormula) {
  LogDensity density = [](const Array& x) { return -0.5 * sum(square(x)); };
  for (std::size_t n : {2, 5, 6}) {
    Doubles x = random_numbers(n * 3, 7);
    Array particles = device_array(x, {static_cast<std::int64_t>(n), 3}) + 100.0;
    LogDensity shifted = [&](const Array& y) { return density(y - 100.0); };
    Stein plain{.optimizer = {.method = Optimizer::Method::sgd, .rate = 0.5}};
    auto [next, info] = plain.step(shifted, plain.init(particles));
    Doubles moved = doubles(next.particles), phi = host_direction(x, n, 3);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
      EXPECT_NEAR(moved[i] - 100, x[i] + 0.5 * phi[i], 1e-10) << n;
      squares += phi[i] * phi[i];
    }
    double size = static_cast<double>(x.size());
    EXPECT_NEAR(info.direction.item<double>(), std::sqrt(squares / size), 1e-10);
    EXPECT_EQ(next.iteration.item<std::int32_t>(), 1);
  }
}

TEST(Stein, OneParticleClimbsToTheMode) {
  Stein stein{.optimizer = {.rate = Schedule::exponential(0.1, 1e-4, 0, 2000)}};
  Stein::State end = advanced(stein, gaussian(), device_array({3, -2}, {1, 2}), 2000);
  Doubles x = doubles(end.particles);
  EXPECT_NEAR(x[0], 0, 1e-4);
  EXPECT_NEAR(x[1], 1, 1e-4);
}

TEST(Stein, ParticlesSpreadLikeTheDensity) {
  const std::int64_t n = 100;
  Array start = device_array(random_numbers(2 * n, 3, 0.1), {n, 2});
  Stein stein{.optimizer = {.rate = Schedule::exponential(0.1, 1e-4, 0, 3000)}};
  Stein::State end = advanced(stein, gaussian(), start, 3000);
  EXPECT_LT(stein.step(gaussian(), end).second.direction.item<double>(), 1e-3);
  Doubles x = doubles(end.particles), covariance = test_covariance(2);
  auto moment = [&](const auto& f) {
    double total = 0;
    for (std::int64_t i = 0; i < n; i++) total += f(x[2 * i], x[2 * i + 1]) / n;
    return total;
  };
  EXPECT_NEAR(moment([](double a, double) { return a; }), 0, 0.02);
  EXPECT_NEAR(moment([](double, double b) { return b; }), 1, 0.06);
  // In few dimensions the kernel loses little of the variance.
  EXPECT_NEAR(moment([](double a, double) { return a * a; }) / covariance[0], 1, 0.1);
  EXPECT_NEAR(moment([](double, double b) { return (b - 1) * (b - 1); }) / covariance[3], 1, 0.1);
  EXPECT_NEAR(moment([](double a, double b) { return a * (b - 1); }) / covariance[1], 1, 0.1);
}

TEST(Stein, ASlopeThatIsNotFiniteMovesNobody) {
  LogDensity density = [](const Array& x) { return sum(log(x)); };  // infinitely steep at 0
  Stein plain{.optimizer = {.method = Optimizer::Method::sgd, .rate = 0.1}};
  Array particles = device_array({1, 2, 0, 4}, {4, 1});
  Doubles moved = doubles(plain.step(density, plain.init(particles)).first.particles);
  for (double x : moved) EXPECT_TRUE(std::isfinite(x));
  EXPECT_GT(moved[0], 1);
}

TEST(Stein, SaysWhatParticlesMustBe) {
  try {
    Stein().init(device_array({1, 2}, {2}));
    FAIL() << "nothing was thrown";
  } catch (const ShapeError& error) {
    EXPECT_EQ(std::string(error.what()),
              "Stein::init: the particles are f64[2]. Give [particles, size], at least 1 of them");
  }
}

}  // namespace
}  // namespace sturnus
