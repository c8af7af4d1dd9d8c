#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>

#include "src/ops/associative.h"
#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

Array running(const Array& x, std::int64_t axis, bool reverse, Array (*combine)(Operand, Operand)) {
  Array forward = reverse ? flip(x, {axis}) : x;
  Combine one = [combine](const Arrays& a, const Arrays& b) { return Arrays{combine(a[0], b[0])}; };
  Array result = prefix_scan({forward}, axis, one)[0];
  return reverse ? flip(result, {axis}) : result;
}

// Linear, so that it is its own tangent and its transpose runs the other way.
struct Cumsum {
  static constexpr std::string_view name = "cumsum";
  std::int64_t axis;
  bool reverse;
  ArrayType infer(const Arrays& x) const { return x[0].type(); }
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const { return make(*this, {dx[0]}); }
  Array transpose(const Array& ct, const Arrays&, const Mask&) const {
    return make(Cumsum{axis, !reverse}, {ct});
  }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const {
    return make(Cumsum{axis + 1, reverse}, x);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    emitter.expand(node, {converted(running(widened(x), axis, reverse, operator+), x.dtype())});
  }
};

// The operand, which must have an order.
Array ordered(std::string_view function, const Operand& operand) {
  Blame blame(operand.where, function);
  Array x = to_array(operand);
  require_real(function, x.type());
  return x;
}

Array cumulative(std::string_view function, const Operand& operand, const Array& x, int axis,
                 bool reverse, Array (*combine)(Operand, Operand)) {
  Blame blame(operand.where, function);
  std::int64_t at = checked_axis(function, x.type(), axis);
  return as_one_program([&] { return running(x, at, reverse, combine); });
}

}  // namespace
}  // namespace internal

using internal::cumulative;
using internal::to_array;

Array cumsum(Operand operand, int axis, bool reverse) {
  internal::Blame blame(operand.where, "cumsum");
  Array x = to_array(operand);
  std::int64_t at = internal::checked_axis("cumsum", x.type(), axis);
  if (x.dtype() == DType::boolean) x = convert(x, DType::i32);
  return internal::make(internal::Cumsum{at, reverse}, {x});
}

Array cumprod(Operand operand, int axis, bool reverse) {
  Array x = to_array(operand);
  if (x.dtype() == DType::boolean) x = convert(x, DType::i32);
  return cumulative("cumprod", operand, x, axis, reverse, operator*);
}
Array cummax(Operand x, int axis, bool reverse) {
  return cumulative("cummax", x, internal::ordered("cummax", x), axis, reverse, maximum);
}
Array cummin(Operand x, int axis, bool reverse) {
  return cumulative("cummin", x, internal::ordered("cummin", x), axis, reverse, minimum);
}
Array cumlogsumexp(Operand x, int axis, bool reverse) {
  return cumulative("cumlogsumexp", x, internal::to_floating(x), axis, reverse, logaddexp);
}

}  // namespace sturnus
