#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <limits>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

bool is_real(const Array& x) { return is_floating(x.dtype()) || is_complex(x.dtype()); }

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
  Array simplify(const Arrays& x) const {
    if (auto value = splat(x[0]); value && is_real(x[0])) return full(-*value, x[0].type());
    if (as<Negate>(x[0]) != nullptr) return x[0].node()->inputs[0];
    return {};
  }
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
    if (b == 0.0) return x[0];
    if (a == 0.0) return -x[1];
    if (as<Negate>(x[1]) != nullptr) return x[0] + x[1].node()->inputs[0];
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

Array Add::simplify(const Arrays& x) const {
  if (Array swapped = in_order(*this, x); !swapped.empty()) return swapped;
  if (!is_real(x[0])) return {};
  auto a = splat(x[0]), b = splat(x[1]);
  if (a && b) return full(*a + *b, x[0].type());
  if (a == 0.0) return x[1];
  if (b == 0.0) return x[0];
  if (as<Negate>(x[1]) != nullptr) return x[0] - x[1].node()->inputs[0];
  if (as<Negate>(x[0]) != nullptr) return x[1] - x[0].node()->inputs[0];
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
  // c1 * (c2 * y) and c * -y: one multiplication.
  if (as<Multiply>(y) != nullptr) {
    for (std::size_t i : {0, 1}) {
      if (auto inner = splat(y.node()->inputs[i])) {
        return full(factor * *inner, y.type()) * y.node()->inputs[1 - i];
      }
    }
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
    // Division by a power of two is multiplication, exactly.
    int exponent = 0;
    if (b && *b != 0 && std::abs(std::frexp(*b, &exponent)) == 0.5) {
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
    if (!dx[0].empty()) base = dx[0] * (x[1] * make(Power{}, {x[0], x[1] - 1.0}));
    if (!dx[1].empty()) {
      // 0^b is constant in b > 0, although log 0 is infinite.
      Array safe = where(x[0] == 0.0, 1.0, x[0]);
      exponent = dx[1] * (y * log(safe));
    }
    return add_tangents(base, exponent);
  }
};

// maximum and minimum.
struct Choose {
  static constexpr std::string_view name = "choose";
  using Family = Elementwise;
  bool larger;
  std::string_view title() const { return larger ? "maximum" : "minimum"; }
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array half = full(0.5, y.type()), zero = zeros_of(y.type()), one = ones_of(y.type());
    Array first = larger ? x[0] > x[1] : x[0] < x[1];
    Array weight = select(x[0] == x[1], half, select(first, one, zero));
    Array left, right;
    if (!dx[0].empty()) left = dx[0] * weight;
    if (!dx[1].empty()) right = dx[1] * (1.0 - weight);
    return add_tangents(left, right);
  }
  void lower(Emitter& emitter, const Node& node) const { emitter.line(node, title(), ""); }
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

// Ops without a derivative, told apart by their StableHLO name.
struct Stepwise {
  static constexpr std::string_view name = "stepwise";
  using Family = PiecewiseConstant;
  std::string hlo;
  std::string_view title() const { return hlo; }
  void lower(Emitter& emitter, const Node& node) const { emitter.line(node, hlo, ""); }
};

struct Compare {
  static constexpr std::string_view name = "compare";
  using Family = PiecewiseConstant;
  std::string direction;  // EQ, NE, LT, LE, GT, GE
  ArrayType infer(const Arrays& x) const {
    return {DType::boolean, common_type("compare", x).shape};
  }
  // The compare_type is optional, but without it XLA folds constants as unsigned integers.
  void lower(Emitter& emitter, const Node& node) const {
    DType dtype = node.inputs[0].dtype();
    bool is_signed = is_integer(dtype) && dtype <= DType::i64;
    std::string type = is_real(node.inputs[0]) ? "FLOAT" : is_signed ? "SIGNED" : "UNSIGNED";
    emitter.line(node, "compare",
                 "comparison_direction = #stablehlo<comparison_direction " + direction +
                     ">, compare_type = #stablehlo<comparison_type " + type + ">");
  }
};

struct IsFinite {
  static constexpr std::string_view name = "is_finite", hlo = "is_finite";
  using Family = PiecewiseConstant;
  ArrayType infer(const Arrays& x) const { return {DType::boolean, x[0].shape()}; }
};

struct Bitcast {
  static constexpr std::string_view name = "bitcast", hlo = "bitcast_convert";
  using Family = PiecewiseConstant;
  DType dtype;
  ArrayType infer(const Arrays& x) const {
    if (size_of(x[0].dtype()) != size_of(dtype)) {
      throw DtypeError(message("bitcast",
                               x[0].type().str() + " and " + std::string(name_of(dtype)) +
                                   " have elements of different sizes",
                               "Choose a type of the same size, or use convert"));
    }
    return {dtype, x[0].shape()};
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

template <class P>
Array promoted_binary(P op, std::string_view name, const Operand& a, const Operand& b) {
  Blame blame(a.where);
  auto [x, y] = promote(name, a, b);
  return make(std::move(op), {x, y});
}

Array equality(const char* direction, const Operand& a, const Operand& b) {
  return promoted_binary(Compare{direction}, "compare", a, b);
}

template <class P>
Array ordered_binary(P op, std::string_view name, const Operand& a, const Operand& b) {
  Blame blame(a.where);
  auto [x, y] = promote(name, a, b);
  require_real(name, x.type());
  return make(std::move(op), {x, y});
}

Array order(const char* direction, const Operand& a, const Operand& b) {
  return ordered_binary(Compare{direction}, "compare", a, b);
}

// Throws DtypeError for bool, which has neither signs nor digits.
void require_numbers(std::string_view name, const Array& x) {
  if (x.dtype() != DType::boolean) return;
  throw DtypeError(message(name, "operands are " + x.type().str() + ", but must be numbers",
                           "Convert them to i32, or use ^, & and ! for logic"));
}

// Throws DtypeError unless x has bits to work on.
const Array& checked_bits(std::string_view name, const Array& x) {
  bool shifts = name.starts_with("shift");
  if (is_integer(x.dtype()) || (x.dtype() == DType::boolean && !shifts)) return x;
  if (shifts) require_numbers(name, x);
  throw DtypeError(message(
      name, "operands are " + x.type().str() + ", but bits and logic are of bool and integers",
      "Compare or convert them first, or use logical_and and its kin"));
}

Array bitwise(const char* hlo, const Operand& a, const Operand& b) {
  Blame blame(a.where);
  auto [x, y] = promote(hlo, a, b);
  checked_bits(hlo, x);
  return make(Stepwise{hlo}, {x, y});
}

Array bitwise_not(const Operand& x) {
  Blame blame(x.where);
  return make(Stepwise{"not"}, {checked_bits("not", to_array(x))});
}

Array stepwise(const char* hlo, const Array& x) { return make(Stepwise{hlo}, {x}); }

// Integers are whole already.
Array rounded(std::string_view name, const char* hlo, const Operand& operand) {
  Blame blame(operand.where);
  Array x = to_array(operand);
  require_real(name, x.type());
  return is_floating(x.dtype()) ? stepwise(hlo, x) : x;
}

// Whether there are negative numbers.
bool is_signed(DType dtype) {
  bool is_unsigned = is_integer(dtype) && dtype > DType::i64;
  return dtype != DType::boolean && !is_unsigned;
}

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.FEp127;
    case DType::f32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace
}  // namespace internal

using internal::Blame;
using internal::promote;

Array operator+(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = promote("add", a, b);
  return internal::make(internal::Add{}, {x, y});
}

Array operator-(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = promote("subtract", a, b);
  internal::require_numbers("subtract", x);
  return internal::make(internal::Subtract{}, {x, y});
}

Array operator*(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = promote("multiply", a, b);
  return internal::make(internal::Multiply{}, {x, y});
}

Array operator-(Operand x) {
  Blame blame(x.where);
  Array y = internal::to_array(x);
  internal::require_numbers("negate", y);
  return internal::make(internal::Negate{}, {y});
}

Array operator/(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = promote("divide", a, b);
  if (!is_floating(x.dtype()) && !is_complex(x.dtype())) {
    x = internal::converted(x, DType::f32);
    y = internal::converted(y, DType::f32);
  }
  return internal::make(internal::Divide{}, {x, y});
}

Array operator%(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = promote("remainder", a, b);
  internal::require_numbers("remainder", x);
  return internal::ordered_binary(internal::Remainder{}, "remainder", x, y);
}

Array floor_divide(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = promote("floor_divide", a, b);
  if (!is_integer(x.dtype())) return floor(x / y);
  Array towards_0 = internal::make(internal::Divide{}, {x, y});
  Array rest = x % y;
  Array below = (rest != 0) & ((rest < 0) != (y < 0));
  return towards_0 - convert(below, x.dtype());
}

Array mod(Operand a, Operand b) {
  Blame blame(a.where);
  auto [x, y] = promote("mod", a, b);
  Array rest = x % y;
  Array other_sign = (rest != 0) & ((rest < 0) != (y < 0));
  return where(other_sign, rest + y, rest);
}

Array square(Operand x) {
  Blame blame(x.where);
  Array y = internal::to_array(x);
  return y * y;
}

Array pow(Operand a, Operand b) {
  Blame blame(a.where);
  bool whole = b.kind != Operand::Kind::array && b.number == std::floor(b.number) &&
               std::abs(b.number) <= 64;
  if (!whole) {
    Array x = internal::to_floating(a);
    return internal::promoted_binary(internal::Power{}, "pow", x, b);
  }
  // By squaring; exact derivatives at 0, which power does not have.
  Array base = internal::to_array(a);
  auto exponent = static_cast<int>(std::abs(b.number));
  Array result = internal::ones_of(base.type());
  for (Array square = base; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * square;
    if (exponent > 1) square = square * square;
  }
  return b.number < 0 ? 1.0 / result : result;
}

Array maximum(Operand a, Operand b) {
  return internal::ordered_binary(internal::Choose{true}, "maximum", a, b);
}
Array minimum(Operand a, Operand b) {
  return internal::ordered_binary(internal::Choose{false}, "minimum", a, b);
}
Array clamp(Operand low, Operand x, Operand high) {
  Blame blame(x.where);
  Array raised = maximum(x, low);
  return minimum(raised, high);
}

Array abs(Operand x) {
  Blame blame(x.where);
  Array y = internal::to_array(x);
  return internal::is_signed(y.dtype()) ? internal::make(internal::Abs{}, {y}) : y;
}
Array sign(Operand x) {
  Blame blame(x.where);
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
  Blame blame(x.where);
  Array y = internal::to_array(x);
  internal::require_real("trunc", y.type());
  if (!is_floating(y.dtype())) return y;
  Array up = ceil(y), down = floor(y);
  return where(y < 0.0, up, down);
}

Array operator==(Operand a, Operand b) { return internal::equality("EQ", a, b); }
Array operator!=(Operand a, Operand b) { return internal::equality("NE", a, b); }
Array operator<(Operand a, Operand b) { return internal::order("LT", a, b); }
Array operator<=(Operand a, Operand b) { return internal::order("LE", a, b); }
Array operator>(Operand a, Operand b) { return internal::order("GT", a, b); }
Array operator>=(Operand a, Operand b) { return internal::order("GE", a, b); }

Array operator&(Operand a, Operand b) { return internal::bitwise("and", a, b); }
Array operator|(Operand a, Operand b) { return internal::bitwise("or", a, b); }
Array operator^(Operand a, Operand b) { return internal::bitwise("xor", a, b); }
Array operator~(Operand x) { return internal::bitwise_not(x); }
Array operator!(Operand x) { return internal::bitwise_not(x); }

namespace {

Array truth(const Operand& x) {
  Array y = internal::to_array(x);
  return y.dtype() == DType::boolean ? y : y != 0;
}

}  // namespace

Array logical_and(Operand a, Operand b) {
  Blame blame(a.where);
  Array x = truth(a), y = truth(b);
  return x & y;
}
Array logical_or(Operand a, Operand b) {
  Blame blame(a.where);
  Array x = truth(a), y = truth(b);
  return x | y;
}
Array logical_xor(Operand a, Operand b) {
  Blame blame(a.where);
  Array x = truth(a), y = truth(b);
  return x ^ y;
}
Array logical_not(Operand x) {
  Blame blame(x.where);
  return !truth(x);
}

Array shift_left(Operand x, Operand bits) { return internal::bitwise("shift_left", x, bits); }
Array shift_right(Operand x, Operand bits) {
  return internal::bitwise("shift_right_logical", x, bits);
}
Array shift_right_arithmetic(Operand x, Operand bits) {
  return internal::bitwise("shift_right_arithmetic", x, bits);
}

Array where(Operand condition, Operand a, Operand b) {
  Blame blame(condition.where);
  auto [x, y] = promote("where", a, b);
  Array c = internal::converted(internal::to_array(condition), DType::boolean);
  Shape shape = internal::broadcast_shapes("where", c.type(), x.type());
  Array wide_c = internal::broadcast_to_shape("where", c, shape);
  Array wide_x = internal::broadcast_to_shape("where", x, shape);
  Array wide_y = internal::broadcast_to_shape("where", y, shape);
  return internal::select(wide_c, wide_x, wide_y);
}

Array is_finite(Operand x) {
  Blame blame(x.where);
  Array y = internal::to_floating(x);
  if (is_complex(y.dtype())) return is_finite(real(y)) & is_finite(imag(y));
  return internal::make(internal::IsFinite{}, {y});
}
Array is_nan(Operand x) {
  Blame blame(x.where);
  Array y = internal::to_array(x);
  return y != y;
}
Array is_inf(Operand x) {
  Blame blame(x.where);
  Array size = abs(internal::to_floating(x));
  return size == std::numeric_limits<double>::infinity();
}
Array nan_to(Operand x, Operand replacement) {
  Blame blame(x.where);
  return where(is_nan(x), replacement, x);
}
Array nan_to_num(Operand x) {
  Blame blame(x.where);
  Array y = internal::to_floating(x);
  double largest = internal::largest_finite(y.dtype());
  Array number = nan_to(y, 0.0);
  Array bounded = where(number > largest, largest, number);
  return where(bounded < -largest, -largest, bounded);
}

Array convert(Operand x, DType dtype) {
  Blame blame(x.where);
  return internal::converted(internal::to_array(x), dtype);
}
Array bitcast(Operand x, DType dtype) {
  Blame blame(x.where);
  return internal::make(internal::Bitcast{dtype}, {internal::to_array(x)});
}
Array stop_gradient(Operand x) {
  Blame blame(x.where);
  return internal::make(internal::StopGradient{}, {internal::to_array(x)});
}

}  // namespace sturnus
