// Taylor mode against closed forms to order 8. Against nested derivatives, op by op: op_table_test.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/jet.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>

namespace sturnus {
namespace {

Array f64(double value) { return Array(value, DType::f64); }

struct Known {
  std::string name;
  std::function<Array(Array)> f;
  std::function<double(double x, int k)> derivative;
};

double factorial(int n) { return std::tgamma(n + 1.0); }

std::vector<Known> known() {
  constexpr double half_pi = 1.5707963267948966;
  return {
      {"exp(2x)", [](Array x) { return exp(2.0 * x); },
       [](double x, int k) { return std::pow(2, k) * std::exp(2 * x); }},
      {"sin", [](Array x) { return sin(x); },
       [=](double x, int k) { return std::sin(x + k * half_pi); }},
      {"1/x", [](Array x) { return 1.0 / x; },
       [](double x, int k) { return (k % 2 ? -1 : 1) * factorial(k) / std::pow(x, k + 1); }},
      {"log", [](Array x) { return log(x); },
       [](double x, int k) {
         return k == 0 ? std::log(x) : (k % 2 ? 1 : -1) * factorial(k - 1) / std::pow(x, k);
       }},
      {"x^2.5", [](Array x) { return pow(x, 2.5); },
       [](double x, int k) {
         return std::tgamma(3.5) / std::tgamma(3.5 - k) * std::pow(x, 2.5 - k);
       }},
      {"x^5", [](Array x) { return pow(x, 5); },
       [](double x, int k) {
         return k > 5 ? 0 : factorial(5) / factorial(5 - k) * std::pow(x, 5 - k);
       }},
      {"x^6 by a loop",
       [](Array x) {
         return fori_loop(
             0, 5, [&](Array, Array c) { return c * x; }, x);
       },
       [](double x, int k) {
         return k > 6 ? 0 : factorial(6) / factorial(6 - k) * std::pow(x, 6 - k);
       }},
      {"x^4 by an open loop",
       [](Array x) {
         return while_loop([](const std::pair<Array, Array>& s) { return s.first < 3; },
                           [&](const std::pair<Array, Array>& s) {
                             return std::pair(s.first + 1, s.second * x);
                           },
                           std::pair(Array(0), x))
             .second;
       },
       [](double x, int k) {
         return k > 4 ? 0 : factorial(4) / factorial(4 - k) * std::pow(x, 4 - k);
       }},
      {"a branch",
       [](Array x) {
         return cond(
             x > 0.0, [](Array t) { return exp(-t); }, [](Array t) { return t; }, x);
       },
       [](double x, int k) { return (k % 2 ? -1 : 1) * std::exp(-x); }},
  };
}

TEST(Jet, DerivativesToOrderEightAreThoseOfClosedForms) {
  for (const Known& row : known()) {
    for (double x : {0.7, 1.3}) {
      auto all = jit([&](Array t) { return derivatives(row.f, t, 8); })(f64(x));
      ASSERT_EQ(all.size(), 9u);
      for (int k = 0; k <= 8; k++) {
        double expected = row.derivative(x, k);
        EXPECT_NEAR(all[static_cast<std::size_t>(k)].item<double>(), expected,
                    1e-11 * std::max(1.0, std::abs(expected)))
            << row.name << ", order " << k << " at " << x;
      }
    }
  }
}

// Along the curve (t^2, t^3): f = x y gives t^5.
TEST(Jet, FollowsCurves) {
  auto f = [](Array x, Array y) { return x * y; };
  double t = 1.5;
  std::tuple point(f64(t * t), f64(t * t * t));
  std::vector<std::tuple<Array, Array>> curve = {
      {f64(2 * t), f64(3 * t * t)}, {f64(2), f64(6 * t)}, {f64(0), f64(6)}, {f64(0), f64(0)}};
  auto [value, derivatives] = jet(f, point, curve);
  for (int k = 1; k <= 4; k++) {
    EXPECT_NEAR(derivatives[static_cast<std::size_t>(k) - 1].item<double>(),
                factorial(5) / factorial(5 - k) * std::pow(t, 5 - k), 1e-11);
  }
}

TEST(Jet, ComposesWithTheOtherTransforms) {
  auto third = [](Array x) { return derivatives([](Array t) { return sin(t * t); }, x, 3)[3]; };
  auto nested = grad(grad(grad([](Array t) { return sin(t * t); })));
  Array points = array(std::vector<double>{0.2, 0.9, 1.4});
  auto a = vmap(third)(points).to_vector<double>(), b = vmap(nested)(points).to_vector<double>();
  auto c = grad([&](Array p) { return sum(vmap(third)(p)); })(points).to_vector<double>();
  auto d = vmap(grad(nested))(points).to_vector<double>();
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_NEAR(a[i], b[i], 1e-11);
    EXPECT_NEAR(c[i], d[i], 1e-10);
  }
}

// Order k costs k^2, not 2^k: the graph of order 8 is not many times that of order 4.
TEST(Jet, GrowsPolynomially) {
  auto size = [](int order) {
    return lower(
               [order](Array x) {
                 return derivatives([](Array t) { return tanh(sin(t) * exp(t)); }, x, order).back();
               },
               Array(0.5))
        .size();
  };
  EXPECT_LT(size(8), 5 * size(4));
}

TEST(Jet, HasAux) {
  auto f = [](Array x) { return std::pair(sin(x), 10.0 * x); };
  auto [value, derivatives, aux] = jet(has_aux(f), Array(0.5), std::vector<Array>{1.0, 0.0});
  EXPECT_NEAR(value.item<float>(), std::sin(0.5), 1e-6);
  EXPECT_NEAR(derivatives[1].item<float>(), -std::sin(0.5), 1e-6);
  EXPECT_EQ(aux.item<float>(), 5);
}

}  // namespace
}  // namespace sturnus
