// The family of ops that act on each element by itself.
#pragma once

#include <sturnus/functional/op.h>

#include <string>
#include <string_view>

#include "src/ops/axes.h"
#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus::internal {

/// Throws ShapeError or DtypeError unless all inputs have one type; gives it.
ArrayType common_type(std::string_view op, const Arrays& x);
/// Moves broadcasts and transpositions behind an elementwise op, so that it works on fewer elements
/// and transpositions meet and cancel: op(broadcast a, broadcast b) = broadcast op(a, b). `again`
/// applies the op. Gives nothing when the inputs do not allow it.
Array sink_movement(const Arrays& x, const std::function<Array(const Arrays&)>& again);

struct Elementwise {
  template <class P>
  static ArrayType infer(const P&, const Arrays& x) {
    return common_type(P::name, x);
  }
  template <class P>
  static Array simplify(const P& p, const Arrays& x) {
    return sink_movement(x, [&p](const Arrays& y) { return make(p, y); });
  }
  template <class P>
  static Array batch(const P& p, const Arrays& x, const Mask& mapped, std::int64_t n) {
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return make(p, wide);
  }
};

/// Elementwise, and constant wherever it is differentiable: comparisons, rounding, bits.
struct PiecewiseConstant : Elementwise {
  static constexpr bool stepwise = true;
  template <class P>
  static Array jvp(const P&, const Arrays&, const Arrays&, const Arrays&) {
    return {};
  }
};

/// Ops of that kind without rules of their own, told apart by their StableHLO name.
struct Stepwise {
  static constexpr std::string_view name = "stepwise";
  using Family = PiecewiseConstant;
  std::string hlo;
  std::string_view title() const { return hlo; }
  void lower(Emitter& emitter, const Node& node) const { emitter.line(node, hlo, ""); }
};
Array stepwise(const char* hlo, const Operand& x);

/// Another element type, the nearest value; towards zero for floating point to integer.
struct Convert {
  static constexpr std::string_view name = "convert", hlo = "convert";
  using Family = Elementwise;
  DType dtype;
  ArrayType infer(const Arrays& x) const { return {dtype, x[0].shape()}; }
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const;
  Array transpose(const Array& ct, const Arrays& x, const Mask& linear) const;
};

/// Applies an op to two operands of one type; `name` is what messages call it.
template <class P>
Array make_promoted(P op, std::string_view name, const Operand& a, const Operand& b) {
  Blame blame(a.where);
  auto [x, y] = promote(name, a, b);
  return make(std::move(op), {x, y});
}
/// The same for operands that are real, and so have an order.
template <class P>
Array make_ordered(P op, std::string_view name, const Operand& a, const Operand& b) {
  Blame blame(a.where);
  auto [x, y] = promote(name, a, b);
  require_real(name, x.type());
  return make(std::move(op), {x, y});
}
/// Applies an op to an operand as floating point.
template <class P>
Array make_floating(P op, const Operand& x) {
  Blame blame(x.where);
  return make(op, {to_floating(x)});
}
template <class P>
Array make_floating(P op, const Operand& a, const Operand& b) {
  Blame blame(a.where);
  auto [x, y] = promote(P::name, a, b);
  Array left = to_floating(x), right = to_floating(y);
  return make(op, {left, right});
}
/// The same for an operand that must be real; `name` is what messages call it.
template <class P>
Array make_real(P op, const Operand& x, std::string_view name = P::name) {
  Blame blame(x.where, name);
  Array y = to_floating(x);
  require_real(name, y.type());
  return make(op, {y});
}

/// condition ? a : b, for inputs of one shape.
Array select(const Array& condition, const Array& a, const Array& b);

}  // namespace sturnus::internal
