#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/differential_evolution.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/results/metrics.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "src/app/chain_program.h"
#include "src/app/clock.h"
#include "src/app/commands.h"
#include "src/app/draw_parts.h"
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

constexpr std::uint64_t evidence_seeds = 4;

/// The scores of a summary, and the names of their standard errors.
std::vector<std::pair<std::string, std::string>> scores_with_errors() {
  std::vector<std::pair<std::string, std::string>> result = {{"mean", "mcse"}, {"sd", "mcse_sd"}};
  for (const auto& [name, probability] : described_quantiles) {
    result.emplace_back(name, "mcse_" + name);
  }
  return result;
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : mean_sd(values).mean;
}

ChainSettings nuts_settings(const PosteriorRequest& request) {
  ChainSettings settings = {.chains = request.chains,
                            .warmup = request.chain_draws / 2,
                            .draws = request.chain_draws,
                            .seed = request.seed + 2,
                            .max_depth = 8};
  return settings_for(sampled_problem("posterior", "lotka_volterra", {}), settings);
}

json sample_by_nuts(const ChainSettings& settings, const ExperimentData& data, const fs::path& file,
                    std::ostream& progress) {
  auto begun = Clock::now();
  ChainProgram program =
      chain_program(lotka_volterra_model(data.train, data.noise_sd), settings, starts_for(data));
  ChainState warm = program.advance(program.init(), settings.warmup).first;
  ChainDraws chains = chain_draws({program.advance(std::move(warm), settings.draws).second});
  progress << summary_table(summarize(chains)) << std::endl;
  write_draws_beside(file, chains, curve_posterior(data).curve, settings.seed);
  return {{"sturnus", describe_program()},
          {"summary", describe_with_errors(chains)},
          {"divergent", mean_of(chains.statistics.divergent.values)},
          {"leapfrogs", mean_of(chains.statistics.leapfrog_steps.values)},
          {"step_size", mean_of(chains.statistics.step_size.values)},
          {"seconds", seconds_since(begun)}};
}

/// Temperings alone, of seeds that nothing else has.
json more_evidence(const PosteriorRequest& request, const ExperimentData& data) {
  json values = json::array();
  for (std::uint64_t i = 0; i < evidence_seeds; i++) {
    SmcOptions options = TemperedOptions().smc;
    options.particles = request.particles;
    options.seed = request.seed + 3 + i;
    values.push_back(lotka_volterra_particles(data.train, data.noise_sd, options).log_evidence);
  }
  return {{"sturnus", describe_program()}, {"log_evidence", values}};
}

json evidence_of(std::vector<double> values) {
  MeanSd of = mean_sd(values);
  return {{"values", values},
          {"mean", of.mean},
          {"error", of.sd / std::sqrt(static_cast<double>(values.size() - 1))}};
}

/// The largest difference of means, sds and quantiles, in units of both standard errors together.
json agreement_of(const json& one, const json& other) {
  json result = {{"errors", -1.0}, {"parameter", ""}, {"score", ""}};
  for (const auto& [name, row] : one.items()) {
    for (const auto& [score, error] : scores_with_errors()) {
      auto number = [&name = name](const json& of, const std::string& key) {
        return number_or_nan(of.at(name).at(key));
      };
      double errors = std::abs(number(one, score) - number(other, score)) /
                      std::hypot(number(one, error), number(other, error));
      if (!(errors <= result["errors"])) {
        result = {{"errors", errors}, {"parameter", name}, {"score", score}};
      }
      if (std::isnan(errors)) return result;  // nothing is known of how well they agree
    }
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
  TemperingSettings first = {request.particles, request.walkers, request.draws, request.seed};
  TemperingSettings second = first;
  second.seed++;
  ChainSettings nuts = nuts_settings(request);
  json all = {
      {"sturnus", describe_program()},
      {"device", default_device().description().text},
      {"experiment", name},
      {"settings",
       {{"tempering", to_json(first)}, {"again", to_json(second)}, {"nuts", to_json(nuts)}}},
      {"runs", json::array()}};
  for (int run : runs) {
    ExperimentData data = published_data(Experiment::lotka_volterra, run);
    fs::path place = folder / ("run" + std::to_string(run));
    json result = {{"run", run}, {"truth", truth_of(data)}};
    result["tempering"] = tempered(data, first, place / "tempering.json", progress).about;
    result["again"] = tempered(data, second, place / "again.json", progress).about;
    json evidence = kept_result(place / "evidence.json", to_json(second),
                                [&] { return more_evidence(request, data); });
    std::vector<double> values = evidence.at("log_evidence");
    for (const char* method : {"tempering", "again"}) {
      values.push_back(result[method].at("log_evidence"));
    }
    result["evidence"] = evidence_of(values);
    fs::path of_nuts = place / "nuts.json";
    result["nuts"] = kept_result(of_nuts, to_json(nuts),
                                 [&] { return sample_by_nuts(nuts, data, of_nuts, progress); });
    for (const char* method : {"again", "nuts"}) {
      result["agreement"][method] =
          agreement_of(result["tempering"]["summary"], result[method]["summary"]);
    }
    all["runs"].push_back(result);
  }
  out << posterior_page(all);
  if (request.keep.empty()) return;
  write_file(request.keep / (name + "_posterior.json"), all.dump(1) + "\n");
  write_file(request.keep / (name + "_posterior.md"), posterior_page(all));
  out << "\n" << (request.keep / (name + "_posterior.md")).string() << '\n';
}

}  // namespace sturnus::app
