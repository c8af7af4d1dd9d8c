// Reductions and running results of a function of two scalars.
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

/// Element i of the result is elements 0, ..., i along `axis` combined (i, ..., n - 1 with
/// `reverse`), where `combine` is as for reduce.
Array associative_scan(const std::function<Array(Array, Array)>& combine, Operand x, int axis = 0,
                       bool reverse = false);

}  // namespace sturnus
