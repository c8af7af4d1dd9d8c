// Chains of posteriors against what is known of these.
#pragma once

#include <gtest/gtest.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/diagnostics.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace sturnus {

inline Measurements measurements_of(const ExperimentData& data) {
  return {data.train.x, data.train.y, data.noise_sd};
}

/// Four chains from promising starts.
inline ChainDraws four_chains(const Target& target, std::int64_t draws, double target_accept = 0.8,
                              std::uint64_t seed = 0) {
  SamplingOptions options = {.chains = 4,
                             .warmup = draws,
                             .draws = draws,
                             .seed = seed,
                             .target_accept = target_accept,
                             .start = promising_starts(target, 4, seed)};
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

/// A mean and its standard error, and the same of the square where it is known.
struct KnownMoments {
  std::string name;
  double mean, mcse;
  double square = 0, square_mcse = 0;
};

/// Expects no divergences, R-hat below that, and known means and mean squares within 4 combined
/// standard errors.
inline void expect_moments(const ChainDraws& draws, const std::vector<KnownMoments>& known,
                           double largest_rhat = 1.01) {
  const std::vector<double>& divergent = draws.statistics.divergent.values;
  EXPECT_EQ(std::accumulate(divergent.begin(), divergent.end(), 0.0), 0);
  std::size_t found = 0;
  for (const ParameterDraws& parameter : draws.parameters) {
    for (const ParameterElement& element : elements(parameter)) {
      std::string index = index_text(element, ",");
      std::string name = parameter.name + (index.empty() ? "" : "[" + index + "]");
      Matrix x = chains_of(draws, parameter, element), square = x;
      EXPECT_LT(rhat(x), largest_rhat) << name;
      for (double& value : square.values) value *= value;
      for (const KnownMoments& k : known) {
        if (k.name != name) continue;
        found++;
        EXPECT_NEAR(sample_mean(x), k.mean, 4 * std::hypot(mcse_mean(x), k.mcse)) << name;
        if (k.square == 0) continue;
        EXPECT_NEAR(sample_mean(square), k.square, 4 * std::hypot(mcse_mean(square), k.square_mcse))
            << name;
      }
    }
  }
  EXPECT_EQ(found, known.size());
}

// Means, mean squares and their standard errors are those of posteriordb's reference draws.
inline const std::vector<KnownMoments> hare_lynx_moments = {
    {"theta[1]", 0.546864, 6.3e-4, 0.3030362900, 7.0e-4},
    {"theta[2]", 0.0277473, 4.1e-5, 7.871719e-4, 2.4e-6},
    {"theta[3]", 0.800095, 8.8e-4, 0.6481388153, 1.46e-3},
    {"theta[4]", 0.0240859, 3.5e-5, 5.925775e-4, 1.8e-6},
    {"z_init[1]", 34.0352, 0.029, 1166.9038171, 2.02},
    {"z_init[2]", 5.93590, 0.0053, 35.5163321, 0.0646},
    {"sigma[1]", 0.248057, 4.4e-4, 0.0634036795, 2.4e-4},
    {"sigma[2]", 0.251017, 4.4e-4, 0.0649094189, 2.4e-4}};

}  // namespace sturnus
