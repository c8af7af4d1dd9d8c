// Operations whose gradient is what reverse mode gives, where forward mode means another thing:
// custom_vjp, whose backward pass need not be linear, and collectives, whose gradient is that of
// all calls' results by one call's argument.
#pragma once

#include <cstdint>

namespace sturnus::internal {

/// How many of them this thread has traced, within loops and branches too: a function during which
/// the number grew is differentiated in reverse mode.
class ReverseOnly {
 public:
  static void note() { traced_++; }
  static std::uint64_t traced() { return traced_; }

 private:
  static inline thread_local std::uint64_t traced_ = 0;
};

}  // namespace sturnus::internal
