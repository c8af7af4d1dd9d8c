#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

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

struct Exp2 {
  static constexpr std::string_view name = "exp2";
  using Family = Elementwise;
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const {
    return dx[0] * (y * std::numbers::ln2);
  }
  void lower(Emitter& emitter, const Node& node) const {
    emitter.expand(node, {pow(full(2, node.types[0]), node.inputs[0])});
  }
};

struct Cbrt {
  static constexpr std::string_view name = "cbrt", hlo = "cbrt";
  using Family = Elementwise;
  ArrayType infer(const Arrays& x) const {
    require_real(name, x[0].type());
    return common_type(name, x);
  }
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const { return dx[0] / (3.0 * y * y); }
};

struct Hypot {
  static constexpr std::string_view name = "hypot";
  using Family = Elementwise;
  ArrayType infer(const Arrays& x) const {
    require_real(name, x[0].type());
    return common_type(name, x);
  }
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array safe = where(y == 0.0, 1.0, y);
    Array left, right;
    if (!dx[0].empty()) left = dx[0] * (x[0] / safe);
    if (!dx[1].empty()) right = dx[1] * (x[1] / safe);
    return add_tangents(left, right);
  }
  void lower(Emitter& emitter, const Node& node) const {
    Array a = abs(node.inputs[0]), b = abs(node.inputs[1]);
    Array larger = maximum(a, b), smaller = minimum(a, b);
    Array usual = is_finite(larger) & (larger > 0.0);
    Array ratio = smaller / where(usual, larger, 1.0);
    emitter.expand(node, {where(usual, larger * sqrt(1.0 + ratio * ratio), larger)});
  }
};

// An op of x that is NaN for NaN. Of doubles XLA's CPU compiler has the C library compute them, yet
// counts them as cheap and repeats them in every kernel that needs them. A division it never
// repeats, so there is one by 1 that it cannot take out.
void lower_once(Emitter& emitter, const Node& node, std::string_view hlo) {
  emitter.line(node, hlo, "");
  if (node.types[0].dtype != DType::f64 || !emitter.on_host()) return;
  const Array& x = node.inputs[0];
  Array y(node.shared_from_this(), 0), one = where(x == x, 1.0, std::nan(""));
  emitter.expand(node, {y / one});
}

struct Sin {
  static constexpr std::string_view name = "sin", hlo = "sine";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return dx[0] * cos(x[0]); }
  void lower(Emitter& emitter, const Node& node) const { lower_once(emitter, node, hlo); }
};

struct Cos {
  static constexpr std::string_view name = "cos", hlo = "cosine";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return -(dx[0] * sin(x[0])); }
  void lower(Emitter& emitter, const Node& node) const { lower_once(emitter, node, hlo); }
};

struct Tan {
  static constexpr std::string_view name = "tan";
  using Family = Elementwise;
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const { return dx[0] * (1.0 + y * y); }
  void lower(Emitter& emitter, const Node& node) const {
    Array s = sin(node.inputs[0]), c = cos(node.inputs[0]);
    emitter.expand(node, {s / c});
  }
};

// Whether y is negative, or is -0: below the real axis.
Array is_below(const Array& y) { return (y < 0.0) | (1.0 / y < 0.0); }

// The square root on the side of its cut that the sign of im says: XLA's overlooks that of -0.
Array sided_sqrt(const Array& re, const Array& im) {
  Array root = sqrt(make_complex(re, im));
  return where((re < 0.0) & (im == 0.0) & is_below(im), -root, root);
}

// sqrt(1 - x^2), accurate near 1.
Array other_leg(const Array& x) {
  if (!is_complex(x.dtype())) return sqrt((1.0 - x) * (1.0 + x));
  // The product of complex numbers would overflow, and leave the branch.
  Array re = real(x), im = imag(x);
  return sided_sqrt(1.0 - re, -im) * sided_sqrt(1.0 + re, im);
}

// i z.
Array turned(const Array& z) { return make_complex(-imag(z), real(z)); }

// The square root of re + i im with the sign of im, also where that is 0: parts in real arithmetic,
// which knows the sign of 0.
std::pair<Array, Array> root_of(const Array& re, const Array& im) {
  Array half = sqrt(0.5 * hypot(re, im) + 0.5 * abs(re));
  Array safe = where(half == 0.0, 1.0, half);
  Array other = 0.5 * (im / safe);
  Array right = re >= 0.0;
  return {where(right, half, abs(other)), where(right, other, where(is_below(im), -half, half))};
}

