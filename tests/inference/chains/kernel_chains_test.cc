#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/inference/chains/kernel_chains.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/inference/posterior_tests.h"

namespace sturnus {
namespace {

ChainDraws chains_of_kernel(const Target& target, const KernelOptions& kernel, std::int64_t draws,
                            MetricKind metric = MetricKind::diagonal) {
  SamplingOptions options = {.chains = 4,
                             .warmup = 1000,
                             .draws = draws,
                             .metric = metric,
                             .target_accept = kernel.kernel == ChainKernel::hmc    ? 0.8
                                              : kernel.kernel == ChainKernel::mala ? 0.574
                                                                                   : 0.234,
                             .start = promising_starts(target, 4, 0)};
  KernelSampler sampler(target, options, kernel);
  ChainState warm = sampler.advance(sampler.init(), options.warmup).first;
  return chain_draws({sampler.advance(warm, draws).second});
}

TEST(KernelChains, HmcFindsTheExactPosterior) {
  ExperimentData data = published_data(Experiment::oscillator, 0);
  Target target = oscillator_model(measurements_of(data));
  ChainDraws draws = chains_of_kernel(target, {.kernel = ChainKernel::hmc, .leapfrogs = 10}, 2000);
  expect_exact(draws, ExactPosterior::oscillator(measurements_of(data)));
  for (double steps : draws.statistics.leapfrog_steps.values) ASSERT_EQ(steps, 10);
}

TEST(KernelChains, RandomWalkFindsTheExactPosterior) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  Target target = exponential_model(measurements_of(data));
  ChainDraws draws =
      chains_of_kernel(target, {.kernel = ChainKernel::random_walk}, 20000, MetricKind::dense);
  expect_exact(draws, ExactPosterior::exponential(measurements_of(data)));
  double accepted = 0;
  for (double a : draws.statistics.acceptance.values) {
    accepted += a / static_cast<double>(draws.statistics.acceptance.values.size());
  }
  EXPECT_NEAR(accepted, 0.234, 0.1);
}

TEST(KernelChains, MalaFindsTheExactPosterior) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  Target target = exponential_model(measurements_of(data));
  ChainDraws draws =
      chains_of_kernel(target, {.kernel = ChainKernel::mala}, 20000, MetricKind::dense);
  expect_exact(draws, ExactPosterior::exponential(measurements_of(data)));
  EXPECT_NEAR(sample_mean(draws.statistics.acceptance), 0.574, 0.1);
}

// A density that has a value but no slope: reverse mode does not go through its loop.
TEST(KernelChains, RandomWalkNeedsNoSlope) {
  struct Place {
    Array x;
  };
  Model<Place> model(
      [](const Place& p) {
        auto half = [](const std::pair<Array, Array>& s) {
          return std::pair(s.first + 1, 0.5 * s.second);
        };
        auto go_on = [](const std::pair<Array, Array>& s) { return s.first < 3; };
        Array eighth = while_loop(go_on, half, std::pair(Array(0), p.x)).second;
        return normal_log_density(eighth, 0.25, 0.125);  // x is normal around 2 with sd 1
      },
      Place{0.0});
  SamplingOptions options = {.chains = 4, .warmup = 300, .draws = 4000, .target_accept = 0.3};
  KernelSampler walk(model, options, {.kernel = ChainKernel::random_walk});
  ChainState warm = walk.advance(walk.init(), options.warmup).first;
  ChainDraws draws = chain_draws({walk.advance(warm, options.draws).second});
  Matrix x = chains_of(draws, draws.parameters[0], elements(draws.parameters[0])[0]);
  EXPECT_NEAR(sample_mean(x), 2, 4 * mcse_mean(x));
  EXPECT_NEAR(sample_sd(x), 1, 4 * mcse_sd(x));
  EXPECT_THROW(KernelSampler(model, options).init(), Error);  // HMC does ask
}

TEST(KernelChains, AFlatDensityIsReported) {
  struct Place {
    Array x;
  };
  Model<Place> flat([](const Place& p) { return 0.0 * p.x; }, Place{0.0});
  for (ChainKernel kernel : {ChainKernel::hmc, ChainKernel::mala, ChainKernel::random_walk}) {
    KernelSampler sampler(flat, {.chains = 2, .warmup = 300}, {.kernel = kernel, .leapfrogs = 2});
    ChainState state = sampler.init();
    try {
      sampler.advance(state, 310);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("the log density is flat"), std::string::npos)
          << error.what();
    }
  }
}

TEST(KernelChains, TheBitsDoNotDependOnChunks) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  Target target = exponential_model(measurements_of(data));
  for (ChainKernel kernel : {ChainKernel::hmc, ChainKernel::mala, ChainKernel::random_walk}) {
    KernelSampler sampler(target, {.chains = 3, .warmup = 160, .draws = 20}, {.kernel = kernel});
    ChainDraws whole = chain_draws({sampler.advance(sampler.init(), 180).second});
    std::vector<Draws> chunks;
    ChainState state = sampler.init();
    for (std::int64_t count : {1, 99, 50, 30}) {
      auto [next, draws] = sampler.advance(state, count);
      state = next;
      chunks.push_back(draws);
    }
    ChainDraws pieces = chain_draws(chunks);
    ASSERT_EQ(pieces.draws, 180u);
    EXPECT_EQ(pieces.parameters[0].values, whole.parameters[0].values);
    EXPECT_EQ(pieces.statistics.step_size.values, whole.statistics.step_size.values);
  }
}

// Nothing is run for them: not even a start is found here.
TEST(KernelChains, TypesAndProgramsNeedNoStart) {
  struct Place {
    Array x;
  };
  Model<Place> nowhere([](const Place& p) { return log(-exp(p.x)); }, Place{0.0});
  Model<Place> normal([](const Place& p) { return normal_log_density(p.x, 0.0, 1.0); }, Place{0.0});
  auto types_of = [](const std::pair<ChainState, Draws>& chains) {
    std::vector<std::string> types;
    for (const Array& leaf : tree_leaves(chains)) types.push_back(leaf.type().str());
    return types;
  };
  auto expect_like = [&](const auto& sampler_of) {
    auto sampler = sampler_of(normal);
    EXPECT_EQ(types_of(sampler_of(nowhere).like()), types_of(sampler.advance(sampler.init(), 1)));
    EXPECT_EQ(sampler_of(nowhere).like().second.names, std::vector<std::string>{"x"});
    EXPECT_NE(sampler_of(nowhere).lower().stablehlo().find("while"), std::string::npos);
    EXPECT_THROW(sampler_of(nowhere).init(), Error);
  };
  SamplingOptions options = {.chains = 2, .warmup = 30, .metric = MetricKind::dense};
  expect_like([&](const Target& target) { return Sampler(target, options); });
  for (ChainKernel kernel : {ChainKernel::hmc, ChainKernel::random_walk}) {
    expect_like(
        [&](const Target& target) { return KernelSampler(target, options, {.kernel = kernel}); });
  }
}

TEST(KernelChains, RefuseWhatMakesNoSense) {
  Target target = exponential_model(measurements_of(published_data(Experiment::exponential, 0)));
  EXPECT_THROW(KernelSampler(target, {.chains = 0}), Error);
  EXPECT_THROW(KernelSampler(target, {}, {.leapfrogs = 0}), Error);
  KernelSampler sampler(target, {.chains = 1});
  EXPECT_THROW(sampler.advance(sampler.init(), -1), Error);
}

}  // namespace
}  // namespace sturnus
