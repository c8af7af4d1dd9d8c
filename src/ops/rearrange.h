// Conveniences for moving elements about, made of the functions in shape.h. Axes are counted from
// 0, from the end when negative. All functions throw ShapeError for an axis that x does not have,
// and for a result of 2^59 elements or more.
#pragma once

#include <sturnus/functional/array.h>

#include <vector>

namespace sturnus {

/// The elements as one axis, in row-major order.
Array ravel(Operand x);
/// Axis `from` put at position `to`; the others keep their order.
Array moveaxis(Operand x, int from, int to);
/// `count` equal parts along an axis. Throws ShapeError when the extent is not a multiple of it.
Arrays split(Operand x, std::int64_t count, int axis = 0);
/// The parts before, between and behind the positions `at`. Throws ShapeError when these decrease,
/// or lie beyond the extent.
Arrays split(Operand x, const std::vector<std::int64_t>& at, int axis = 0);
/// Elements moved on by `shift` along an axis; those beyond the end come in at the front.
Array roll(Operand x, std::int64_t shift, int axis = 0);
/// x repeated as a whole counts[i] times along axis i; missing axes and counts at the front are 1.
/// Throws ShapeError for a negative count.
Array tile(Operand x, std::vector<std::int64_t> counts);
/// Each element repeated `count` times along an axis. Throws ShapeError for a negative count.
Array repeat(Operand x, std::int64_t count, int axis = 0);
/// The arrays above one another, as rows: along axis 0, vectors as rows of a matrix. This and
/// hstack throw ShapeError when there are none, or other axes differ.
Array vstack(const Arrays& arrays, Where where = Where::here());
/// The arrays beside one another: along axis 1, vectors along axis 0.
Array hstack(const Arrays& arrays, Where where = Where::here());

/// The elements x[..., i, i + offset] of the last two axes. This, trace, tril and triu throw
/// ShapeError when x has fewer than two.
Array diagonal(Operand x, int offset = 0);
/// The matrix with the vector x on its diagonal: r[i, i + offset] = x[i]. Throws ShapeError when x
/// is no vector.
Array diag(Operand x, int offset = 0);
/// The sum of the diagonal of the last two axes.
Array trace(Operand x);
/// x where column - row <= offset (tril) or >= offset (triu) in the last two axes, 0 elsewhere.
Array tril(Operand x, int offset = 0);
Array triu(Operand x, int offset = 0);
/// For vectors x[0], ..., x[n - 1] the n arrays r[k][i0, ..., i(n-1)] = x[k][ik]. Throws
/// ShapeError when one is no vector.
Arrays meshgrid(const Arrays& vectors, Where where = Where::here());

}  // namespace sturnus
