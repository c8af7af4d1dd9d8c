// An error that knows which setting it is about.
#pragma once

#include <sturnus/runtime/error.h>

#include <string>
#include <utility>

namespace sturnus {

/// What is wrong with one of the settings that a struct holds, which is named:
/// "repulsion.points". Whoever read the settings can then say where that one stands.
class SettingError : public Error {
 public:
  SettingError(std::string setting, const std::string& what)
      : Error(what), setting_(std::move(setting)) {}
  const std::string& setting() const { return setting_; }

 private:
  std::string setting_;
};

}  // namespace sturnus
