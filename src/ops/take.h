// Elements at positions along one axis. Negative positions count from the end, positions outside
// are moved to the nearest one inside. Functions throw DtypeError when the indices are not
// integers, and ShapeError when there is no such axis.
//
// There is no nonzero and no x[mask]: their shapes would depend on values. Keep the shape, and
// choose with where(mask, x, 0).
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// x[..., indices, ...]: the elements at `indices` along an axis, which is replaced by the axes of
/// the indices. Throws ShapeError also when the axis has no elements to take.
Array take(Operand x, Operand indices, int axis = 0);
/// r[..., j, ...] = x[..., indices[..., j, ...], ...]: a position along `axis` for each element of
/// the result. The other axes are broadcast. Throws ShapeError also when the indices have another
/// number of axes than x, when the other axes do not fit, and when there are no elements to take.
Array take_along_axis(Operand x, const Array& indices, int axis);
/// r[..., j] = 1 where indices[...] = j, else 0, for j < n. A position outside gives zeros. Throws
/// ShapeError when n is negative.
Array one_hot(Operand indices, std::int64_t n, DType dtype = DType::f32);

}  // namespace sturnus
