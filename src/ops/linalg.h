// Linear algebra on matrices and stacks of matrices: the last two axes are rows and columns, those
// before are the stack. Element types are f32 and f64. All functions have derivatives of all
// orders, by rules on matrices rather than through their loops; where a rule divides by a
// difference (of eigenvalues, of singular values) or by the matrix, it gives infinity or NaN when
// that is singular. All throw ShapeError when a shape does not fit, DtypeError for f16, bf16 and
// complex numbers.
#pragma once

#include <sturnus/functional/array.h>

#include <optional>

namespace sturnus {

/// x with a x = b for square a, by elimination with partial pivoting; b is one vector, or matrices
/// with as many rows as a. Stacks are broadcast. For symmetric positive definite a, solve_positive
/// of triangular.h is faster.
Array solve(Operand a, Operand b);
/// a^-1. Prefer solve.
Array inverse(Operand a);
/// The determinant; its derivative is NaN where a is singular.
Array det(Operand a);
/// The determinant as sign and logarithm: det a = sign exp(log).
struct SignAndLog {
  Array sign, log;
};
SignAndLog slogdet(Operand a);

/// a = q r with orthonormal columns of q (m x k) and upper triangular r (k x n), k = min(m, n), by
/// Householder reflections. Derivatives need m >= n.
struct QrParts {
  Array q, r;
};
QrParts qr(Operand a);

/// a v = v diag(values) for symmetric a, of which the symmetric part is used: values ascending, the
/// columns of `vectors` orthonormal. By Jacobi rotations.
struct EighParts {
  Array values, vectors;
};
EighParts eigh(Operand a);

/// a = u diag(s) vt: singular values descending, u (m x k) with orthonormal columns, vt (k x n)
/// with orthonormal rows, k = min(m, n). By Jacobi rotations; columns of u (rows of vt when m < n)
/// that belong to a singular value of 0 are 0.
struct SvdParts {
  Array u, s, vt;
};
SvdParts svd(Operand a);

/// x that minimises |a x - b|, for a of full rank with no fewer rows than columns, by qr.
Array lstsq(Operand a, Operand b);
/// The pseudo-inverse v diag(1 / s) u^T, n x m for a of m x n; singular values up to `rcond` times
/// the largest count as 0, by default 10 max(m, n) times the precision. The derivative is that for
/// changes that keep the rank.
Array pinv(Operand a, std::optional<double> rcond = {});
/// a^n; for negative n that of the inverse.
Array matrix_power(Operand a, int n);
/// exp(a) = 1 + a + a^2 / 2! + ..., of square matrices, by scaling and squaring.
Array expm(Operand a);

}  // namespace sturnus
