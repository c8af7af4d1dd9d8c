#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>

#include <algorithm>
#include <cmath>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

struct Iota {
  static constexpr std::string_view name = "iota", hlo = "iota";
  ArrayType type;
  std::int64_t axis;
  ArrayType infer(const Arrays&) const { return type; }
  std::string attributes() const { return mlir_integer("iota_dimension", axis); }
};

}  // namespace
}  // namespace internal

using internal::Blame;

namespace {

Array filled(std::string_view function, const Shape& shape, const Number& value, DType dtype,
             Where where) {
  Blame blame(where, function);
  return internal::full(value, {dtype, internal::checked_shape(function, shape)}, function);
}

}  // namespace

Array full(const Shape& shape, Number value, DType dtype, Where where) {
  return filled("full", shape, value, dtype, where);
}
Array zeros(const Shape& shape, DType dtype, Where where) {
  return filled("zeros", shape, 0, dtype, where);
}
Array ones(const Shape& shape, DType dtype, Where where) {
  return filled("ones", shape, 1, dtype, where);
}

Array full_like(Operand x, Number value) {
  Blame blame(x.where, "full_like");
  return internal::full(value, internal::to_array(x).type(), "full_like");
}
Array zeros_like(Operand x) { return full_like(x, 0); }
Array ones_like(Operand x) { return full_like(x, 1); }

Array iota(const Shape& shape, int axis, DType dtype, Where where) {
  Blame blame(where, "iota");
  ArrayType type{dtype, internal::checked_shape("iota", shape)};
  if (dtype == DType::boolean) {
    throw DtypeError(internal::message("iota", "elements of type bool do not count",
                                       "Ask for i32 or another type of numbers"));
  }
  return internal::make(internal::Iota{type, internal::checked_axis("iota", type, axis)}, {});
}

Array arange(std::int64_t count, DType dtype, Where where) {
  Blame blame(where, "arange");
  return iota(internal::checked_shape("arange", {count}), 0, dtype);
}

Array arange(double start, double stop, double step, DType dtype, Where where) {
  Blame blame(where, "arange");
  if (step == 0 || !std::isfinite((stop - start) / step)) {
    throw Error(internal::message("arange",
                                  "steps of " + internal::shortest_text(step) + " from " +
                                      internal::shortest_text(start) + " to " +
                                      internal::shortest_text(stop) + " never end",
                                  "Give finite ends and a step that is not 0"));
  }
  double steps = std::max(std::ceil((stop - start) / step), 0.0);
  if (steps >= 0x1p59) {
    throw ShapeError(internal::message("arange",
                                       "from " + internal::shortest_text(start) + " to " +
                                           internal::shortest_text(stop) + " there are " +
                                           internal::shortest_text(steps) + " elements",
                                       "Give fewer than 2^59"));
  }
  Array i = iota({static_cast<std::int64_t>(steps)}, 0, dtype);
  return i * internal::full(step, i.type(), "arange") + internal::full(start, i.type(), "arange");
}

Array linspace(Operand first, Operand last, std::int64_t count) {
  Blame blame(first.where, "linspace");
  internal::checked_shape("linspace", {count});
  auto [a, b] = internal::promote("linspace", internal::to_floating(first), last);
  Shape column(a.shape().size() + 1, 1);
  column[0] = count;
  Array i = internal::reshape_to(arange(count, a.dtype()), column);
  if (count < 2) return a + 0.0 * i;
  // Weighted so that both ends are exact.
  Array t = i / static_cast<double>(count - 1);
  return a * (1.0 - t) + b * t;
}

Array logspace(Operand first, Operand last, std::int64_t count, double base) {
  Blame blame(first.where, "logspace");
  Array exponents = linspace(first, last, count);
  return pow(internal::full(base, exponents.type()), exponents);
}

Array eye(std::int64_t rows, DType dtype, Where where) { return eye(rows, rows, 0, dtype, where); }

Array eye(std::int64_t rows, std::int64_t columns, int offset, DType dtype, Where where) {
  Blame blame(where, "eye");
  internal::checked_shape("eye", {rows, columns});
  Array row = iota({rows, columns}, 0), column = iota({rows, columns}, 1);
  return convert(column - row == offset, dtype);
}

}  // namespace sturnus
