#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <optional>

#include "src/ops/elementwise.h"
#include "src/ops/limits.h"

namespace sturnus {
namespace internal {
namespace {

bool is_real(const Array& x) { return is_inexact(x.dtype()); }

// Whether a constant of a type, or of its parts, keeps its precision.
bool is_normal(double value, DType dtype) {
  Limits limits = limits_of(real_type(dtype));
  return std::abs(value) >= limits.tiny && std::abs(value) <= limits.largest;
}

// Sums and products with their operands in one order: equal ones are one node, whatever transform
// made them.
template <class P>
Array in_order(P op, const Arrays& x) {
  bool swap = x[1].node()->id < x[0].node()->id;
  return swap ? make(op, {x[1], x[0]}) : Array();
}

struct Negate {
  static constexpr std::string_view name = "negate", hlo = "negate";
  using Family = Elementwise;
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const { return -dx[0]; }
  Array transpose(const Array& ct, const Arrays&, const Mask&) const { return -ct; }
};

struct Add {
  static constexpr std::string_view name = "add", hlo = "add";
  using Family = Elementwise;
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const {
    return add_tangents(dx[0], dx[1]);
  }
  Arrays transpose(const Array& ct, const Arrays&, const Mask& linear) const {
    return {linear[0] ? ct : Array(), linear[1] ? ct : Array()};
  }
};

struct Subtract {
  static constexpr std::string_view name = "subtract", hlo = "subtract";
  using Family = Elementwise;
  Array simplify(const Arrays& x) const {
    if (!is_real(x[0])) return {};
    auto a = splat(x[0]), b = splat(x[1]);
    if (a && b) return full(*a - *b, x[0].type());
    // But 0 - x is not -x, which is -0 at 0.
    if (b == 0.0) return x[0];
    if (as<Negate>(x[1]) != nullptr) return x[0] + x[1].node()->inputs[0];
    if (as<Negate>(x[0]) != nullptr && x[0].node()->inputs[0].same(x[1])) return -2.0 * x[1];
    return {};
  }
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const {
    if (dx[1].empty()) return dx[0];
    if (dx[0].empty()) return -dx[1];
    return dx[0] - dx[1];
  }
  Arrays transpose(const Array& ct, const Arrays&, const Mask& linear) const {
    return {linear[0] ? ct : Array(), linear[1] ? -ct : Array()};
  }
};

struct Multiply {
  static constexpr std::string_view name = "multiply", hlo = "multiply";
  using Family = Elementwise;
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Array left, right;
    if (!dx[0].empty()) left = dx[0] * x[1];
    if (!dx[1].empty()) right = dx[1] * x[0];
    return add_tangents(left, right);
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const {
    Arrays result(2);
    if (linear[0]) result[0] = ct * x[1];
    if (linear[1]) result[1] = ct * x[0];
    return result;
  }
  Array jet(const std::vector<Series>& x, const Series&, std::size_t k) const {
    return product_coefficient(x[0], x[1], k, [](const Array& a, const Array& b) { return a * b; });
  }
};

// The constant factor of a product, and the other one.
struct Scaled {
  double factor;
  Array rest;
};
std::optional<Scaled> scaled(const Array& x) {
  if (as<Multiply>(x) == nullptr || !is_real(x)) return {};
  for (std::size_t i : {0, 1}) {
    if (auto factor = splat(x.node()->inputs[i])) return Scaled{*factor, x.node()->inputs[1 - i]};
  }
  return {};
}

// Exact rewrites only: a program may not change its rounding because an operation was merged. Two
// exceptions, which XLA makes too: 0 + x is x, also for -0, and constant factors become one.
Array Negate::simplify(const Arrays& x) const {
  if (as<Negate>(x[0]) != nullptr) return x[0].node()->inputs[0];
  if (!is_real(x[0])) return {};
  if (auto value = splat(x[0])) return full(-*value, x[0].type());
  if (auto product = scaled(x[0])) return full(-product->factor, x[0].type()) * product->rest;
  return {};
}

Array Add::simplify(const Arrays& x) const {
  if (Array swapped = in_order(*this, x); !swapped.empty()) return swapped;
  if (!is_real(x[0])) return {};
  auto a = splat(x[0]), b = splat(x[1]);
  if (a && b) return full(*a + *b, x[0].type());
  if (a == 0.0) return x[1];
  if (b == 0.0) return x[0];
  if (as<Negate>(x[1]) != nullptr) return x[0] - x[1].node()->inputs[0];
  if (as<Negate>(x[0]) != nullptr) return x[1] - x[0].node()->inputs[0];
  if (x[0].same(x[1])) return 2.0 * x[0];
  return {};
}

Array Multiply::simplify(const Arrays& x) const {
  if (Array swapped = in_order(*this, x); !swapped.empty()) return swapped;
  if (!is_real(x[0])) return {};
  auto a = splat(x[0]), b = splat(x[1]);
  if (a && b) return full(*a * *b, x[0].type());
  if (!a && !b) return {};
  const Array& y = a ? x[1] : x[0];
  double factor = a ? *a : *b;
  if (factor == 1.0) return y;
  if (factor == -1.0) return -y;
  // c1 * (c2 * y) and c * -y: one multiplication. What is finite step by step stays so: 300 twice
  // is infinite in f16.
  if (auto inner = scaled(y)) {
    double both = factor * inner->factor;
    bool exact_0 = factor == 0 || inner->factor == 0;
    if (exact_0 || is_normal(both, y.dtype())) return full(both, y.type()) * inner->rest;
    return {};
  }
  if (as<Negate>(y) != nullptr) return full(-factor, y.type()) * y.node()->inputs[0];
  return {};
}

struct Divide {
  static constexpr std::string_view name = "divide", hlo = "divide";
  using Family = Elementwise;
  Array simplify(const Arrays& x) const {
    if (!is_real(x[0])) return {};
    auto a = splat(x[0]), b = splat(x[1]);
    if (a && b) return full(*a / *b, x[0].type());
    // Division by a power of two is multiplication, exactly where the type has its inverse.
    int exponent = 0;
    bool power_of_2 = b && std::abs(std::frexp(*b, &exponent)) == 0.5;
    if (power_of_2 && is_normal(*b, x[0].dtype()) && is_normal(1 / *b, x[0].dtype())) {
      return x[0] * full(1 / *b, x[0].type());
    }
    return {};
  }
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array left, right;
    if (!dx[0].empty()) left = dx[0] / x[1];
    if (!dx[1].empty()) right = -(dx[1] * (y / x[1]));
    return add_tangents(left, right);
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask&) const { return {ct / x[1], {}}; }
  // From y b = a: y_k = (a_k - sum of y_i b_(k-i) over i < k) / b_0.
  Array jet(const std::vector<Series>& x, const Series& y, std::size_t k) const {
    Series b = x[1];
    b[0] = {};
    Series lower = y;
    lower.resize(k + 1);
    Array rest =
        product_coefficient(lower, b, k, [](const Array& p, const Array& q) { return p * q; });
    Array numerator = add_tangents(x[0][k], rest.empty() ? rest : -rest);
    return numerator.empty() ? numerator : numerator / x[1][0];
  }
};

struct Remainder {
  static constexpr std::string_view name = "remainder", hlo = "remainder";
  using Family = Elementwise;
  // a - trunc(a / b) b, where trunc is constant.
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array right;
    if (!dx[1].empty()) right = -(dx[1] * round((x[0] - y) / x[1]));
    return add_tangents(dx[0], right);
  }
};

struct Power {
  static constexpr std::string_view name = "power", hlo = "power";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array base, exponent;
    if (!dx[0].empty()) {
      Array lower = x[1] - 1.0;
      // 0 times 0^-1, where x^0 is 1 all around.
      bool may_be_0 = splat(x[1]).value_or(0) == 0;
      if (may_be_0) lower = where((x[0] == 0.0) & (x[1] == 0.0), 1.0, lower);
      base = dx[0] * (x[1] * make(Power{}, {x[0], lower}));
    }
    if (!dx[1].empty()) {
      // 0^b is constant in b > 0, although log 0 is infinite.
      Array safe = where(x[0] == 0.0, 1.0, x[0]);
      exponent = dx[1] * (y * log(safe));
    }
    return add_tangents(base, exponent);
  }
};

