// What Sturnus throws. Every message reads
//   function: what is wrong, both facts with their types; where; what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace sturnus {

/// The base of everything this library throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A PJRT plugin that is not found, does not load, or does not speak our version of the API.
class PluginError : public Error {
 public:
  using Error::Error;
};

/// The canonical status codes, with PJRT's numbers.
enum class ErrorCode {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

/// The code's name as the PJRT documentation spells it, for instance "INVALID_ARGUMENT".
std::string to_string(ErrorCode code);

/// A PJRT call that failed: keeps the plugin's code and message, and names the call.
class RuntimeError : public Error {
 public:
  RuntimeError(std::string call, ErrorCode code, std::string detail);

  ErrorCode code() const { return code_; }
  /// The C API function that failed, for instance "PJRT_Client_Compile".
  const std::string& call() const { return call_; }
  /// The plugin's own message, without the prefix that `what()` adds.
  const std::string& detail() const { return detail_; }

 private:
  std::string call_;
  ErrorCode code_;
  std::string detail_;
};

}  // namespace sturnus
