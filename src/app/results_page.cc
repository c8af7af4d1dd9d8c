#include "src/app/results_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>

#include "src/app/config.h"
#include "src/app/published_scores.h"
#include "src/app/table.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

// Title, key in result.json, digits.
struct Score {
  const char* title;
  const char* key;
  int digits;
};
constexpr Score scores[] = {{"RMSE", "rmse", 3},
                            {"logL/N", "logl_per_n", 1},
                            {"abs dlambda", "abs_dlambda", 3},
                            {"logL lambda", "logl_lambda", 2},
                            {"W(f)", "w_f", 3},
                            {"W(lambda)", "w_lambda", 4}};

struct Row {
  std::string variant, who;
  std::vector<std::optional<MeanSd>> values;  // in the order of `scores`
};

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.2f", value);
  return buffer;
}

std::string text(const std::optional<MeanSd>& value, int digits) {
  if (!value) return "-";
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f ± %.*f", digits, value->mean, digits, value->sd);
  return buffer;
}

std::optional<MeanSd> over_runs(const json& runs, const char* key) {
  std::vector<double> values;
  for (const json& run : runs) {
    const json& value = run.at("metrics").at(key);
    // Files have null in place of infinity and NaN.
    if (value.is_number() && std::isfinite(value.get<double>())) values.push_back(value);
  }
  if (values.empty()) return {};
  return mean_sd(values);
}

// Seeds of the data, unless they are the published ones.
json fresh_seeds(const json& results) { return results.value("data_seeds", json::array()); }

// How many runs the most complete variant has.
std::size_t most_runs(const json& results) {
  std::size_t most = 0;
  for (const json& variant : results.at("variants")) {
    most = std::max(most, variant.at("runs").size());
  }
  return most;
}

// The sources that made the results, each once.
std::string sources(const json& results) {
  std::vector<std::string> names;
  std::string all, newest = results.at("sturnus").at("commit");
  for (const json& variant : results.at("variants")) {
    for (const json& run : variant.at("runs")) {
      std::string name = run.value("source", newest);
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      names.push_back(name);
      all += (all.empty() ? "" : ", ") + name;
    }
  }
  return all;
}

Row row_of(const std::string& variant, const std::string& who, const json& runs) {
  Row row = {variant, who, {}};
  for (const Score& score : scores) row.values.push_back(over_runs(runs, score.key));
  return row;
}

std::optional<Row> published_row(Experiment experiment, const std::string& variant) {
  ScoreTable published = published_scores(experiment, variant);
  if (published.empty()) return {};
  Row row = {variant, "published", {}};
  for (const Score& score : scores) {
    auto found = published.find(score.key);
    row.values.push_back(found != published.end() ? std::optional(found->second) : std::nullopt);
  }
  return row;
}

// What as many independent draws of the posterior are called: exact, or tempered.
std::string draws_name(const json& results) {
  const json& exact = results.at("exact");
  return exact.empty() ? "" : exact.at(0).value("who", "exact draws");
}

std::vector<Row> rows_of(const json& results) {
  Experiment experiment = experiment_named(results.at("experiment"));
  std::vector<Row> rows;
  std::size_t most = most_runs(results);
  for (const json& variant : results.at("variants")) {
    std::size_t runs = variant.at("runs").size();
    std::string who = runs == most ? "Sturnus" : "Sturnus, " + std::to_string(runs) + " runs";
    rows.push_back(row_of(variant.at("name"), who, variant.at("runs")));
    auto published = published_row(experiment, variant.at("name"));
    if (published && fresh_seeds(results).empty()) rows.push_back(*published);
  }
  for (const json& exact : results.at("exact")) {
    rows.push_back(row_of(exact.at("name"), draws_name(results), exact.at("runs")));
  }
  return rows;
}

std::string reason(Experiment experiment, const char* score) {
  auto why = why_apart(experiment, score);
  if (!why) return "; why is not known";
  return "; " + std::string(why->text) + " ([checked](../ensembles.md#" +
         std::string(why->section) + "))";
}