struct Abs {
  static constexpr std::string_view name = "abs", hlo = "abs";
  using Family = Elementwise;
  ArrayType infer(const Arrays& x) const { return {real_type(x[0].dtype()), x[0].shape()}; }
  // d|z| = Re(conj(z) dz) / |z|, and 0 at 0.
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    if (!is_complex(x[0].dtype())) return dx[0] * sign(x[0]);
    Array length = where(y == 0.0, 1.0, y);
    Array product = dx[0] * conj(x[0]);
    return real(product) / length;
  }
};

struct StopGradient {
  static constexpr std::string_view name = "stop_gradient";
  using Family = PiecewiseConstant;
  Array simplify(const Arrays& x) const {
    return splat(x[0]) || as<StopGradient>(x[0]) != nullptr ? x[0] : Array();
  }
  void lower(Emitter& emitter, const Node& node) const { emitter.pass_through(node); }
};

// Integers are whole already.
Array rounded(std::string_view name, const char* hlo, const Operand& operand) {
  Blame blame(operand.where, name);
  Array x = to_array(operand);
  require_real(name, x.type());
  return is_floating(x.dtype()) ? stepwise(hlo, x) : x;
}

// Whether there are negative numbers.
bool is_signed(DType dtype) {
  bool is_unsigned = is_integer(dtype) && dtype > DType::i64;
  return dtype != DType::boolean && !is_unsigned;
}

}  // namespace
}  // namespace internal

using internal::Blame;
using internal::promote;

Array operator+(Operand a, Operand b) {
  return internal::make_promoted(internal::Add{}, "add", a, b);
}

