#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

#include <complex>

#include "tests/ops/op_table.h"

namespace sturnus::testing {
namespace {

using Number = std::complex<double>;

// Both parts in one real number.
Array both(const Array& z) { return real(z) + 2.0 * imag(z); }
double both(Number z) { return z.real() + 2 * z.imag(); }

// A function of a complex number, through its parts.
Row unary(std::string name, Array (*f)(Operand), Number (*reference)(const Number&)) {
  return {"complex " + std::move(name),
          [f](const Arrays& x) { return both(f(make_complex(x[0], x[1]))); },
          {{3}, {3}},
          0.3,
          1.2,
          [reference](const std::vector<double>& x) {
            return both(reference({x[0], x[1]}));
          }};
}

}  // namespace

std::vector<Row> complex_rows() {
  return {
      unary("negate", operator-, [](const Number& z) { return -z; }),
      unary("exp", exp, std::exp<double>),
      unary("log", log, std::log<double>),
      unary("sqrt", sqrt, std::sqrt<double>),
      unary("sin", sin, std::sin<double>),
      unary("cos", cos, std::cos<double>),
      unary("tanh", tanh, std::tanh<double>),
      unary("sinh", sinh, std::sinh<double>),
      unary("cosh", cosh, std::cosh<double>),
      unary("asinh", asinh, std::asinh<double>),
      unary("acosh", acosh, std::acosh<double>),
      unary("conj", conj, [](const Number& z) { return std::conj(z); }),
      unary("square", square, [](const Number& z) { return z * z; }),
      unary("abs", abs, [](const Number& z) { return Number(std::abs(z)); }),
      unary("sign", sign, [](const Number& z) { return z / std::abs(z); }),
      unary("angle", angle, [](const Number& z) { return Number(std::arg(z)); }),
      {"complex times real over complex",
       [](const Arrays& x) {
         Array z = make_complex(x[0], x[1]);
         return both(z * x[2] / (z + 1.0));
       },
       {{3}, {3}, {3}},
       0.3,
       1.2,
       [](const std::vector<double>& x) {
         Number z(x[0], x[1]);
         return both(z * x[2] / (z + 1.0));
       }},
      {"complex power",
       [](const Arrays& x) {
         Array z = make_complex(x[0], x[1]);
         return both(pow(z, conj(z)));
       },
       {{3}, {3}},
       0.3,
       1.2,
       [](const std::vector<double>& x) {
         Number z(x[0], x[1]);
         return both(std::pow(z, std::conj(z)));
       }},
      {"complex dot",
       [](const Arrays& x) {
         Array a = make_complex(x[0], square(x[0])), b = make_complex(x[1], 1.0 - x[1]);
         return both(matmul(a, transpose(b)));
       },
       {{2, 3}, {2, 3}}},
      {"complex to real",
       [](const Arrays& x) { return square(convert(make_complex(x[0], x[1]), x[0].dtype())); },
       {{3}, {3}}},
  };
}

}  // namespace sturnus::testing
