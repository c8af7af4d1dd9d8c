// What chooses between values: comparisons, the larger and the smaller, where, NaN and infinities.
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>

#include <limits>

#include "src/ops/elementwise.h"
#include "src/ops/limits.h"

namespace sturnus {
namespace internal {
namespace {

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
    std::string type = is_inexact(dtype) ? "FLOAT" : is_signed ? "SIGNED" : "UNSIGNED";
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

// The answer when b is a number that the integers of a cannot be: it is smaller than all of them or
// larger. Else nothing.
Array known_answer(std::string_view direction, const Operand& a, const Operand& b) {
  if (a.number || !b.number || b.number->kind != Number::Kind::integer) return {};
  const ArrayType& type = a.array.type();
  if (!is_integer(type.dtype) || b.number->fits(type.dtype)) return {};
  bool larger = b.number->real > 0;
  bool holds = direction == "NE" || (direction != "EQ" && larger == (direction[0] == 'L'));
  return full(holds, {DType::boolean, type.shape});
}

// The direction with the sides exchanged.
std::string_view exchanged(std::string_view direction) {
  if (direction == "LT") return "GT";
  if (direction == "GT") return "LT";
  if (direction == "LE") return "GE";
  return direction == "GE" ? "LE" : direction;
}

Array known_comparison(const char* direction, const Operand& a, const Operand& b) {
  Blame blame(a.where);
  Array known = known_answer(direction, a, b);
  return known.empty() ? known_answer(exchanged(direction), b, a) : known;
}

Array equality(const char* direction, const Operand& a, const Operand& b) {
  if (Array known = known_comparison(direction, a, b); !known.empty()) return known;
  return make_promoted(Compare{direction}, "compare", a, b);
}

Array order(const char* direction, const Operand& a, const Operand& b) {
  if (Array known = known_comparison(direction, a, b); !known.empty()) return known;
  return make_ordered(Compare{direction}, "compare", a, b);
}

}  // namespace
}  // namespace internal

using internal::Blame;

Array operator==(Operand a, Operand b) { return internal::equality("EQ", a, b); }
Array operator!=(Operand a, Operand b) { return internal::equality("NE", a, b); }
Array operator<(Operand a, Operand b) { return internal::order("LT", a, b); }
Array operator<=(Operand a, Operand b) { return internal::order("LE", a, b); }
Array operator>(Operand a, Operand b) { return internal::order("GT", a, b); }
Array operator>=(Operand a, Operand b) { return internal::order("GE", a, b); }

Array maximum(Operand a, Operand b) {
  return internal::make_ordered(internal::Choose{true}, "maximum", a, b);
}
Array minimum(Operand a, Operand b) {
  return internal::make_ordered(internal::Choose{false}, "minimum", a, b);
}
Array clamp(Operand low, Operand x, Operand high) {
  Blame blame(x.where, "clamp");
  Array raised = maximum(x, low);
  return minimum(raised, high);
}

Array where(Operand condition, Operand a, Operand b) {
  Blame blame(condition.where, "where");
  auto [x, y] = internal::promote("where", a, b);
  Array c = internal::converted(internal::to_array(condition), DType::boolean);
  Shape shape = internal::broadcast_shapes("where", c.type(), x.type());
  Array wide_c = internal::broadcast_to_shape("where", c, shape);
  Array wide_x = internal::broadcast_to_shape("where", x, shape);
  Array wide_y = internal::broadcast_to_shape("where", y, shape);
  return internal::select(wide_c, wide_x, wide_y);
}

Array is_finite(Operand x) {
  Blame blame(x.where, "is_finite");
  Array y = internal::to_floating(x);
  if (is_complex(y.dtype())) return is_finite(real(y)) & is_finite(imag(y));
  return internal::make(internal::IsFinite{}, {y});
}
Array is_nan(Operand x) {
  Blame blame(x.where, "is_nan");
  Array y = internal::to_array(x);
  return y != y;
}
Array is_inf(Operand x) {
  Blame blame(x.where, "is_inf");
  Array size = abs(internal::to_floating(x));
  return size == std::numeric_limits<double>::infinity();
}
Array nan_to(Operand x, Operand replacement) {
  Blame blame(x.where, "nan_to");
  return where(is_nan(x), replacement, x);
}
Array nan_to_num(Operand x) {
  Blame blame(x.where, "nan_to_num");
  Array y = internal::to_array(x);
  if (!internal::is_inexact(y.dtype())) return y;
  double largest = internal::limits_of(y.dtype()).largest;
  Array number = nan_to(y, 0.0);
  Array bounded = where(number > largest, largest, number);
  return where(bounded < -largest, -largest, bounded);
}

}  // namespace sturnus
