// Bad input of reductions and running results.
#include <sturnus/functional/reduce_by.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/softmax.h>

#include <limits>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

TEST(Errors, Reductions) {
  expect_answers({
      {"logaddexp", [] { logaddexp(x3(), zeros({2})); }, shape_error,
       mismatch("logaddexp", "f32[3] and f32[2]")},
      {"reduce, init", [] { reduce(x3(), x3(), [](Array a, Array b) { return a * b; }); },
       shape_error,
       "reduce: init is f32[3], but must be a scalar (<here>). Give one value; combine acts on "
       "elements"},
      {"reduce, combine", [] { reduce(x3(), 1.0, [](Array a, Array b) { return a < b; }); },
       shape_error, "reduce: combine returns bool[] for two f32[] (<here>). Make it return f32[]"},
      {"max", [] { max(z3()); }, dtype_error, not_real("max")},
      {"min", [] { min(z3()); }, dtype_error, not_real("min")},
      {"argmax", [] { argmax(z3()); }, dtype_error, not_real("argmax")},
      {"cummax", [] { cummax(z3()); }, dtype_error, not_real("cummax")},
      {"sum", [] { sum(x23(), 2); }, shape_error, no_axis("sum", "2", "f32[2,3]")},
      {"sum of a scalar", [] { sum(Array(1.0), 0); }, shape_error,
       "sum: axis 0 of f32[], which has no axes (<here>). Give it one with expand_dims"},
      {"sum, an axis twice",
       [] {
         sum(x23(), {{1, -1}});
       },
       shape_error, "sum: axis -1 of f32[2,3] is named twice (<here>). Name each axis once"},
      {"mean", [] { mean(x23(), -3); }, shape_error, no_axis("mean", "-3", "f32[2,3]")},
      {"max", [] { max(x23(), 2); }, shape_error, no_axis("max", "2", "f32[2,3]")},
      {"prod", [] { prod(x23(), 2); }, shape_error, no_axis("prod", "2", "f32[2,3]")},
      {"var", [] { var(x23(), 2); }, shape_error, no_axis("var", "2", "f32[2,3]")},
      {"norm", [] { norm(x23(), 2); }, shape_error, no_axis("norm", "2", "f32[2,3]")},
      {"any", [] { any(x23(), 2); }, shape_error, no_axis("any", "2", "f32[2,3]")},
      {"argmax", [] { argmax(x23(), 2); }, shape_error, no_axis("argmax", "2", "f32[2,3]")},
      {"argmin", [] { argmin(x23(), 2); }, shape_error, no_axis("argmin", "2", "f32[2,3]")},
      {"softmax", [] { softmax(x3(), 1); }, shape_error, no_axis("softmax", "1", "f32[3]")},
      {"log_softmax", [] { log_softmax(x3(), 1); }, shape_error,
       no_axis("log_softmax", "1", "f32[3]")},
      {"logsumexp", [] { logsumexp(x3(), 1); }, shape_error, no_axis("logsumexp", "1", "f32[3]")},
      {"cumsum", [] { cumsum(x3(), 1); }, shape_error, no_axis("cumsum", "1", "f32[3]")},
      {"cumprod", [] { cumprod(x3(), 1); }, shape_error, no_axis("cumprod", "1", "f32[3]")},
      {"reduce",
       [] {
         reduce(
             x3(), 0.0, [](Array a, Array b) { return a + b; }, 1);
       },
       shape_error, no_axis("reduce", "1", "f32[3]")},
      {"max", [] { max(nothing()); }, shape_error, no_elements("max", "f32[0]", "[0]")},
      {"min along an axis",
       [] {
         min(zeros({0, 3}), 0);
       },
       shape_error, no_elements("min", "f32[0,3]", "[0]")},
      {"argmax", [] { argmax(nothing()); }, shape_error, no_elements("argmax", "f32[0]", "[0]")},
      {"argmin", [] { argmin(nothing(), 0); }, shape_error, no_elements("argmin", "f32[0]", "[0]")},
      {"norm", [] { norm(nothing(), {}, std::numeric_limits<double>::infinity()); }, shape_error,
       no_elements("norm", "f32[0]", "[0]")},
      {"norm, order", [] { norm(x3(), {}, 3); }, error,
       "norm: the order is 3 (<here>). Give 1, 2 or infinity"},
  });
}

}  // namespace
}  // namespace sturnus
