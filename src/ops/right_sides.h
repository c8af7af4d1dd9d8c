// Right sides of linear equations.
#pragma once

#include <sturnus/functional/array.h>

#include <functional>
#include <string_view>

namespace sturnus::internal {

/// Matrices a and right sides b of a x = b, with one element type and one stack.
struct Equation {
  /// Throws ShapeError when a is not square or b does not fit.
  Equation(std::string_view function, const Operand& a, const Operand& b);
  Array a, b;
  bool vector;  // whether b came as one vector
  /// The solution as b came: vectors for a vector.
  Array shaped(const Array& x) const;
};

/// Many right sides [n, rows, columns] of one matrix, as columns of one right side.
Array solved_side_by_side(const Array& b, const std::function<Array(const Array&)>& solve);

}  // namespace sturnus::internal
