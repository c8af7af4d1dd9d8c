#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/transcendental.h>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

struct Exp {
  static constexpr std::string_view name = "exp", hlo = "exponential";
  using Family = Elementwise;
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const { return dx[0] * y; }
};

struct Expm1 {
  static constexpr std::string_view name = "expm1", hlo = "exponential_minus_one";
  using Family = Elementwise;
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const { return dx[0] * (y + 1.0); }
};

struct Log {
  static constexpr std::string_view name = "log", hlo = "log";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return dx[0] / x[0]; }
};

struct Log1p {
  static constexpr std::string_view name = "log1p", hlo = "log_plus_one";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return dx[0] / (x[0] + 1.0); }
};

struct Sqrt {
  static constexpr std::string_view name = "sqrt", hlo = "sqrt";
  using Family = Elementwise;
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const { return dx[0] / (y + y); }
};

struct Rsqrt {
  static constexpr std::string_view name = "rsqrt", hlo = "rsqrt";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    return dx[0] * (-0.5 * (y / x[0]));
  }
};

struct Sin {
  static constexpr std::string_view name = "sin", hlo = "sine";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return dx[0] * cos(x[0]); }
};

struct Cos {
  static constexpr std::string_view name = "cos", hlo = "cosine";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return -(dx[0] * sin(x[0])); }
};

struct Tanh {
  static constexpr std::string_view name = "tanh", hlo = "tanh";
  using Family = Elementwise;
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const { return dx[0] * (1.0 - y * y); }
};

struct Sigmoid {
  static constexpr std::string_view name = "sigmoid", hlo = "logistic";
  using Family = Elementwise;
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const {
    return dx[0] * (y * (1.0 - y));
  }
};

template <class P>
Array apply(P op, const Operand& x) {
  Blame blame(x.where);
  return make(op, {to_floating(x)});
}

}  // namespace
}  // namespace internal

Array exp(Operand x) { return internal::apply(internal::Exp{}, x); }
Array expm1(Operand x) { return internal::apply(internal::Expm1{}, x); }
Array log(Operand x) { return internal::apply(internal::Log{}, x); }
Array log1p(Operand x) { return internal::apply(internal::Log1p{}, x); }
Array sqrt(Operand x) { return internal::apply(internal::Sqrt{}, x); }
Array rsqrt(Operand x) { return internal::apply(internal::Rsqrt{}, x); }
Array sin(Operand x) { return internal::apply(internal::Sin{}, x); }
Array cos(Operand x) { return internal::apply(internal::Cos{}, x); }
Array tanh(Operand x) { return internal::apply(internal::Tanh{}, x); }
Array sigmoid(Operand x) { return internal::apply(internal::Sigmoid{}, x); }

}  // namespace sturnus
