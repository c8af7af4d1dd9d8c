#include "src/app/results_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <set>
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

// Over those of the runs that have a score: an ensemble whose members all agree has no density.
struct Average {
  MeanSd moments;
  std::size_t runs = 0, of = 0;
};

struct Row {
  std::string variant, who;
  std::vector<std::optional<Average>> values;  // in the order of `scores`
};

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.2f", value);
  return buffer;
}

std::string text(const std::optional<Average>& value, int digits) {
  if (!value) return "-";
  char buffer[64];
  if (value->runs == 1) {
    std::snprintf(buffer, sizeof(buffer), "%.*f", digits, value->moments.mean);
  } else {
    std::snprintf(buffer, sizeof(buffer), "%.*f ± %.*f", digits, value->moments.mean, digits,
                  value->moments.sd);
  }
  if (value->runs == value->of) return buffer;
  return buffer + (" (" + std::to_string(value->runs) + " of " + std::to_string(value->of)) +
         " runs)";
}

std::optional<Average> over_runs(const json& runs, const char* key) {
  std::vector<double> values;
  for (const json& run : runs) {
    const json& value = run.at("metrics").at(key);
    // Files have null in place of infinity and NaN.
    if (value.is_number() && std::isfinite(value.get<double>())) values.push_back(value);
  }
  if (values.empty()) return {};
  return Average{mean_sd(values), values.size(), runs.size()};
}

// Seeds of the data, unless they are the published ones.
json fresh_seeds(const json& results) { return results.value("data_seeds", json::array()); }

// The settings of a variant without what the table was asked to change.
RunConfig published_config(const json& results, const json& variant) {
  return variant_config(experiment_named(results.at("experiment")), variant.at("name"));
}

bool has_published_members(const json& results, const json& variant) {
  return variant.at("settings").at("members") ==
         published_config(results, variant).ensemble.members;
}

bool has_published_iterations(const json& results, const json& variant) {
  return variant.at("settings").at("iterations") ==
         published_config(results, variant).training.iterations;
}

// Whether the runs of a variant can be compared with published ones: all of these, in their size.
bool is_as_published(const json& results, const json& variant) {
  return fresh_seeds(results).empty() && variant.at("runs").size() == published_runs &&
         has_published_members(results, variant) && has_published_iterations(results, variant);
}

// How many runs the most complete variant has.
std::size_t most_runs(const json& results) {
  std::size_t most = 0;
  for (const json& variant : results.at("variants")) {
    most = std::max(most, variant.at("runs").size());
  }
  return most;
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
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
    if (found == published.end()) {
      row.values.push_back({});
    } else {
      row.values.push_back(Average{found->second, published_runs, published_runs});
    }
  }
  return row;
}

// How the posterior is known.
struct Method {
  std::string name;       // of --against; empty for the exact posterior
  std::string draws;      // what draws of it are called; empty where there are none
  std::string posterior;  // what it is called
  bool is_exact = true;
};

Method method_of(const json& results) {
  const json& exact = results.at("exact");
  std::string draws = exact.empty() ? "" : exact.at(0).value("who", "exact draws");
  if (draws == "tempered draws") return {"tempering", draws, "posterior by tempering", false};
  if (draws == "NUTS draws") return {"nuts", draws, "posterior by NUTS", false};
  return {"", draws, "exact posterior", true};
}

bool has_variant(const json& results, const std::string& name) {
  const json& variants = results.at("variants");
  return std::any_of(variants.begin(), variants.end(),
                     [&](const json& variant) { return variant.at("name") == name; });
}

