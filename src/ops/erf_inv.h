// The inverse of the error function, which turns uniform into normal numbers.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus::internal {

/// y with erf(y) = x; infinite at -1 and 1, NaN beyond.
Array erf_inverse(Operand x);

}  // namespace sturnus::internal