// Scores that the published text compares, within two published standard deviations of its mean.
std::string agreement(const json& results) {
  Experiment experiment = experiment_named(results.at("experiment"));
  std::ostringstream outside;
  int agree = 0, all = 0;
  for (const json& variant : results.at("variants")) {
    std::string name = variant.at("name");
    ScoreTable published = published_scores(experiment, name);
    for (const Score& score : scores) {
      bool compared = std::string_view(score.key).substr(0, 4) != "logl";
      auto found = published.find(score.key);
      auto ours = over_runs(variant.at("runs"), score.key);
      if (!compared || found == published.end() || !ours) continue;
      all++;
      if (std::abs(ours->mean - found->second.mean) <= 2 * found->second.sd) {
        agree++;
      } else {
        outside << "- " << score.title << " of `" << name << "`: " << text(ours, score.digits)
                << ", published " << text(found->second, score.digits)
                << reason(experiment, score.key) << "\n";
      }
    }
  }
  std::ostringstream page;
  page << agree << " of " << all
       << " means of RMSE, abs dlambda, W(f) and W(lambda) lie within two published standard "
          "deviations of the published means.";
  if (agree < all) page << " Outside:\n\n" << outside.str();
  return page.str() + "\n";
}

using Means = std::map<std::string, double>;

// Means by variant; nothing where a published variant is missing.
std::optional<Means> means_of(const json& results, const char* key) {
  Means means;
  for (const json& variant : results.at("variants")) {
    std::string name = variant.at("name");
    if (auto value = over_runs(variant.at("runs"), key)) means[name] = value->mean;
  }
  for (const std::string& name : published_variants()) {
    if (means.count(name) == 0) return {};
  }
  return means;
}

Means published_means(Experiment experiment, const char* key) {
  Means means;
  for (const std::string& name : published_variants()) {
    means[name] = published_scores(experiment, name).at(key).mean;
  }
  return means;
}

bool beats(const Means& means, const std::string& name, const std::vector<std::string>& others) {
  return std::all_of(others.begin(), others.end(), [&](const std::string& other) {
    return other == name || means.at(name) > means.at(other);
  });
}

// The orderings that the published text draws its conclusions from: whether they hold here and,
// where one or the other does not, whether they do in the published table.
std::string orderings(const json& results) {
  Experiment experiment = experiment_named(results.at("experiment"));
  auto lambda = means_of(results, "logl_lambda"), fit = means_of(results, "logl_per_n");
  if (!lambda || !fit) return "";
  auto verdict = [](bool ours, bool published) -> std::string {
    if (ours && published) return "yes";
    return std::string(ours ? "yes" : "no") +
           " (in the published table: " + (published ? "yes" : "no") + ")";
  };
  std::ostringstream page;
  page << "- Variants that repel lambda have a better logL lambda than `none` ("
       << number(lambda->at("none")) << ") and `f` (" << number(lambda->at("f")) << "):";
  Means published = published_means(experiment, "logl_lambda");
  std::string before = " ";
  for (const std::string name : {"lambda", "joint", "factorized", "full", "correlated"}) {
    if (lambda->count(name) == 0) continue;
    bool ours = beats(*lambda, name, {"none", "f"});
    page << before << "`" << name << "` " << number(lambda->at(name)) << ", ";
    if (published.count(name) == 0) {
      page << (ours ? "yes" : "no");
    } else {
      page << verdict(ours, beats(published, name, {"none", "f"}));
    }
    before = "; ";
  }
  page << ".\n- `full` has the best logL/N: "
       << verdict(beats(*fit, "full", published_variants()),
                  beats(published_means(experiment, "logl_per_n"), "full", published_variants()))
       << ".\n";
  return page.str();
}

// Whether a run was compared with a posterior.
bool has_distance(const json& run) { return !run.at("metrics").at("exact").empty(); }

// The mean over runs of a distance to a posterior, and its ratio to that of as many draws of it.
std::string against_floor(const json& runs, std::size_t posterior, const std::string& key,
                          int digits) {
  double distance = 0, floor = 0;
  auto compared = static_cast<double>(std::count_if(runs.begin(), runs.end(), has_distance));
  if (compared == 0) return "-";
  for (const json& run : runs) {
    if (!has_distance(run)) continue;
    const json& exact = run.at("metrics").at("exact").at(posterior);
    distance += exact.at(key).get<double>() / compared;
    floor += exact.at("floor_" + key).at("mean").get<double>() / compared;
  }
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f (%.2f)", digits, distance, distance / floor);
  return buffer;
}

// The distances of the first run that has any.
json first_distances(const json& results) {
  for (const json& variant : results.at("variants")) {
    for (const json& run : variant.at("runs")) {
      if (has_distance(run)) return run.at("metrics").at("exact");
    }
  }
  return json::array();
}

