#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>

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
#include "src/app/sampled_problems.h"
#include "src/app/tempering.h"
#include "src/app/training_file.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Which data a row of a table is of.
json data_of_row(const RunConfig& config) {
  json row = {{"run", config.run}};
  if (config.data_seed) row["data_seed"] = *config.data_seed;
  return row;
}
bool is_of(const json& row, const RunConfig& config) {
  json data = data_of_row(config);
  return row.at("run") == data["run"] && row.value("data_seed", json()) == data["data_seed"];
}
// The same in the names of files.
std::string data_name(const RunConfig& config) {
  return config.data_seed ? "data" + std::to_string(*config.data_seed)
                          : "run" + std::to_string(config.run);
}
// Data sets by these names, each by the settings of a run on it.
using DataSets = std::map<std::string, RunConfig>;

// What is kept of a result in a table.
json summary(const json& result, const RunConfig& config) {
  json row = data_of_row(config);
  row["seed"] = config.ensemble.seed;
  row["source"] = result.at("sturnus").at("commit");
  row["metrics"] = result.at("metrics");
  row["lambda"] = {{"mean", result.at("lambda").at("mean")}, {"sd", result.at("lambda").at("sd")}};
  row["members"] = {{"divergences", result.at("members").at("divergences")}};
  row["timing"] = result.at("timing");
  return row;
}

// The settings of a variant, with what the request changes of them.
RunConfig asked_config(Experiment experiment, const std::string& variant,
                       const TableRequest& request) {
  RunConfig config = variant_config(experiment, variant, request.iterations);
  if (request.members) config.ensemble.members = *request.members;
  return config;
}

// The settings that the runs of a variant share.
json shared_settings(const RunConfig& config) {
  json settings = to_json(config);
  for (const char* own : {"run", "data_seed", "seed"}) settings.erase(own);
  return settings;
}

// Throws Error unless the runs of an earlier table have the settings that this one would give them:
// what is kept is neither dropped nor mixed with other runs.
void check_kept(const json& kept, const TableRequest& request) {
  for (const json& variant : kept.at("variants")) {
    RunConfig config = config_from_json(variant.at("settings"));
    std::string difference =
        first_difference(shared_settings(config),
                         shared_settings(asked_config(config.experiment, config.variant, request)));
    if (difference.empty()) continue;
    throw Error("its runs of " + config.variant + " have other settings: " + difference +
                " differs");
  }
}

// That summary, if an earlier table has it; else null.
json kept_summary(const json& kept, const RunConfig& config) {
  if (kept.is_null()) return {};
  for (const json& variant : kept.at("variants")) {
    if (variant.at("name") != config.variant) continue;
    for (json run : variant.at("runs")) {
      if (!is_of(run, config)) continue;
      if (!run.contains("source")) run["source"] = kept.at("sturnus").at("commit");
      if (!run.contains("seed")) run["seed"] = config.ensemble.seed;
      return run;
    }
  }
  return {};
}

// The result of a run that is in its folder already, or null. Throws Error when a finished one is
// of other settings: it is not overwritten.
json finished_result(const RunConfig& config, const fs::path& place) {
  fs::path file = place / "result.json";
  if (!fs::exists(file)) return {};
  return read_kept(file, "Choose another --out, or remove it", [&](const json& found) {
    if (!found.at("finished").get<bool>()) return json();
    json settings = to_json(config_from_json(found.at("settings"), "$.settings"));
    std::string difference = first_difference(settings, to_json(config));
    if (difference.empty()) return found;
    throw Error("it is a finished result of other settings: " + difference + " differs");
  });
}

