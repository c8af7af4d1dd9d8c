// Triangular matrices, and positive definite ones, which are products of two. The last two axes are
// rows and columns, those before are a stack of matrices; element types are f32 and f64.
// All functions throw ShapeError when a shape does not fit, DtypeError for f16, bf16 and complex
// numbers.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// The lower triangular l with l l^T = a for symmetric positive definite a, of which the symmetric
/// part (a + a^T) / 2 is used; NaN where it is not positive definite. StableHLO: cholesky.
/// Throws ShapeError when a is not square.
Array cholesky(Operand a);

struct TriangularOptions {
  bool lower = true;           ///< Which triangle of the matrix counts; the other is not read.
  bool transposed = false;     ///< Whether to solve a^T x = b instead of a x = b.
  bool unit_diagonal = false;  ///< Whether the diagonal counts as ones.
};
/// x with a x = b for triangular a; b is a matrix with as many rows, or a vector when it has one
/// axis less than a. StableHLO: triangular_solve. Throws ShapeError when the shapes do not fit.
Array triangular_solve(Operand a, Operand b, const TriangularOptions& options = {});

/// x with a x = b for symmetric positive definite a, by cholesky.
Array solve_positive(Operand a, Operand b);
/// log det a for symmetric positive definite a.
Array logdet(Operand a);

}  // namespace sturnus
