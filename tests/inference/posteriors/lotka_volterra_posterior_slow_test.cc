// The whole of a posterior that chains do not find: a minute or two, so tagged slow.
#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/inference/results/diagnostics.h>

#include <cmath>
#include <cstdint>

namespace sturnus {
namespace {

TemperedPosterior found_by(std::uint64_t seed) {
  ExperimentData data = published_data(Experiment::lotka_volterra, 0);
  TemperedOptions options;
  options.smc.seed = options.walk.seed = seed;
  return tempered_lotka_volterra(data.train, data.noise_sd, options);
}

TEST(LotkaVolterra, TemperingConvergesAndDoesNotDependOnItsSeed) {
  TemperedPosterior one = found_by(0), other = found_by(1);
  EXPECT_NEAR(one.tempering.log_evidence, other.tempering.log_evidence, 1.5);
  for (std::size_t p = 0; p < one.draws.parameters.size(); p++) {
    const ParameterDraws &parameter = one.draws.parameters[p], &same = other.draws.parameters[p];
    for (const ParameterElement& element : elements(parameter)) {
      SCOPED_TRACE(parameter.name + " " + index_text(element, ","));
      Matrix x = chains_of(one.draws, parameter, element);
      Matrix y = chains_of(other.draws, same, element);
      for (const Matrix& chains : {x, y}) {
        EXPECT_LT(rhat(chains), 1.01);
        EXPECT_GT(ess_bulk(chains), 400);
        EXPECT_GT(ess_tail(chains), 400);
      }
      EXPECT_NEAR(sample_mean(x), sample_mean(y), 4 * std::hypot(mcse_mean(x), mcse_mean(y)));
      EXPECT_NEAR(sample_sd(x), sample_sd(y), 4 * std::hypot(mcse_sd(x), mcse_sd(y)));
      for (double share : {0.05, 0.5, 0.95}) {
        EXPECT_NEAR(sample_quantile(x, share), sample_quantile(y, share),
                    4 * std::hypot(mcse_quantile(x, share), mcse_quantile(y, share)));
      }
    }
  }
}

}  // namespace
}  // namespace sturnus
