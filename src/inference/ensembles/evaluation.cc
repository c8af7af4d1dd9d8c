#include <sturnus/inference/ensembles/evaluation.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <limits>

namespace sturnus {
namespace {

void require_shape(const char* what, const Matrix& given, std::size_t rows, std::size_t cols) {
  if (given.rows != rows || given.cols != cols || rows == 0) {
    throw Error(std::string("evaluate: ") + what + " are " + std::to_string(given.rows) + " x " +
                std::to_string(given.cols) + ", but " + std::to_string(rows) + " members and " +
                std::to_string(cols) + " values are expected");
  }
}

DistanceToExact distance(std::string name, const ExactPosterior& posterior,
                         const ExperimentData& data, const Predictions& predictions,
                         const EvaluationOptions& options) {
  DistanceToExact result;
  result.name = std::move(name);
  PosteriorDraws draws = posterior.draws(options.reference_draws, 1);
  result.w_f = mean_wasserstein(predictions.plot, posterior.predict(draws, data.plot.x));
  result.w_lambda = mean_wasserstein(predictions.lambda, draws.lambda);
  if (options.floor_repetitions > 0) {
    FloorOptions floor_options;
    floor_options.repetitions = options.floor_repetitions;
    floor_options.reference_draws = options.reference_draws;
    WassersteinFloor floor = posterior.floor(predictions.lambda.rows, data.plot.x, floor_options);
    result.floor_w_f = floor.w_f;
    result.floor_w_lambda = floor.w_lambda;
  }
  return result;
}

MeanSd spread(const Matrix& members) {
  std::vector<double> sds, column(members.rows);
  for (std::size_t j = 0; j < members.cols; j++) {
    for (std::size_t i = 0; i < members.rows; i++) column[i] = members(i, j);
    sds.push_back(mean_sd(column).sd);
  }
  return mean_sd(sds);
}

}  // namespace

std::optional<ExactPosterior> exact_posterior_of(const ExperimentData& data, bool free_phase) {
  Measurements measured = {data.train.x, data.train.y, data.noise_sd};
  if (data.experiment == Experiment::exponential && !free_phase) {
    return ExactPosterior::exponential(measured);
  }
  if (data.experiment == Experiment::oscillator) {
    return free_phase ? ExactPosterior::oscillator(measured, FreePhasePrior())
                      : ExactPosterior::oscillator(measured);
  }
  return {};
}

Evaluation evaluate(const ExperimentData& data, const Predictions& predictions,
                    const EvaluationOptions& options) {
  std::size_t members = predictions.lambda.rows;
  require_shape("parameters", predictions.lambda, members, data.parameters.size());
  require_shape("predictions at the test points", predictions.test, members,
                data.test.points * data.test.outputs);
  require_shape("predictions at the plot points", predictions.plot, members,
                data.plot.points * data.plot.outputs);
  Evaluation result;
  result.rmse = rmse(predictions.test, data.test.truth);
  result.abs_dlambda = abs_dlambda(predictions.lambda, data.parameters);
  if (members > 1) {
    result.logl_per_n = logl_per_n(predictions.test, data.test.y, data.test.points);
    result.logl_lambda = logl_lambda(predictions.lambda, data.parameters);
  } else {
    // One member has no density.
    result.logl_per_n.value = result.logl_lambda.value = std::numeric_limits<double>::quiet_NaN();
  }
  for (bool free_phase : {false, true}) {
    auto posterior = options.exact ? exact_posterior_of(data, free_phase) : std::nullopt;
    if (!posterior) continue;
    bool has_phase = data.experiment == Experiment::oscillator;
    std::string name = !has_phase ? "exact" : free_phase ? "free_phase" : "fixed_phase";
    result.exact.push_back(distance(name, *posterior, data, predictions, options));
  }
  result.predictive_log_density =
      predictive_log_density(predictions.test, data.test.y, data.noise_sd);
  result.crps_f = mean_crps(predictions.test, data.test.truth);
  result.crps_lambda = mean_crps(predictions.lambda, data.parameters);
  result.bands_f = band_scores(predictions.test, data.test.truth);
  result.predictive_spread = spread(predictions.test);
  return result;
}

}  // namespace sturnus
