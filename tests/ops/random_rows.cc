#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/rejection.h>
#include <sturnus/ops/sobol.h>

#include <boost/math/special_functions/erf.hpp>

#include "src/ops/quick_erf_inv.h"
#include "tests/ops/op_table.h"

namespace sturnus::testing {

std::vector<Row> random_rows() {
  // A key that depends on an argument, so that it is mapped when the argument is.
  auto key_of = [](const Array& x) {
    return fold_in(key(3), convert(floor(0.0 * x), DType::i32) + 5);
  };
  auto unit = [](const std::vector<double>& x) { return boost::math::erf_inv(x[0]); };
  return {
      {"quick_erf_inv",
       [](const Arrays& x) { return internal::quick_erf_inv(x[0]); },
       {{2, 3}},
       -0.9,
       0.9,
       unit},
      {"threefry",
       [key_of](const Arrays& x) {
         return x[1] * uniform(key_of(x[0]), {2, 3}, 0.0, 1.0, DType::f64);
       },
       {{}, {2, 3}}},
      {"sobol",
       [key_of](const Arrays& x) {
         return x[1] * sobol(key_of(x[0]), 2, 3, {.dtype = DType::f64});
       },
       {{}, {2, 3}}},
      {"sobol, not scrambled",
       [](const Arrays& x) { return x[0] * sobol(2, 3, {.first = 5, .dtype = DType::f64}); },
       {{2, 3}}},
      {"permutation",
       [key_of](const Arrays& x) { return x[1] * permutation(key_of(x[0]), x[1], 1); },
       {{}, {2, 3}}},
      {"choice",
       [key_of](const Arrays& x) {
         return square(choice(key_of(x[0]), x[1], {2}, {.replace = false, .axis = 1}));
       },
       {{}, {2, 3}}},
      // Its derivative is not that of differences: rejection_test.cc compares with quantiles.
      {"log_gamma_sample",
       [key_of](const Arrays& x) { return loggamma(key_of(x[0]), x[1]); },
       {{}, {3}},
       0.5,
       2.5,
       {},
       0},
  };
}

}  // namespace sturnus::testing
