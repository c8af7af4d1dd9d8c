#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/differential_evolution.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/inference/results/metrics.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "src/app/clock.h"
#include "src/app/commands.h"
#include "src/app/experiment_run.h"
#include "src/app/json_reader.h"
#include "src/app/kept_work.h"
#include "src/app/posterior_page.h"
#include "src/app/result_parts.h"
#include "src/app/sampled_problems.h"
#include "src/app/tempering.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : mean_sd(values).mean;
}

/// Chains that begin at particles of another seed than those of `temper`.
json sample_by_nuts(const PosteriorRequest& request, const ExperimentData& data,
                    std::ostream& progress) {
  auto begun = Clock::now();
  Target target = lotka_volterra_model(data.train, data.noise_sd);
  SmcOptions tempering = TemperedOptions().smc;
  tempering.particles = request.particles;
  tempering.seed = request.seed + 1;
  SmcResult starts = smc(target, lotka_volterra_reference(), tempering);
  SamplingOptions options = {.chains = request.chains,
                             .warmup = request.chain_draws / 2,
                             .draws = request.chain_draws,
                             .seed = request.seed,
                             .metric = MetricKind::dense,
                             .target_accept = 0.9,
                             .max_depth = 8,
                             .start = starts.particles(Slice{0, request.chains})};
  ChainDraws chains = chain_draws({sample(target, options)});
  std::vector<ParameterSummary> rows = summarize(chains);
  progress << summary_table(rows) << std::endl;
  return {{"summary", describe_summary(rows)},
          {"log_evidence", starts.log_evidence},
          {"divergent", mean_of(chains.statistics.divergent.values)},
          {"leapfrogs", mean_of(chains.statistics.leapfrog_steps.values)},
          {"step_size", mean_of(chains.statistics.step_size.values)},
          {"seconds", seconds_since(begun)}};
}

/// The largest difference of means, in units of both standard errors together.
json agreement_of(const json& one, const json& other) {
  json result = {{"errors", -1.0}, {"parameter", ""}};
  for (const auto& [name, row] : one.items()) {
    const json& beside = other.at(name);
    double difference = number_or_nan(row.at("mean")) - number_or_nan(beside.at("mean"));
    double errors = std::abs(difference) /
                    std::hypot(number_or_nan(row.at("mcse")), number_or_nan(beside.at("mcse")));
    if (!(errors <= result["errors"])) result = {{"errors", errors}, {"parameter", name}};
    if (std::isnan(errors)) break;  // nothing is known of how well they agree
  }
  return result;
}

json truth_of(const ExperimentData& data) {
  json truth = {{"start[1]", data.train.truth[0]}, {"start[2]", data.train.truth[1]}};
  for (std::size_t i = 0; i < data.parameters.size(); i++) {
    truth[data.parameter_names[i]] = data.parameters[i];
  }
  return truth;
}

}  // namespace

void run_posterior(std::ostream& out, std::ostream& progress, const PosteriorRequest& request) {
  std::string name(name_of(Experiment::lotka_volterra));
  if (request.experiment != name) {
    refuse_unknown("posterior", "experiment", request.experiment, {name});
  }
  std::vector<int> runs = request.runs.empty() ? std::vector<int>{0, 1, 2, 3, 4} : request.runs;
  for (int run : runs) check_run("posterior", name, run);
  // R-hat and effective sample sizes need 4 draws.
  at_least("posterior", "draws", request.draws, 4);
  at_least("posterior", "chain-draws", request.chain_draws, 4);
  at_least("posterior", "chains", request.chains, 1);
  ExperimentData some = published_data(Experiment::lotka_volterra, 0);
  std::int64_t parameters = lotka_volterra_model(some.train, some.noise_sd).size;
  at_least("posterior", "walkers", request.walkers, least_walkers(parameters));
  at_least("posterior", "particles", request.particles, std::max(request.chains, request.walkers));
  select_device(request.device);
  fs::path folder = request.out.empty() ? fs::path("results") / ("posterior-" + name) : request.out;
  make_folder("posterior", "--out", folder);
  make_folder("posterior", "--keep", request.keep);
  TemperingSettings tempering = {request.particles, request.walkers, request.draws, request.seed};
  json nuts = {{"particles", request.particles},
               {"chains", request.chains},
               {"draws", request.chain_draws},
               {"seed", request.seed}};
  json all = {{"sturnus", describe_program()},
              {"device", default_device().description().text},
              {"experiment", name},
              {"settings", {{"tempering", to_json(tempering)}, {"nuts", nuts}}},
              {"runs", json::array()}};
  for (int run : runs) {
    ExperimentData data = published_data(Experiment::lotka_volterra, run);
    fs::path place = folder / ("run" + std::to_string(run));
    json result = {{"run", run}, {"truth", truth_of(data)}};
    result["tempering"] = tempered(data, tempering, place / "tempering.json", progress).about;
    result["nuts"] = kept_result(place / "nuts.json", nuts,
                                 [&] { return sample_by_nuts(request, data, progress); });
    result["agreement"] = agreement_of(result["tempering"]["summary"], result["nuts"]["summary"]);
    all["runs"].push_back(result);
  }
  out << posterior_page(all);
  if (request.keep.empty()) return;
  write_file(request.keep / (name + "_posterior.json"), all.dump(1) + "\n");
  write_file(request.keep / (name + "_posterior.md"), posterior_page(all));
  out << "\n" << (request.keep / (name + "_posterior.md")).string() << '\n';
}

}  // namespace sturnus::app
