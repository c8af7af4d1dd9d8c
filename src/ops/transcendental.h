// Exponentials, logarithms, powers, trigonometric and hyperbolic functions, element by element.
// Integers are converted to f32 first.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

Array exp(Operand x);
/// 2^x.
Array exp2(Operand x);
/// exp(x) - 1, accurate near 0.
Array expm1(Operand x);
/// The natural logarithm.
Array log(Operand x);
/// The logarithms to base 2 and 10.
Array log2(Operand x);
Array log10(Operand x);
/// log(1 + x), accurate near 0.
Array log1p(Operand x);
Array sqrt(Operand x);
/// 1 / sqrt(x).
Array rsqrt(Operand x);
/// The real cube root, also of negative numbers.
Array cbrt(Operand x);
/// sqrt(a^2 + b^2) without overflow; its derivative at (0, 0) is 0.
Array hypot(Operand a, Operand b);

Array sin(Operand x);
Array cos(Operand x);
Array tan(Operand x);
Array asin(Operand x);
Array acos(Operand x);
Array atan(Operand x);
/// The angle of the point (x, y), in (-pi, pi]; its derivative at (0, 0) is 0. StableHLO: atan2.
Array atan2(Operand y, Operand x);

Array sinh(Operand x);
Array cosh(Operand x);
Array tanh(Operand x);
Array asinh(Operand x);
Array acosh(Operand x);
Array atanh(Operand x);
/// 1 / (1 + exp(-x)). StableHLO: logistic.
Array sigmoid(Operand x);

}  // namespace sturnus
