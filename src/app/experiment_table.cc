#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <ostream>

#include "src/app/commands.h"
#include "src/app/config.h"
#include "src/app/experiment_run.h"
#include "src/app/results_page.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What is kept of a result in a table.
json summary(const json& result) {
  return {{"run", result["settings"]["run"]},
          {"source", result["sturnus"]["commit"]},
          {"metrics", result["metrics"]},
          {"lambda", {{"mean", result["lambda"]["mean"]}, {"sd", result["lambda"]["sd"]}}},
          {"members", {{"divergences", result["members"]["divergences"]}}},
          {"timing", result["timing"]}};
}

// The settings that the runs of a variant share.
json shared_settings(const RunConfig& config) {
  json settings = to_json(config);
  settings.erase("run");
  settings.erase("seed");
  return settings;
}

// That summary, if an earlier table of the same settings has it; else null.
json kept_summary(const json& kept, const RunConfig& config) {
  if (kept.is_null()) return {};
  for (const json& variant : kept.at("variants")) {
    if (variant.at("name") != config.variant ||
        shared_settings(config_from_json(variant.at("settings"))) != shared_settings(config)) {
      continue;
    }
    for (json run : variant.at("runs")) {
      if (run.at("run") != config.run) continue;
      if (!run.contains("source")) run["source"] = kept.at("sturnus").at("commit");
      return run;
    }
  }
  return {};
}

// The result of a run that is in its folder already, or that is run now.
json result_of(const RunConfig& config, const fs::path& place, std::ostream& progress) {
  json result;
  if (fs::exists(place / "result.json")) result = json::parse(read_file(place / "result.json"));
  bool there = !result.is_null() && result.value("finished", false) &&
               to_json(config_from_json(result.at("settings"))) == to_json(config);
  return there ? result : run(config, {place, true}, progress);
}

// As many exact posterior draws as the ensemble has members, scored as the ensemble is; distances
// are means over many such draws.
json exact_scores(Experiment experiment, int run, std::int64_t members, bool free_phase) {
  ExperimentData data = published_data(experiment, run);
  auto posterior = exact_posterior_of(data, free_phase);
  PosteriorDraws draws = posterior->draws(static_cast<std::size_t>(members), 7);
  Predictions predictions = {posterior->predict(draws, data.test.x),
                             posterior->predict(draws, data.plot.x), draws.lambda};
  Evaluation scored = evaluate(data, predictions);
  const DistanceToExact& own = scored.exact[free_phase ? 1 : 0];
  return {{"run", run},
          {"metrics",
           {{"rmse", scored.rmse},
            {"logl_per_n", scored.logl_per_n.value},
            {"abs_dlambda", scored.abs_dlambda},
            {"logl_lambda", scored.logl_lambda.value},
            {"w_f", own.floor_w_f.mean},
            {"w_lambda", own.floor_w_lambda.mean}}}};
}

// Rows of exact draws, one for each exact posterior that there is.
json exact_rows(Experiment experiment, const std::vector<int>& runs, std::int64_t members) {
  json rows = json::array();
  for (bool free_phase : {false, true}) {
    if (!exact_posterior_of(published_data(experiment, 0), free_phase)) continue;
    std::string name = free_phase ? "free phase" : "fixed phase";
    json row = {{"name", experiment == Experiment::oscillator ? name : "exact"},
                {"runs", json::array()}};
    for (int run : runs) row["runs"].push_back(exact_scores(experiment, run, members, free_phase));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

void run_table(std::ostream& out, std::ostream& progress, const TableRequest& request) {
  Experiment experiment = experiment_named(request.experiment);
  select_device(request.device);
  std::vector<std::string> variants = request.variants;
  if (variants.empty()) variants = variants_of(experiment);
  std::vector<int> runs = request.runs;
  if (runs.empty()) runs = {0, 1, 2, 3, 4};
  std::string name(name_of(experiment));
  fs::path folder = request.out.empty() ? fs::path("results") / ("table-" + name) : request.out;

  json kept;
  fs::path kept_json = request.keep / (name + ".json");
  if (!request.keep.empty() && fs::exists(kept_json)) kept = json::parse(read_file(kept_json));

  json all = {{"experiment", name}, {"variants", json::array()}, {"exact", json::array()}};
  auto keep = [&] {
    if (request.keep.empty()) return;
    write_file(kept_json, all.dump(1) + "\n");
    write_file(request.keep / (name + ".md"), results_page(all));
  };
  std::vector<RunConfig> configs;
  for (const std::string& variant : variants) {
    RunConfig config = variant_config(experiment, variant);
    if (request.members) config.ensemble.members = *request.members;
    if (request.iterations) config.training.iterations = *request.iterations;
    configs.push_back(config);
  }
  all["exact"] = exact_rows(experiment, runs, configs.at(0).ensemble.members);
  for (RunConfig& config : configs) {
    json done = json::array();
    for (int run_number : runs) {
      config.run = run_number;
      config.ensemble.seed = static_cast<std::uint64_t>(run_number);
      config = config_from_json(to_json(config));
      json one = kept_summary(kept, config);
      if (one.is_null()) {
        fs::path place = folder / (config.variant + "-run" + std::to_string(run_number));
        json result = result_of(config, place, progress);
        if (!result.at("finished").get<bool>()) {
          out << "Interrupted; the same command goes on where this one stopped.\n";
          return;
        }
        one = summary(result);
        all["sturnus"] = result["sturnus"];
        all["device"] = result["device"];
      } else if (!all.contains("sturnus")) {
        all["sturnus"] = kept["sturnus"];
        all["device"] = kept["device"];
      }
      if (!all.contains("settings")) all["settings"] = to_json(config);
      done.push_back(one);
      json row = {{"name", config.variant}, {"settings", to_json(config)}, {"runs", done}};
      if (done.size() == 1) {
        all["variants"].push_back(row);
      } else {
        all["variants"].back() = row;
      }
      keep();
    }
  }
  print_results(out, all);
  write_file(folder / "table.json", all.dump(1) + "\n");
  out << "\n" << (folder / "table.json").string() << '\n';
  if (!request.keep.empty()) out << (request.keep / (name + ".md")).string() << '\n';
}

}  // namespace sturnus::app
