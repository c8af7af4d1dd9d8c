// The published variational baseline: the oscillator's network under independent normal numbers.
#pragma once

#include <iosfwd>

#include "src/app/commands.h"

namespace sturnus::app {

inline constexpr const char* network_problem = "oscillator_network";

/// `sturnus vi oscillator_network`: prints scores as for an ensemble, and writes result.json,
/// draws.nc (of the equation's parameters) and report.html.
void fit_network(std::ostream& out, std::ostream& progress, const VariationalRequest& request);

}  // namespace sturnus::app
