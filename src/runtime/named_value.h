// Named options and attributes, as plugins take and give them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace sturnus {

using NamedValue = std::variant<std::string, std::int64_t, std::vector<std::int64_t>, float, bool>;
using NamedValues = std::map<std::string, NamedValue>;

/// The value as a person reads it: 3, true, 1.13.0 for a list of numbers.
std::string to_string(const NamedValue& value);

}  // namespace sturnus
