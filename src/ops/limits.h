// What the floating-point types hold and tell apart.
#pragma once

#include <sturnus/runtime/dtype.h>

namespace sturnus::internal {

struct Limits {
  double tiny;     // the smallest normal number
  double epsilon;  // between 1 and the next number
  double largest;  // the largest finite number
};

/// Those of a floating-point type.
Limits limits_of(DType dtype);

}  // namespace sturnus::internal
