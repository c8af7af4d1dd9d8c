// Tables of variants x runs: ours, the published ones and those of exact draws, side by side.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

namespace sturnus::app {

/// What `sturnus table` gathered (table.json), for a terminal.
void print_results(std::ostream& out, const nlohmann::json& results);

/// The same as a page in Markdown, with what agrees with the published table and what does not,
/// the settings, the source that made it, and the command that does, which keeps it in that folder.
std::string results_page(const nlohmann::json& results, const std::string& folder);

}  // namespace sturnus::app
