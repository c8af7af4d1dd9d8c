// The error function and the gamma function and their kin, element by element. Integers are
// converted to f32 first. Values are accurate to a few units of the last place in f32 and f64
// (absolutely near the zeros of digamma and of lgamma at negative numbers), whatever the plugin:
// they are polynomials and elementary functions, not calls into it.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
Array erf(Operand x);
/// 1 - erf(x), accurate also where it is small.
Array erfc(Operand x);
/// The x whose erf is given; infinite for -1 and 1, NaN beyond.
Array erf_inv(Operand x);
/// log |Gamma(x)|; infinite for 0, -1, -2, ...
Array lgamma(Operand x);
/// d/dx log Gamma(x).
Array digamma(Operand x);
/// The derivative of digamma of the given order. Throws Error for a negative order.
Array polygamma(int order, Operand x);

}  // namespace sturnus
