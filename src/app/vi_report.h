// The report of a Gaussian that was fitted to a posterior: one HTML file, as those of chains.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sturnus::app {

/// The report on the contents of a result.json of `sturnus vi`, as chain_report_html is of chains.
std::string variational_report_html(const nlohmann::json& result, std::string_view plotly_script);

}  // namespace sturnus::app
