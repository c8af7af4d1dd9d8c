#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>

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

Array full(const Shape& shape, double value, DType dtype) {
  return internal::full(value, {dtype, shape});
}
Array zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Array ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }

Array full_like(Operand x, double value) {
  Blame blame(x.where);
  return internal::full(value, internal::to_array(x).type());
}
Array zeros_like(Operand x) { return full_like(x, 0); }
Array ones_like(Operand x) { return full_like(x, 1); }

Array iota(const Shape& shape, int axis, DType dtype) {
  ArrayType type{dtype, shape};
  return internal::make(internal::Iota{type, internal::checked_axis("iota", type, axis)}, {});
}

Array arange(std::int64_t count, DType dtype) { return iota({count}, 0, dtype); }

Array linspace(Operand first, Operand last, std::int64_t count) {
  Blame blame(first.where);
  auto [a, b] = internal::promote("linspace", internal::to_floating(first), last);
  Array i = arange(count, a.dtype());
  if (count < 2) return a + 0.0 * i;
  // Weighted so that both ends are exact.
  Array t = i / static_cast<double>(count - 1);
  return a * (1.0 - t) + b * t;
}

Array eye(std::int64_t rows, DType dtype) {
  return convert(iota({rows, rows}, 0) == iota({rows, rows}, 1), dtype);
}

}  // namespace sturnus
