// Rows of the reductions, running results and sums of exponentials.
#include <sturnus/functional/reduce_by.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/softmax.h>

#include <cmath>
#include <limits>

#include "tests/ops/op_table.h"

namespace sturnus::testing {

std::vector<Row> reduce_rows() {
  const double infinity = std::numeric_limits<double>::infinity();
  return {
      {"prod",
       [](const Arrays& x) {
         return prod(x[0], {{0, 2}});
       },
       {{2, 3, 3}}},
      {"sums of many terms",
       [](const Arrays& x) {
         Array all = sum(x[0]), rows = sum(square(x[0]), 1), columns = sum(x[0] * x[0], 0);
         return all * rows + sum(columns) * rows;
       },
       {{5, 40}}},
      {"sums over neighbouring axes",
       [](const Arrays& x) {
         Array first = sum(square(x[0]), {{0, 1}}), last = sum(square(x[0]), {{1, 2}});
         return outer(first, last);
       },
       {{7, 6, 2}}},
      {"var",
       [](const Arrays& x) {
         return var(x[0], {{1}, true}, 1);
       },
       {{2, 4}}},
      {"stddev", [](const Arrays& x) { return stddev(x[0], 0); }, {{4, 2}}},
      {"any, all, argmax, argmin",
       [](const Arrays& x) {
         Array best = argmax(x[0], 1) * 10 + argmin(x[0], -1);
         return best + 2.0 * convert(any(x[0] > 1.0, 1) | all(x[0] > -1.0, 1), x[0].dtype());
       },
       {{2, 5}},
       -1.5,
       1.5,
       {},
       1},
      {"norm", [](const Arrays& x) { return norm(x[0], 1); }, {{2, 3}}},
      {"norm, var and stddev of complex numbers",
       [](const Arrays& x) {
         Array z = make_complex(x[0], square(x[1]));
         return norm(z, 1) + var(z, 1) + stddev(z, 1);
       },
       {{2, 3}, {2, 3}},
       0.5,
       1.5,
       {},
       2,
       1e-6,
       true,
       {DType::f32}},
      {"norm of order 1", [](const Arrays& x) { return norm(x[0], {}, 1); }, {{5}}, 0.2, 2, {}, 2},
      {"norm of order infinity",
       [infinity](const Arrays& x) { return norm(x[0], 0, infinity); },
       {{5, 2}},
       -2,
       2,
       {},
       1},
      {"reduce",
       [](const Arrays& x) {
         return reduce(x[0], 0.0, [](Array a, Array b) { return a + b + a * b; }, {{0, 2}, true});
       },
       {{2, 2, 3}}},
      {"cumsum", [](const Arrays& x) { return square(cumsum(x[0], 1)); }, {{2, 7}}},
      {"cumsum backwards", [](const Arrays& x) { return square(cumsum(x[0], 0, true)); }, {{6}}},
      {"cumprod", [](const Arrays& x) { return cumprod(x[0], -1); }, {{2, 5}}},
      {"cummax", [](const Arrays& x) { return cummax(x[0]); }, {{6}}, -2, 2, {}, 1},
      {"cummin", [](const Arrays& x) { return cummin(x[0], 0, true); }, {{5, 2}}, -2, 2, {}, 1},
      {"cumlogsumexp", [](const Arrays& x) { return cumlogsumexp(x[0], 1); }, {{2, 5}}},
      {"logaddexp",
       [](const Arrays& x) { return logaddexp(x[0], x[1]); },
       {{4}, {4}},
       -2,
       2,
       [](const std::vector<double>& x) { return std::log(std::exp(x[0]) + std::exp(x[1])); }},
      {"logaddexp of equals", [](const Arrays& x) { return logaddexp(x[0], x[0] * 1.0); }, {{4}}},
      {"logsumexp",
       [](const Arrays& x) {
         return logsumexp(x[0], {{0, 2}, true});
       },
       {{2, 3, 2}}},
      {"softmax", [](const Arrays& x) { return softmax(x[0], 0); }, {{4, 2}}},
      {"log_softmax", [](const Arrays& x) { return log_softmax(x[0]); }, {{2, 4}}},
  };
}

}  // namespace sturnus::testing