// As many exact posterior draws as the ensemble has members, scored as the ensemble is: means over
// many such draws.
json exact_scores(const RunConfig& config, std::int64_t members, bool free_phase) {
  ExperimentData data = data_of(config);
  auto posterior = exact_posterior_of(data, free_phase);
  auto count = static_cast<std::size_t>(members);
  PosteriorDraws draws = posterior->draws(count * most_sets, 7);
  json row = data_of_row(config), scores;
  scores = mean_scores(data, posterior->predict(draws, data.test.x), draws.lambda, count);
  // As the floors of every ensemble.
  EvaluationOptions like;
  WassersteinFloor floor = posterior->floor(
      count, data.plot.x,
      {.repetitions = like.floor_repetitions, .reference_draws = like.reference_draws});
  scores["w_f"] = floor.w_f.mean;
  scores["w_lambda"] = floor.w_lambda.mean;
  row["metrics"] = scores;
  return row;
}

// Rows of exact draws, one for each exact posterior that there is.
json exact_rows(Experiment experiment, const DataSets& sets, std::int64_t members) {
  json rows = json::array();
  for (bool free_phase : {false, true}) {
    if (!exact_posterior_of(published_data(experiment, 0), free_phase)) continue;
    std::string name = free_phase ? "free phase" : "fixed phase";
    json row = {{"name", experiment == Experiment::oscillator ? name : "exact"},
                {"runs", json::array()}};
    for (const auto& [key, config] : sets) {
      row["runs"].push_back(exact_scores(config, members, free_phase));
    }
    rows.push_back(row);
  }
  return rows;
}

// Posteriors that are drawn, by data set. They are kept beside the results.
using Posteriors = std::map<std::string, DrawnPosterior>;

// Enough for 200 ensembles of 25 without a draw in common.
const ChainSettings advection_chains = {.chains = 4, .warmup = 1000, .draws = 1500};

Posteriors drawn_posteriors(const std::string& method, const DataSets& sets, const fs::path& folder,
                            std::ostream& progress) {
  Posteriors all;
  for (const auto& [name, config] : sets) {
    ExperimentData data = data_of(config);
    fs::path file = folder / (method + "-" + name + ".json");
    all[name] = method == "nuts" ? advection_by_nuts(data, advection_chains, file, progress)
                                 : tempered(data, {}, file, progress);
  }
  return all;
}

json drawn_rows(const std::string& method, const Posteriors& posteriors, const DataSets& sets,
                std::int64_t members) {
  json row = {{"name", method},
              {"who", method == "nuts" ? "NUTS draws" : "tempered draws"},
              {"runs", json::array()}};
  for (const auto& [name, posterior] : posteriors) {
    const RunConfig& config = sets.at(name);
    json run = data_of_row(config);
    run["metrics"] = scores_of_draws(posterior, data_of(config), static_cast<std::size_t>(members));
    run.update(describe_worst(posterior.about.at("summary")));
    row["runs"].push_back(run);
  }
  return {row};
}

// The summary of a result, with its distance to a posterior that is not known exactly.
json summary_against(const json& result, const RunConfig& config, const std::string& method,
                     const DrawnPosterior& posterior) {
  json distance = distance_to(posterior, matrix_of(result["predictions"]["members"]),
                              matrix_of(result["lambda"]["draws"]));
  distance["name"] = method;
  json done = summary(result, config);
  for (const char* key : {"w_f", "w_lambda"}) done["metrics"][key] = distance[key];
  done["metrics"]["exact"] = {distance};
  return done;
}

// One variant on one data set, and its summary once it is done, or why it will have none.
struct Cell {
  RunConfig config;
  json done;
  std::string failed = {};
};

