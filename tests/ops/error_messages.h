// Messages that many operations answer bad input with.
#pragma once

#include <sturnus/ops/creation.h>

#include <string>

namespace sturnus {

inline Array nothing() { return zeros({0}); }

inline const char* const broadcasting = "Extents must be equal or 1, counted from the last axis";

inline std::string mismatch(const std::string& function, const std::string& types) {
  return function + ": " + types + " do not fit together (<here>). " + broadcasting;
}
inline std::string not_real(const std::string& function) {
  return function + ": c64[3] is complex, but must be real (<here>). Take abs, real or imag of it";
}
inline std::string no_numbers(const std::string& function) {
  return function +
         ": operands are bool[3], but must be numbers (<here>). Convert them to i32, or use ^, & "
         "and ! for logic";
}
inline std::string no_bits(const std::string& function, const std::string& type) {
  return function + ": operands are " + type +
         ", but bits and logic are of bool and integers (<here>). Compare or convert them first, "
         "or use logical_and and its kin";
}
inline std::string no_elements(const std::string& function, const std::string& type,
                               const std::string& axes) {
  return function + ": " + type + " has no elements along the axes " + axes +
         " to choose from (<here>). Give it some, or treat the empty case apart";
}
inline std::string negative(const std::string& function, const std::string& shape) {
  return function + ": the shape " + shape +
         " has a negative extent (<here>). Give extents of 0 or more";
}

}  // namespace sturnus
