// The numbers of the published tables: mean and standard deviation over five runs.
#pragma once

#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/metrics.h>

#include <map>
#include <string>
#include <string_view>

namespace sturnus::app {

/// The names of scores as in result.json.
using ScoreTable = std::map<std::string, MeanSd>;

/// The published scores of a variant; those that were not published are missing.
ScoreTable published_scores(Experiment experiment, std::string_view variant);

}  // namespace sturnus::app
