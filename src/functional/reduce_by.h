// Reductions by a function of your own.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/ops/reduce.h>

#include <functional>

namespace sturnus {

/// combine(init, combine(x[0], combine(x[1], ...))) over the axes, in any grouping: `combine` is a
/// function of two scalars of x's element type and must be associative, as a * b or max(a, b) is.
/// Elements are combined in row-major order. `init` is the result where there are no elements.
/// Has all the derivatives that `combine` has. Throws ShapeError when combine does not return a
/// scalar of x's element type.
Array reduce(Operand x, Operand init, const std::function<Array(Array, Array)>& combine,
             Over over = {});

}  // namespace sturnus
