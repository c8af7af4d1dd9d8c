// Sections of reports on draws, whether chains made them or a Gaussian.
#pragma once

#include <string>
#include <vector>

#include "src/app/report_parts.h"

namespace sturnus::app::report {

/// Names of all that is summarised: those of the figures, in their order, then the others.
std::vector<std::string> names_of(const json& result);

/// Why to be careful, and that the work was interrupted, as `interrupted` says.
std::string draw_notes(const json& result, const std::string& interrupted, bool has_script);

/// The function over all draws and new measurements, a figure for each output.
std::string predictions(const json& result);

/// Draws of two parameters each.
std::string pairs(const json& result, const std::string& remark);

/// The table by parameter with such columns, and what stands elsewhere.
struct SummaryColumn {
  const char *key, *title, *format;
};
std::string summary(const json& result, const std::vector<SummaryColumn>& columns);

}  // namespace sturnus::app::report
