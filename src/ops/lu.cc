#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/op.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <cmath>
#include <tuple>

#include "src/ops/elementwise.h"
#include "src/ops/matrices.h"
#include "src/ops/right_sides.h"

namespace sturnus {
namespace internal {
namespace {

// The state of an elimination of [stack, n, n]: the matrix, the order of its rows, and the sign of
// that permutation.
struct Elimination {
  Array matrix, order, sign;
};

// Column k: swaps the largest element below into the diagonal, and subtracts multiples of its row,
// which take the place of the zeros.
Elimination eliminated(const Array& k, const Elimination& now) {
  const Array& a = now.matrix;
  std::int64_t batch = a.shape()[0], n = a.shape()[1];
  Array row = iota({batch, n}, 1);
  Array zero(0);
  Array column = reshape_to(part_at(a, {zero, zero, k}, {batch, n, 1}), {batch, n});
  Array candidates = where(row >= k, abs(column), -1.0);
  Array largest = max(candidates, {{1}, true});
  Array pivot = min(where(candidates == largest, row, n), {{1}, true});  // NaN: none, so n
  pivot = minimum(pivot, n - 1);
  Array is_pivot = row == pivot, is_k = row == k;

  auto swapped = [&](const Array& x) {
    Array wide_pivot =
        broadcast_to_shape("lu", x.rank() == 3 ? as_column(is_pivot) : is_pivot, x.shape());
    Array wide_k = broadcast_to_shape("lu", x.rank() == 3 ? as_column(is_k) : is_k, x.shape());
    Array of_pivot = sum(where(wide_pivot, x, zeros_of(x.type())), {{1}, true});
    Array of_k = sum(where(wide_k, x, zeros_of(x.type())), {{1}, true});
    return where(wide_k, of_pivot, where(wide_pivot, of_k, x));
  };
  Array matrix = swapped(a);
  Array order = swapped(now.order);
  Array sign = where(reshape_to(pivot, {batch}) == k, now.sign, -now.sign);

  column = reshape_to(part_at(matrix, {zero, zero, k}, {batch, n, 1}), {batch, n});
  Array pivot_row = part_at(matrix, {zero, k, zero}, {batch, 1, n});
  Array head = part_at(matrix, {zero, k, k}, {batch, 1, 1});
  Array factor = column / reshape_to(where(head == 0.0, 1.0, head), {batch, 1});
  factor = where(row > k, factor, 0.0);
  Array right_of_k = reshape_to(row, {batch, 1, n}) > k;
  matrix = matrix - as_column(factor) * where(right_of_k, pivot_row, 0.0);
  Array at_k = reshape_to(is_k, {batch, 1, n}) & as_column(row > k);
  matrix = where(at_k, as_column(factor), matrix);
  return {matrix, order, sign};
}

// p a = l u. Results: l and u in one matrix (the diagonal of l is 1), p, and the sign of p. They
// are only used by ops that take a as well, whose derivatives go by a.
struct Lu {
  static constexpr std::string_view name = "lu";
  ArrayTypes infer(const Arrays& x) const {
    return {x[0].type(), x[0].type(), {x[0].dtype(), stack_of(x[0])}};
  }
  Arrays jvp(const Arrays&, const Arrays&, const Arrays&) const { return Arrays(3); }
  Arrays batch(const Arrays& x, const Mask&, std::int64_t) const { return make_all(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    Array a = with_flat_stack(node.inputs[0]);
    std::int64_t batch = a.shape()[0], n = a.shape()[1];
    Elimination start{a, iota({batch, n}, 1), ones({batch}, a.dtype())};
    Elimination end = a.size() == 0 ? start : fori_loop(0, n, eliminated, start);
    Array column = iota({batch, n, n}, 2);
    Array p = convert(column == broadcast(end.order, column.shape(), {0, 1}), a.dtype());
    emitter.expand(node,
                   {reshape_to(end.matrix, node.types[0].shape), reshape_to(p, node.types[1].shape),
                    reshape_to(end.sign, node.types[2].shape)});
  }
};

// Inputs: a, the first two results of Lu for it, and b. The result is x with a x = b or a^T x = b.
struct Solve {
  static constexpr std::string_view name = "solve";
  bool transpose_a;
  ArrayType infer(const Arrays& x) const { return x[3].type(); }
  // a y = b, so a dy = db - da y.
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array right = dx[3];
    if (!dx[0].empty()) {
      Array change = -matmul(transpose_a ? transposed(dx[0]) : dx[0], y);
      right = add_tangents(right, change);
    }
    if (right.empty()) return {};
    return make(*this, {x[0], x[1], x[2], right});
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask&) const {
    return {{}, {}, {}, make(Solve{!transpose_a}, {x[0], x[1], x[2], ct})};
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    if (!mapped[0] && !mapped[1] && x[0].rank() == 2) {
      return solved_side_by_side(x[3], [&](const Array& b) {
        return make(*this, {x[0], x[1], x[2], b});
      });
    }
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return make(*this, wide);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array &lu = node.inputs[1], &p = node.inputs[2], &b = node.inputs[3];
    TriangularOptions l{.lower = true, .transposed = transpose_a, .unit_diagonal = true};
    TriangularOptions u{.lower = false, .transposed = transpose_a};
    if (transpose_a) {
      Array middle = triangular_solve(lu, triangular_solve(lu, b, u), l);
      emitter.expand(node, {matmul(transposed(p), middle)});
    } else {
      emitter.expand(node, {triangular_solve(lu, triangular_solve(lu, matmul(p, b), l), u)});
    }
  }
};

// Inputs: a, and the results of Lu for it. Results: the sign of det a and the logarithm of |det a|.
struct SignedLogDet {
  static constexpr std::string_view name = "slogdet";
  ArrayTypes infer(const Arrays& x) const { return {x[3].type(), x[3].type()}; }
  // d log |det a| = trace(a^-1 da).
  Arrays jvp(const Arrays& x, const Arrays&, const Arrays& dx) const {
    if (dx[0].empty()) return Arrays(2);
    Array change = make(Solve{false}, {x[0], x[1], x[2], dx[0]});
    return {{}, sum(diagonal(change), -1)};
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return make_all(*this, wide);
  }
  void lower(Emitter& emitter, const Node& node) const {
    Array on_diagonal = diagonal(node.inputs[1]);
    // The parity of the number of negative elements, and 0 when one is 0.
    Array negative = sum(convert(on_diagonal < 0.0, DType::i32), -1);
    Array parity = convert(1 - 2 * (negative & 1), on_diagonal.dtype());
    Array singular = any(on_diagonal == 0.0, -1);
    Array sign = where(singular, 0.0, node.inputs[3] * parity);
    emitter.expand(node, {sign, sum(log(abs(on_diagonal)), -1)});
  }
};

}  // namespace
}  // namespace internal

using internal::as_one_program;
using internal::Blame;

Array solve(Operand a, Operand b) {
  Blame blame(a.where, "solve");
  return as_one_program([&] {
    internal::Equation equation("solve", a, b);
    Arrays lu = internal::make_all(internal::Lu{}, {equation.a});
    return equation.shaped(
        internal::make(internal::Solve{false}, {equation.a, lu[0], lu[1], equation.b}));
  });
}

Array inverse(Operand a) {
  Blame blame(a.where, "inverse");
  return as_one_program([&] {
    Array x = internal::to_square_matrices("inverse", a);
    return solve(x, eye(internal::rows_of(x), x.dtype()));
  });
}

SignAndLog slogdet(Operand a) {
  Blame blame(a.where, "slogdet");
  Array x = internal::to_square_matrices("slogdet", a);
  Arrays lu = internal::make_all(internal::Lu{}, {x});
  Arrays result = internal::make_all(internal::SignedLogDet{}, {x, lu[0], lu[1], lu[2]});
  return {result[0], result[1]};
}

Array det(Operand a) {
  Blame blame(a.where, "det");
  return as_one_program([&] {
    auto [sign, log] = slogdet(internal::to_square_matrices("det", a));
    return sign * exp(log);
  });
}

Array matrix_power(Operand a, int n) {
  Blame blame(a.where, "matrix_power");
  return as_one_program([&] {
    Array square = internal::to_square_matrices("matrix_power", a);
    if (n < 0) square = inverse(square);
    std::int64_t rows = internal::rows_of(square);
    Array result = internal::identity(internal::stack_of(square), rows, rows, square.dtype());
    bool first = true;
    for (int rest = std::abs(n); rest > 0; rest /= 2) {
      if (rest % 2 == 1) result = std::exchange(first, false) ? square : matmul(result, square);
      if (rest > 1) square = matmul(square, square);
    }
    return result;
  });
}

}  // namespace sturnus
