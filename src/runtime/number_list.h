// Lists of whole numbers as text: parameters of host callbacks.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus::internal {

/// "3 4 5"
inline std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::int64_t number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

inline std::vector<std::int64_t> numbers_of(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    at = std::from_chars(at, end, numbers.emplace_back()).ptr + 1;  // and the space
  }
  return numbers;
}

}  // namespace sturnus::internal
