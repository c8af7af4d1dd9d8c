#include "src/ops/right_sides.h"

#include "src/ops/elementwise.h"
#include "src/ops/matrices.h"

namespace sturnus::internal {

Equation::Equation(std::string_view function, const Operand& left, const Operand& right) {
  a = to_square_matrices(function, left);
  Array given = to_array(function, right, a.dtype());
  DType dtype = promoted(a.dtype(), given.dtype());
  a = converted(a, dtype);
  b = converted(given, dtype);
  vector = b.rank() == 1;
  if (vector) b = as_column(b);
  if (b.rank() < 2 || rows_of(b) != rows_of(a)) {
    throw ShapeError(message(
        function,
        "the right side " + given.type().str() + " does not fit the matrix " + a.type().str(),
        "Give it as many rows"));
  }
  Shape stack = broadcast_shapes(function, {dtype, stack_of(a)}, {dtype, stack_of(b)});
  a = broadcast_to_shape(function, a, joined(stack, {rows_of(a), rows_of(a)}));
  b = broadcast_to_shape(function, b, joined(stack, {rows_of(b), columns_of(b)}));
}

Array Equation::shaped(const Array& x) const {
  if (!vector) return x;
  Shape shape = x.shape();
  shape.pop_back();
  return reshape_to(x, shape);
}

Array solved_side_by_side(const Array& b, const std::function<Array(const Array&)>& solve) {
  std::int64_t n = b.shape()[0], rows = b.shape()[1], columns = b.shape()[2];
  Array wide = reshape_to(permute(b, {1, 0, 2}), {rows, n * columns});
  return permute(reshape_to(solve(wide), {rows, n, columns}), {1, 0, 2});
}

}  // namespace sturnus::internal
