// Long chains of the posteriors: minutes, not seconds, so tagged slow.
#include <gtest/gtest.h>
#include <sturnus/inference/summary.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/inference/posterior_tests.h"

namespace sturnus {
namespace {

TEST(PosteriorChains, LongOnesAgreeWithTheExactPosteriors) {
  for (int run = 0; run < published_runs; run++) {
    SCOPED_TRACE(run);
    ExperimentData exponential = published_data(Experiment::exponential, run);
    expect_exact(exponential_model(measurements_of(exponential)),
                 ExactPosterior::exponential(measurements_of(exponential)), 3000);
    ExperimentData oscillator = published_data(Experiment::oscillator, run);
    expect_exact(oscillator_model(measurements_of(oscillator)),
                 ExactPosterior::oscillator(measurements_of(oscillator)), 3000);
    FreePhasePrior prior;
    expect_exact(oscillator_model(measurements_of(oscillator), prior),
                 ExactPosterior::oscillator(measurements_of(oscillator), prior), 3000);
  }
}

struct KnownMean {
  std::string name;
  double mean, mcse;
};

void expect_means(const Target& target, const std::vector<KnownMean>& known, double target_accept) {
  std::vector<ParameterSummary> rows = summarize(four_chains(target, 1000, target_accept));
  std::size_t found = 0;
  for (const ParameterSummary& row : rows) {
    EXPECT_LT(row.rhat, 1.02) << row.name;
    for (const KnownMean& k : known) {
      if (k.name != row.name) continue;
      found++;
      EXPECT_NEAR(row.mean, k.mean, 4 * std::hypot(row.mcse, k.mcse)) << row.name;
    }
  }
  EXPECT_EQ(found, known.size());
}

// The means and their standard errors are those of posteriordb's reference draws.
TEST(PosteriorChains, HaresAndLynxesHaveTheMeansOfPosteriordb) {
  expect_means(hare_lynx_model(),
               {{"theta[1]", 0.546864, 6.3e-4},
                {"theta[2]", 0.0277473, 4.1e-5},
                {"theta[3]", 0.800095, 8.8e-4},
                {"theta[4]", 0.0240859, 3.5e-5},
                {"z_init[1]", 34.0352, 0.029},
                {"z_init[2]", 5.93590, 0.0053},
                {"sigma[1]", 0.248057, 4.4e-4},
                {"sigma[2]", 0.251017, 4.4e-4}},
               0.8);
}

TEST(PosteriorChains, EightSchoolsHaveTheMeansOfPosteriordb) {
  expect_means(eight_schools(), {{"mu", 4.41052, 0.033}, {"tau", 3.60206, 0.032}}, 0.95);
}

}  // namespace
}  // namespace sturnus
