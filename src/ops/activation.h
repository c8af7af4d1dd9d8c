// What neural networks put between layers, element by element. Softmax is in softmax.h, sigmoid and
// tanh are in transcendental.h. Integers are converted to f32 first. All but silu and gelu_tanh
// throw DtypeError for complex numbers.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// log(1 + exp(x)) without overflow.
Array softplus(Operand x);
/// log(sigmoid(x)) = -softplus(-x).
Array log_sigmoid(Operand x);
/// max(x, 0), with derivative 0 at 0. Integers stay integers.
Array relu(Operand x);
/// x where it is positive, else slope x.
Array leaky_relu(Operand x, double slope = 0.01);
/// x where it is positive, else scale (exp(x) - 1).
Array elu(Operand x, double scale = 1);
/// x sigmoid(x), also called swish.
Array silu(Operand x);
/// x Phi(x) with the normal distribution function Phi(x) = erfc(-x / sqrt(2)) / 2.
Array gelu(Operand x);
/// gelu by x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), which is within 5e-4 of it.
Array gelu_tanh(Operand x);

}  // namespace sturnus