// Distances to every posterior that is known; nothing where none is.
std::string distances(const json& results) {
  const json first = first_distances(results);
  if (first.empty()) return "";
  bool tempered = first.at(0).at("name") == "tempering";
  std::ostringstream page;
  page << "## Distance to the " << (tempered ? "" : "exact ")
       << "posterior\n\nIn brackets: how many times the distance of as many " << draws_name(results)
       << ". ";
  if (tempered) {
    page << "W(f) is the mean over 200 times of both populations. [The posterior]("
         << results.at("experiment").get<std::string>() << "_posterior.md) is that by tempering. ";
  }
  if (first.size() > 1) {
    page << "The published chain is told that f(0) = 0 (fixed phase); the networks are told no "
            "initial value, and aim at the posterior with a free phase. ";
  }
  page << "`correlated` has this library's own settings, see [ensembles](../ensembles.md).\n\n"
       << "| variant |";
  for (const json& exact : first) {
    std::string name = exact.at("name");
    std::replace(name.begin(), name.end(), '_', ' ');
    page << " W(f), " << name << " | W(lambda), " << name << " |";
  }
  page << "\n|---|";
  for (std::size_t i = 0; i < first.size(); i++) page << "---|---|";
  page << "\n";
  for (const json& variant : results.at("variants")) {
    const json& runs = variant.at("runs");
    page << "| " << variant.at("name").get<std::string>() << " |";
    for (std::size_t i = 0; i < first.size(); i++) {
      page << " " << against_floor(runs, i, "w_f", 4) << " | "
           << against_floor(runs, i, "w_lambda", 4) << " |";
    }
    page << "\n";
  }
  return page.str() + "\n";
}

// Times are no part of the page: they are those of a machine that does other things too.
std::string divergences(const json& results) {
  std::string listed;
  for (const json& variant : results.at("variants")) {
    std::size_t diverged = 0;
    for (const json& run : variant.at("runs")) {
      diverged += run.at("members").at("divergences").size();
    }
    if (diverged == 0) continue;
    listed += (listed.empty() ? "" : ", ") + std::to_string(diverged) + " of `" +
              variant.at("name").get<std::string>() + "`";
  }
  return listed.empty() ? "No member diverged." : "Members that diverged: " + listed + ".";
}

}  // namespace

void print_results(std::ostream& out, const json& results) {
  std::vector<std::string> header = {"variant", ""};
  for (const Score& score : scores) header.push_back(score.title);
  Table table(header);
  for (const Row& row : rows_of(results)) {
    std::vector<std::string> cells = {row.variant, row.who};
    for (std::size_t i = 0; i < row.values.size(); i++) {
      cells.push_back(text(row.values[i], scores[i].digits));
    }
    table.add(cells);
  }
  table.print(out);
}

std::string results_page(const json& results) {
  const json& settings = results.at("settings");
  std::string name = results.at("experiment");
  std::ostringstream page;
  json seeds = fresh_seeds(results);
  std::string files = name + (seeds.empty() ? "" : "_fresh"), listed;
  for (const json& seed : seeds) listed += (listed.empty() ? "" : ",") + seed.dump();
  page << "# " << name << (seeds.empty() ? "" : ", fresh data") << "\n\n"
       << "Written by `sturnus table " << name << (seeds.empty() ? "" : " --data-seeds " + listed)
       << (draws_name(results) == "tempered draws" ? " --against tempering" : "")
       << " --keep docs/results`, Sturnus "
       << results.at("sturnus").at("version").get<std::string>() << ", source " << sources(results)
       << ", on " << results.at("device").get<std::string>() << ": " << settings.at("members")
       << " members, " << settings.at("iterations")
       << " iterations, mean ± standard deviation over " << most_runs(results) << " runs.";
  if (!results.at("exact").empty()) {
    bool tempered = draws_name(results) == "tempered draws";
    page << " `" << draws_name(results) << "` is what as many independent draws from the "
         << (tempered ? "posterior by tempering" : "exact posterior")
         << " score: no ensemble can be expected to do better by much.";
  }
  page << "\n\n| variant | |";
  for (const Score& score : scores) page << " " << score.title << " |";
  page << "\n|---|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows_of(results)) {
    page << "| " << row.variant << " | " << row.who << " |";
    for (std::size_t i = 0; i < row.values.size(); i++) {
      page << " " << text(row.values[i], scores[i].digits) << " |";
    }
    page << "\n";
  }
  page << "\n";
  if (seeds.empty()) {
    page << "## Beside the published numbers\n\n"
         << agreement(results) << "\n"
         << orderings(results) << "\n";
  }
  page << distances(results) << divergences(results) << " How long trainings take is measured in "
       << "[speed](speed.md). All settings and the scores of every run are in [" << files
       << ".json](" << files << ".json).\n";
  return page.str();
}

}  // namespace sturnus::app
