// Bad input of linear algebra.
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/triangular.h>

#include "tests/functional/misuse.h"

namespace sturnus {
namespace {

TEST(Errors, Matrices) {
  expect_answers({
      {"cholesky", [] { cholesky(x23()); }, shape_error,
       "cholesky: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"cholesky of a vector", [] { cholesky(x3()); }, shape_error,
       "cholesky: f32[3] is not a matrix (<here>). The last two axes are rows and columns"},
      {"solve", [] { solve(x23(), x3()); }, shape_error,
       "solve: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"solve, the right side",
       [] {
         solve(zeros({2, 2}), x3());
       },
       shape_error,
       "solve: the right side f32[3] does not fit the matrix f32[2,2] (<here>). Give it as many "
       "rows"},
      {"triangular_solve",
       [] {
         triangular_solve(zeros({2, 2}), x3());
       },
       shape_error,
       "triangular_solve: the right side f32[3] does not fit the matrix f32[2,2] (<here>). Give it "
       "as many rows"},
      {"solve_positive",
       [] {
         solve_positive(zeros({2, 2}), x3());
       },
       shape_error,
       "solve_positive: the right side f32[3] does not fit the matrix f32[2,2] (<here>). Give it "
       "as many rows"},
      {"inverse", [] { inverse(x23()); }, shape_error,
       "inverse: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"det", [] { det(x23()); }, shape_error,
       "det: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"eigh", [] { eigh(x23()); }, shape_error,
       "eigh: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"svd", [] { svd(x3()); }, shape_error,
       "svd: f32[3] is not a matrix (<here>). The last two axes are rows and columns"},
      {"qr", [] { qr(x3()); }, shape_error,
       "qr: f32[3] is not a matrix (<here>). The last two axes are rows and columns"},
      {"matrix_power", [] { matrix_power(x23(), 2); }, shape_error,
       "matrix_power: f32[2,3] is not square (<here>). Give as many rows as columns"},
      {"lstsq", [] { lstsq(x23(), zeros({2})); }, shape_error,
       "lstsq: f32[2,3] has fewer rows than columns, and the solution is not unique (<here>). Add "
       "rows that say which one you want"},
      {"cholesky",
       [] {
         cholesky(zeros({2, 2}, DType::c64));
       },
       dtype_error,
       "cholesky: the matrix is c64[2,2], but must be of f32 or f64 (<here>). Convert it first"},
  });
}

}  // namespace
}  // namespace sturnus
