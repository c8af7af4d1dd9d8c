// Moving elements about. Axes are counted from 0, from the end when negative.
//
// All functions throw ShapeError for an axis that x does not have, or that is named twice, when a
// shape, or the numbers of starts, steps or extents, do not fit x, and when the result would have
// 2^59 elements or more, which XLA cannot count.
#pragma once

#include <sturnus/functional/array.h>

#include <vector>

namespace sturnus {

/// The elements in row-major order under another shape; one extent may be -1, which is what
/// remains. Throws ShapeError when the numbers of elements differ.
Array reshape(Operand x, Shape shape);
/// Axis i of the result is axis permutation[i] of x; without a permutation the axes are reversed.
Array transpose(Operand x, std::vector<std::int64_t> permutation = {});
/// Axes a and b exchanged.
Array swapaxes(Operand x, int a, int b);
/// x repeated to `shape` by the rules of broadcasting: r[i, j] = x[i, j], or x[0, j] where x has
/// extent 1. Throws ShapeError when an extent of x is neither that of the shape nor 1.
Array broadcast_to(Operand x, const Shape& shape);
/// A new axis of extent 1 at position `axis` of the result.
Array expand_dims(Operand x, int axis);
/// Without the axes of extent 1 that are named; without names, all of them. Throws ShapeError when
/// one has another extent.
Array squeeze(Operand x, std::vector<std::int64_t> axes = {});
/// The arrays one behind another along an existing axis. Throws ShapeError when there are none, or
/// they differ along other axes.
Array concatenate(const Arrays& arrays, int axis = 0, Where where = Where::here());
/// The arrays side by side along a new axis. Throws ShapeError when there are none, or their shapes
/// differ.
Array stack(const Arrays& arrays, int axis = 0, Where where = Where::here());
/// Elements start, start + step, ... below stop, along each axis. StableHLO: slice. Throws
/// ShapeError unless 0 <= start <= stop <= extent and step >= 1, for each axis.
Array slice(Operand x, std::vector<std::int64_t> start, std::vector<std::int64_t> stop,
            std::vector<std::int64_t> step = {});
/// x surrounded by `value`: low[i] elements before and high[i] behind axis i, and interior[i]
/// between two elements. Negative numbers cut off. StableHLO: pad. Throws ShapeError when more is
/// cut off than there is, interior is negative, or `value` is no scalar.
Array pad(Operand x, Operand value, std::vector<std::int64_t> low, std::vector<std::int64_t> high,
          std::vector<std::int64_t> interior = {});
/// The elements along the axes in reverse order. StableHLO: reverse.
Array flip(Operand x, std::vector<std::int64_t> axes);

}  // namespace sturnus