// What the chains say of themselves, and what they know that networks do not.
std::string about_nuts(const json& results) {
  double rhat = 0, ess = std::numeric_limits<double>::infinity();
  for (const json& run : results.at("exact").at(0).at("runs")) {
    rhat = std::max(rhat, run.at("rhat").get<double>());
    ess = std::min(ess, run.at("ess_bulk").get<double>());
  }
  char buffer[80];
  std::snprintf(buffer, sizeof(buffer),
                "the largest R-hat of all runs is %.4f, the least bulk ESS %.0f", rhat, ess);
  return "The posterior is that of a wave of four harmonics, which a wind between 0 and 1 carries "
         "round the ring ([sampling](../sampling.md)); networks know neither the ring nor the "
         "harmonics, and have less to go by. Of the chains " +
         std::string(buffer) + ". ";
}

std::vector<Row> rows_of(const json& results) {
  Experiment experiment = experiment_named(results.at("experiment"));
  std::vector<Row> rows;
  std::size_t most = most_runs(results);
  for (const json& variant : results.at("variants")) {
    std::size_t runs = variant.at("runs").size();
    std::string who = "Sturnus";
    if (runs < most) who += ", " + counted(runs, "run");
    rows.push_back(row_of(variant.at("name"), who, variant.at("runs")));
    auto published = published_row(experiment, variant.at("name"));
    if (published && fresh_seeds(results).empty()) rows.push_back(*published);
  }
  for (const json& exact : results.at("exact")) {
    rows.push_back(row_of(exact.at("name"), method_of(results).draws, exact.at("runs")));
  }
  return rows;
}

// What draws of the posterior score: "0.034 ± 0.023 (fixed phase) and ...".
std::string scores_of_draws(const json& results, const Score& score) {
  std::string all;
  for (const json& exact : results.at("exact")) {
    all += (all.empty() ? "" : " and ") +
           text(over_runs(exact.at("runs"), score.key), score.digits) + " (" +
           exact.at("name").get<std::string>() + ")";
  }
  return all;
}

std::string reason(const json& results, const Score& score) {
  auto why = why_apart(experiment_named(results.at("experiment")), score.key);
  if (!why) return "; why is not known";
  std::string draws = why->is_of_draws ? ": " + scores_of_draws(results, score) : "";
  return "; " + std::string(why->text) + draws + " ([checked](../ensembles.md#" +
         std::string(why->section) + "))";
}

// Scores that the published text compares, within two published standard deviations of its mean,
// of variants with the published settings; empty when there are none.
std::string agreement(const json& results) {
  Experiment experiment = experiment_named(results.at("experiment"));
  std::ostringstream outside;
  int agree = 0, all = 0;
  for (const json& variant : results.at("variants")) {
    if (!is_as_published(results, variant)) continue;
    std::string name = variant.at("name");
    ScoreTable published = published_scores(experiment, name);
    for (const Score& score : scores) {
      bool compared = std::string_view(score.key).substr(0, 4) != "logl";
      auto found = published.find(score.key);
      auto ours = over_runs(variant.at("runs"), score.key);
      if (!compared || found == published.end() || !ours) continue;
      all++;
      if (std::abs(ours->moments.mean - found->second.mean) <= 2 * found->second.sd) {
        agree++;
      } else {
        Average theirs = {found->second, published_runs, published_runs};
        outside << "- " << score.title << " of `" << name << "`: " << text(ours, score.digits)
                << ", published " << text(theirs, score.digits) << reason(results, score) << "\n";
      }
    }
  }
  if (all == 0) return "";
  std::ostringstream page;
  page << agree << " of " << all
       << " means of RMSE, abs dlambda, W(f) and W(lambda) lie within two published standard "
          "deviations of the published means.";
  if (agree < all) page << " Outside:\n\n" << outside.str();
  return page.str() + "\n";
}

using Means = std::map<std::string, double>;

