// The form of the values that op_values.py records, and what their cases share.
#pragma once

#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/convolution.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/einsum.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/pool.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <limits>
#include <vector>

namespace sturnus::testing {

/// A function of arrays whose elements are points(shape, 0), points(shape, 1), ...
struct OpCase {
  const char* text;
  Array (*f)(const Arrays& x);
  std::vector<Shape> shapes;
  std::vector<double> value;
  std::vector<double> gradient;  // of the sum of (i mod 3 - 1/2) value[i]; none of whole numbers
};

/// A function of each of some numbers.
struct SpecialCase {
  const char* text;
  Array (*f)(const Array& x);
  std::vector<double> x, value, gradient;
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline Array parts(const Array& z) { return stack({real(z), imag(z)}); }
inline Array positive(const Array& a) {
  return matmul(a, swapaxes(a, -1, -2)) + eye(a.shape()[a.shape().size() - 2], DType::f64);
}
inline Array symmetric(const Array& a) { return a + swapaxes(a, -1, -2); }
/// With many equal elements.
inline Array steps(const Array& x) { return floor(3.0 * x); }

}  // namespace sturnus::testing
