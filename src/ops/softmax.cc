#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/transcendental.h>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

// a - b, but 0 where both are the same infinity.
Array difference(const Array& a, const Array& b) {
  Array usual = is_finite(b) | (a != b);
  return where(usual, a - b, 0.0);
}

struct LogAddExp {
  static constexpr std::string_view name = "logaddexp";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Array d = difference(x[0], x[1]);
    Array left, right;
    if (!dx[0].empty()) left = dx[0] * sigmoid(d);
    if (!dx[1].empty()) right = dx[1] * sigmoid(-d);
    return add_tangents(left, right);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array &a = node.inputs[0], &b = node.inputs[1];
    Array smaller = exp(-abs(difference(a, b)));
    Array larger = maximum(a, b);
    emitter.expand(node, {larger + log1p(smaller)});
  }
};

// exp(x - m) and its sum, where m is the largest element, a constant for derivatives.
struct Exponentials {
  Array largest, moved, sum;
  Exponentials(const Array& x, const Over& kept) {
    // Of nothing the sum is 0, whatever the largest is taken to be.
    bool some = product(picked(x.shape(), *kept.axes)) > 0;
    largest = some ? stop_gradient(max(x, kept)) : sturnus::sum(x, kept);
    Array wide = broadcast_to(largest, x.shape());
    moved = difference(x, wide);
    sum = sturnus::sum(exp(moved), kept);
  }
};

Over kept_axes(std::string_view function, const Array& x, const Over& over) {
  return {over.axes ? checked_axes(function, x.type(), *over.axes) : iota_axes(x.rank()), true};
}

}  // namespace
}  // namespace internal

using internal::Blame;
using internal::converted;
using internal::Exponentials;
using internal::widened;

Array logaddexp(Operand a, Operand b) {
  return internal::make_floating(internal::LogAddExp{}, a, b);
}

Array logsumexp(Operand operand, Over over) {
  Blame blame(operand.where, "logsumexp");
  Array x = internal::to_floating(operand);
  Over kept = internal::kept_axes("logsumexp", x, over);
  return internal::as_one_program([&] {
    Exponentials e(widened(x), kept);
    Array result = converted(log(e.sum) + e.largest, x.dtype());
    internal::Axes left = internal::complement(x.rank(), *kept.axes);
    return over.keep ? result : internal::reshape_to(result, internal::picked(x.shape(), left));
  });
}

Array softmax(Operand operand, int axis) {
  Blame blame(operand.where, "softmax");
  Array x = internal::to_floating(operand);
  Over kept = internal::kept_axes("softmax", x, axis);
  return internal::as_one_program([&] {
    Exponentials e(widened(x), kept);
    return converted(exp(e.moved) / e.sum, x.dtype());
  });
}

Array log_softmax(Operand operand, int axis) {
  Blame blame(operand.where, "log_softmax");
  Array x = internal::to_floating(operand);
  Over kept = internal::kept_axes("log_softmax", x, axis);
  return internal::as_one_program([&] {
    Exponentials e(widened(x), kept);
    return converted(e.moved - log(e.sum), x.dtype());
  });
}

}  // namespace sturnus
