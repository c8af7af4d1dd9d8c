// The report of a run: one HTML file that needs nothing else, also without a network.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sturnus::app {

/// The report on the contents of a result.json: words and tables, and figures that Plotly's script
/// draws in the browser from the numbers, which the file holds too. Without the script (empty) a
/// line says that there are no figures. What `result` lacks is left out.
std::string report_html(const nlohmann::json& result, std::string_view plotly_script);

}  // namespace sturnus::app
