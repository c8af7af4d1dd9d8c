#include "src/app/draw_parts.h"

#include <sturnus/runtime/log.h>

#include <algorithm>
#include <numeric>

#include "src/app/result_parts.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

// As many are drawn in figures.
constexpr std::size_t shown_parameters = 8, shown_draws = 1000;
// Predictions are those of so many: quantiles are no better for more, and take their time.
constexpr std::size_t predicting_draws = 4000;

// Every so many columns, so that figures stay quick.
json thinned_rows(const Matrix& matrix) {
  std::size_t stride = (matrix.cols + shown_draws - 1) / shown_draws;
  json result = json::array();
  for (std::size_t i = 0; i < matrix.rows; i++) {
    json row = json::array();
    for (std::size_t j = 0; j < matrix.cols; j += stride) row.push_back(matrix(i, j));
    result.push_back(row);
  }
  return result;
}

// On an axis. Points of several inputs are told one after another: 1, 2, ...
std::vector<double> places_of(const Samples& plot) {
  if (plot.inputs == 1) return plot.x;
  std::vector<double> places(plot.points);
  std::iota(places.begin(), places.end(), 1.0);
  return places;
}

}  // namespace

json describe_shown(const ChainDraws& draws, const ToldDraws& told) {
  json names = json::array(), values = json::array();
  for (std::size_t k = 0; k < std::min(shown_parameters, told.rows.size()); k++) {
    names.push_back(told.rows[k].name);
    values.push_back(thinned_rows(told.draws[k]));
  }
  return {{"names", names},
          {"draws", values},
          {"divergent", thinned_rows(draws.statistics.divergent)},
          {"stride", (draws.draws + shown_draws - 1) / shown_draws}};
}

json describe_predictions(const std::optional<MeasuredCurve>& curve, const ChainDraws& draws,
                          std::uint64_t seed) {
  if (!curve) return json::object();
  std::size_t outputs = curve->data.outputs;
  const std::vector<double>&x = curve->plot.x, places = places_of(curve->plot);
  Matrix rows = rows_of(draws, std::min(predicting_draws, draws.chains * draws.draws));
  json predictions = {
      {"x", in_rows(places, 1)},
      {"draws", rows.rows},
      {"truth", in_rows(curve->plot.truth, outputs)},
      {"outputs", outputs},
      {"input", curve->input},
      {"names", curve->outputs},
      {"continuous", curve->continuous},
      {"bands", describe_bands(places, curves(*curve, rows, x), outputs)},
      {"measured", describe_bands(places, predicted_measurements(*curve, rows, x, seed), outputs)}};
  return {{"data", describe_data(curve->data, curve->noise_sd)}, {"predictions", predictions}};
}

InferenceData inference_data_of(const ChainDraws& draws, const std::optional<MeasuredCurve>& curve,
                                std::uint64_t seed) {
  InferenceData data = inference_data(draws);
  if (curve) {
    Matrix predicted = predicted_measurements(*curve, draws, curve->data.x, seed);
    add_measurements(data, curve->data, predicted, draws.chains);
  }
  return data;
}

void write_draws_beside(const std::filesystem::path& kept, const ChainDraws& draws,
                        const std::optional<MeasuredCurve>& curve, std::uint64_t seed) {
  if (kept.empty()) return;
  std::filesystem::path path = kept;
  path.replace_extension(".nc");
  try {
    std::filesystem::create_directories(path.parent_path());
    write_inference_data(path, inference_data_of(draws, curve, seed));
  } catch (const std::exception& error) {
    log(LogLevel::warning, "the draws could not be written: " + std::string(error.what()));
  }
}

}  // namespace sturnus::app
