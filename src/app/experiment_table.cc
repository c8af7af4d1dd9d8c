#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "src/app/commands.h"
#include "src/app/config.h"
#include "src/app/experiment_run.h"
#include "src/app/json_reader.h"
#include "src/app/progress.h"
#include "src/app/results_page.h"
#include "src/app/tempering.h"

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
  if (fs::exists(place / "result.json")) result = read_kept_json(place / "result.json");
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
json exact_rows(Experiment experiment, const std::set<int>& runs, std::int64_t members) {
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

// Tempered posteriors by run. They are kept beside the results.
using Posteriors = std::map<int, Tempered>;

Posteriors tempered_posteriors(const std::set<int>& runs, const fs::path& folder,
                               std::ostream& progress) {
  Posteriors all;
  for (int run : runs) {
    fs::path file = folder / ("tempering-run" + std::to_string(run) + ".json");
    all[run] = tempered(published_data(Experiment::lotka_volterra, run), {}, file, progress);
  }
  return all;
}

json tempered_rows(const Posteriors& posteriors, std::int64_t members) {
  json row = {{"name", "tempering"}, {"who", "tempered draws"}, {"runs", json::array()}};
  for (const auto& [run, posterior] : posteriors) {
    ExperimentData data = published_data(Experiment::lotka_volterra, run);
    json scores = scores_of_draws(posterior, data, static_cast<std::size_t>(members));
    row["runs"].push_back({{"run", run}, {"metrics", scores}});
  }
  return {row};
}

// The summary of a result, with its distance to a posterior that is not known exactly.
json summary_against(const json& result, const Tempered& posterior) {
  json distance = distance_to(posterior, matrix_of(result["predictions"]["members"]),
                              matrix_of(result["lambda"]["draws"]));
  distance["name"] = "tempering";
  json done = summary(result);
  for (const char* key : {"w_f", "w_lambda"}) done["metrics"][key] = distance[key];
  done["metrics"]["exact"] = {distance};
  return done;
}

// One variant on one data set, and its summary once it is done.
struct Cell {
  RunConfig config;
  json done;
};

// No list at all wants everything.
template <class T>
bool wants(const std::vector<T>& list, const T& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

// What is asked for, and what is kept already.
std::vector<Cell> cells_of(Experiment experiment, const TableRequest& request, const json& kept) {
  for (const std::string& variant : request.variants) variant_config(experiment, variant);
  std::vector<Cell> cells;
  for (const std::string& variant : variants_of(experiment)) {
    RunConfig config = variant_config(experiment, variant);
    if (request.members) config.ensemble.members = *request.members;
    if (request.iterations) config.training.iterations = *request.iterations;
    for (int run = 0; run < published_runs; run++) {
      config.run = run;
      config.ensemble.seed = static_cast<std::uint64_t>(run);
      json done = kept_summary(kept, config);
      bool asked_for = wants(request.variants, variant) && wants(request.runs, run);
      bool has_distance = !done.is_null() && !done["metrics"]["exact"].empty();
      if (asked_for && !request.against.empty() && !has_distance) done = {};
      if (!asked_for && done.is_null()) continue;
      cells.push_back({config_from_json(to_json(config)), done});
    }
  }
  return cells;
}

// The rows of a table: what is done of each variant.
json rows_of(const std::vector<Cell>& cells) {
  json rows = json::array();
  for (const Cell& cell : cells) {
    if (cell.done.is_null()) continue;
    if (rows.empty() || rows.back().at("name") != cell.config.variant) {
      rows.push_back({{"name", cell.config.variant}, {"runs", json::array()}});
    }
    rows.back()["settings"] = to_json(cell.config);
    rows.back()["runs"].push_back(cell.done);
  }
  return rows;
}

}  // namespace

void run_table(std::ostream& out, std::ostream& progress, const TableRequest& request) {
  Experiment experiment = experiment_named(request.experiment);
  if (!request.against.empty()) {
    if (request.against != "tempering") {
      refuse_unknown("table", "method to compare with", request.against, {"tempering"});
    }
    check_tempering("table", experiment);
  }
  select_device(request.device);
  std::string name(name_of(experiment));
  fs::path folder = request.out.empty() ? fs::path("results") / ("table-" + name) : request.out;
  fs::path kept_json = request.keep / (name + ".json"), kept_page = request.keep / (name + ".md");
  json kept;
  if (!request.keep.empty() && fs::exists(kept_json)) kept = read_kept_json(kept_json);

  std::vector<Cell> cells = cells_of(experiment, request, kept);
  if (cells.empty()) {
    throw Error("table: none of the runs asked for is one of 0 to " +
                std::to_string(published_runs - 1) + ". Give one of them");
  }
  std::set<int> runs;
  for (const Cell& cell : cells) runs.insert(cell.config.run);
  const RunConfig& first = cells.front().config;
  Posteriors posteriors;
  if (!request.against.empty()) posteriors = tempered_posteriors(runs, folder, progress);
  json exact = posteriors.empty() ? exact_rows(experiment, runs, first.ensemble.members)
                                  : tempered_rows(posteriors, first.ensemble.members);
  if (exact.empty() && !kept.is_null()) exact = kept["exact"];
  json all = {{"experiment", name}, {"settings", to_json(first)}, {"exact", exact}};
  if (!kept.is_null()) all["sturnus"] = kept["sturnus"], all["device"] = kept["device"];
  auto keep = [&] {
    all["variants"] = rows_of(cells);
    if (request.keep.empty()) return;
    write_file(kept_json, all.dump(1) + "\n");
    write_file(kept_page, results_page(all));
  };
  InterruptGuard guard;
  for (Cell& cell : cells) {
    if (!cell.done.is_null()) continue;
    const RunConfig& config = cell.config;
    json result;
    if (!guard.interrupted()) {
      fs::path place = folder / (config.variant + "-run" + std::to_string(config.run));
      result = result_of(config, place, progress);
    }
    if (result.is_null() || !result.at("finished").get<bool>()) {
      out << "Interrupted; the same command goes on where this one stopped.\n";
      return;
    }
    all["sturnus"] = result["sturnus"];
    all["device"] = result["device"];
    cell.done =
        posteriors.empty() ? summary(result) : summary_against(result, posteriors.at(config.run));
    keep();
  }
  keep();
  print_results(out, all);
  write_file(folder / "table.json", all.dump(1) + "\n");
  out << "\n" << (folder / "table.json").string() << '\n';
  if (!request.keep.empty()) out << kept_page.string() << '\n';
}

}  // namespace sturnus::app
