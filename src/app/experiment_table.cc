#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <ostream>
#include <sstream>

#include "src/app/commands.h"
#include "src/app/config.h"
#include "src/app/experiment_run.h"
#include "src/app/files.h"
#include "src/app/published_scores.h"
#include "src/app/table.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Title, key in result.json, digits.
struct Score {
  const char* title;
  const char* key;
  int digits;
};
constexpr Score scores[] = {{"RMSE", "rmse", 3},
                            {"logL/N", "logl_per_n", 1},
                            {"|dlambda|", "abs_dlambda", 3},
                            {"logL lambda", "logl_lambda", 2},
                            {"W(f)", "w_f", 3},
                            {"W(lambda)", "w_lambda", 4}};

std::string text(const MeanSd& value, int digits) {
  if (std::isnan(value.mean)) return "-";
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f ± %.*f", digits, value.mean, digits, value.sd);
  return buffer;
}

MeanSd over_runs(const json& runs, const char* key) {
  std::vector<double> values;
  for (const json& run : runs) {
    const json& value = run.at("metrics").at(key);
    if (value.is_number()) values.push_back(value.get<double>());
  }
  if (values.empty()) return {std::nan(""), std::nan("")};
  return mean_sd(values);
}

// What is kept of a result in a table.
json summary(const json& result) {
  return {{"run", result["settings"]["run"]},
          {"metrics", result["metrics"]},
          {"lambda", {{"mean", result["lambda"]["mean"]}, {"sd", result["lambda"]["sd"]}}},
          {"members", {{"divergences", result["members"]["divergences"]}}},
          {"timing", result["timing"]}};
}

// As many exact posterior draws as the ensemble has members, scored as the ensemble is.
json exact_scores(Experiment experiment, int run, std::int64_t members, bool free_phase) {
  ExperimentData data = published_data(experiment, run);
  auto posterior = exact_posterior_of(data, free_phase);
  PosteriorDraws draws = posterior->draws(static_cast<std::size_t>(members), 7);
  Predictions predictions = {posterior->predict(draws, data.test.x),
                             posterior->predict(draws, data.plot.x), draws.lambda};
  Evaluation scored = evaluate(data, predictions, {.floor_repetitions = 0});
  const DistanceToExact& own = scored.exact[free_phase ? 1 : 0];
  return {{"run", run},
          {"metrics",
           {{"rmse", scored.rmse},
            {"logl_per_n", scored.logl_per_n.value},
            {"abs_dlambda", scored.abs_dlambda},
            {"logl_lambda", scored.logl_lambda.value},
            {"w_f", own.w_f},
            {"w_lambda", own.w_lambda}}}};
}

void add_row(Table& table, const std::string& variant, const std::string& who,
             const std::function<MeanSd(const Score&)>& value) {
  std::vector<std::string> row = {variant, who};
  for (const Score& score : scores) row.push_back(text(value(score), score.digits));
  table.add(row);
}

Table as_table(Experiment experiment, const json& all) {
  std::vector<std::string> header = {"variant", ""};
  for (const Score& score : scores) header.push_back(score.title);
  Table table(header);
  for (const json& variant : all.at("variants")) {
    std::string name = variant.at("name");
    add_row(table, name, "Sturnus",
            [&](const Score& s) { return over_runs(variant.at("runs"), s.key); });
    ScoreTable published = published_scores(experiment, name);
    if (published.empty()) continue;
    add_row(table, "", "published", [&](const Score& s) {
      auto found = published.find(s.key);
      return found != published.end() ? found->second : MeanSd{std::nan(""), std::nan("")};
    });
  }
  for (const json& exact : all.at("exact")) {
    add_row(table, exact.at("name"), "exact draws",
            [&](const Score& s) { return over_runs(exact.at("runs"), s.key); });
  }
  return table;
}

}  // namespace

void run_table(std::ostream& out, std::ostream& progress, const TableRequest& request) {
  Experiment experiment = experiment_named(request.experiment);
  select_device(request.device);
  std::vector<std::string> variants = request.variants;
  if (variants.empty()) variants = published_variants();
  std::vector<int> runs = request.runs;
  if (runs.empty()) runs = {0, 1, 2, 3, 4};
  std::string name(name_of(experiment));
  fs::path folder = request.out.empty() ? fs::path("results") / ("table-" + name) : request.out;

  json all = {{"experiment", name}, {"variants", json::array()}, {"exact", json::array()}};
  std::int64_t members = 0;
  for (const std::string& variant : variants) {
    RunConfig config = published_config(experiment, variant);
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
                   result.at("settings") == to_json(config);
      if (!there) result = run(config, {place, true}, progress);
      if (!result.at("finished").get<bool>()) {
        out << "Interrupted; the same command goes on where this one stopped.\n";
        return;
      }
      all["sturnus"] = result["sturnus"];
      all["device"] = result["device"];
      all["settings"] = result["settings"];
      done.push_back(summary(result));
    }
    all["variants"].push_back({{"name", variant}, {"runs", done}});
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
  as_table(experiment, all).print(out);
  write_file(folder / "table.json", all.dump(1) + "\n");
  out << "\n" << (folder / "table.json").string() << '\n';
}

}  // namespace sturnus::app
