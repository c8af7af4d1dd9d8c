#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include "src/ops/elementwise.h"
#include "src/ops/matrices.h"
#include "src/ops/right_sides.h"

namespace sturnus {
namespace internal {
namespace {

// Inputs: matrices a and right sides b, with one stack.
struct TriangularSolve {
  static constexpr std::string_view name = "triangular_solve", hlo = "triangular_solve";
  bool lower_part, transpose_a, unit_diagonal;

  std::string attributes() const {
    auto flag = [](bool value) { return value ? "true" : "false"; };
    return std::string("left_side = true, lower = ") + flag(lower_part) +
           ", unit_diagonal = " + flag(unit_diagonal) + ", transpose_a = #stablehlo<transpose " +
           (transpose_a ? "TRANSPOSE" : "NO_TRANSPOSE") + ">";
  }
  ArrayType infer(const Arrays& x) const { return x[1].type(); }
  // op(a) y = b, so op(a) dy = db - op(da) y.
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
    Array right = dx[1];
    if (!dx[0].empty()) {
      int offset = unit_diagonal ? 1 : 0;
      Array da = lower_part ? tril(dx[0], -offset) : triu(dx[0], offset);
      Array change = -matmul(transpose_a ? transposed(da) : da, y);
      right = add_tangents(right, change);
    }
    return make(*this, {x[0], right});
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask&) const {
    return {{}, make(TriangularSolve{lower_part, !transpose_a, unit_diagonal}, {x[0], ct})};
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    if (!mapped[0] && x[0].rank() == 2) {
      return solved_side_by_side(x[1], [&](const Array& b) { return make(*this, {x[0], b}); });
    }
    Array a = with_mapped_axis(x[0], mapped[0], n);
    Array b = with_mapped_axis(x[1], mapped[1], n);
    return make(*this, {a, b});
  }
};

// The upper triangle of the result is not defined.
struct Cholesky {
  static constexpr std::string_view name = "cholesky", hlo = "cholesky";
  std::string attributes() const { return "lower = true"; }
  ArrayType infer(const Arrays& x) const { return x[0].type(); }
  // With s = l^-1 da l^-T: dl = l (the lower triangle of s with half its diagonal).
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const {
    Array l = tril(y);
    Array left = triangular_solve(l, dx[0]);
    Array s = triangular_solve(l, transposed(left));
    Array strict = tril(s, -1);
    return matmul(l, 0.5 * (tril(s) + strict));
  }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const { return make(*this, x); }
};

}  // namespace
}  // namespace internal

using internal::as_one_program;
using internal::Blame;

Array cholesky(Operand a) {
  Blame blame(a.where, "cholesky");
  return as_one_program([&] {
    Array x = internal::symmetrized(internal::to_square_matrices("cholesky", a));
    return tril(internal::make(internal::Cholesky{}, {x}));
  });
}

Array triangular_solve(Operand a, Operand b, const TriangularOptions& options) {
  Blame blame(a.where, "triangular_solve");
  return as_one_program([&] {
    internal::Equation equation("triangular_solve", a, b);
    internal::TriangularSolve op{options.lower, options.transposed, options.unit_diagonal};
    return equation.shaped(internal::make(op, {equation.a, equation.b}));
  });
}

Array solve_positive(Operand a, Operand b) {
  Blame blame(a.where, "solve_positive");
  return as_one_program([&] {
    internal::Equation equation("solve_positive", a, b);
    Array l = cholesky(equation.a);
    Array half = triangular_solve(l, equation.b);
    return equation.shaped(triangular_solve(l, half, {.transposed = true}));
  });
}

Array logdet(Operand a) {
  Blame blame(a.where, "logdet");
  return as_one_program([&] {
    Array on_diagonal = diagonal(cholesky(a));
    return 2.0 * sum(log(on_diagonal), -1);
  });
}

}  // namespace sturnus
