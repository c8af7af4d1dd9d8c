#include "src/app/chain_report.h"

#include <algorithm>
#include <vector>

#include "src/app/chain_figures.h"
#include "src/app/report_parts.h"
#include "src/app/told_draws.h"

namespace sturnus::app {
namespace {

using namespace report;

// Of longer tables the rest is in result.json.
constexpr std::size_t longest_table = 60;
constexpr std::size_t most_tiles = 5, most_pairs = 6;

std::string method_of(const json& result) {
  std::string method = text(get(result, "settings"), "method");
  return method == "nuts" ? "NUTS" : method == "hmc" ? "HMC" : spaced(method);
}

std::string header_of(const json& result) {
  const json& settings = get(result, "settings");
  Row about = {method_of(result), count(get(settings, "chains")) + " chains",
               count(get(settings, "warmup")) + " transitions of warm-up",
               count(get(settings, "draws")) + " draws each"};
  for (const char* key : {"run", "seed"}) {
    if (!get(settings, key).is_null()) about.push_back(key + (" " + count(get(settings, key))));
  }
  return header("Sturnus · report of Markov chains", title_of(text(settings, "problem")), about);
}

// Names of all parameters, those of the figures first.
std::vector<std::string> names_of(const json& result) {
  std::vector<std::string> names;
  for (const json& name : get(result, "chains", "names")) names.push_back(name);
  for (const auto& [name, row] : get(result, "summary").items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string tiles_of(const json& result) {
  std::string all;
  std::vector<std::string> names = names_of(result);
  for (std::size_t k = 0; k < std::min(most_tiles, names.size()); k++) {
    const json& row = get(result, "summary", names[k].c_str());
    all += tile(
        symbol(names[k]), mean_and_sd(get(row, "mean"), get(row, "sd")),
        "R̂ " + number(get(row, "rhat"), "%.3f") + " · ESS " + number(get(row, "ess_bulk"), "%.0f"));
  }
  const json& divergent = get(result, "divergences", "draws");
  const json &draws = get(result, "draws"), &chains = get(result, "settings", "chains");
  if (divergent.is_number() && draws.is_number() && chains.is_number()) {
    json total = draws.get<std::int64_t>() * chains.get<std::int64_t>();
    all += tile("Divergent", count(divergent), "of " + count(total) + " draws");
  }
  return tiles(all);
}

std::string notes_of(const json& result, bool has_script) {
  std::vector<std::string> all;
  if (get(result, "finished") == json(false)) {
    all.push_back("The chains were interrupted after " + count(get(result, "draws")) +
                  " draws each: this is what they say.");
  }
  for (const json& warning : get(result, "warnings")) all.push_back(words(warning));
  return notes(all, has_script);
}

std::string predictions(const json& result) {
  const json& bands = get(result, "predictions", "bands");
  if (bands.empty()) return "";
  const json& names = get(result, "predictions", "names");
  std::string figures, input = text(get(result, "predictions"), "input");
  for (std::size_t k = 0; k < bands.size(); k++) {
    std::string name = words(at(names, k));
    figures += figure(name, "predicted",
                      {{"output", std::to_string(k)}, {"name", name}, {"input", input}});
  }
  return tagged("p",
                "The line and the bands are the median and the 25–75 % and 5–95 % quantiles of the "
                "function over all draws, point by point; between the dotted lines 90 % of new "
                "measurements are expected.",
                "caption") +
         panels(figures);
}

std::string chains(const json& result) {
  std::string figures;
  const json& names = get(result, "chains", "names");
  for (std::size_t k = 0; k < names.size(); k++) {
    std::string name = symbol(names[k]);
    std::vector<std::pair<std::string, std::string>> about = {{"parameter", std::to_string(k)},
                                                              {"name", name}};
    figures +=
        figure("Trace of " + name, "trace", about) + figure("Ranks of " + name, "ranks", about);
  }
  if (figures.empty()) return "";
  return tagged("p",
                "Traces of chains that agree look like one band of noise; triangles below mark "
                "divergent draws. Ranks are those of a chain’s draws among all: chains that agree "
                "are flat, and stay within the grey band most of the time.",
                "caption") +
         panels(figures);
}

std::string pairs(const json& result) {
  json symbols = json::array();
  for (const json& name : get(result, "chains", "names")) {
    if (symbols.size() < most_pairs) symbols.push_back(symbol(name));
  }
  if (symbols.size() < 2) return "";
  std::string divergent = get(result, "divergences", "draws") == json(0)
                              ? "No draw diverged."
                              : "Draws that diverged are orange.";
  return tagged("p", "Draws of two parameters each, and densities of one. " + divergent,
                "caption") +
         panels(figure("", "pairs", {{"symbols", symbols.dump()}}));
}

std::string summary(const json& result) {
  std::vector<Row> rows;
  std::vector<std::string> names = names_of(result);
  for (const std::string& name : names) {
    if (rows.size() == longest_table) break;
    const json& row = get(result, "summary", name.c_str());
    Row cells = {symbol(name)};
    for (const char* key : {"mean", "mcse", "sd", "q05", "q25", "q50", "q75", "q95"}) {
      cells.push_back(number(get(row, key)));
    }
    cells.push_back(number(get(row, "rhat"), "%.3f"));
    cells.push_back(number(get(row, "ess_bulk"), "%.0f"));
    cells.push_back(number(get(row, "ess_tail"), "%.0f"));
    rows.push_back(cells);
  }
  std::string rest;
  if (names.size() > rows.size()) {
    rest = tagged("p",
                  "And " + count(json(names.size() - rows.size())) +
                      " more, which result.json and the files of draws have.",
                  "caption");
  }
  std::string weights = weights_text(get(result, "weights"));
  if (!weights.empty()) rest += tagged("p", escaped(weights) + ".", "caption");
  return table({"Parameter", "Mean", "Error of it", "SD", "5 %", "25 %", "50 %", "75 %", "95 %",
                "R̂", "Bulk ESS", "Tail ESS"},
               rows) +
         rest;
}

}  // namespace

std::string chain_report_html(const json& result, std::string_view plotly_script) {
  bool has_script = !plotly_script.empty();
  const NamedTime times[] = {{"compile_s", "compiling, and finding starts", " s"},
                             {"warmup_s", "warm-up", " s"},
                             {"sampling_s", "draws", " s"},
                             {"ess_bulk_per_s", "effective draws", " per second"}};
  std::string body = header_of(result) + tiles_of(result) + notes_of(result, has_script);
  if (has_script) body += section("predictions", "Posterior predictive", predictions(result));
  body += section("summary", "Summary", summary(result));
  if (has_script) {
    body += section("chains", "Chains", chains(result));
    body += section("pairs", "Pairs", pairs(result));
  }
  body += section("details", "Details", details(result, times, "resumed after transition"));
  std::string title = title_of(text(get(result, "settings"), "problem"));
  return page(title, body, result, plotly_script, chain_figures);
}

}  // namespace sturnus::app
