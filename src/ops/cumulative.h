// Running results along an axis: element i of the result is made of elements 0, ..., i, or of
// i, ..., n - 1 with `reverse`. Axes are counted from 0, from the end when negative. The work is
// O(n) in O(log n) steps. Functions throw ShapeError when there is no such axis; cummax, cummin and
// cumlogsumexp throw DtypeError for complex numbers.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// The running sum; booleans are counted.
Array cumsum(Operand x, int axis = 0, bool reverse = false);
/// The running product, with exact derivatives also where elements are zero; booleans become i32.
Array cumprod(Operand x, int axis = 0, bool reverse = false);
/// The largest and the smallest element so far; NaN from the first NaN on.
Array cummax(Operand x, int axis = 0, bool reverse = false);
Array cummin(Operand x, int axis = 0, bool reverse = false);
/// log of the running sum of exp(x), without overflow.
Array cumlogsumexp(Operand x, int axis = 0, bool reverse = false);

}  // namespace sturnus
