// Products that sum over shared axes. Element types of arrays are promoted as promotion.h says.
// Functions throw ShapeError when axes that are summed over differ in extent.
#pragma once

#include <sturnus/functional/array.h>

#include <vector>

namespace sturnus {

/// Which axes of the left and the right operand belong together.
struct DotAxes {
  std::vector<std::int64_t> left_batch = {}, right_batch = {};
  std::vector<std::int64_t> left_sum = {}, right_sum = {};
};

/// The general product: r[b, i, j] = sum over k of a[b, i, k] c[b, j, k], where b, k are the axes
/// that `axes` names, and i, j the remaining ones of each operand. StableHLO: dot_general. Throws
/// ShapeError also when an axis is not there, when batch axes differ in extent, and when there are
/// not as many on the left as on the right.
Array dot_general(Operand a, Operand b, DotAxes axes);
/// NumPy's matmul: matrices, vectors, and stacks of matrices with broadcasting. Throws ShapeError
/// also for scalars, and for stacks that do not fit together.
Array matmul(Operand a, Operand b);
/// NumPy's dot: the sum over the last axis of a and the last but one of b; a b when one is a
/// scalar.
Array dot(Operand a, Operand b);
/// r[i, j] = a[i] b[j] for vectors; other arrays count as vectors in row-major order.
Array outer(Operand a, Operand b);
/// The sum over the last `count` axes of a and the first `count` of b. Throws ShapeError also when
/// one of them has fewer axes, or the count is negative.
Array tensordot(Operand a, Operand b, int count = 2);

}  // namespace sturnus
