#include <gtest/gtest.h>
#include <sturnus/inference/chains/smc.h>
#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/transcendental.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/inference/host.h"
#include "tests/inference/posterior_tests.h"

namespace sturnus {
namespace {

struct Place {
  Array x;
};

double mean_of(const Doubles& x, std::size_t column, std::size_t size) {
  double total = 0;
  for (std::size_t i = column; i < x.size(); i += size) total += x[i];
  return total / static_cast<double>(x.size() / size);
}

// Independent normal numbers: prior normal(0, 3), one measurement 1.5 with sd 0.5 of each. Evidence
// and posterior are normal.
TEST(Smc, FindsPosteriorAndEvidenceOfNormals) {
  const std::int64_t size = 4;
  const double prior = 9, noise = 0.25, y = 1.5;
  Model model(
      [&](const Place& p) {
        return sum(normal_log_density(p.x, 0.0, 3.0) + normal_log_density(y, p.x, 0.5));
      },
      Place{zeros({size})});
  SmcResult found = smc(model, Reference::normal(size, 3), {.particles = 2000, .moves = 20});
  EXPECT_EQ(found.particles.type().str(), "f64[2000,4]");
  double evidence = -0.5 * y * y / (prior + noise) - 0.5 * std::log(2 * M_PI * (prior + noise));
  EXPECT_NEAR(found.log_evidence, 4 * evidence, 0.2);
  double variance = 1 / (1 / prior + 1 / noise), mean = variance * y / noise;
  Doubles x = doubles(found.particles);
  for (std::size_t i = 0; i < 4; i++) {
    EXPECT_NEAR(mean_of(x, i, 4), mean, 6 * std::sqrt(variance / 2000));
    double square = 0;
    for (std::size_t j = i; j < x.size(); j += 4) square += (x[j] - mean) * (x[j] - mean) / 2000;
    EXPECT_NEAR(square, variance, 8 * variance * std::sqrt(2.0 / 2000));
  }
  ASSERT_EQ(found.accept.size(), found.temperatures.size());
  EXPECT_EQ(found.temperatures.back(), 1);
  for (std::size_t i = 1; i < found.temperatures.size(); i++) {
    EXPECT_GT(found.temperatures[i], found.temperatures[i - 1]);
  }
}

// A narrow mode with 10 % of the density among wide ones: its weight comes out, whatever the share
// of particles that began near it.
TEST(Smc, WeighsModes) {
  Model model(
      [](const Place& p) {
        return 1.5 + logsumexp(concatenate({std::log(0.9) + normal_log_density(p.x, -6.0, 1.5),
                                            std::log(0.1) + normal_log_density(p.x, 6.0, 0.2)}));
      },
      Place{zeros({1})});
  SmcResult found = smc(model, Reference::normal(1, 5), {.particles = 4000});
  EXPECT_NEAR(found.log_evidence, 1.5, 0.1);
  double right = 0;
  for (double x : doubles(found.particles)) right += x > 3 ? 1.0 / 4000 : 0;
  EXPECT_NEAR(right, 0.1, 0.03);
}

TEST(Smc, AgreesWithTheEvidenceByQuadrature) {
  ExperimentData data = published_data(Experiment::oscillator, 1);
  Target model = oscillator_model(measurements_of(data));
  auto exact = ExactPosterior::oscillator(measurements_of(data));
  // Uniform parameters are logistic free numbers, which a wide normal covers.
  SmcResult found = smc(model, Reference::normal(3, 3), {.particles = 2000, .moves = 30});
  EXPECT_NEAR(found.log_evidence, exact.log_evidence(), 0.3);
}

TEST(Smc, TheSameSeedGivesTheSameBits) {
  Model model([](const Place& p) { return sum(normal_log_density(p.x, 1.0, 0.1)); },
              Place{zeros({2})});
  auto bits = [&](std::uint64_t seed) {
    return bytes_of(
        smc(model, Reference::normal(2, 1), {.particles = 50, .moves = 2, .seed = seed}).particles);
  };
  EXPECT_EQ(bits(3), bits(3));
  EXPECT_NE(bits(3), bits(4));
}

std::string message_of(const Target& target, const SmcOptions& options) {
  try {
    smc(target, Reference::normal(target.size, 1), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Smc, SaysWhatIsWrong) {
  Model normal([](const Place& p) { return sum(normal_log_density(p.x, 0.0, 1e-3)); },
               Place{zeros({2})});
  EXPECT_EQ(message_of(normal, {.particles = 5, .moves = 3}),
            "smc: 5 particles of 2 free numbers, 3 moves, an effective share of 0.500000 and 200 "
            "temperatures. Give 6 to 1000000 particles, at least 1 move and 1 temperature, and a "
            "share between 0 and 1");
  try {
    smc(normal, Reference::normal(3, 1), {.particles = 20});
    ADD_FAILURE() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(),
                 "smc: the reference draws f64[3], but the model has 2 free numbers. Give a "
                 "reference of f64[2]");
  }
  std::string stopped = message_of(normal, {.particles = 20, .moves = 2, .max_temperatures = 1});
  EXPECT_TRUE(
      stopped.ends_with("after 1 temperatures, but the last should be 1. Allow more of "
                        "them, or give a reference nearer to the density"))
      << stopped;
  Model nowhere([](const Place& p) { return sum(log(-exp(p.x))); }, Place{zeros({2})});
  EXPECT_EQ(
      message_of(nowhere, {.particles = 20}),
      "smc: the log density is finite at none of the 20 draws of the reference, but the moves "
      "of 2 free numbers need 6. Give more particles, or a reference nearer to the density");
}

// Copies of a few particles would stay where these are, and look like a posterior.
TEST(Smc, RefusesASupportThatHardlyAParticleIsIn) {
  Model narrow([](const Place& p) { return sum(uniform_log_density(p.x, -0.3, 0.3)); },
               Place{zeros({2})});
  EXPECT_EQ(message_of(narrow, {.particles = 20}),
            "smc: the log density is finite at 1 of the 20 draws of the reference, but the moves "
            "of 2 free numbers need 6. Give more particles, or a reference nearer to the density");
  SmcResult found = smc(narrow, Reference::normal(2, 1), {.particles = 1000});
  EXPECT_NEAR(found.log_evidence, 0, 0.5);
  double largest = 0;
  for (double x : doubles(found.particles)) largest = std::max(largest, std::abs(x));
  EXPECT_GT(largest, 0.28);
  EXPECT_LE(largest, 0.3);
}

// Where the density is not a number for most of the reference, the others carry on.
TEST(Smc, ParticlesOutsideOfTheDensityDieOut) {
  Model half([](const Place& p) { return sum(normal_log_density(log(p.x), 0.0, 0.1) - log(p.x)); },
             Place{zeros({2})});
  SmcResult found = smc(half, Reference::normal(2, 2), {.particles = 400, .moves = 20});
  EXPECT_NEAR(found.log_evidence, 0, 0.5);
  for (double x : doubles(found.particles)) EXPECT_GT(x, 0);
}

}  // namespace
}  // namespace sturnus
