#include "src/app/chain_report.h"

#include <algorithm>
#include <vector>

#include "src/app/chain_figures.h"
#include "src/app/draw_sections.h"

namespace sturnus::app {
namespace {

using namespace report;

constexpr std::size_t most_tiles = 5;

std::string method_of(const json& result) {
  std::string method = text(get(result, "settings"), "method");
  return method == "nuts"   ? "NUTS"
         : method == "hmc"  ? "HMC"
         : method == "mala" ? "MALA"
                            : spaced(method);
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

}  // namespace

std::string chain_report_html(const json& result, std::string_view plotly_script) {
  bool has_script = !plotly_script.empty();
  const NamedTime times[] = {{"compile_s", "compiling, and finding starts", " s"},
                             {"warmup_s", "warm-up", " s"},
                             {"sampling_s", "draws", " s"},
                             {"ess_bulk_per_s", "effective draws", " per second"}};
  const std::vector<SummaryColumn> columns = {
      {"mean", "Mean", "%.4g"},         {"mcse", "Error of it", "%.4g"}, {"sd", "SD", "%.4g"},
      {"q05", "5 %", "%.4g"},           {"q25", "25 %", "%.4g"},         {"q50", "50 %", "%.4g"},
      {"q75", "75 %", "%.4g"},          {"q95", "95 %", "%.4g"},         {"rhat", "R̂", "%.3f"},
      {"ess_bulk", "Bulk ESS", "%.0f"}, {"ess_tail", "Tail ESS", "%.0f"}};
  std::string interrupted = "The chains were interrupted after " + count(get(result, "draws")) +
                            " draws each: this is what they say.";
  std::string divergent = get(result, "divergences", "draws") == json(0)
                              ? " No draw diverged."
                              : " Draws that diverged are orange.";
  std::string body =
      header_of(result) + tiles_of(result) + draw_notes(result, interrupted, has_script);
  if (has_script) body += section("predictions", "Posterior predictive", predictions(result));
  body += section("summary", "Summary", summary(result, columns));
  if (has_script) {
    body += section("chains", "Chains", chains(result));
    body += section("pairs", "Pairs", pairs(result, divergent));
  }
  body += section("details", "Details", details(result, times, "resumed after transition"));
  std::string title = title_of(text(get(result, "settings"), "problem"));
  return page(title, body, result, plotly_script, chain_figures);
}

}  // namespace sturnus::app
