// Complex numbers against JAX.
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>

#include <cmath>
#include <sstream>

#include "tests/ops/complex_values.h"

namespace sturnus::testing {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

void expect_near(const Array& a, const Numbers& expected, const char* text) {
  Array z = convert(a, DType::c128);
  Numbers values = z.to_vector<Number>();
  ASSERT_EQ(values.size(), expected.size()) << text;
  for (std::size_t i = 0; i < values.size(); i++) {
    EXPECT_LT(std::abs(values[i] - expected[i]), 1e-13 * std::max(1.0, std::abs(expected[i])))
        << text << " " << i << ": " << values[i] << ", expected " << expected[i];
  }
}

TEST(Complex, ValuesAndGradientsAreThoseOfJax) {
  Array z = array(complex_points);
  Array w = make_complex(Array(0.5, DType::f64), Array(-2.0, DType::f64));
  for (const ComplexCase& row : complex_cases) {
    expect_near(row.f(z), row.value, row.text);
    auto loss = [&](Array y) { return sum(real(w * row.f(y))); };
    expect_near(grad(loss)(z), row.gradient, row.text);
  }
}

// The gradient of a function of one complex number has both parts.
TEST(Complex, GradientByAScalar) {
  Array z = make_complex(Array(3.0, DType::f64), Array(4.0, DType::f64));
  auto squared = [](Array y) { return square(abs(y)); };
  EXPECT_EQ(grad(squared)(z).item<Number>(), Number(6, -8));
  EXPECT_EQ(grad([](Array y) { return imag(y); })(z).item<Number>(), Number(0, -1));
}

TEST(Complex, AbsHasNoSlopeAtZero) {
  Array z = zeros({1}, DType::c128);
  EXPECT_EQ(grad([](Array y) { return sum(abs(y)); })(z).to_vector<Number>()[0], Number(0));
  EXPECT_EQ(sign(z).to_vector<Number>()[0], Number(0));
  EXPECT_EQ(angle(z).to_vector<double>()[0], 0);
}

// Also on the branch cuts, and far out, where squares overflow.
TEST(Complex, InverseFunctionsAreThoseOfTheStandardLibrary) {
  Numbers points = {{2.5, 0.0},   {2.5, -0.0}, {-2.5, 0.0}, {-2.5, -0.0}, {0.5, 0.0},
                    {0.5, 0.25},  {-0.3, 1.2}, {1, 0.0},    {0.0, 2.5},   {-0.0, 2.5},
                    {0.0, -2.5},  {1e20, 1},   {-1e20, 1},  {1, 1e20},    {1e200, -1e200},
                    {1e-9, 1e-9}, {0, 0.999}};
  Array z = array(points);
  auto each = [&](Number (*f)(const Number&)) {
    Numbers values;
    for (const Number& point : points) values.push_back(f(point));
    return values;
  };
  expect_near(asin(z), each(std::asin<double>), "asin");
  expect_near(acos(z), each(std::acos<double>), "acos");
  expect_near(atan(z), each(std::atan<double>), "atan");
  expect_near(asinh(z), each(std::asinh<double>), "asinh");
  expect_near(acosh(z), each(std::acosh<double>), "acosh");
  for (Array (*f)(Operand) : {asin, acos, atan, asinh, acosh}) {
    auto single = f(Array(std::complex<float>(1e20F, 1))).item<std::complex<float>>();
    EXPECT_TRUE(std::isfinite(single.real()) && std::isfinite(single.imag()));
  }
}

TEST(Complex, HyperbolicFunctionsAreThoseOfTheStandardLibrary) {
  Numbers points = {{0.5, 0.25}, {-0.3, 1.2}, {2, -3},   {-20, 0.5}, {1e-9, 1e-9},
                    {0.0, 2.5},  {-1, 0.0},   {300, 40}, {-300, -4}, {1e-9, 3}};
  Numbers sines, cosines;
  for (const Number& z : points) {
    sines.push_back(std::sinh(z));
    cosines.push_back(std::cosh(z));
  }
  expect_near(sinh(array(points)), sines, "sinh");
  expect_near(cosh(array(points)), cosines, "cosh");
}

// The slope of a function in each quadrant and on both sides of its cuts, and that of its inverse.
TEST(Complex, InverseFunctionsHaveTheSlopesOfTheirInverses) {
  auto minus = [](Operand z) { return -sin(z); };
  struct Case {
    const char* name;
    std::function<Array(Array)> f, slope_of_inverse;
    Numbers on_cuts;
  };
  const Numbers imaginary = {{0.0, -2}, {-0.0, -2}, {0.0, 2}, {-0.0, 2}};
  const Numbers outside = {{2, 0.0}, {2, -0.0}, {-2, 0.0}, {-2, -0.0}};
  const Numbers below = {{-2, 0.0}, {-2, -0.0}, {0.5, 0.0}, {0.5, -0.0}};
  const Case cases[] = {
      {"asinh", [](Array z) { return asinh(z); }, [](Array y) { return cosh(y); }, imaginary},
      {"acosh", [](Array z) { return acosh(z); }, [](Array y) { return sinh(y); }, below},
      {"asin", [](Array z) { return asin(z); }, [](Array y) { return cos(y); }, outside},
      {"acos", [](Array z) { return acos(z); }, minus, outside}};
  for (const Case& c : cases) {
    Numbers points = {{0.5, 0.25}, {-0.3, 1.2}, {2, -3}, {-4, -0.5}, {0.2, -2.5}};
    points.insert(points.end(), c.on_cuts.begin(), c.on_cuts.end());
    Array z = array(points);
    Array slopes = grad([&](Array y) { return sum(real(c.f(y))); })(z);
    expect_near(slopes, (1.0 / c.slope_of_inverse(c.f(z))).to_vector<Number>(), c.name);
  }
}

TEST(Complex, TypesAndPrinting) {
  using Single = std::complex<float>;
  Array z = array(std::vector<Single>{{1, 2}, {-0.5F, -3}});
  EXPECT_EQ(z.dtype(), DType::c64);
  EXPECT_EQ((z * 2.0).to_vector<Single>(), (std::vector<Single>{{2, 4}, {-1, -6}}));
  EXPECT_EQ((z + ones({2}, DType::f64)).dtype(), DType::c128);
  EXPECT_EQ(make_complex(1, 2).item<Single>(), Single(1, 2));
  EXPECT_EQ(real(z).dtype(), DType::f32);
  EXPECT_EQ(imag(ones({2})).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_TRUE(conj(ones({2})).dtype() == DType::f32);
  std::ostringstream out;
  out << z;
  EXPECT_EQ(out.str(), "[   1+2i -0.5-3i]");
}

TEST(Complex, Errors) {
  Array z = zeros({2}, DType::c64);
  EXPECT_THROW(make_complex(z, z), DtypeError);
  EXPECT_THROW(make_complex(zeros({2}, DType::bf16), zeros({2}, DType::bf16)), DtypeError);
  EXPECT_THROW(max(z), DtypeError);
  EXPECT_THROW(grad([](Array y) { return sum(y); })(z), DtypeError);
}

}  // namespace
}  // namespace sturnus::testing
