// Rows of the elementwise functions beyond arithmetic.
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <cmath>

#include "tests/ops/op_table.h"

namespace sturnus::testing {

std::vector<Row> elementwise_rows() {
  auto gelu_of = [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); };
  return {
      unary("exp2", exp2, std::exp2),
      unary("log2", log2, std::log2, 0.5, 3),
      unary("log10", log10, std::log10, 0.5, 3),
      unary("cbrt", cbrt, std::cbrt, 0.5, 3),
      unary("cbrt of negative", cbrt, std::cbrt, -3, -0.5),
      binary("hypot", hypot, std::hypot, 0.5, 2),
      unary("tan", tan, std::tan, -1.2, 1.2),
      unary("asin", asin, std::asin, -0.8, 0.8),
      unary("acos", acos, std::acos, -0.8, 0.8),
      unary("atan", atan, std::atan),
      binary("atan2", atan2, std::atan2, 0.5, 2),
      unary("sinh", sinh, std::sinh),
      unary("cosh", cosh, std::cosh),
      unary("asinh", asinh, std::asinh),
      unary("acosh", acosh, std::acosh, 1.5, 3),
      unary("atanh", atanh, std::atanh, -0.7, 0.7),
      unary("erf", erf, std::erf),
      unary("erfc", erfc, std::erfc),
      unary(
          "erf_inv", erf_inv, [](double x) { return boost::math::erf_inv(x); }, -0.8, 0.8),
      unary("lgamma", lgamma, std::lgamma, 0.8, 4),
      unary("lgamma of negative", lgamma, std::lgamma, -1.8, -1.2),
      unary(
          "digamma", digamma, [](double x) { return boost::math::digamma(x); }, 0.8, 4),
      {"polygamma",
       [](const Arrays& x) { return polygamma(2, x[0]); },
       {{4}},
       -0.8,
       -0.2,
       [](const std::vector<double>& x) { return boost::math::polygamma(2, x[0]); }},
      unary("softplus", softplus, [](double x) { return std::log1p(std::exp(x)); }),
      unary("log_sigmoid", log_sigmoid, [](double x) { return -std::log1p(std::exp(-x)); }),
      unary("relu", relu, [](double x) { return std::max(x, 0.0); }),
      {"leaky_relu",
       [](const Arrays& x) { return leaky_relu(x[0], 0.25); },
       {{5}},
       -1.5,
       1.5,
       [](const std::vector<double>& x) { return x[0] > 0 ? x[0] : 0.25 * x[0]; }},
      {"elu",
       [](const Arrays& x) { return elu(x[0], 1.5); },
       {{5}},
       -1.5,
       1.5,
       [](const std::vector<double>& x) { return x[0] > 0 ? x[0] : 1.5 * std::expm1(x[0]); }},
      unary("silu", silu, [](double x) { return x / (1 + std::exp(-x)); }),
      unary("gelu", gelu, gelu_of),
      unary("gelu_tanh", gelu_tanh,
            [](double x) {
              double inside = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
              return 0.5 * x * (1 + std::tanh(inside));
            }),
      {"mod, floor_divide, trunc",
       [](const Arrays& x) {
         return mod(x[0] - 5.0, x[1] + 2.0) + floor_divide(x[0] - 5.0, x[1] + 2.0) +
                trunc(x[0] - 5.0);
       },
       {{3}, {3}},
       0.1,
       0.3,
       [](const std::vector<double>& x) {
         double a = x[0] - 5, b = x[1] + 2, quotient = std::floor(a / b);
         return a - quotient * b + quotient + std::trunc(a);
       },
       1},
  };
}

}  // namespace sturnus::testing
