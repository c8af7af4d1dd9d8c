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
          {"metrics", result["metrics"]},
          {"lambda", {{"mean", result["lambda"]["mean"]}, {"sd", result["lambda"]["sd"]}}},
          {"members", {{"divergences", result["members"]["divergences"]}}},
          {"timing", result["timing"]}};
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

  json all = {{"experiment", name}, {"variants", json::array()}, {"exact", json::array()}};
  std::int64_t members = 0;
  for (const std::string& variant : variants) {
    RunConfig config = variant_config(experiment, variant);
    if (request.members) config.ensemble.members = *request.members;
    if (request.iterations) config.training.iterations = *request.iterations;
    members = config.ensemble.members;
    json done = json::array();
    for (int run_number : runs) {
      config.run = run_number;
      config.ensemble.seed = static_cast<std::uint64_t>(run_number);
      config = config_from_json(to_json(config));
      fs::path place = folder / (variant + "-run" + std::to_string(run_number));
      json result;
      if (fs::exists(place / "result.json")) {
        result = json::parse(read_file(place / "result.json"));
      }
      bool there = !result.is_null() && result.value("finished", false) &&
                   to_json(config_from_json(result.at("settings"))) == to_json(config);
      if (!there) result = run(config, {place, true}, progress);
      if (!result.at("finished").get<bool>()) {
        out << "Interrupted; the same command goes on where this one stopped.\n";
        return;
      }
      all["sturnus"] = result["sturnus"];
      all["device"] = result["device"];
      if (!all.contains("settings")) all["settings"] = result["settings"];
      done.push_back(summary(result));
    }
    all["variants"].push_back({{"name", variant}, {"settings", to_json(config)}, {"runs", done}});
  }
  for (bool free_phase : {false, true}) {
    if (!exact_posterior_of(published_data(experiment, 0), free_phase)) continue;
    bool has_phase = experiment == Experiment::oscillator;
    json draws = {{"name", !has_phase   ? "exact"
                           : free_phase ? "free phase"
                                        : "fixed phase"},
                  {"runs", json::array()}};
    for (int run_number : runs) {
      draws["runs"].push_back(exact_scores(experiment, run_number, members, free_phase));
    }
    all["exact"].push_back(draws);
  }
  print_results(out, all);
  write_file(folder / "table.json", all.dump(1) + "\n");
  out << "\n" << (folder / "table.json").string() << '\n';
  if (!request.keep.empty()) {
    write_file(request.keep / (name + ".json"), all.dump(1) + "\n");
    write_file(request.keep / (name + ".md"), results_page(all));
    out << (request.keep / (name + ".md")).string() << '\n';
  }
}

}  // namespace sturnus::app
