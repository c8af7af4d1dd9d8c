// What happens when operands of different types meet.
//
// Element types: bool < integers < floats < complex. Within a class the wider one wins; i and u of
// one width become the next wider i, u64 with any i becomes f64; f16 and bf16 become f32. A number
// (2.0, 3, true) takes the element type of the array beside it; a real number beside an integer
// array makes both f32, and a complex number makes both complex. Two numbers are c64, f32, i32 or
// bool. A number that the type cannot hold, as 300 in u8, is an error, except in comparisons.
//
// Shapes: as in NumPy. Shapes are aligned at their ends, missing axes count as 1, and an extent of
// 1 is repeated to fit the other.
#pragma once

#include <sturnus/functional/array.h>

#include <string_view>
#include <utility>

namespace sturnus::internal {

/// Whether a type is of real or complex numbers rather than of integers or bool.
inline bool is_inexact(DType dtype) { return is_floating(dtype) || is_complex(dtype); }
/// The element type of the result of combining two.
DType promoted(DType a, DType b);
/// The element type of real and imaginary parts, and the complex type of such parts; others stay.
DType real_type(DType dtype);
DType complex_type(DType dtype);
/// The common shape of two. Throws ShapeError with both types.
Shape broadcast_shapes(std::string_view function, const ArrayType& a, const ArrayType& b);

/// The operand as an array; a number becomes one of `dtype`, or of its own default type. Throws
/// DtypeError when the type cannot hold it.
Array to_array(const Operand& operand);
Array to_array(std::string_view function, const Operand& operand, DType dtype);
/// An element type converted, a shape repeated.
Array converted(const Array& x, DType dtype);
Array broadcast_to_shape(std::string_view function, const Array& x, const Shape& shape);

/// Both operands with one element type and one shape.
std::pair<Array, Array> promote(std::string_view function, const Operand& a, const Operand& b);
/// An operand as floating point (f32 for integers and booleans): for exp, sin, ...
Array to_floating(const Operand& operand);
/// Numbers of 16 bits as f32, in which many of them are added up; others stay.
Array widened(const Array& x);

}  // namespace sturnus::internal
