#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <numbers>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

struct Softplus {
  static constexpr std::string_view name = "softplus";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return dx[0] * sigmoid(x[0]); }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    Array above = maximum(x, 0.0);
    emitter.expand(node, {above + log1p(exp(-abs(x)))});
  }
};

// f of x as floating point, as one program, for the function `name`.
template <class F>
Array composed(std::string_view name, const Operand& operand, const F& f) {
  Blame blame(operand.where, name);
  Array x = to_floating(operand);
  return as_one_program([&] { return f(x); });
}

}  // namespace
}  // namespace internal

using internal::composed;

Array softplus(Operand x) { return internal::make_real(internal::Softplus{}, x); }

Array log_sigmoid(Operand x) {
  return composed("log_sigmoid", x, [](const Array& y) { return -softplus(-y); });
}

Array relu(Operand operand) {
  internal::Blame blame(operand.where, "relu");
  Array x = internal::to_array(operand);
  return internal::as_one_program([&] { return where(x <= 0, 0, x); });
}

Array leaky_relu(Operand x, double slope) {
  return composed("leaky_relu", x,
                  [slope](const Array& y) { return where(y > 0.0, y, slope * y); });
}

Array elu(Operand x, double scale) {
  return composed("elu", x, [scale](const Array& y) {
    Array positive = y > 0.0;
    // So that the branch that is not taken does not overflow.
    Array below = where(positive, 0.0, y);
    return where(positive, y, scale * expm1(below));
  });
}

Array silu(Operand x) {
  return composed("silu", x, [](const Array& y) { return y * sigmoid(y); });
}

Array gelu(Operand x) {
  return composed("gelu", x, [](const Array& y) {
    Array tail = erfc(y * (-1 / std::numbers::sqrt2));
    return 0.5 * y * tail;
  });
}

Array gelu_tanh(Operand x) {
  return composed("gelu_tanh", x, [](const Array& y) {
    Array inside = std::sqrt(2 / std::numbers::pi) * (y + 0.044715 * pow(y, 3));
    return 0.5 * y * (1.0 + tanh(inside));
  });
}

}  // namespace sturnus