// No list at all wants everything.
template <class T>
bool wants(const std::vector<T>& list, const T& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

// Seeds of fresh data: those asked for, and those of an earlier table.
std::set<std::uint64_t> fresh_seeds(const TableRequest& request, const json& kept) {
  std::set<std::uint64_t> seeds(request.data_seeds.begin(), request.data_seeds.end());
  if (kept.is_null()) return seeds;
  for (const json& variant : kept.at("variants")) {
    for (const json& run : variant.at("runs"))
      seeds.insert(run.at("data_seed").get<std::uint64_t>());
  }
  return seeds;
}

// What is asked for, and what is kept already.
std::vector<Cell> cells_of(Experiment experiment, const TableRequest& request, const json& kept) {
  std::vector<Cell> cells;
  for (const std::string& variant : variants_of(experiment)) {
    RunConfig config = asked_config(experiment, variant, request);
    auto add = [&](bool wanted) {
      Cell cell = {config, kept_summary(kept, config)};
      bool asked_for = wanted && wants(request.variants, variant);
      if (!asked_for && cell.done.is_null()) return;
      cell.config = config_from_json(to_json(config));  // checked as a file is
      cells.push_back(cell);
    };
    if (!request.data_seeds.empty()) {
      for (std::uint64_t seed : fresh_seeds(request, kept)) {
        config.data_seed = seed;
        add(wants(request.data_seeds, seed));
      }
      continue;
    }
    for (int run = 0; run < published_runs; run++) {
      config.run = run;
      config.ensemble.seed = static_cast<std::uint64_t>(run);
      add(wants(request.runs, run));
    }
  }
  return cells;
}

fs::path place_of(const fs::path& folder, const RunConfig& config) {
  return folder / (config.variant + "-" + data_name(config));
}

// Throws Error for all that would end the table later: results and trainings of other settings in
// the folder, and an ensemble that cannot be traced.
void check_cells(const std::vector<Cell>& cells, const fs::path& folder) {
  std::set<std::string> traced;
  for (const Cell& cell : cells) {
    if (!cell.done.is_null()) continue;
    fs::path place = place_of(folder, cell.config);
    if (!finished_result(cell.config, place).is_null()) continue;
    kept_training({place, true}, to_json(cell.config)).load([](const json&, std::string_view) {});
    if (!traced.insert(cell.config.variant).second) continue;
    try {
      Ensemble(problem_of(cell.config), cell.config.ensemble).lower();
    } catch (const Error& error) {
      throw Error("table: " + cell.config.variant + " cannot be trained: " + error.what());
    }
  }
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

// The runs of which no member was left: now, or in an earlier table and not tried again.
json failures_of(const json& kept, const std::vector<Cell>& cells) {
  json all = json::array();
  for (const json& before : kept.is_null() ? json::array() : kept.value("failed", json::array())) {
    bool tried = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
      bool ended = !cell.done.is_null() || !cell.failed.empty();
      return ended && before.at("name") == cell.config.variant && is_of(before, cell.config);
    });
    if (!tried) all.push_back(before);
  }
  for (const Cell& cell : cells) {
    if (cell.failed.empty()) continue;
    json row = data_of_row(cell.config);
    row.update({{"name", cell.config.variant}, {"why", cell.failed}});
    all.push_back(row);
  }
  return all;
}

// What the command line asks for, before anything is done.
void check(const TableRequest& request, Experiment experiment) {
  for (const std::string& variant : request.variants) variant_config(experiment, variant);
  for (int run : request.runs) check_run("table", name_of(experiment), run);
  if (!request.runs.empty() && !request.data_seeds.empty()) {
    refuse("table",
           "runs have the published data, and data seeds fresh ones. Leave --runs or "
           "--data-seeds out");
  }
  if (request.against.empty()) return;
  if (request.against == "nuts") {
    if (experiment == Experiment::advection) return;
    refuse("table", "nuts draws the posterior of advection, but the experiment is " +
                        std::string(name_of(experiment)) + ". Leave --against nuts out");
  }
  if (request.against != "tempering") {
    refuse_unknown("table", "method to compare with", request.against, {"tempering", "nuts"});
  }
  check_tempering("table", experiment);
}

// What an earlier table kept.
json kept_table(const fs::path& file, const TableRequest& request) {
  return read_kept(file, "Choose another --keep, or remove it", [&](const json& table) {
    for (const char* part : {"variants", "exact", "sturnus", "device"}) table.at(part);
    check_kept(table, request);
    return table;
  });
}

}  // namespace

