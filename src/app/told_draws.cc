#include "src/app/told_draws.h"

#include <cmath>
#include <span>

#include "src/app/table.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

constexpr std::size_t told_points = 5;

// Weights that did not move have no diagnostics, and are passed over.
json describe_weights(std::span<const ParameterSummary> rows) {
  const ParameterSummary* worst = nullptr;
  json least;
  for (const ParameterSummary& row : rows) {
    if (std::isnan(row.rhat) || std::isnan(row.ess_bulk)) continue;
    if (worst == nullptr || row.rhat > worst->rhat) worst = &row;
    if (least.is_null() || row.ess_bulk < least) least = row.ess_bulk;
  }
  return {{"count", rows.size()},
          {"rhat", worst == nullptr ? json() : json(worst->rhat)},
          {"rhat_of", worst == nullptr ? json() : json(worst->name)},
          {"ess_bulk", least}};
}

void add_values(ToldDraws& told, const ChainDraws& draws, const MeasuredCurve& curve) {
  std::vector<double> x;
  for (std::size_t i = 0; i < told_points; i++) {
    x.push_back(curve.plot.x.at(i * (curve.plot.points - 1) / (told_points - 1)));
  }
  Matrix values = curves(curve, draws, x);
  std::size_t outputs = curve.outputs.size();
  for (std::size_t k = 0; k < values.cols; k++) {
    Matrix chains(draws.chains, draws.draws);
    for (std::size_t i = 0; i < values.rows; i++) chains.values[i] = values(i, k);
    std::string name = curve.outputs[k % outputs] + formatted("(%.3g)", x[k / outputs]);
    told.rows.push_back(summarize(name, chains));
    told.draws.push_back(chains);
  }
}

}  // namespace

ToldDraws told_draws(const ChainDraws& draws, std::size_t weights,
                     const std::optional<MeasuredCurve>& curve) {
  std::vector<ParameterSummary> rows = summarize(draws);
  std::size_t named = rows.size() - weights;
  ToldDraws told;
  if (weights > 0) told.weights = describe_weights(std::span(rows).subspan(named));
  for (const ParameterDraws& parameter : draws.parameters) {
    for (const ParameterElement& element : elements(parameter)) {
      if (told.draws.size() == named) break;
      told.draws.push_back(chains_of(draws, parameter, element));
    }
  }
  rows.resize(named);
  told.rows = rows;
  if (weights > 0 && curve) add_values(told, draws, *curve);
  return told;
}

std::string weights_text(const json& weights) {
  if (weights.is_null()) return "";
  std::string text = "and " + weights.at("count").dump() + " weights of a network";
  if (!weights.contains("rhat")) return text;  // no chains
  if (weights["rhat"].is_null()) return text + ", none of which moved";
  return text + formatted(", whose largest R-hat is %.3f", weights.at("rhat").get<double>()) +
         " (" + weights.at("rhat_of").get<std::string>() + ") and least bulk ESS " +
         formatted("%.0f", weights.at("ess_bulk").get<double>());
}

}  // namespace sturnus::app
