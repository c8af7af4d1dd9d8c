// The report of Markov chains: one HTML file that needs nothing else, also without a network.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sturnus::app {

/// The report on the contents of a result.json of chains, as report_html is of a training's.
std::string chain_report_html(const nlohmann::json& result, std::string_view plotly_script);

}  // namespace sturnus::app
