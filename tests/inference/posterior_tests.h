// Chains of posteriors against what is known of these.
#pragma once

#include <gtest/gtest.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/diagnostics.h>

#include <cstdint>

namespace sturnus {

inline Measurements measurements_of(const ExperimentData& data) {
  return {data.train.x, data.train.y, data.noise_sd};
}

/// Four chains from promising starts.
inline ChainDraws four_chains(const Target& target, std::int64_t draws,
                              double target_accept = 0.8) {
  SamplingOptions options = {.chains = 4,
                             .warmup = draws,
                             .draws = draws,
                             .target_accept = target_accept,
                             .start = promising_starts(target, 4, 0)};
  return chain_draws({sample(target, options)});
}

/// Expects means and quantiles within 4 of their standard errors of the exact ones.
inline void expect_exact(const ChainDraws& chains, const ExactPosterior& exact) {
  ASSERT_EQ(chains.parameters.size(), exact.names().size());
  for (std::size_t p = 0; p < exact.names().size(); p++) {
    const ParameterDraws& parameter = chains.parameters[p];
    EXPECT_EQ(parameter.name, exact.names()[p]);
    Matrix x = chains_of(chains, parameter, elements(parameter)[0]);
    EXPECT_LT(rhat(x), 1.02) << parameter.name;
    EXPECT_NEAR(sample_mean(x), exact.mean(p), 4 * mcse_mean(x)) << parameter.name;
    EXPECT_NEAR(sample_sd(x), exact.sd(p), 4 * mcse_sd(x)) << parameter.name;
    EXPECT_LT(mcse_mean(x), 0.1 * exact.sd(p)) << parameter.name;
    for (int percent = 5; percent <= 95; percent += 5) {
      double probability = percent / 100.0;
      EXPECT_NEAR(sample_quantile(x, probability), exact.quantile(p, probability),
                  4 * mcse_quantile(x, probability))
          << parameter.name << " " << probability;
    }
  }
}

inline void expect_exact(const Target& target, const ExactPosterior& exact, std::int64_t draws) {
  expect_exact(four_chains(target, draws), exact);
}

}  // namespace sturnus
