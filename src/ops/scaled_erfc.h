// What erfc is beside the exponential function, for what lies far out.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus::internal {

/// exp(x^2) erfc(x) for finite x >= 0.5, f32 or f64.
Array scaled_erfc(const Array& x);

}  // namespace sturnus::internal
