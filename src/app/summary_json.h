// Summaries of draws as result files hold them.
#pragma once

#include <sturnus/inference/summary.h>

#include <nlohmann/json.hpp>
#include <span>

namespace sturnus::app {

/// By parameter: mean, mcse, sd, q05 to q95, rhat, ess_bulk, ess_tail.
nlohmann::json to_json(std::span<const ParameterSummary> rows);

}  // namespace sturnus::app
