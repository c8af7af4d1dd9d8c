// The figures of reports on Markov chains.
#pragma once

#include <string_view>

namespace sturnus::app {

/// `draw` for report_drawing, with what report_tools has.
extern const std::string_view chain_figures;

}  // namespace sturnus::app
