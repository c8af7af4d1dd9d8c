// Parts of arrays at positions that are known only when the program runs. Functions throw
// ShapeError unless there is one start per axis, and DtypeError when a start or an index is not an
// integer scalar. As in JAX a negative start counts from the end of its axis; what would reach over
// an end then is moved inside.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// The part of x with extents `sizes` that begins at `start` (one integer scalar per axis).
/// StableHLO: dynamic_slice. Throws ShapeError when a size is negative or larger than x.
Array dynamic_slice(Operand x, const Arrays& start, const Shape& sizes);
/// x with `part` written over it, beginning at `start`. StableHLO: dynamic_update_slice.
/// Throws ShapeError when the part has another number of axes, or is larger than x.
Array dynamic_update_slice(Operand x, Operand part, const Arrays& start);
/// x[i] along an axis, which disappears. Throws ShapeError when there is no such axis, or nothing
/// along it.
Array dynamic_index(Operand x, Operand i, int axis = 0);

}  // namespace sturnus