// asin and acos of complex numbers by W. Kahan, Branch cuts for complex elementary functions, 1987.
struct Legs {
  Array x, s1, s2, d1, d2;  // the real part of z; sqrt(1 + z), sqrt(1 - z)
  explicit Legs(const Array& z) : x(real(z)) {
    Array y = imag(z);
    std::tie(s1, s2) = root_of(1.0 + x, y);
    std::tie(d1, d2) = root_of(1.0 - x, -y);
  }
  Array asin() const {
    Array re = s1 * d1 - s2 * d2, im = d1 * s2 - d2 * s1;
    return make_complex(atan2(x, re), asinh(im));
  }
  Array acos() const {
    Array im = s1 * d2 - s2 * d1;
    return make_complex(2.0 * atan2(d1, s1), asinh(im));
  }
};

// The real part is half the angle of (1 - |z|^2) + 2 i x, the imaginary part a quarter of the
// logarithm of |z + i|^2 / |z - i|^2, without squares that overflow.
Array complex_atan(const Array& z) {
  Array x = real(z), y = imag(z), size = abs(y);
  Array from_1 = size - 1.0;
  Array scale = maximum(abs(x), abs(from_1));
  scale = where(scale == 0.0, 1.0, scale);
  Array square = x * (x / scale) + from_1 * (from_1 / scale);
  Array im = 0.25 * log1p((4.0 * (size / scale)) / square);
  Array below = -(from_1 * (1.0 + size)) - x * x;
  return make_complex(0.5 * atan2(x, 0.5 * below), where(y < 0.0, -im, im));
}

struct Asin {
  static constexpr std::string_view name = "asin";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0] / other_leg(x[0]);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    emitter.expand(node, {is_complex(x.dtype()) ? Legs(x).asin() : atan2(x, other_leg(x))});
  }
};

struct Acos {
  static constexpr std::string_view name = "acos";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return -(dx[0] / other_leg(x[0]));
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    emitter.expand(node, {is_complex(x.dtype()) ? Legs(x).acos() : atan2(other_leg(x), x)});
  }
};

struct Atan {
  static constexpr std::string_view name = "atan";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0] / (1.0 + x[0] * x[0]);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    bool complex = is_complex(x.dtype());
    emitter.expand(node, {complex ? complex_atan(x) : atan2(x, ones_of(node.types[0]))});
  }
};

// Inputs: y, x.
struct Atan2 {
  static constexpr std::string_view name = "atan2", hlo = "atan2";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Array square = x[0] * x[0] + x[1] * x[1];
    Array safe = where(square == 0.0, 1.0, square);
    Array left, right;
    if (!dx[0].empty()) left = dx[0] * (x[1] / safe);
    if (!dx[1].empty()) right = -(dx[1] * (x[0] / safe));
    return add_tangents(left, right);
  }
};

// h^2 / 2 for h = exp(|x| / 2): exp(|x|) / 2 where exp(|x|) itself is too large.
Array half_exp(const Array& size) {
  Array root = exp(0.5 * size);
  return (0.5 * root) * root;
}

struct Sinh {
  static constexpr std::string_view name = "sinh";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return dx[0] * cosh(x[0]); }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    if (is_complex(x.dtype())) {
      Array re = real(x), im = imag(x);
      Array first = sinh(re) * cos(im), second = cosh(re) * sin(im);
      return emitter.expand(node, {make_complex(first, second)});
    }
    Array size = abs(x);
    Array e = expm1(size);
    Array usual = 0.5 * (e + e / (e + 1.0));
    Array result = where(is_finite(e), usual, half_exp(size));
    emitter.expand(node, {where(x < 0.0, -result, result)});
  }
};

struct Cosh {
  static constexpr std::string_view name = "cosh";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return dx[0] * sinh(x[0]); }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    if (is_complex(x.dtype())) {
      Array re = real(x), im = imag(x);
      Array first = cosh(re) * cos(im), second = sinh(re) * sin(im);
      return emitter.expand(node, {make_complex(first, second)});
    }
    Array size = abs(x);
    Array e = exp(size);
    Array usual = 0.5 * e + 0.5 / e;
    emitter.expand(node, {where(is_finite(e), usual, half_exp(size))});
  }
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

// From here on the square of x is not needed, or too large.
constexpr double huge = 1e9;

