#include "src/ops/matrices.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>

#include "src/ops/elementwise.h"

namespace sturnus::internal {
namespace {

// Column minus row of each element.
Array beside_diagonal(const Shape& shape) {
  auto rank = static_cast<int>(shape.size());
  Array column = iota(shape, rank - 1), row = iota(shape, rank - 2);
  return column - row;
}

}  // namespace

Array to_matrices(std::string_view function, const Operand& operand) {
  Array a = to_floating(operand);
  if (a.rank() < 2) {
    throw ShapeError(message(function, a.type().str() + " is not a matrix",
                             "The last two axes are rows and columns"));
  }
  if (a.dtype() != DType::f32 && a.dtype() != DType::f64) {
    throw DtypeError(message(function,
                             "the matrix is " + a.type().str() + ", but must be of f32 or f64",
                             "Convert it first"));
  }
  return a;
}

Array to_square_matrices(std::string_view function, const Operand& operand) {
  Array a = to_matrices(function, operand);
  if (rows_of(a) != columns_of(a)) {
    throw ShapeError(
        message(function, a.type().str() + " is not square", "Give as many rows as columns"));
  }
  return a;
}

Array with_flat_stack(const Array& a) {
  return reshape_to(a, {product(stack_of(a)), rows_of(a), columns_of(a)});
}

bool lowered_as_empty(Emitter& emitter, const Node& node) {
  if (node.inputs[0].size() > 0) return false;
  Arrays zeros;
  for (const ArrayType& type : node.types) zeros.push_back(zeros_of(type));
  emitter.expand(node, zeros);
  return true;
}

Array transposed(const Array& a) {
  Axes order = iota_axes(a.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permute(a, order);
}

Array symmetrized(const Array& a) { return 0.5 * (a + transposed(a)); }

Array diagonal_matrix(const Array& v) {
  std::int64_t n = v.shape().back();
  Array wide = broadcast(v, joined(v.shape(), {n}), iota_axes(v.rank()));
  return select(beside_diagonal(wide.shape()) == 0, wide, zeros_of(wide.type()));
}

Array identity(const Shape& stack, std::int64_t rows, std::int64_t columns, DType dtype) {
  return convert(beside_diagonal(joined(stack, {rows, columns})) == 0, dtype);
}

Array as_column(const Array& v) { return reshape_to(v, joined(v.shape(), {1})); }

Array as_row(const Array& v) {
  Shape shape = v.shape();
  shape.insert(shape.end() - 1, 1);
  return reshape_to(v, shape);
}

}  // namespace sturnus::internal
