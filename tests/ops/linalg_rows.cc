#include <sturnus/functional/grad.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/triangular.h>

#include "tests/ops/op_table.h"

namespace sturnus::testing {
namespace {

// Positive definite, and not symmetric in its derivatives.
Array positive(const Array& x) {
  std::int64_t n = x.shape().back();
  return matmul(x, swapaxes(x, -1, -2)) + 2.0 * eye(n, x.dtype()) + 0.1 * x;
}

// Eigenvalues apart from each other.
Array spread(const Array& x) {
  std::int64_t n = x.shape().back();
  Array diagonal = eye(n, x.dtype()) * arange(n, x.dtype());
  return x + 2.0 * diagonal;
}

// Singular values apart from each other and from 0.
Array tall(const Array& x) {
  std::int64_t m = x.shape()[x.shape().size() - 2], n = x.shape().back();
  Array size = 3.0 * iota({m, n}, 1, x.dtype()) + 3.0;
  return x + where(iota({m, n}, 0) == iota({m, n}, 1), size, 0.0);
}

}  // namespace

std::vector<Row> linalg_rows() {
  std::vector<Row> rows = {
      {"cholesky", [](const Arrays& x) { return cholesky(positive(x[0])); }, {{3, 3}}},
      {"cholesky of a stack",
       [](const Arrays& x) { return cholesky(positive(x[0])); },
       {{2, 2, 2}}},
      {"triangular_solve",
       [](const Arrays& x) { return triangular_solve(positive(x[0]), x[1]); },
       {{3, 3}, {3, 2}}},
      {"triangular_solve of a vector, transposed",
       [](const Arrays& x) {
         return triangular_solve(positive(x[0]), x[1], {.lower = false, .transposed = true});
       },
       {{2, 2}, {2}},
       -1.5,
       1.5,
       {},
       2},
      {"triangular_solve of stacks, unit diagonal",
       [](const Arrays& x) { return triangular_solve(x[0], x[1], {.unit_diagonal = true}); },
       {{2, 2, 2}, {2, 1}},
       -1.5,
       1.5,
       {},
       2},
      {"logdet", [](const Arrays& x) { return logdet(positive(x[0])); }, {{3, 3}}},
      {"solve", [](const Arrays& x) { return solve(x[0], x[1]); }, {{3, 3}, {3, 2}}},
      {"solve of a stack",
       [](const Arrays& x) { return solve(positive(x[0]), x[1]); },
       {{2, 2, 2}, {2, 1}}},
      {"det", [](const Arrays& x) { return det(x[0]); }, {{3, 3}}},
      {"slogdet", [](const Arrays& x) { return slogdet(x[0]).log; }, {{2, 3, 3}}},
      {"matrix_power", [](const Arrays& x) { return matrix_power(x[0], 5); }, {{2, 2}}},
      {"expm", [](const Arrays& x) { return expm(x[0]); }, {{2, 2}}},
      {"derivative of expm",
       [](const Arrays& x) { return jvp([](Array a) { return expm(a); }, x[0], x[1]).second; },
       {{2, 2}, {2, 2}}},
      // Large enough to be halved.
      {"expm of a stack",
       [](const Arrays& x) { return expm(4.0 * x[0]); },
       {{2, 2, 2}},
       -1,
       1,
       {},
       2},
      {"pinv", [](const Arrays& x) { return pinv(tall(x[0])); }, {{3, 2}}, -0.5, 0.5, {}, 2},
      {"pinv of wide matrices",
       [](const Arrays& x) { return pinv(swapaxes(tall(x[0]), -1, -2)); },
       {{2, 3, 2}},
       -0.5,
       0.5,
       {},
       2},
      {"qr, q", [](const Arrays& x) { return qr(tall(x[0])).q; }, {{4, 3}}, -1.5, 1.5, {}, 2},
      {"qr, r", [](const Arrays& x) { return qr(tall(x[0])).r; }, {{2, 3, 3}}, -1.5, 1.5, {}, 2},
      {"lstsq",
       [](const Arrays& x) { return lstsq(tall(x[0]), x[1]); },
       {{4, 2}, {4}},
       -1.5,
       1.5,
       {},
       2},
      {"eigh, values",
       [](const Arrays& x) { return eigh(spread(x[0])).values; },
       {{3, 3}},
       -0.5,
       0.5,
       {},
       2},
      {"eigh, vectors",
       [](const Arrays& x) { return eigh(spread(x[0])).vectors; },
       {{2, 4, 4}},
       -0.5,
       0.5,
       {},
       2},
      {"svd, u", [](const Arrays& x) { return svd(tall(x[0])).u; }, {{4, 3}}, -0.5, 0.5, {}, 2},
      {"svd, s", [](const Arrays& x) { return svd(tall(x[0])).s; }, {{2, 3, 3}}, -0.5, 0.5, {}, 2},
      {"svd, vt",
       [](const Arrays& x) { return svd(swapaxes(tall(x[0]), -1, -2)).vt; },
       {{4, 2}},
       -0.5,
       0.5,
       {},
       2},
  };
  return rows;
}

}  // namespace sturnus::testing
