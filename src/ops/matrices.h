// Stacks of matrices: the last two axes are rows and columns, those before are the stack.
#pragma once

#include <sturnus/functional/emitter.h>

#include <string_view>

#include "src/ops/axes.h"

namespace sturnus::internal {

inline std::int64_t rows_of(const Array& a) { return a.shape()[a.shape().size() - 2]; }
inline std::int64_t columns_of(const Array& a) { return a.shape().back(); }
/// The extents of the stack.
inline Shape stack_of(const Array& a) { return {a.shape().begin(), a.shape().end() - 2}; }

/// The operand as floating-point matrices. Throws ShapeError or DtypeError when it is none.
Array to_matrices(std::string_view function, const Operand& operand);
Array to_square_matrices(std::string_view function, const Operand& operand);
/// The stack as one axis: [stack, rows, columns].
Array with_flat_stack(const Array& a);

/// Lowers an op on matrices without elements to zeros; says whether they have none.
bool lowered_as_empty(Emitter& emitter, const Node& node);

/// Rows become columns.
Array transposed(const Array& a);
/// (a + a^T) / 2.
Array symmetrized(const Array& a);
/// Vectors as diagonal matrices.
Array diagonal_matrix(const Array& v);
/// Ones on the diagonal: [stack, rows, columns].
Array identity(const Shape& stack, std::int64_t rows, std::int64_t columns, DType dtype);
/// v as columns or rows of extent 1.
Array as_column(const Array& v);
Array as_row(const Array& v);

}  // namespace sturnus::internal
