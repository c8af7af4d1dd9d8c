// exp of matrices by scaling and squaring: exp(a) = (exp(a / 2^s))^(2^s), with the Pade approximant
// of order 13 for small a (N. Higham, The scaling and squaring method for the matrix exponential
// revisited, SIAM J. Matrix Anal. Appl. 26, 2005).
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/op.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>

#include <array>

#include "src/ops/elementwise.h"
#include "src/ops/matrices.h"

namespace sturnus {
namespace internal {
namespace {

constexpr std::size_t order = 13;
// Up to this norm the approximant is exact to the precision of f64.
constexpr double largest_norm = 5.371920351148152;

// The largest sum of |a| over a column, for each of a stack: [stack, 1, 1].
Array norm_of(const Array& a) { return max(sum(abs(a), {{1}, true}), {{2}, true}); }

// p(a) / p(-a) with p(a) = sum of c_k a^k.
Array approximant(const Array& a) {
  std::array<double, order + 1> c = {1};
  for (std::size_t k = 1; k <= order; k++) {
    c[k] = c[k - 1] * static_cast<double>(order + 1 - k) /
           static_cast<double>((2 * order + 1 - k) * k);
  }
  Array one = identity({a.shape()[0]}, rows_of(a), rows_of(a), a.dtype());
  Array a2 = matmul(a, a);
  Array a4 = matmul(a2, a2);
  Array a6 = matmul(a4, a2);
  // c_i + c_(i+2) a^2 + ... + c_(i+12) a^12, for i = 0 and 1.
  auto every_second = [&](std::size_t i) {
    Array high = c[i + 12] * a6 + c[i + 10] * a4 + c[i + 8] * a2;
    Array low = c[i + 6] * a6 + c[i + 4] * a4 + c[i + 2] * a2 + c[i] * one;
    return matmul(a6, high) + low;
  };
  Array even = every_second(0), odd = matmul(a, every_second(1));
  return solve(even - odd, even + odd);
}

// How often each matrix is halved, and the power of two that this multiplies it by.
struct Halvings {
  Array scale, count;  // [stack, 1, 1]
};

Halvings halvings_for(const Array& a) {
  Array norm = norm_of(a);
  norm = where(is_finite(norm), norm, 0.0);  // the others end as NaN
  auto open = [&](const Halvings& now) { return max(norm * now.scale) > largest_norm; };
  auto step = [&](const Halvings& now) {
    Array large = norm * now.scale > largest_norm;
    Array half = 0.5 * now.scale, more = now.count + 1;
    return Halvings{where(large, half, now.scale), where(large, more, now.count)};
  };
  Halvings none{ones_of(norm.type()), zeros_of({DType::i32, norm.shape()})};
  return sturnus::while_loop(open, step, none);
}

struct Squarings {
  Array power, count;
};

struct Expm {
  static constexpr std::string_view name = "expm";
  ArrayType infer(const Arrays& x) const { return x[0].type(); }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const;
  Array batch(const Arrays& x, const Mask&, std::int64_t) const { return make(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    if (lowered_as_empty(emitter, node)) return;
    Array a = with_flat_stack(node.inputs[0]);
    Halvings halvings = halvings_for(a);
    auto open = [&](const Squarings& now) { return now.count < max(halvings.count); };
    auto step = [&](const Squarings& now) {
      Array squared = matmul(now.power, now.power);
      return Squarings{where(now.count < halvings.count, squared, now.power), now.count + 1};
    };
    Squarings start{approximant(a * halvings.scale), Array(0)};
    Squarings end = sturnus::while_loop(open, step, start);
    emitter.expand(node, {reshape_to(end.power, node.types[0].shape)});
  }
};

// [[a, b], [0, a]].
Array block_triangle(const Array& a, const Array& b) {
  Array top = concatenate({a, b}, -1), bottom = concatenate({zeros_of(a.type()), a}, -1);
  return concatenate({top, bottom}, -2);
}

// b of the above.
Array upper_right(const Array& blocks) {
  std::int64_t n = rows_of(blocks) / 2;
  Shape start(blocks.shape().size(), 0), stop = blocks.shape();
  start.back() = n;
  stop[stop.size() - 2] = n;
  return slice(blocks, start, stop);
}

// Inputs: a and e. The derivative of exp at a in the direction e, which is the upper right block of
// exp([[a, e], [0, a]]).
struct ExpmDerivative {
  static constexpr std::string_view name = "expm_derivative";
  ArrayType infer(const Arrays& x) const { return x[1].type(); }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Array by_a, by_e;
    if (!dx[0].empty()) {
      Array blocks = block_triangle(x[0], x[1]);
      Array change = block_triangle(dx[0], zeros_of(dx[0].type()));
      by_a = upper_right(make(*this, {blocks, change}));
    }
    if (!dx[1].empty()) by_e = make(*this, {x[0], dx[1]});
    return add_tangents(by_a, by_e);
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask&) const {
    return {{}, make(*this, {transposed(x[0]), ct})};
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Array a = with_mapped_axis(x[0], mapped[0], n), e = with_mapped_axis(x[1], mapped[1], n);
    return make(*this, {a, e});
  }
  void lower(Emitter& emitter, const Node& node) const {
    if (lowered_as_empty(emitter, node)) return;
    // The direction scaled, so that it does not decide how often the matrix is halved.
    Array a = with_flat_stack(node.inputs[0]), e = with_flat_stack(node.inputs[1]);
    Array size = norm_of(e);
    Array scale = where(size == 0.0, 1.0, size);
    Array slope = scale * upper_right(make(Expm{}, {block_triangle(a, e / scale)}));
    emitter.expand(node, {reshape_to(slope, node.types[0].shape)});
  }
};

Array Expm::jvp(const Arrays& x, const Array&, const Arrays& dx) const {
  return make(ExpmDerivative{}, {x[0], dx[0]});
}

}  // namespace
}  // namespace internal

Array expm(Operand a) {
  internal::Blame blame(a.where, "expm");
  return internal::make(internal::Expm{}, {internal::to_square_matrices("expm", a)});
}

}  // namespace sturnus
