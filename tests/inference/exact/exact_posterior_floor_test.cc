// The floors of W(f) and W(lambda) at the published settings, for all models and runs: minutes, not
// seconds, so tagged slow.
#include <gtest/gtest.h>
#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/inference/problems/experiment_data.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sturnus {
namespace {

struct Case {
  const char* name;
  Experiment experiment;
  std::function<ExactPosterior(const Measurements&)> posterior;
  std::size_t members;
  // The mean over the five runs that long Metropolis chains gave, one ensemble per run: their own
  // error is several per cent.
  double w_f, w_f_tolerance, w_lambda, w_lambda_tolerance;
};

TEST(WassersteinFloor, OfAllModelsIsThatOfLongChains) {
  const std::vector<Case> cases = {
      {"exponential", Experiment::exponential,
       [](const Measurements& m) { return ExactPosterior::exponential(m); }, 50, 0.67, 0.08, 0.0079,
       0.0008},
      {"fixed phase", Experiment::oscillator,
       [](const Measurements& m) { return ExactPosterior::oscillator(m); }, 25, 0.0127, 0.0010,
       0.0085, 0.0010},
      {"free phase", Experiment::oscillator,
       [](const Measurements& m) { return ExactPosterior::oscillator(m, FreePhasePrior()); }, 25,
       0.0137, 0.0008, 0.0119, 0.0008},
  };
  for (const Case& c : cases) {
    double w_f = 0, w_lambda = 0;
    for (int run = 0; run < published_runs; ++run) {
      ExperimentData data = published_data(c.experiment, run);
      ExactPosterior posterior = c.posterior({data.train.x, data.train.y, data.noise_sd});
      WassersteinFloor floor = posterior.floor(c.members, data.plot.x);
      w_f += floor.w_f.mean / published_runs;
      w_lambda += floor.w_lambda.mean / published_runs;
    }
    EXPECT_NEAR(w_f, c.w_f, c.w_f_tolerance) << c.name;
    EXPECT_NEAR(w_lambda, c.w_lambda, c.w_lambda_tolerance) << c.name;
    std::string key = c.name;
    RecordProperty(key + " W(f)", std::to_string(w_f));
    RecordProperty(key + " W(lambda)", std::to_string(w_lambda));
  }
}

}  // namespace
}  // namespace sturnus
