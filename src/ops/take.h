// Elements at positions along one axis. Negative positions count from the end, positions outside
// are moved to the nearest one inside.
//
// There is no nonzero and no x[mask]: their shapes would depend on values. Keep the shape, and
// choose with where(mask, x, 0).
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// x[..., indices, ...]: the elements at `indices` along an axis, which is replaced by the axes of
/// the indices.
Array take(Operand x, Operand indices, int axis = 0);
/// r[..., j, ...] = x[..., indices[..., j, ...], ...]: a position along `axis` for each element of
/// the result. The other axes are broadcast.
Array take_along_axis(Operand x, const Array& indices, int axis);
/// r[..., j] = 1 where indices[...] = j, else 0, for j < n. A position outside gives zeros.
Array one_hot(Operand indices, std::int64_t n, DType dtype = DType::f32);

}  // namespace sturnus
