// Values and gradients of operations against recorded ones of JAX.
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>

#include <cmath>

#include "tests/ops/convolution_values.h"
#include "tests/ops/einsum_values.h"
#include "tests/ops/fft_values.h"
#include "tests/ops/matrix_values.h"
#include "tests/ops/order_values.h"
#include "tests/ops/reduce_values.h"
#include "tests/ops/special_values.h"

namespace sturnus::testing {
namespace {

using Doubles = std::vector<double>;

Array points(const Shape& shape, std::size_t k) {
  Doubles values(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size()));
  for (std::size_t i = 0; i < values.size(); i++) {
    values[i] = std::sin(1.7 * static_cast<double>(i) + static_cast<double>(k) + 0.4);
  }
  return array(values, shape);
}

Array weighted(const Array& y) {
  Array weights = convert(arange(y.size()) % 3, DType::f64) - 0.5;
  return sum(y * reshape(weights, y.shape()));
}

Doubles numbers(const Arrays& arrays) {
  Doubles all;
  for (const Array& x : arrays) {
    Doubles values = convert(x, DType::f64).to_vector<double>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// All cases in one program: compiling is what takes time.
void expect_recorded(const std::vector<OpCase>& cases) {
  std::vector<Arrays> arguments;
  for (const OpCase& one : cases) {
    arguments.emplace_back();
    for (std::size_t k = 0; k < one.shapes.size(); k++) {
      arguments.back().push_back(points(one.shapes[k], k));
    }
  }
  auto [values, gradients] = jit([&](const std::vector<Arrays>& x) {
    std::pair<Arrays, std::vector<Arrays>> results;
    for (std::size_t i = 0; i < cases.size(); i++) {
      const OpCase& one = cases[i];
      results.first.push_back(one.f(x[i]));
      auto slope = grad([&](const Arrays& y) { return weighted(one.f(y)); });
      results.second.push_back(one.gradient.empty() ? Arrays() : slope(x[i]));
    }
    return results;
  })(arguments);
  auto expect_near = [](const Doubles& found, const Doubles& expected) {
    ASSERT_EQ(found.size(), expected.size());
    double largest = 1;
    for (double value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < expected.size(); i++) {
      EXPECT_NEAR(found[i], expected[i], 1e-12 * largest) << "number " << i;
    }
  };
  for (std::size_t i = 0; i < cases.size(); i++) {
    SCOPED_TRACE(cases[i].text);
    expect_near(numbers({values[i]}), cases[i].value);
    SCOPED_TRACE("gradient");
    expect_near(numbers(gradients[i]), cases[i].gradient);
  }
}

TEST(OpValues, OfEinsumAreThoseOfJax) { expect_recorded(einsum_values); }
TEST(OpValues, OfFftAreThoseOfJax) { expect_recorded(fft_values); }
TEST(OpValues, OfConvolutionsAreThoseOfJax) { expect_recorded(convolution_values); }
TEST(OpValues, OfMatricesAreThoseOfJax) { expect_recorded(matrix_values); }
TEST(OpValues, OfReductionsAreThoseOfJax) { expect_recorded(reduce_values); }
TEST(OpValues, OfOrderAreThoseOfJax) { expect_recorded(order_values); }

// Values to their own accuracy; derivatives, and functions near their zeros, to that of 1.
TEST(OpValues, OfElementwiseFunctionsAtAwkwardPointsAreThoseOfJax) {
  auto [values, gradients] = jit([] {
    std::pair<Arrays, Arrays> results;
    for (const SpecialCase& one : special_values) {
      Array x = array(one.x);
      results.first.push_back(one.f(x));
      results.second.push_back(grad([&](Array y) { return sum(one.f(y)); })(x));
    }
    return results;
  })();
  auto expect_near = [](double found, double expected, double absolute) {
    bool same = found == expected || (std::isnan(found) && std::isnan(expected));
    double tolerance = std::max(absolute, 1e-12 * std::abs(expected));
    EXPECT_TRUE(same || std::abs(found - expected) <= tolerance)
        << found << ", expected " << expected;
  };
  for (std::size_t c = 0; c < special_values.size(); c++) {
    const SpecialCase& one = special_values[c];
    Doubles value = numbers({values[c]}), gradient = numbers({gradients[c]});
    bool of_gamma = std::string_view(one.text).find("gamma") != std::string_view::npos;
    for (std::size_t i = 0; i < one.x.size(); i++) {
      SCOPED_TRACE(std::string(one.text) + " at " + std::to_string(one.x[i]) + ", number " +
                   std::to_string(i));
      expect_near(value[i], one.value[i], of_gamma ? 1e-14 : 0);
      SCOPED_TRACE("gradient");
      expect_near(gradient[i], one.gradient[i], 1e-15);
    }
  }
}

}  // namespace
}  // namespace sturnus::testing
