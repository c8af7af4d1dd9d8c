#include <sturnus/runtime/error.h>

#include <array>
#include <utility>

namespace sturnus {

std::string to_string(ErrorCode code) {
  static constexpr std::array names = {"OK",
                                       "CANCELLED",
                                       "UNKNOWN",
                                       "INVALID_ARGUMENT",
                                       "DEADLINE_EXCEEDED",
                                       "NOT_FOUND",
                                       "ALREADY_EXISTS",
                                       "PERMISSION_DENIED",
                                       "RESOURCE_EXHAUSTED",
                                       "FAILED_PRECONDITION",
                                       "ABORTED",
                                       "OUT_OF_RANGE",
                                       "UNIMPLEMENTED",
                                       "INTERNAL",
                                       "UNAVAILABLE",
                                       "DATA_LOSS",
                                       "UNAUTHENTICATED"};
  auto index = static_cast<std::size_t>(code);
  return index < names.size() ? names[index] : "code " + std::to_string(static_cast<int>(code));
}

RuntimeError::RuntimeError(std::string call, ErrorCode code, std::string detail)
    : Error(call + ": " + detail + " [" + to_string(code) + "]"),
      call_(std::move(call)),
      code_(code),
      detail_(std::move(detail)) {}

}  // namespace sturnus