Array operator-(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = internal::promote("subtract", a, b);
  internal::require_numbers("subtract", x.type());
  return internal::make(internal::Subtract{}, {x, y});
}

Array operator*(Operand a, Operand b) {
  return internal::make_promoted(internal::Multiply{}, "multiply", a, b);
}

Array operator-(Operand x) {
  Blame blame(x.where);
  Array y = internal::to_array(x);
  internal::require_numbers("negate", y.type());
  return internal::make(internal::Negate{}, {y});
}

Array operator/(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = promote("divide", a, b);
  if (!internal::is_inexact(x.dtype())) {
    x = internal::converted(x, DType::f32);
    y = internal::converted(y, DType::f32);
  }
  return internal::make(internal::Divide{}, {x, y});
}

Array operator%(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = internal::promote("remainder", a, b);
  internal::require_numbers("remainder", x.type());
  return internal::make_ordered(internal::Remainder{}, "remainder", x, y);
}

Array& operator+=(Array& x, const Operand& y) { return x = Operand(x, y.where) + y; }
Array& operator-=(Array& x, const Operand& y) { return x = Operand(x, y.where) - y; }
Array& operator*=(Array& x, const Operand& y) { return x = Operand(x, y.where) * y; }
Array& operator/=(Array& x, const Operand& y) { return x = Operand(x, y.where) / y; }

Array floor_divide(Operand a, Operand b) {
  Blame blame(a.where, "floor_divide");
  auto [x, y] = promote("floor_divide", a, b);
  Array rest = x % y;
  Array below = (rest != 0) & ((rest < 0) != (y < 0));
  // Of reals without the rest: x / y may round up to a whole number, as 1 / 0.1 does.
  bool whole = is_integer(x.dtype());
  Array towards_0 = whole ? internal::make(internal::Divide{}, {x, y}) : round((x - rest) / y);
  return towards_0 - convert(below, x.dtype());
}

Array mod(Operand a, Operand b) {
  Blame blame(a.where, "mod");
  auto [x, y] = promote("mod", a, b);
  Array rest = x % y;
  Array other_sign = (rest != 0) & ((rest < 0) != (y < 0));
  return where(other_sign, rest + y, rest);
}

Array square(Operand x) {
  Blame blame(x.where, "square");
  Array y = internal::to_array(x);
  return y * y;
}

Array pow(Operand a, Operand b) {
  Blame blame(a.where, "pow");
  bool known = b.number && b.number->kind != Number::Kind::complex;
  double number = known ? b.number->real : 0.5;
  // 2.0 makes integers real, as it does elsewhere; 2 does not.
  bool keeps_integers = known && b.number->kind != Number::Kind::real && number >= 0;
  Array base = keeps_integers ? internal::to_array(a) : internal::to_floating(a);
  if (base.dtype() == DType::boolean) base = convert(base, DType::i32);
  bool small = number == std::floor(number) && std::abs(number) <= 64;
  if (!small && !is_integer(base.dtype())) {
    bool has_type = !b.number && internal::is_inexact(b.array.dtype());
    auto [x, y] = promote("pow", has_type ? a : Operand(base, a.where), b);
    return internal::make(internal::Power{}, {x, y});
  }
  // By squaring; exact derivatives at 0, which power does not have.
  std::uint64_t exponent =
      keeps_integers ? b.number->integer : static_cast<std::uint64_t>(std::abs(number));
  Array result = internal::ones_of(base.type());
  for (Array square = base; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * square;
    if (exponent > 1) square = square * square;
  }
  return number < 0 ? 1.0 / result : result;
}

Array abs(Operand x) {
  Blame blame(x.where, "abs");
  Array y = internal::to_array(x);
  return internal::is_signed(y.dtype()) ? internal::make(internal::Abs{}, {y}) : y;
}
Array sign(Operand x) {
  Blame blame(x.where, "sign");
  Array y = internal::to_array(x);
  if (!internal::is_signed(y.dtype())) return minimum(y, 1);
  if (!is_complex(y.dtype())) return internal::stepwise("sign", y);
  Array length = abs(y);
  return y / where(length == 0.0, 1.0, length);
}
Array floor(Operand x) { return internal::rounded("floor", "floor", x); }
Array ceil(Operand x) { return internal::rounded("ceil", "ceil", x); }
Array round(Operand x) { return internal::rounded("round", "round_nearest_even", x); }

Array trunc(Operand x) {
  Blame blame(x.where, "trunc");
  Array y = internal::to_array(x);
  internal::require_real("trunc", y.type());
  if (!is_floating(y.dtype())) return y;
  Array up = ceil(y), down = floor(y);
  return where(y < 0.0, up, down);
}

Array convert(Operand x, DType dtype) {
  Blame blame(x.where, "convert");
  return internal::converted(internal::to_array(x), dtype);
}
Array stop_gradient(Operand x) {
  Blame blame(x.where, "stop_gradient");
  return internal::make(internal::StopGradient{}, {internal::to_array(x)});
}

}  // namespace sturnus
