// Decisions on flat lists of arrays. The typed forms are in control_flow.h.
#pragma once

#include <sturnus/functional/transform.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus::internal {

/// The results of branch number `index` (the last one when there is no such number); only that one
/// is computed. `paths` names the results, for messages.
Arrays branch(std::string_view function, const Array& index,
              const std::vector<std::function<Arrays()>>& branches,
              const std::function<std::vector<std::string>()>& paths);
/// The same inside a trace, for rules.
Arrays make_case(const Array& index, const std::vector<std::function<Arrays()>>& branches);
/// `index` limited to 0, ..., count - 1.
Array nearest_index(const Array& index, std::size_t count);
/// An operand as an array.
Array operand_array(const Operand& operand);

}  // namespace sturnus::internal
