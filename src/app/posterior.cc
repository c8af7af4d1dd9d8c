#include <sturnus/functional/doubles.h>
#include <sturnus/inference/chain_draws.h>
#include <sturnus/inference/lotka_volterra_posterior.h>
#include <sturnus/inference/metrics.h>
#include <sturnus/inference/summary.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>

#include "src/app/commands.h"
#include "src/app/experiment_run.h"
#include "src/app/json_reader.h"
#include "src/app/posterior_page.h"
#include "src/app/result_parts.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : mean_sd(values).mean;
}

json settings_of(const PosteriorRequest& request) {
  return {{"particles", request.particles},
          {"walkers", request.walkers},
          {"draws", request.draws},
          {"chains", request.chains},
          {"chain_draws", request.chain_draws},
          {"seed", request.seed}};
}

/// What 25 of the draws score against 5000 of them, on the average.
json floor_of(const ChainDraws& draws, const ExperimentData& data) {
  const std::size_t members = 25, groups = 20;
  std::size_t count = std::min<std::size_t>(5000, draws.chains * draws.draws);
  Matrix all = rows_of(draws, count), lambda(count, 4);
  for (std::size_t i = 0; i < count; i++) {
    for (std::size_t k = 0; k < 4; k++) lambda(i, k) = all(i, 2 + k);
  }
  Matrix curves = lotka_volterra_curves(all, data.plot.x);
  std::vector<double> w_f, w_lambda;
  auto part = [&](const Matrix& whole, std::size_t group) {
    Matrix some(members, whole.cols);
    for (std::size_t i = 0; i < members; i++) {
      std::size_t row = (i * count / members + group * count / members / groups) % count;
      for (std::size_t k = 0; k < whole.cols; k++) some(i, k) = whole(row, k);
    }
    return mean_wasserstein(some, whole);
  };
  for (std::size_t group = 0; group < groups; group++) {
    w_f.push_back(part(curves, group));
    w_lambda.push_back(part(lambda, group));
  }
  return {{"members", members}, {"w_f", mean_of(w_f)}, {"w_lambda", mean_of(w_lambda)}};
}

/// The largest difference of means, in units of both standard errors together.
json agreement_of(const std::vector<ParameterSummary>& one,
                  const std::vector<ParameterSummary>& other) {
  json result = {{"errors", -1.0}, {"parameter", ""}};
  for (std::size_t i = 0; i < one.size(); i++) {
    double errors = std::abs(one[i].mean - other[i].mean) / std::hypot(one[i].mcse, other[i].mcse);
    if (errors > result["errors"]) result = {{"errors", errors}, {"parameter", one[i].name}};
  }
  return result;
}

json run_both(const PosteriorRequest& request, int run, std::ostream& progress) {
  ExperimentData data = published_data(Experiment::lotka_volterra, run);
  auto begun = Clock::now();
  TemperedOptions options;
  options.walkers = request.walkers;
  options.smc.particles = request.particles;
  options.smc.seed = options.walk.seed = request.seed;
  options.walk.draws = request.draws;
  TemperedPosterior tempered = tempered_lotka_volterra(data.train, data.noise_sd, options);
  std::vector<ParameterSummary> rows = summarize(tempered.draws);
  double tempering_s = seconds_since(begun);
  progress << "run " << run << "  tempered in " << tempering_s << " s\n" << summary_table(rows);

  begun = Clock::now();
  Target target = lotka_volterra_model(data.train, data.noise_sd);
  options.smc.seed = request.seed + 1;
  SmcResult again = smc(target, lotka_volterra_reference(), options.smc);
  SamplingOptions nuts = {.chains = request.chains,
                          .warmup = request.chain_draws / 2,
                          .draws = request.chain_draws,
                          .seed = request.seed,
                          .metric = MetricKind::dense,
                          .target_accept = 0.9,
                          .max_depth = 8,
                          .start = again.particles(Slice{0, request.chains})};
  ChainDraws chains = chain_draws({sample(target, nuts)});
  std::vector<ParameterSummary> nuts_rows = summarize(chains);
  double nuts_s = seconds_since(begun);
  progress << "run " << run << "  NUTS in " << nuts_s << " s\n"
           << summary_table(nuts_rows) << std::endl;

  json truth = {{"start[1]", data.train.truth[0]}, {"start[2]", data.train.truth[1]}};
  for (std::size_t i = 0; i < data.parameters.size(); i++) {
    truth[data.parameter_names[i]] = data.parameters[i];
  }
  return {{"run", run},
          {"truth", truth},
          {"tempering",
           {{"summary", describe_summary(rows)},
            {"log_evidence", {tempered.tempering.log_evidence, again.log_evidence}},
            {"temperatures", tempered.tempering.temperatures},
            {"accept", tempered.tempering.accept},
            {"walkers_accept", mean_of(to_doubles(tempered.accept))},
            {"seconds", tempering_s}}},
          {"nuts",
           {{"summary", describe_summary(nuts_rows)},
            {"divergent", mean_of(chains.statistics.divergent.values)},
            {"leapfrogs", mean_of(chains.statistics.leapfrog_steps.values)},
            {"step_size", mean_of(chains.statistics.step_size.values)},
            {"seconds", nuts_s}}},
          {"agreement", agreement_of(rows, nuts_rows)},
          {"floor", floor_of(tempered.draws, data)}};
}

}  // namespace

void run_posterior(std::ostream& out, std::ostream& progress, const PosteriorRequest& request) {
  std::string name(name_of(Experiment::lotka_volterra));
  if (request.experiment != name) {
    refuse_unknown("posterior", "experiment", request.experiment, {name});
  }
  std::vector<int> runs = request.runs.empty() ? std::vector<int>{0, 1, 2, 3, 4} : request.runs;
  select_device(request.device);
  fs::path folder = request.out.empty() ? fs::path("results") / ("posterior-" + name) : request.out;
  json all = {{"sturnus", describe_program()},
              {"device", default_device().description().text},
              {"experiment", name},
              {"settings", settings_of(request)},
              {"runs", json::array()}};
  for (int run : runs) {
    fs::path place = folder / ("run" + std::to_string(run) + ".json");
    json found;
    if (fs::exists(place)) found = json::parse(read_file(place));
    if (found.is_null() || found.at("settings") != all["settings"]) {
      found = {{"settings", all["settings"]}, {"result", run_both(request, run, progress)}};
      write_file(place, found.dump() + "\n");
    }
    all["runs"].push_back(found.at("result"));
  }
  out << posterior_page(all);
  if (request.keep.empty()) return;
  write_file(request.keep / (name + "_posterior.json"), all.dump(1) + "\n");
  write_file(request.keep / (name + "_posterior.md"), posterior_page(all));
  out << "\n" << (request.keep / (name + "_posterior.md")).string() << '\n';
}

}  // namespace sturnus::app
