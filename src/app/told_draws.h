// What is told of draws, number by number. Weights of a network mean nothing one by one, since
// units of a layer can change places: the function that they make is told instead.
#pragma once

#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/results/draws.h>
#include <sturnus/inference/results/summary.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sturnus::app {

struct ToldDraws {
  std::vector<ParameterSummary> rows;
  std::vector<Matrix> draws;  // of each row, chains x draws
  nlohmann::json weights;     // count, rhat (the largest), rhat_of, ess_bulk (the least), or null
};

/// All parameters; where the last `weights` of them are those of a network, all others and the
/// curve at a few of the points where it is drawn.
ToldDraws told_draws(const ChainDraws& draws, std::size_t weights,
                     const std::optional<MeasuredCurve>& curve);

/// "and 321 weights of a network, whose largest R-hat is ..."; only their count where there is no
/// R-hat, empty where there are none.
std::string weights_text(const nlohmann::json& weights);

}  // namespace sturnus::app
