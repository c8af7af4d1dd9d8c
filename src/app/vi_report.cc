#include "src/app/vi_report.h"

#include <algorithm>
#include <vector>

#include "src/app/chain_figures.h"
#include "src/app/draw_sections.h"

namespace sturnus::app {
namespace {

using namespace report;

constexpr std::size_t most_tiles = 5;

std::string header_of(const json& result) {
  const json& settings = get(result, "settings");
  Row about = {spaced(text(settings, "family")) + " Gaussian",
               count(get(settings, "iterations")) + " iterations",
               count(get(settings, "draws")) + " draws of it"};
  for (const char* key : {"run", "seed"}) {
    if (!get(settings, key).is_null()) about.push_back(key + (" " + count(get(settings, key))));
  }
  return header("Sturnus · report of a variational fit", title_of(text(settings, "problem")),
                about);
}

std::string tiles_of(const json& result) {
  std::string all;
  std::vector<std::string> names = names_of(result);
  for (std::size_t k = 0; k < std::min(most_tiles, names.size()); k++) {
    const json& row = get(result, "summary", names[k].c_str());
    all += tile(symbol(names[k]), mean_and_sd(get(row, "mean"), get(row, "sd")),
                number(get(row, "q05")) + " to " + number(get(row, "q95")));
  }
  all += tile("ELBO", number(get(result, "elbo")), "over the draws");
  const json& efficiency = get(result, "weight_efficiency");
  if (efficiency.is_number()) {
    all += tile("Weights leave", number(100 * efficiency.get<double>(), "%.3g") + " %",
                "of the draws");
  }
  return tiles(all);
}

std::string densities(const json& result) {
  std::string figures;
  const json& names = get(result, "chains", "names");
  for (std::size_t k = 0; k < names.size(); k++) {
    std::string name = symbol(names[k]);
    figures += figure(name, "density", {{"parameter", std::to_string(k)}, {"name", name}});
  }
  return panels(figures);
}

std::string history(const json& result) {
  if (get(result, "history", "iteration").empty()) return "";
  return tagged("p",
                "The evidence lower bound, averaged over stretches of iterations. A fit has "
                "ended when it no longer rises.",
                "caption") +
         panels(figure("", "elbo"));
}

}  // namespace

std::string variational_report_html(const json& result, std::string_view plotly_script) {
  bool has_script = !plotly_script.empty();
  const NamedTime times[] = {{"compile_s", "compiling", " s"},
                             {"fit_s", "fit", " s"},
                             {"ms_per_iteration", "an iteration", " ms"}};
  const std::vector<SummaryColumn> columns = {{"mean", "Mean", "%.4g"}, {"sd", "SD", "%.4g"},
                                              {"q05", "5 %", "%.4g"},   {"q25", "25 %", "%.4g"},
                                              {"q50", "50 %", "%.4g"},  {"q75", "75 %", "%.4g"},
                                              {"q95", "95 %", "%.4g"}};
  std::string body =
      header_of(result) + tiles_of(result) +
      draw_notes(result, "The fit was interrupted: this is the Gaussian of that moment.",
                 has_script);
  if (has_script) body += section("predictions", "Posterior predictive", predictions(result));
  body += section("summary", "Summary", summary(result, columns));
  if (has_script) {
    body += section("densities", "Densities", densities(result));
    body += section("pairs", "Pairs", pairs(result, ""));
    body += section("history", "The fit", history(result));
  }
  body += section("details", "Details", details(result, times, "resumed at iteration"));
  std::string title = title_of(text(get(result, "settings"), "problem"));
  return page(title, body, result, plotly_script, chain_figures);
}

}  // namespace sturnus::app
