// Plotly's script, which draws the figures of a report. It is looked for in this order:
//   1. STURNUS_PLOTLY, a file (/dev/null: reports are to have no figures, and stay small);
//   2. the user's data folder, where `sturnus plugins install plotly` puts it;
//   3. $STURNUS_CACHE, or without it the cache of the build that made this program.
#pragma once

#include <optional>
#include <string>

namespace sturnus::app {

/// The script, if one of the places has it. A STURNUS_PLOTLY that cannot be read is warned of.
std::optional<std::string> find_plotly_script();

/// The script, fetched into the user's data folder where no place has it yet; empty when it cannot
/// be had, of which a warning tells.
std::string plotly_script();

}  // namespace sturnus::app