struct Asinh {
  static constexpr std::string_view name = "asinh";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    if (is_complex(x[0].dtype())) return dx[0] / other_leg(turned(x[0]));
    return dx[0] * rsqrt(1.0 + x[0] * x[0]);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    // asinh(z) = i asin(z / i).
    if (is_complex(x.dtype())) {
      Array angle = Legs(make_complex(imag(x), -real(x))).asin();
      return emitter.expand(node, {turned(angle)});
    }
    Array size = abs(x);
    Array square = size * size;
    Array usual = log1p(size + square / (1.0 + sqrt(1.0 + square)));
    Array result = where(size < huge, usual, log(size) + std::numbers::ln2);
    emitter.expand(node, {where(x < 0.0, -result, result)});
  }
};

struct Acosh {
  static constexpr std::string_view name = "acosh";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    if (is_complex(x[0].dtype())) {
      Array re = real(x[0]), im = imag(x[0]);
      return dx[0] / (sided_sqrt(re - 1.0, im) * sided_sqrt(re + 1.0, im));
    }
    return dx[0] * rsqrt((x[0] - 1.0) * (x[0] + 1.0));
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    // acosh(z) is i acos(z) or -i acos(z), with a real part that is not negative.
    if (is_complex(x.dtype())) {
      Array angle = Legs(x).acos();
      Array size = abs(imag(angle)), turn = real(angle);
      Array signed_turn = where(is_below(imag(x)), -turn, turn);
      return emitter.expand(node, {make_complex(size, signed_turn)});
    }
    Array above = x - 1.0;
    Array usual = log1p(above + sqrt(above * (x + 1.0)));
    // Far below -1 rounding would leave a number.
    Array inside = where(x < -1.0, std::nan(""), usual);
    emitter.expand(node, {where(x > huge, log(x) + std::numbers::ln2, inside)});
  }
};

struct Atanh {
  static constexpr std::string_view name = "atanh";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0] / ((1.0 - x[0]) * (1.0 + x[0]));
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    Array up = log1p(x), down = log1p(-x);
    emitter.expand(node, {0.5 * (up - down)});
  }
};

}  // namespace
}  // namespace internal

using internal::make_floating;

Array exp(Operand x) { return make_floating(internal::Exp{}, x); }
Array exp2(Operand x) { return make_floating(internal::Exp2{}, x); }
Array expm1(Operand x) { return make_floating(internal::Expm1{}, x); }
Array log(Operand x) { return make_floating(internal::Log{}, x); }
Array log1p(Operand x) { return make_floating(internal::Log1p{}, x); }
Array sqrt(Operand x) { return make_floating(internal::Sqrt{}, x); }
Array rsqrt(Operand x) { return make_floating(internal::Rsqrt{}, x); }
Array cbrt(Operand x) { return make_floating(internal::Cbrt{}, x); }
Array sin(Operand x) { return make_floating(internal::Sin{}, x); }
Array cos(Operand x) { return make_floating(internal::Cos{}, x); }
Array tan(Operand x) { return make_floating(internal::Tan{}, x); }
Array asin(Operand x) { return make_floating(internal::Asin{}, x); }
Array acos(Operand x) { return make_floating(internal::Acos{}, x); }
Array atan(Operand x) { return make_floating(internal::Atan{}, x); }
Array sinh(Operand x) { return make_floating(internal::Sinh{}, x); }
Array cosh(Operand x) { return make_floating(internal::Cosh{}, x); }
Array tanh(Operand x) { return make_floating(internal::Tanh{}, x); }
Array asinh(Operand x) { return make_floating(internal::Asinh{}, x); }
Array acosh(Operand x) { return make_floating(internal::Acosh{}, x); }
Array atanh(Operand x) { return make_floating(internal::Atanh{}, x); }
Array sigmoid(Operand x) { return make_floating(internal::Sigmoid{}, x); }

Array log2(Operand x) {
  internal::Blame blame(x.where, "log2");
  return log(x) / std::numbers::ln2;
}
Array log10(Operand x) {
  internal::Blame blame(x.where, "log10");
  return log(x) / std::numbers::ln10;
}
Array hypot(Operand a, Operand b) { return make_floating(internal::Hypot{}, a, b); }
Array atan2(Operand y, Operand x) { return make_floating(internal::Atan2{}, y, x); }

}  // namespace sturnus
