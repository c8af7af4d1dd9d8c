#include "src/app/drawn_posterior.h"

#include <sturnus/inference/posteriors/advection_posterior.h>
#include <sturnus/inference/results/metrics.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <ostream>

#include "src/app/chain_run.h"
#include "src/app/kept_work.h"
#include "src/app/result_parts.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

constexpr double largest_rhat = 1.01;

// Every `stride`-th row from `first` on.
Matrix every(MatrixView rows, std::size_t first, std::size_t stride, std::size_t count) {
  Matrix some(count, rows.cols);
  for (std::size_t i = 0; i < count; i++) {
    auto row = rows.row(first + i * stride);
    std::copy(row.begin(), row.end(), &some(i, 0));
  }
  return some;
}

json draw_advection(const ExperimentData& data, const ChainSettings& settings,
                    std::ostream& progress) {
  progress << "nuts of " << name_of(data.experiment) << std::endl;
  Target target = advection_posterior(data.train, data.noise_sd);
  ChainRun run = run_chains({"advection", target, {}, json::object()}, settings, {}, progress);
  json worst = describe_worst(run.rows);
  double rhat = worst.at("rhat");
  if (!run.result.at("finished").get<bool>() || !(rhat < largest_rhat)) {
    throw Error("nuts of advection: the chains do not agree, R-hat is " + worst.at("rhat").dump() +
                ". Draw more");
  }
  std::size_t count = std::min(kept_posterior_draws, run.draws.chains * run.draws.draws);
  json result = {{"summary", run.result.at("summary")},
                 {"divergences", run.result.at("divergences").at("draws")},
                 {"warnings", run.result.at("warnings")},
                 {"rows", in_rows(rows_of(run.draws, count))}};
  result.update(worst);
  return result;
}

}  // namespace

DrawnPosterior advection_by_nuts(const ExperimentData& data, const ChainSettings& settings,
                                 const std::filesystem::path& file, std::ostream& progress) {
  json of = to_json(settings);
  of["data"] = describe_data(data.train, data.noise_sd);
  DrawnPosterior result;
  result.about = kept_result(file, of, [&] { return draw_advection(data, settings, progress); });
  result.rows = matrix_of(result.about.at("rows"));
  result.about.erase("rows");
  result.test = advection_curves(result.rows, data.test);
  result.f = data.plot.x == data.test.x ? result.test : advection_curves(result.rows, data.plot);
  result.lambda = Matrix(result.rows.rows, 1);
  for (std::size_t i = 0; i < result.rows.rows; i++) result.lambda(i, 0) = result.rows(i, 0);
  return result;
}

json distance_to(const DrawnPosterior& posterior, MatrixView f, MatrixView lambda) {
  return describe_distance(f, posterior.f, lambda, posterior.lambda);
}

json mean_scores(const ExperimentData& data, MatrixView test, MatrixView lambda,
                 std::size_t members) {
  members = std::min(members, test.rows);
  std::size_t sets = std::min(most_sets, test.rows / members);
  auto share = 1 / static_cast<double>(sets);
  double rmse = 0, off = 0, logl = 0, logl_lambda = 0, skipped = 0, skipped_lambda = 0;
  for (std::size_t set = 0; set < sets; set++) {
    Matrix f = every(test, set, sets, members), of_lambda = every(lambda, set, sets, members);
    rmse += share * sturnus::rmse(f, data.test.truth);
    off += share * abs_dlambda(of_lambda, data.parameters);
    if (members == 1) continue;  // one has no density
    KdeScore fit = logl_per_n(f, data.test.y, data.test.points);
    KdeScore parameters = sturnus::logl_lambda(of_lambda, data.parameters);
    logl += share * fit.value;
    logl_lambda += share * parameters.value;
    skipped += share * static_cast<double>(fit.skipped);
    skipped_lambda += share * static_cast<double>(parameters.skipped);
  }
  bool dense = members > 1;
  return {{"rmse", rmse},
          {"logl_per_n", dense ? json(logl) : json()},
          {"abs_dlambda", off},
          {"logl_lambda", dense ? json(logl_lambda) : json()},
          {"skipped", {{"logl_per_n", skipped}, {"logl_lambda", skipped_lambda}}},
          {"sets", sets}};
}

json scores_of_draws(const DrawnPosterior& posterior, const ExperimentData& data,
                     std::size_t members) {
  json scores = mean_scores(data, posterior.test, posterior.lambda, members);
  scores["w_f"] = wasserstein_floor(posterior.f, members).mean;
  scores["w_lambda"] = wasserstein_floor(posterior.lambda, members).mean;
  return scores;
}

}  // namespace sturnus::app
