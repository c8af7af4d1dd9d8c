// The figures of reports on draws, of Markov chains or of a Gaussian.
#pragma once

#include <string_view>

namespace sturnus::app {

/// `draw` for report_drawing, with what report_tools has.
extern const std::string_view chain_figures;

}  // namespace sturnus::app