// Means by variant with the published settings; nothing where a published variant is missing.
std::optional<Means> means_of(const json& results, const char* key) {
  Means means;
  for (const json& variant : results.at("variants")) {
    std::string name = variant.at("name");
    if (!is_as_published(results, variant)) continue;
    if (auto value = over_runs(variant.at("runs"), key)) means[name] = value->moments.mean;
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

// Means over the runs that were compared with a posterior.
struct Distance {
  double mean = 0;
  double times = 0;  // the distance of as many draws of the posterior
};

std::optional<Distance> distance(const json& runs, std::size_t posterior, const std::string& key) {
  double total = 0, floor = 0;
  auto compared = std::count_if(runs.begin(), runs.end(), has_distance);
  if (compared == 0) return {};
  for (const json& run : runs) {
    if (!has_distance(run)) continue;
    const json& exact = run.at("metrics").at("exact").at(posterior);
    total += exact.at(key).get<double>();
    floor += exact.at("floor_" + key).at("mean").get<double>();
  }
  return Distance{total / static_cast<double>(compared), total / floor};
}

std::string text(const std::optional<Distance>& value) {
  if (!value) return "-";
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.4f (%.2f)", value->mean, value->times);
  return buffer;
}

// How `correlated` compares with the nearest other variant by W(lambda), where the published chain
// knows the phase.
std::string against_published_chain(const json& results) {
  std::optional<Distance> ours, best;
  std::string nearest;
  for (const json& variant : results.at("variants")) {
    auto found = distance(variant.at("runs"), 0, "w_lambda");
    if (variant.at("name") == "correlated") {
      ours = found;
    } else if (found && (!best || found->times < best->times)) {
      best = found;
      nearest = variant.at("name");
    }
  }
  if (!ours || !best) return "";
  return "\nAgainst the published chain's posterior (fixed phase) W(lambda) of `correlated` is " +
         number(ours->times) + " times the distance of exact draws, " +
         (ours->times > best->times ? "worse" : "better") + " than that of `" + nearest +
         "` with " + number(best->times) + ".\n";
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

// How the oscillator's `correlated` was chosen, and what it scores where nothing was chosen by.
std::string how_correlated_was_chosen(const json& results, const std::string& folder) {
  const std::string fair = "[a fair test](../ensembles.md#a-fair-test-of-correlated)";
  std::string text = " It was chosen by its distances on the published runs 0 and 1";
  if (!fresh_seeds(results).empty()) {
    return text + ", of which none is here: this is " + fair + " of it.";
  }
  json others = json::array();
  std::string names;
  for (const json& variant : results.at("variants")) {
    if (variant.at("name") != "correlated") continue;
    for (const json& run : variant.at("runs")) {
      if (run.at("run") == 0 || run.at("run") == 1) continue;
      names += (names.empty() ? "" : ", ") + run.at("run").dump();
      others.push_back(run);
    }
  }
  const json first = first_distances(results);
  std::size_t free = 0;
  while (free < first.size() && first[free].at("name") != "free_phase") free++;
  if (free < first.size()) {
    auto f = distance(others, free, "w_f"), lambda = distance(others, free, "w_lambda");
    if (f && lambda) {
      text += "; the other runs alone (" + names + ") give W(f) " + number(f->times) +
              " and W(lambda) " + number(lambda->times) +
              " times the distance of exact draws with a free phase";
    }
  }
  text += ". See " + fair + " on fresh data";
  const char* page = "oscillator_fresh.md";
  bool kept = std::filesystem::exists(std::filesystem::path(folder) / page);
  return text + (kept ? std::string(", and [its page](") + page + ")." : ".");
}

// Runs whose predictions were gone when the posterior came.
std::size_t runs_without_distance(const json& results) {
  std::size_t count = 0;
  for (const json& variant : results.at("variants")) {
    for (const json& run : variant.at("runs")) count += has_distance(run) ? 0 : 1;
  }
  return count;
}

// Distances to every posterior that is known; nothing where none is.
std::string distances(const json& results, const std::string& folder) {
  const Method method = method_of(results);
  if (method.draws.empty()) return "";
  const json first = first_distances(results);
  std::ostringstream page;
  page << "## Distance to the " << (method.is_exact ? "exact " : "") << "posterior\n\n";
  if (!first.empty()) {
    page << "In brackets: how many times the distance of as many " << method.draws << ". ";
  }
  if (method.name == "tempering") {
    page << "W(f) is the mean over 200 times of both populations. [The posterior]("
         << results.at("experiment").get<std::string>() << "_posterior.md) is that by tempering. ";
  }
  if (method.name == "nuts") page << about_nuts(results);
  if (first.size() > 1) {
    page << "The published chain is told that f(0) = 0 (fixed phase); the networks are told no "
            "initial value, and aim at the posterior with a free phase. ";
  }
  std::size_t without = runs_without_distance(results);
  if (without > 0) {
    page << counted(without, "run") << (without == 1 ? " was" : " were")
         << " kept without predictions before the posterior was drawn: distances to it cannot be "
            "told. ";
  }
  if (first.empty()) return page.str() + "\n\n";
  if (has_variant(results, "correlated")) {
    page << "`correlated` has this library's own settings, see [ensembles](../ensembles.md).";
    if (experiment_named(results.at("experiment")) == Experiment::oscillator) {
      page << how_correlated_was_chosen(results, folder);
    }
  }
  page << "\n\n| variant |";
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
      page << " " << text(distance(runs, i, "w_f")) << " | " << text(distance(runs, i, "w_lambda"))
           << " |";
    }
    page << "\n";
  }
  if (first.size() > 1) page << against_published_chain(results);
  return page.str() + "\n";
}

// The runs of which no member was left: "run 1 of `none`, data seed 7 of `f`".
std::string lost_runs(const json& results) {
  std::string listed;
  for (const json& run : results.value("failed", json::array())) {
    std::string data = run.contains("data_seed") ? "data seed " + run["data_seed"].dump()
                                                 : "run " + run.at("run").dump();
    listed +=
        (listed.empty() ? "" : ", ") + data + " of `" + run.at("name").get<std::string>() + "`";
  }
  return listed;
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
  std::string lost = lost_runs(results);
  if (!lost.empty()) {
    lost = " All members diverged, so that there are no scores: " + lost + ".";
  }
  if (!listed.empty()) return "Members that diverged: " + listed + "." + lost;
  return lost.empty() ? "No member diverged." : "Of the others no member diverged." + lost;
}

// Values of logL that have no density, by row, and how many runs do not tell.
std::string left_out(const json& results) {
  std::string listed;
  std::size_t silent = 0;
  auto add = [&](const json& row) {
    std::map<std::string, double> counts;
    for (const json& run : row.at("runs")) {
      auto skipped = run.at("metrics").find("skipped");
      if (skipped == run.at("metrics").end()) {
        silent++;
        continue;
      }
      for (const auto& [key, count] : skipped->items()) {
        counts[key] += count.get<double>() / static_cast<double>(row.at("runs").size());
      }
    }
    for (const auto& [key, count] : counts) {
      if (count == 0) continue;
      char buffer[32];
      std::snprintf(buffer, sizeof(buffer), "%.3g", count);
      listed += (listed.empty() ? "" : ", ") + std::string(buffer) + " of " +
                (key == "logl_per_n" ? "logL/N" : "logL lambda") + " of `" +
                row.at("name").get<std::string>() + "`";
    }
  };
  for (const json& variant : results.at("variants")) add(variant);
  for (const json& exact : results.at("exact")) add(exact);
  return "Values that all members agree on have no density and are left out, in a run: " +
         (listed.empty() ? "none" : listed) +
         (silent == 0 ? "" : " (" + counted(silent, "run") + " did not count them)") + ".";
}

// "15000 iterations (`correlated` 30000)"
std::string iterations(const json& results) {
  const json& variants = results.at("variants");
  const json first = variants.at(0).at("settings").at("iterations");
  std::string others;
  for (const json& variant : variants) {
    const json& own = variant.at("settings").at("iterations");
    if (own == first) continue;
    others += (others.empty() ? "" : ", ") + ("`" + variant.at("name").get<std::string>()) + "` " +
              own.dump();
  }
  return first.dump() + " iterations" + (others.empty() ? "" : " (" + others + ")");
}

// Over how many ensembles of draws their scores are means.
std::string sets(const json& results) {
  const json& metrics = results.at("exact").at(0).at("runs").at(0).at("metrics");
  auto found = metrics.find("sets");
  return found == metrics.end() ? "" : ", the mean over " + found->dump() + " such ensembles";
}

// The command that makes these results, and keeps them in `folder`.
std::string command(const json& results, const std::string& folder) {
  const json& variants = results.at("variants");
  std::string name = results.at("experiment"), all = "sturnus table " + name;
  auto list = [](const auto& values) {
    std::string listed;
    for (const auto& value : values) listed += (listed.empty() ? "" : ",") + value;
    return listed;
  };
  std::vector<std::string> names, seeds;
  std::set<std::string> asked, runs;
  std::set<json> all_seeds;
  bool members = true, iterations = true;
  for (const json& run : results.value("failed", json::array())) {
    asked.insert(run.at("name").get<std::string>());
    runs.insert(run.at("run").dump());
    if (run.contains("data_seed")) all_seeds.insert(run["data_seed"]);
  }
  for (const json& variant : variants) {
    asked.insert(variant.at("name").get<std::string>());
    members = members && has_published_members(results, variant);
    iterations = iterations && has_published_iterations(results, variant);
    for (const json& run : variant.at("runs")) runs.insert(run.at("run").dump());
  }
  for (const std::string& variant : variants_of(experiment_named(name))) {
    if (asked.count(variant) > 0) names.push_back(variant);
  }
  for (const json& seed : fresh_seeds(results)) all_seeds.insert(seed);
  for (const json& seed : all_seeds) seeds.push_back(seed.dump());
  const json& settings = variants.at(0).at("settings");
  if (names != variants_of(experiment_named(name))) all += " --variants " + list(names);
  if (!seeds.empty()) {
    all += " --data-seeds " + list(seeds);
  } else if (runs.size() < published_runs) {
    all += " --runs " + list(runs);
  }
  if (!members) all += " --members " + settings.at("members").dump();
  if (!iterations) all += " --iterations " + settings.at("iterations").dump();
  if (!method_of(results).is_exact) all += " --against " + method_of(results).name;
  return all + " --keep " + folder;
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
  if (std::string lost = lost_runs(results); !lost.empty()) {
    out << "\nAll members diverged, so that there are no scores: " << lost << '\n';
  }
}

std::string results_page(const json& results, const std::string& folder) {
  std::string name = results.at("experiment");
  std::ostringstream page;
  json seeds = fresh_seeds(results);
  std::string files = name + (seeds.empty() ? "" : "_fresh");
  Method method = method_of(results);
  std::size_t runs = most_runs(results);
  page << "# " << name << (seeds.empty() ? "" : ", fresh data") << "\n\n"
       << "Written by `" << command(results, folder) << "`, Sturnus "
       << results.at("sturnus").at("version").get<std::string>() << ", source " << sources(results)
       << ", on " << results.at("device").get<std::string>() << ": "
       << results.at("settings").at("members") << " members, " << iterations(results) << ", "
       << (runs == 1 ? "" : "mean ± standard deviation over ") << counted(runs, "run") << ".";
  if (!method.draws.empty()) {
    page << " `" << method.draws << "` is what as many independent draws from the "
         << method.posterior << " score" << sets(results)
         << ": no ensemble can be expected to do better by much.";
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
  if (std::string agree = agreement(results); !agree.empty()) {
    page << "## Beside the published numbers\n\n" << agree << "\n" << orderings(results) << "\n";
  }
  page << distances(results, folder) << left_out(results) << " " << divergences(results)
       << " How long trainings take is measured in "
       << "[speed](speed.md). All settings and the scores of every run are in [" << files
       << ".json](" << files << ".json).\n";
  return page.str();
}

}  // namespace sturnus::app
