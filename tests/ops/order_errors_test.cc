// Bad input of sorting and ranks.
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/pair_order.h>

#include "tests/functional/misuse.h"
#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

TEST(Errors, Order) {
  expect_answers({
      {"sort_by_key", [] { sort_by_key(x3(), {zeros({2})}); }, shape_error,
       "sort_by_key: the keys are f32[3], values to sort with them are f32[2] (<here>). Give them "
       "one "
       "shape"},
      {"sort", [] { sort(z3()); }, dtype_error, not_real("sort")},
      {"median", [] { median(z3()); }, dtype_error, not_real("median")},
      {"sort", [] { sort(x3(), 1); }, shape_error, no_axis("sort", "1", "f32[3]")},
      {"argsort", [] { argsort(x3(), 1); }, shape_error, no_axis("argsort", "1", "f32[3]")},
      {"order_statistic", [] { order_statistic(x3(), 0, 1); }, shape_error,
       no_axis("order_statistic", "1", "f32[3]")},
      {"median", [] { median(x3(), 1); }, shape_error, no_axis("median", "1", "f32[3]")},
      {"quantile", [] { quantile(x3(), 0.5, 1); }, shape_error, no_axis("quantile", "1", "f32[3]")},
      {"top_k", [] { top_k(x3(), 4); }, shape_error,
       "top_k: 4 elements along the last axis of f32[3] (<here>). Ask for no more than there are"},
      {"order_statistic", [] { order_statistic(x3(), 3); }, shape_error,
       "order_statistic: there is no element of rank 3 along axis 0 of f32[3] (<here>). Ranks "
       "count from 0, the smallest"},
      {"pair_order_statistic", [] { pair_order_statistic(x3(), arange(3)); }, shape_error,
       "pair_order_statistic: the ranks are i32[3], the elements f32[3] (<here>). Give a whole "
       "number for each row of at least 2 elements"},
      {"pair_median", [] { pair_median(array(std::vector<float>{1})); }, shape_error,
       "pair_median: the elements are f32[1] (<here>). Give rows of at least 2"},
      {"quantile", [] { quantile(x3(), 1.5); }, error,
       "quantile: q is 1.5 (<here>). Give a number from 0 to 1"},
      {"median", [] { median(nothing()); }, shape_error, no_elements("median", "f32[0]", "[0]")},
      {"quantile", [] { quantile(nothing(), 0.5); }, shape_error,
       no_elements("quantile", "f32[0]", "[0]")},
      {"order_statistic", [] { order_statistic(nothing(), 0); }, shape_error,
       "order_statistic: there is no element of rank 0 along axis 0 of f32[0] (<here>). Ranks "
       "count from 0, the smallest"},
  });
}

}  // namespace
}  // namespace sturnus
