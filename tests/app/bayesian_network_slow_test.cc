// The Bayesian networks that the program ships, drawn to the end: minutes, so tagged slow.
#include <gtest/gtest.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/inference/results/diagnostics.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "src/app/chain_program.h"
#include "src/app/sampled_problems.h"

namespace sturnus::app {
namespace {

ChainDraws drawn(const std::string& problem, const std::string& method) {
  ChainSettings settings = {.method = method, .warmup = 500, .draws = 1000};
  if (method == "hmc") settings.leapfrogs = 10;
  ChainProgram program = chain_program(sampled_problem("sample", problem, {}).target(0), settings);
  ChainState warm = program.advance(program.init(), settings.warmup).first;
  ChainDraws draws = chain_draws({program.advance(std::move(warm), settings.draws).second});
  const std::vector<double>& divergent = draws.statistics.divergent.values;
  EXPECT_LE(std::accumulate(divergent.begin(), divergent.end(), 0.0), 4);  // of 4000
  return draws;
}

/// Expects that of a parameter, and that chains agree on it.
void expect_moments(const ChainDraws& draws, std::size_t parameter, double mean, double sd) {
  const ParameterDraws& known = draws.parameters[parameter];
  SCOPED_TRACE(known.name);
  Matrix x = chains_of(draws, known, elements(known)[0]);
  EXPECT_LT(rhat(x), 1.01);
  EXPECT_GT(ess_bulk(x), 400);
  EXPECT_NEAR(sample_mean(x), mean, 0.25 * sd);
  EXPECT_NEAR(std::log(sample_sd(x) / sd), 0, 0.4);
}

TEST(BayesianNetworks, OscillatorHasTheExactPosteriorOfAFreePhase) {
  ExperimentData data = published_data(Experiment::oscillator, 0);
  ExactPosterior exact =
      ExactPosterior::oscillator({data.train.x, data.train.y, data.noise_sd}, FreePhasePrior());
  for (const char* method : {"nuts", "hmc"}) {
    SCOPED_TRACE(method);
    ChainDraws draws = drawn("oscillator_bpinn", method);
    ASSERT_EQ(exact.names()[2], "omega");
    for (std::size_t p : {0, 1}) expect_moments(draws, p, exact.mean(2 + p), exact.sd(2 + p));
  }
}

// u with lambda u'' = f is 0.01 / lambda sin(6 x)^3 + a + b x. With flat priors of a and b, the
// prior of lambda and these measurements, lambda is 0.01027 +- 0.00051 by quadrature.
TEST(BayesianNetworks, PoissonHasTheExactPosterior) {
  for (const char* method : {"nuts", "hmc"}) {
    SCOPED_TRACE(method);
    expect_moments(drawn("poisson_bpinn", method), 0, 0.010273, 0.000506);
  }
}

}  // namespace
}  // namespace sturnus::app
