#include "src/app/draw_sections.h"

#include <algorithm>

#include "src/app/told_draws.h"

namespace sturnus::app::report {
namespace {

// Of longer tables the rest is in result.json.
constexpr std::size_t longest_table = 60;
constexpr std::size_t most_pairs = 6;

}  // namespace

std::vector<std::string> names_of(const json& result) {
  std::vector<std::string> names;
  for (const json& name : get(result, "chains", "names")) names.push_back(name);
  for (const auto& [name, row] : get(result, "summary").items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string draw_notes(const json& result, const std::string& interrupted, bool has_script) {
  std::vector<std::string> all;
  if (get(result, "finished") == json(false)) all.push_back(interrupted);
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
  const json& draws = get(result, "predictions", "draws");
  std::string over = draws.is_number() ? draws.dump() + " draws" : "all draws";
  bool continuous = get(result, "predictions", "continuous") != json(false);
  return tagged("p",
                continuous
                    ? "The line and the bands are the median and the 25–75 % and 5–95 % "
                      "quantiles of the function over " +
                          over +
                          ", point by point; between "
                          "the dotted lines 90 % of new measurements are expected."
                    : "Points and bars are the medians and the 5–95 % quantiles over " + over +
                          "; between the dashes 90 % of new measurements are expected.",
                "caption") +
         panels(figures);
}

std::string pairs(const json& result, const std::string& remark) {
  json symbols = json::array();
  for (const json& name : get(result, "chains", "names")) {
    if (symbols.size() < most_pairs) symbols.push_back(symbol(name));
  }
  if (symbols.size() < 2) return "";
  return tagged("p", "Draws of two parameters each, and densities of one." + remark, "caption") +
         panels(figure("", "pairs", {{"symbols", symbols.dump()}}));
}

std::string summary(const json& result, const std::vector<SummaryColumn>& columns) {
  Row header = {"Parameter"};
  for (const SummaryColumn& column : columns) header.push_back(column.title);
  std::vector<Row> rows;
  std::vector<std::string> names = names_of(result);
  for (const std::string& name : names) {
    if (rows.size() == longest_table) break;
    const json& row = get(result, "summary", name.c_str());
    Row cells = {symbol(name)};
    for (const SummaryColumn& column : columns) {
      cells.push_back(number(get(row, column.key), column.format));
    }
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
  return table(header, rows) + rest;
}

}  // namespace sturnus::app::report
