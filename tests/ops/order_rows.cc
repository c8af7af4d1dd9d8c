#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/pair_order.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>

#include "tests/ops/op_table.h"

namespace sturnus::testing {

std::vector<Row> order_rows() {
  return {
      {"sort", [](const Arrays& x) { return square(sort(x[0], 0)); }, {{5, 2}}},
      {"sort downwards", [](const Arrays& x) { return square(sort(x[0], -1, true)); }, {{2, 5}}},
      {"argsort",
       [](const Arrays& x) { return x[0] * convert(argsort(x[0]), x[0].dtype()); },
       {{2, 4}},
       -1.5,
       1.5,
       {},
       1},
      {"sort_by_key",
       [](const Arrays& x) {
         Arrays all = sort_by_key(x[0], {x[1], square(x[0])});
         return all[0] * all[1] + all[2];
       },
       {{2, 4}, {2, 4}}},
      {"top_k", [](const Arrays& x) { return square(top_k(x[0], 2).first); }, {{2, 4}}},
      {"order_statistic",
       [](const Arrays& x) { return square(order_statistic(x[0], 2, 0)); },
       {{5, 3}}},
      {"order_statistic with a rank for each row",
       [](const Arrays& x) {
         return square(order_statistic(x[0], convert(4.0 * x[1], DType::i32), 0));
       },
       {{5, 3}, {3}},
       0.1,
       0.9,
       {},
       1},
      {"pair_order_statistic",
       [](const Arrays& x) {
         Array ranks = full_like(sum(convert(x[0], DType::i32), -1), 4);
         return square(pair_order_statistic(x[0], ranks));
       },
       {{2, 5}}},
      {"pair_median", [](const Arrays& x) { return square(pair_median(x[0]).distance); }, {{2, 5}}},
      {"pair_median of columns",
       [](const Arrays& x) {
         PairMedian found = pair_median(transpose(x[0]));
         return found.distance * convert(found.count, x[0].dtype());
       },
       {{4, 3}}},
      {"median of an even number", [](const Arrays& x) { return square(median(x[0])); }, {{2, 3}}},
      {"quantile",
       [](const Arrays& x) {
         return square(quantile(x[0], 0.3, {{0, 2}, true}));
       },
       {{3, 2, 3}}},
      {"quantile at an array",
       [](const Arrays& x) { return square(quantile(x[0], x[1] / 4.0 + 0.5, 0)); },
       {{5, 2}, {3}}},
  };
}

}  // namespace sturnus::testing
