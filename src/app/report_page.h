// What all reports have in common.
#pragma once

#include <string_view>

namespace sturnus::app {

/// The style sheet: for screens, telephones and paper.
extern const std::string_view report_style;

/// Draws every <div data-figure="..."> of a report from the numbers in <script id="result">.
extern const std::string_view report_figures;

}  // namespace sturnus::app
