// What all reports have in common.
#pragma once

#include <string_view>

namespace sturnus::app {

/// The style sheet: for screens, telephones and paper.
extern const std::string_view report_style;

/// Reads the numbers in <script id="result">, and has what figures are made of.
extern const std::string_view report_tools;

/// Draws every <div data-figure="..."> with the function of that name in `draw`.
extern const std::string_view report_drawing;

}  // namespace sturnus::app
