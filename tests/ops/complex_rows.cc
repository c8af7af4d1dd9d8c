#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/convolution.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/reduce.h>
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
       [](const Arrays& x) { return square(convert(make_complex(x[0], x[1]), DType::f64)); },
       {{3}, {3}}},
  };
}

std::vector<Row> fft_rows() {
  return {
      {"fft",
       [](const Arrays& x) { return both(square(fft(make_complex(x[0], x[1])))); },
       {{2, 5}, {2, 5}}},
      {"ifft over two axes",
       [](const Arrays& x) { return both(square(ifft(make_complex(x[0], x[1]), 2))); },
       {{2, 3, 4}, {2, 3, 4}}},
      {"rfft", [](const Arrays& x) { return both(square(rfft(x[0]))); }, {{2, 6}}},
      {"rfft over three axes",
       [](const Arrays& x) { return both(square(rfft(x[0], 3))); },
       {{2, 3, 5}}},
      {"irfft",
       [](const Arrays& x) { return square(irfft(make_complex(x[0], x[1]))); },
       {{2, 4}, {2, 4}}},
      {"irfft of odd length over two axes",
       [](const Arrays& x) { return square(irfft(make_complex(x[0], x[1]), 2, 5)); },
       {{3, 3}, {3, 3}}},
  };
}

std::vector<Row> convolution_rows() {
  return {
      {"convolution",
       [](const Arrays& x) { return convolution(x[0], x[1]); },
       {{2, 3, 6}, {4, 3, 3}}},
      {"convolution with everything",
       [](const Arrays& x) {
         return convolution(x[0], x[1],
                            {.strides = {2, 1},
                             .padding = {{2, 1}, {-1, 3}},
                             .x_dilation = {2, 1},
                             .kernel_dilation = {1, 2},
                             .groups = 2});
       },
       {{2, 4, 4, 5}, {6, 2, 3, 2}}},
      {"convolution without space",
       [](const Arrays& x) { return convolution(x[0], x[1]); },
       {{2, 3}, {4, 3}}},
      {"convolve", [](const Arrays& x) { return convolve(x[0], x[1]); }, {{3}, {5}}},
  };
}

}  // namespace sturnus::testing
