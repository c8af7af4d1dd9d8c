// Exponentials, logarithms, powers, trigonometric and hyperbolic functions, element by element.
// Integers are converted to f32 first. Domains are those of real numbers; outside of them nothing
// is thrown.
//
// hypot and atan2 promote and broadcast as promotion.h says, and throw ShapeError when shapes do
// not fit. cbrt and hypot throw DtypeError for complex numbers.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// e^x.
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
/// The square root; NaN for x < 0.
Array sqrt(Operand x);
/// 1 / sqrt(x).
Array rsqrt(Operand x);
/// The real cube root, also of negative numbers.
Array cbrt(Operand x);
/// sqrt(a^2 + b^2) without overflow; its derivative at (0, 0) is 0.
Array hypot(Operand a, Operand b);

/// The sine and the cosine of x in radians; NaN where x is infinite.
Array sin(Operand x);
Array cos(Operand x);
/// sin(x) / cos(x).
Array tan(Operand x);
/// The angle in [-pi / 2, pi / 2] whose sine is x, and that in [0, pi] whose cosine is x; NaN for
/// |x| > 1.
Array asin(Operand x);
Array acos(Operand x);
/// The angle in [-pi / 2, pi / 2] whose tangent is x.
Array atan(Operand x);
/// The angle of the point (x, y), in (-pi, pi]; its derivative at (0, 0) is 0. StableHLO: atan2.
Array atan2(Operand y, Operand x);

/// (exp(x) - exp(-x)) / 2, accurate near 0.
Array sinh(Operand x);
/// (exp(x) + exp(-x)) / 2.
Array cosh(Operand x);
/// sinh(x) / cosh(x).
Array tanh(Operand x);
/// log(x + sqrt(x^2 + 1)), accurate near 0.
Array asinh(Operand x);
/// log(x + sqrt(x^2 - 1)) for x >= 1, else NaN; of complex numbers that with a real part of 0 or
/// more.
Array acosh(Operand x);
/// log((1 + x) / (1 - x)) / 2; infinite for -1 and 1, NaN beyond.
Array atanh(Operand x);
/// 1 / (1 + exp(-x)). StableHLO: logistic.
Array sigmoid(Operand x);

}  // namespace sturnus
