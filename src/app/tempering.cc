#include "src/app/tempering.h"

#include <sturnus/functional/doubles.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/results/diagnostics.h>
#include <sturnus/inference/results/summary.h>

#include <algorithm>
#include <ostream>

#include "src/app/clock.h"
#include "src/app/draw_parts.h"
#include "src/app/json_reader.h"
#include "src/app/kept_work.h"
#include "src/app/result_parts.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

constexpr std::size_t published_members = 25;
constexpr std::size_t start_columns = 2;  // of the rows, before those of lambda

Matrix lambda_of(const Matrix& rows) {
  Matrix lambda(rows.rows, rows.cols - start_columns);
  for (std::size_t i = 0; i < rows.rows; i++) {
    for (std::size_t k = 0; k < lambda.cols; k++) lambda(i, k) = rows(i, start_columns + k);
  }
  return lambda;
}

json draw(const ExperimentData& data, const TemperingSettings& settings,
          const std::filesystem::path& file, std::ostream& progress) {
  progress << "tempering of " << name_of(data.experiment) << ": " << settings.particles
           << " particles, then " << settings.walkers << " walkers" << std::endl;
  auto begun = Clock::now();
  TemperedOptions options;
  options.smc.particles = settings.particles;
  options.smc.seed = options.walk.seed = settings.seed;
  options.walkers = settings.walkers;
  options.walk.draws = settings.draws;
  TemperedPosterior found = tempered_lotka_volterra(data.train, data.noise_sd, options);
  std::vector<ParameterSummary> rows = summarize(found.draws);
  progress << summary_table(rows) << std::endl;
  write_draws_beside(file, found.draws, curve_posterior(data).curve, settings.seed);
  std::size_t count = std::min(kept_posterior_draws, found.draws.chains * found.draws.draws);
  return {{"sturnus", describe_program()},
          {"summary", describe_with_errors(found.draws)},
          {"warnings", warnings(rows)},
          {"log_evidence", found.tempering.log_evidence},
          {"temperatures", found.tempering.temperatures},
          {"accept", found.tempering.accept},
          {"walkers_accept", mean_sd(to_doubles(found.accept)).mean},
          {"rows", in_rows(rows_of(found.draws, count))},
          {"seconds", seconds_since(begun)}};
}

}  // namespace

void check_tempering(const std::string& command, Experiment experiment) {
  if (experiment == Experiment::lotka_volterra) return;
  refuse(command, "tempering draws the posterior of lotka_volterra, but the experiment is " +
                      std::string(name_of(experiment)) + ". Leave --against tempering out");
}

json describe_with_errors(const ChainDraws& draws) {
  std::vector<ParameterSummary> rows = summarize(draws);
  json result = describe_summary(rows);
  std::size_t next = 0;  // rows are in the order of parameters and elements
  for (const ParameterDraws& parameter : draws.parameters) {
    for (const ParameterElement& element : elements(parameter)) {
      Matrix x = chains_of(draws, parameter, element);
      json& row = result[rows[next++].name];
      row["mcse_sd"] = mcse_sd(x);
      for (const auto& [name, probability] : described_quantiles) {
        row["mcse_" + name] = mcse_quantile(x, probability);
      }
    }
  }
  return result;
}

json to_json(const TemperingSettings& settings) {
  return {{"particles", settings.particles},
          {"walkers", settings.walkers},
          {"draws", settings.draws},
          {"seed", settings.seed}};
}

DrawnPosterior tempered(const ExperimentData& data, const TemperingSettings& settings,
                        const std::filesystem::path& file, std::ostream& progress) {
  json of = to_json(settings);
  of["errors"] = "of all scores";  // what was kept before these were known is drawn again
  of["data"] = describe_data(data.train, data.noise_sd);
  DrawnPosterior result;
  result.about = kept_result(file, of, [&] { return draw(data, settings, file, progress); });
  result.rows = matrix_of(result.about.at("rows"));
  result.about.erase("rows");
  MeasuredCurve curve = curve_posterior(data).curve;
  result.test = curves(curve, result.rows, data.test.x);
  result.f = curves(curve, result.rows, data.plot.x);
  result.lambda = lambda_of(result.rows);
  std::size_t members = std::min(published_members, result.rows.rows);
  result.about["floor"] = {{"members", members},
                           {"w_f", wasserstein_floor(result.f, members).mean},
                           {"w_lambda", wasserstein_floor(result.lambda, members).mean}};
  return result;
}

}  // namespace sturnus::app
