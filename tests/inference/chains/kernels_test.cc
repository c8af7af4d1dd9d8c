// HMC, NUTS, Langevin dynamics and the random walk leave a density as it is: chains that begin with
// exact draws keep its moments, and chains that begin elsewhere find them.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/hmc.h>
#include <sturnus/inference/chains/langevin.h>
#include <sturnus/inference/chains/nuts.h>
#include <sturnus/inference/chains/random_walk.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/triangular.h>

#include <utility>

#include "tests/inference/chains.h"

namespace sturnus {
namespace {

constexpr std::int64_t size = 3, chains = 8;

Array factor() { return cholesky(device_array(test_covariance(size), {size, size})); }

LogDensity gaussian() {
  Array l = factor(), mean = device_array({0, 1, 2}, {size});
  return [=](const Array& x) { return multivariate_normal_log_density(x, mean, l); };
}

/// Draws [chains, count, size] of a kernel's step(key, state) from state `init(position)`.
template <class Init, class Step>
Doubles run(std::int64_t count, const Init& init, const Step& step) {
  auto chain = [&](const Key& key) {
    auto body = [&](const auto& state, const Array& i) {
      auto next = step(fold_in(key, i), state).first;
      return std::pair(next, next.position);
    };
    return scan(body, init(zeros({size}, DType::f64)), arange(count + 100)).second;
  };
  Array all = jit([&](const Key& keys) { return vmap(chain)(keys); })(split(key(3), chains));
  Doubles draws;
  Doubles with_start = doubles(all);
  auto row = static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < with_start.size(); i++) {
    std::size_t draw = i / row % static_cast<std::size_t>(count + 100);
    if (draw >= 100) draws.push_back(with_start[i]);
  }
  return draws;
}

TEST(Hmc, FindsTheMomentsOfAGaussian) {
  LogDensity density = gaussian();
  Hmc hmc{.leapfrogs = 7};
  Metric metric = {device_array({0.5, 1.5, 2.5}, {size})};
  auto step = [&](const Key& key, const Hmc::State& s) {
    // Steps of one length would go round some direction in step with it.
    Array length = uniform(fold_in(key, 9), {}, 0.3, 0.5, DType::f64);
    return hmc.step(key, density, s, length, metric);
  };
  Doubles draws = run(
      2000, [&](const Array& x) { return hmc.init(density, x); }, step);
  expect_test_moments(draws, chains, 2000, size);
}

TEST(Hmc, ReportsHowItWent) {
  LogDensity density = gaussian();
  Hmc hmc{.leapfrogs = 3};
  Metric unit = {Array(1.0, DType::f64)};
  Hmc::State at = hmc.init(density, zeros({size}, DType::f64));
  auto [same, wild] = hmc.step(key(0), density, at, Array(1e6, DType::f64), unit);
  EXPECT_TRUE(wild.divergent.item<bool>());
  EXPECT_FALSE(wild.accepted.item<bool>());
  EXPECT_EQ(wild.accept.item<double>(), 0);
  EXPECT_EQ(bytes_of(same.position), bytes_of(at.position));
  auto [moved, calm] = hmc.step(key(0), density, at, Array(1e-3, DType::f64), unit);
  EXPECT_FALSE(calm.divergent.item<bool>());
  EXPECT_NEAR(calm.accept.item<double>(), 1, 1e-4);
  EXPECT_EQ(bytes_of(moved.value), bytes_of(density(moved.position)));
}

TEST(Mala, FindsTheMomentsOfAGaussian) {
  LogDensity density = gaussian();
  Mala mala;
  Metric metric = {factor()};
  auto step = [&](const Key& key, const Mala::State& s) {
    return mala.step(key, density, s, Array(1.2, DType::f64), metric);
  };
  Doubles draws = run(
      10000, [&](const Array& x) { return mala.init(density, x); }, step);
  expect_test_moments(draws, chains, 10000, size);
}

TEST(Mala, ReportsHowItWent) {
  LogDensity density = gaussian();
  Metric unit = {Array(1.0, DType::f64)};
  Mala mala;
  Mala::State at = mala.init(density, zeros({size}, DType::f64));
  auto [same, wild] = mala.step(key(0), density, at, Array(1e6, DType::f64), unit);
  EXPECT_FALSE(wild.accepted.item<bool>());
  EXPECT_EQ(wild.accept.item<double>(), 0);
  EXPECT_EQ(bytes_of(same.position), bytes_of(at.position));
  // The unadjusted method goes there all the same, and says that it was unlikely.
  auto [gone, info] = Langevin().step(key(0), density, at, Array(1e6, DType::f64), unit);
  EXPECT_EQ(info.accept.item<double>(), 0);
  EXPECT_NE(bytes_of(gone.position), bytes_of(at.position));
}

// For variance s^2, x' = (1 - step^2 / (2 s^2)) x + step z has the variance
// s^2 / (1 - step^2 / (4 s^2)), and no other moment changes.
TEST(Langevin, IsWiderByWhatTheStepMakesIt) {
  LogDensity density = [](const Array& x) {
    return sum(normal_log_density(x, device_array({0, 1, 2}, {size}), 2.0));
  };
  Langevin langevin;
  Metric unit = {Array(1.0, DType::f64)};
  const double step_size = 2;
  auto step = [&](const Key& key, const Langevin::State& s) {
    return langevin.step(key, density, s, Array(step_size, DType::f64), unit);
  };
  Doubles draws = run(
      10000, [&](const Array& x) { return langevin.init(density, x); }, step);
  double variance = 4 / (1 - step_size * step_size / 16);
  for (std::size_t i = 0; i < size; i++) {
    auto mean = static_cast<double>(i);
    expect_mean(
        draws, chains, 10000, size, [&](const double* x) { return x[i]; }, mean);
    expect_mean(
        draws, chains, 10000, size, [&](const double* x) { return (x[i] - mean) * (x[i] - mean); },
        variance);
  }
}

TEST(RandomWalk, FindsTheMomentsOfAGaussian) {
  LogDensity density = gaussian();
  RandomWalk walk;
  Metric proposal = {1.3 * factor()};
  auto step = [&](const Key& key, const RandomWalk::State& s) {
    return walk.step(key, density, s, proposal);
  };
  Doubles draws = run(
      20000, [&](const Array& x) { return walk.init(density, x); }, step);
  expect_test_moments(draws, chains, 20000, size);
}

TEST(Nuts, FindsTheMomentsOfAGaussian) {
  LogDensity density = gaussian();
  Nuts nuts;
  Metric metric = {device_array({0.5, 1.5, 2.5}, {size})};
  auto step = [&](const Key& key, const Nuts::State& s) {
    return nuts.step(key, density, s, Array(0.45, DType::f64), metric);
  };
  Doubles draws = run(
      2000, [&](const Array& x) { return nuts.init(density, x); }, step);
  expect_test_moments(draws, chains, 2000, size);
}

}  // namespace
}  // namespace sturnus
