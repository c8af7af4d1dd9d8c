// Exponentials, logarithms, trigonometric and related functions, element by element. Integers are
// converted to f32 first.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

Array exp(Operand x);
/// exp(x) - 1, accurate near 0.
Array expm1(Operand x);
/// The natural logarithm.
Array log(Operand x);
/// log(1 + x), accurate near 0.
Array log1p(Operand x);
Array sqrt(Operand x);
/// 1 / sqrt(x).
Array rsqrt(Operand x);
Array sin(Operand x);
Array cos(Operand x);
Array tanh(Operand x);
/// 1 / (1 + exp(-x)). StableHLO: logistic.
Array sigmoid(Operand x);

}  // namespace sturnus
