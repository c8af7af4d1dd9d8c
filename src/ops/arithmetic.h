// Arithmetic, comparison and logic, element by element.
//
// Operands are arrays or numbers. Element types are promoted and shapes broadcast as promotion.h
// says; functions throw ShapeError when shapes do not fit and DtypeError for element
// types that an operation does not have.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// a + b, a - b, a * b. StableHLO: add, subtract, multiply.
Array operator+(Operand a, Operand b);
Array operator-(Operand a, Operand b);
Array operator*(Operand a, Operand b);
/// a / b; integers are divided as real numbers, to f32. StableHLO: divide.
Array operator/(Operand a, Operand b);
/// x = x + y and so on: x is another array then, of the promoted type; copies of the old one stay.
Array& operator+=(Array& x, const Operand& y);
Array& operator-=(Array& x, const Operand& y);
Array& operator*=(Array& x, const Operand& y);
Array& operator/=(Array& x, const Operand& y);
/// -x. StableHLO: negate.
Array operator-(Operand x);
/// The rest of a / b with the sign of a. StableHLO: remainder.
Array operator%(Operand a, Operand b);
/// a / b rounded down, and the rest with the sign of b, so that a = floor_divide(a, b) b + mod(a,
/// b); integers stay integers. floor_divide(1.0, 0.1) is 9, since 0.1 is a little more than a
/// tenth; both are NaN for a real b of 0. Throw DtypeError for bool and complex numbers.
Array floor_divide(Operand a, Operand b);
Array mod(Operand a, Operand b);
/// a^b; a small whole number b is computed by multiplication. Integers stay integers (bool becomes
/// i32) for a C++ integer b of 0 or more; for 2.0, a negative b and arrays they become f32 or the
/// real type beside them. 0^0 is 1, with derivative 0 by a. StableHLO: power.
Array pow(Operand a, Operand b);
/// x * x.
Array square(Operand x);
/// The larger and the smaller; NaN if either is. Where they are equal the derivative is shared.
Array maximum(Operand a, Operand b);
Array minimum(Operand a, Operand b);
/// x limited to low <= x <= high.
Array clamp(Operand low, Operand x, Operand high);
/// |x|. StableHLO: abs.
Array abs(Operand x);
/// -1, 0 or 1; z / |z| for complex z. StableHLO: sign.
Array sign(Operand x);
/// To whole numbers; integers are returned as they are.
Array floor(Operand x);
Array ceil(Operand x);
/// Towards 0.
Array trunc(Operand x);
/// To the nearest whole number, ties to even.
Array round(Operand x);

/// Comparisons; the result is bool. A number that the integers of the array beside it cannot be is
/// smaller or larger than all of them.
Array operator==(Operand a, Operand b);
Array operator!=(Operand a, Operand b);
Array operator<(Operand a, Operand b);
Array operator<=(Operand a, Operand b);
Array operator>(Operand a, Operand b);
Array operator>=(Operand a, Operand b);

/// Logic on bool, bit by bit on integers. StableHLO: and, or, xor, not.
Array operator&(Operand a, Operand b);
Array operator|(Operand a, Operand b);
Array operator^(Operand a, Operand b);
Array operator~(Operand x);
Array operator!(Operand x);
/// Logic of what is true, or is not 0; the result is bool.
Array logical_and(Operand a, Operand b);
Array logical_or(Operand a, Operand b);
Array logical_xor(Operand a, Operand b);
Array logical_not(Operand x);
/// Bits shifted; `shift_right` fills with zeros, `shift_right_arithmetic` with the sign.
Array shift_left(Operand x, Operand bits);
Array shift_right(Operand x, Operand bits);
Array shift_right_arithmetic(Operand x, Operand bits);

/// condition ? a : b for each element.
Array where(Operand condition, Operand a, Operand b);
/// Whether x is neither infinite nor NaN.
Array is_finite(Operand x);
/// Whether x is NaN, or a part of a complex x is.
Array is_nan(Operand x);
/// Whether x is infinite, of either sign.
Array is_inf(Operand x);
/// x with NaN replaced.
Array nan_to(Operand x, Operand replacement);
/// x with NaN replaced by 0 and infinities by the largest finite numbers; integers as they are.
Array nan_to_num(Operand x);

/// x in another element type.
Array convert(Operand x, DType dtype);
/// The same bits as an element type of the same size. StableHLO: bitcast_convert. Throws
/// DtypeError for another size, and between bool or complex numbers and others.
Array bitcast(Operand x, DType dtype);
/// x, as a constant for derivatives.
Array stop_gradient(Operand x);

}  // namespace sturnus
