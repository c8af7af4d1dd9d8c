// Moving elements about. Axes are counted from 0, from the end when negative.
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
/// x repeated to `shape` by the rules of broadcasting.
Array broadcast_to(Operand x, const Shape& shape);
/// A new axis of extent 1 at position `axis` of the result.
Array expand_dims(Operand x, int axis);
/// Without the axes of extent 1 that are named; without names, all of them.
Array squeeze(Operand x, std::vector<std::int64_t> axes = {});
/// The arrays one behind another along an existing axis.
Array concatenate(const Arrays& arrays, int axis = 0, Where where = Where::here());
/// The arrays side by side along a new axis.
Array stack(const Arrays& arrays, int axis = 0, Where where = Where::here());
/// Elements start, start + step, ... below stop, along each axis. StableHLO: slice.
Array slice(Operand x, std::vector<std::int64_t> start, std::vector<std::int64_t> stop,
            std::vector<std::int64_t> step = {});
/// x surrounded by `value`: low[i] elements before and high[i] behind axis i, and interior[i]
/// between two elements. Negative numbers cut off. StableHLO: pad.
Array pad(Operand x, Operand value, std::vector<std::int64_t> low, std::vector<std::int64_t> high,
          std::vector<std::int64_t> interior = {});
/// The elements along the axes in reverse order. StableHLO: reverse.
Array flip(Operand x, std::vector<std::int64_t> axes);

}  // namespace sturnus
