#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/results/checkpoint.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/inference/chains.h"

namespace sturnus {
namespace {

struct Place {
  Array x;
};

/// Means i and the test's covariances: with correlations 0.8^|i - j|, a standardised element
/// depends on the one before alone, and is normal around 0.8 of it.
Model<Place> gaussian() {
  Array mean = device_array({0, 1, 2}, {3}), sd = device_array({0.5, 1.5, 2.5}, {3});
  auto log_joint = [=](const Place& p) {
    Array z = (p.x - mean) / sd;
    Array before = z(Slice{0, 2}), after = z(Slice{1, 3});
    return normal_log_density(z[0], 0.0, 1.0) + sum(normal_log_density(after, 0.8 * before, 0.6));
  };
  return Model(log_joint, Place{zeros({3})});
}

/// Everything that was drawn, to compare to the bit.
std::string bytes_of_draws(const Draws& draws) {
  std::string bytes;
  for (const Array& leaf : tree_leaves(draws)) bytes += bytes_of(leaf);
  return bytes;
}

// Programs take most of the time here, and equal ones are compiled once.
const SamplingOptions short_run = {.chains = 3, .warmup = 60, .draws = 40, .seed = 7};

TEST(Sampling, FindsTheMomentsAndScalesOfAGaussian) {
  Sampler sampler(gaussian(), short_run);
  ChainState warm = sampler.advance(sampler.init(), 60).first;
  EXPECT_EQ(warm.adaptation.transition.to_vector<int>()[1], 60);
  for (double count : doubles(warm.adaptation.moments.count)) EXPECT_EQ(count, 0);
  Doubles factor = doubles(warm.adaptation.metric.factor);
  for (std::size_t i = 0; i < 9; i++) {
    EXPECT_NEAR(factor[i] / (0.5 + static_cast<double>(i % 3)), 1, 0.5);
  }

  Draws draws = sampler.advance(warm, 1000).second;
  EXPECT_EQ(draws.names, (std::vector<std::string>{"x[0]", "x[1]", "x[2]"}));
  EXPECT_EQ(draws.values.type().str(), "f64[3,1000,3]");
  expect_test_moments(doubles(draws.values), 3, 1000, 3);
  // What is reported belongs to what was drawn.
  Doubles x = doubles(draws.values), value = doubles(draws.stats.log_density),
          energies = doubles(draws.stats.energy), accept = doubles(draws.stats.accept);
  double mean_accept = 0;
  for (double a : accept) mean_accept += a / static_cast<double>(accept.size());
  EXPECT_NEAR(mean_accept, 0.85, 0.1);
  for (std::size_t i : {0u, 777u, 2999u}) {
    Array at = device_array({x[3 * i], x[3 * i + 1], x[3 * i + 2]}, {3});
    EXPECT_NEAR(gaussian().log_density(at).item<double>(), value[i], 1e-10);
    EXPECT_GT(energies[i], -value[i]);
  }
}

TEST(Sampling, ConstrainedParametersComeInTheirOwnSpace) {
  struct Parameters {
    Array rate, share;
  };
  Model model(
      [](const Parameters& p) {
        return gamma_log_density(p.rate, 3.0, 2.0) +
               dirichlet_log_density(p.share, device_array({2, 3, 5}, {3}));
      },
      Parameters{0.0, zeros({3})},
      {{".rate", Bijection::positive()}, {".share", Bijection::simplex()}});
  Draws draws = sample(model, {.chains = 2, .warmup = 300, .draws = 1500});
  Doubles x = doubles(draws.values);
  auto expect = [&](auto f, double expected) { expect_mean(x, 2, 1500, 4, f, expected); };
  expect([](const double* p) { return p[0]; }, 1.5);
  expect([](const double* p) { return p[0] * p[0]; }, 3.0);
  expect([](const double* p) { return p[1]; }, 0.2);
  expect([](const double* p) { return p[2]; }, 0.3);
  expect([](const double* p) { return p[3] * p[3]; }, 5.0 * 6 / (10 * 11));
  for (std::size_t i = 0; i < x.size(); i += 4)
    ASSERT_NEAR(x[i + 1] + x[i + 2] + x[i + 3], 1, 1e-12);
}

TEST(Sampling, TheSameSeedGivesTheSameBitsHoweverItIsCut) {
  SamplingOptions options = short_run;
  Draws whole = sample(gaussian(), options);
  EXPECT_EQ(bytes_of_draws(whole), bytes_of_draws(sample(gaussian(), options)));
  Draws looked_at = sample(gaussian(), options, [](std::int64_t) { return true; });
  EXPECT_EQ(bytes_of_draws(whole), bytes_of_draws(looked_at));

  // Through bytes, in another sampler, in other chunks.
  Sampler sampler(gaussian(), options);
  ChainState state = sampler.advance(sampler.init(), 37).first;
  Sampler other(gaussian(), options);
  state = tree_from_bytes(other.init(), arrays_to_bytes(tree_leaves(state)));
  state = other.advance(state, 23).first;
  EXPECT_EQ(bytes_of_draws(whole), bytes_of_draws(other.advance(state, 40).second));

  options.seed = 8;
  EXPECT_NE(bytes_of_draws(whole), bytes_of_draws(sample(gaussian(), options)));
}

TEST(Sampling, ItsTransitionsAreStepsOfNuts) {
  Sampler sampler(gaussian(), short_run);
  ChainState state = sampler.advance(sampler.init(), 60).first;
  auto chain = [&](int c) { return tree_map([c](const Array& leaf) { return leaf[c]; }, state); };
  std::vector<ChainState> each = {chain(0), chain(1)};
  Draws draws = sampler.advance(state, 5).second;
  auto step = jit([&](const Key& k, const Nuts::State& at, const Adaptation& a) {
    return Nuts().step(k, sampler.target().log_density, at, a.step.size, a.metric);
  });
  for (int c = 0; c < 2; c++) {
    const ChainState& start = each[static_cast<std::size_t>(c)];
    Nuts::State at = start.at;
    for (int i = 0; i < 5; i++) {
      auto [next, info] =
          step(fold_in(start.key, start.adaptation.trajectories + i), at, start.adaptation);
      EXPECT_EQ(info.leapfrogs.item<int>(), draws.stats.leapfrogs(c, i).item<int>());
      EXPECT_EQ(info.depth.item<int>(), draws.stats.depth(c, i).item<int>());
      EXPECT_NEAR(info.accept.item<double>(), draws.stats.accept(c, i).item<double>(), 1e-9);
      EXPECT_NEAR(start.adaptation.step.size.item<double>(),
                  draws.stats.step_size(c, i).item<double>(), 0);
      Doubles expected = doubles(next.position), found = doubles(draws.values(c, i));
      for (std::size_t k = 0; k < 3; k++) EXPECT_NEAR(found[k], expected[k], 1e-9);
      at = next;
    }
  }
}

TEST(Sampling, StartsWhereTheDensityIsFiniteOrSaysWhyNot) {
  struct Parameters {
    Array a, b;
  };
  // Finite for a > 0 only, and constraints are not declared.
  Model half(
      [](const Parameters& p) {
        return gamma_log_density(p.a, 2.0, 1.0) + normal_log_density(p.b, 0.0, 1.0);
      },
      Parameters{0.0, 0.0});
  ChainState state = Sampler(half, {.chains = 8}).init();
  for (double value : doubles(state.at.value)) EXPECT_TRUE(std::isfinite(value));

  auto message_of = [](const Target& target, const SamplingOptions& options) -> std::string {
    try {
      sample(target, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Model never([](const Parameters& p) { return sqrt(-1.0 - square(p.b)) + p.a; },
              Parameters{0.0, 0.0});
  EXPECT_EQ(message_of(never, {}),
            "sample: chain 0 has no place to begin: after 100 starts in (-2, 2), at the last of "
            "which the log density is nan; its slope by b is nan. Give starts where both are "
            "finite, or constrain the parameters so that they are");
  Array start = device_array({1, 0, -1, 0}, {2, 2});
  EXPECT_EQ(message_of(half, {.chains = 2, .start = start}),
            "sample: chain 1 has no place to begin: where it starts the log density is -inf. "
            "Give starts where both are finite, or constrain the parameters so that they are");
  EXPECT_EQ(
      message_of(half, {.chains = 3, .start = start}),
      "sample: the start is f64[2,2], but there are 3 chains of 2 free numbers. Give f64[3,2]");
  EXPECT_EQ(message_of(half, {.chains = 0}), "sample: 0 chains. Give at least 1");
  EXPECT_THROW(sample(half, {.target_accept = 1}), Error);
  EXPECT_THROW(sample(half, {.max_depth = 0}), Error);
  EXPECT_THROW(sample(half, {.dtype = DType::i32}), Error);
}

TEST(Sampling, StopsWhenToldAndKeepsWhatWasDrawn) {
  std::int64_t seen = 0;
  Draws draws = sample(gaussian(), short_run, [&](std::int64_t done) {
    seen = done;
    return done < 70;
  });
  EXPECT_EQ(seen, 70);
  EXPECT_EQ(draws.values.type().str(), "f64[3,10,3]");
  EXPECT_EQ(draws.stats.depth.type().str(), "i32[3,10]");
  SamplingOptions none = short_run;
  none.draws = 0;
  EXPECT_EQ(sample(gaussian(), none).values.type().str(), "f64[3,0,3]");
}

}  // namespace
}  // namespace sturnus