void run_table(std::ostream& out, std::ostream& progress, const TableRequest& request) {
  Experiment experiment = experiment_named(request.experiment);
  check(request, experiment);
  select_device(request.device);
  std::string name(name_of(experiment));
  fs::path folder = request.out.empty() ? fs::path("results") / ("table-" + name) : request.out;
  bool fresh = !request.data_seeds.empty();
  std::string kept_name = name + (fresh ? "_fresh" : "");
  fs::path kept_json = request.keep / (kept_name + ".json");
  fs::path kept_page = request.keep / (kept_name + ".md");
  json kept;
  if (!request.keep.empty() && fs::exists(kept_json)) kept = kept_table(kept_json, request);

  std::vector<Cell> cells = cells_of(experiment, request, kept);
  make_folder("table", "--out", folder);
  make_folder("table", "--keep", request.keep);
  check_cells(cells, folder);
  DataSets sets;
  for (const Cell& cell : cells) sets.emplace(data_name(cell.config), cell.config);
  const RunConfig& first = cells.front().config;
  Posteriors posteriors;
  if (!request.against.empty())
    posteriors = drawn_posteriors(request.against, sets, folder, progress);
  json exact = posteriors.empty()
                   ? exact_rows(experiment, sets, first.ensemble.members)
                   : drawn_rows(request.against, posteriors, sets, first.ensemble.members);
  if (exact.empty() && !kept.is_null()) exact = kept["exact"];
  json all = {{"experiment", name}, {"settings", to_json(first)}, {"exact", exact}};
  if (fresh) all["data_seeds"] = fresh_seeds(request, kept);
  if (!kept.is_null()) all["sturnus"] = kept["sturnus"], all["device"] = kept["device"];
  std::string lost;  // why the page could not be kept; empty: it was
  bool warned = false;
  auto keep = [&] {
    all["variants"] = rows_of(cells);
    all["failed"] = failures_of(kept, cells);
    if (all["failed"].empty()) all.erase("failed");
    if (request.keep.empty() || all["variants"].empty()) return;
    try {
      write_file(kept_json, all.dump(1) + "\n");
      write_file(kept_page, results_page(all, request.keep.string()));
      lost.clear();
    } catch (const Error& error) {
      // The scores can be told without it, and --out has what was trained.
      lost = error.what();
      if (!warned) log(LogLevel::warning, "the page could not be kept: " + lost);
      warned = true;
    }
  };
  InterruptGuard guard;
  for (Cell& cell : cells) {
    if (!cell.done.is_null()) continue;
    const RunConfig& config = cell.config;
    std::string data = data_name(config);
    json result;
    if (!guard.interrupted()) {
      fs::path place = place_of(folder, config);
      result = finished_result(config, place);
      try {
        if (result.is_null()) result = run(config, {place, true}, progress);
      } catch (const AllDiverged& error) {
        // It would end as it did again: the other runs do not wait for it.
        cell.failed = error.reason();
        keep();
        continue;
      }
    }
    if (result.is_null() || !result.at("finished").get<bool>()) {
      out << "Interrupted; the same command goes on where this one stopped.\n";
      return;
    }
    all["sturnus"] = result["sturnus"];
    all["device"] = result["device"];
    cell.done = posteriors.empty()
                    ? summary(result, config)
                    : summary_against(result, config, request.against, posteriors.at(data));
    keep();
  }
  keep();
  print_results(out, all);
  const std::string remedy = "; when there is room the same command writes it";
  // Both are tried: they may lie on different disks.
  std::string problem = lost.empty() ? "" : "the page could not be kept: " + lost + remedy;
  try {
    write_file(folder / "table.json", all.dump(1) + "\n");
    out << "\n" << (folder / "table.json").string() << '\n';
  } catch (const Error& error) {
    if (problem.empty()) problem = "there is no table.json: " + std::string(error.what()) + remedy;
  }
  if (!request.keep.empty() && lost.empty() && fs::exists(kept_page)) {
    out << kept_page.string() << '\n';
  }
  for (const Cell& cell : cells) {
    if (cell.failed.empty()) continue;
    problem += (problem.empty() ? "" : "; ") + cell.config.variant + " on " +
               data_name(cell.config) + " has no scores: " + cell.failed + "; " +
               (place_of(folder, cell.config) / "result.json").string() + " tells of each";
  }
  if (!problem.empty()) throw Error("table: " + problem);
}

}  // namespace sturnus::app
