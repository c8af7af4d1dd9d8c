// Decisions on flat lists of arrays. The typed forms are in control_flow.h.
#pragma once

#include <sturnus/functional/transform.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus::internal {

/// The results of branch number `choice` (the nearest one when there is no such number); only that
/// one is computed. `paths` names the results, for messages.
Arrays branch(std::string_view function, const Operand& choice,
              const std::vector<std::function<Arrays()>>& branches,
              const std::function<std::vector<std::string>()>& paths);
/// The same inside a trace, for rules.
Arrays make_case(const Array& index, const std::vector<std::function<Arrays()>>& branches);

}  // namespace sturnus::internal
