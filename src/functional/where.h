// The line of user code that made something.
#pragma once

#include <string>

namespace sturnus {

/// A call site. As a default argument, `Where::here()` is the line of the caller.
struct Where {
  const char* file = "";
  int line = 0;

  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  /// "pinn.cc:41", the file without its folders; empty when unknown, as for calls that the standard
  /// library makes.
  std::string str() const;
};

}  // namespace sturnus
