#include "src/inference/exact/bracketed_newton.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

using ValueAndSlope = std::pair<double, double>;

struct Case {
  const char* name;
  std::function<ValueAndSlope(double)> function;
  double low, high, root;
};

TEST(BracketedNewton, FindsTheRootOfEveryIncreasingFunction) {
  const std::vector<Case> cases = {
      {"line", [](double x) { return ValueAndSlope(2 * x - 3, 2); }, -10, 10, 1.5},
      {"cube, flat at its root", [](double x) { return ValueAndSlope(x * x * x, 3 * x * x); }, -1,
       2, 0},
      {"steep then flat",
       [](double x) { return ValueAndSlope(std::tanh(x), 1 - std::pow(std::tanh(x), 2)); }, -50, 90,
       0},
      {"exponential", [](double x) { return ValueAndSlope(std::exp(x) - 1e5, std::exp(x)); }, -100,
       700, 5 * std::log(10)},
      {"step without slope", [](double x) { return ValueAndSlope(x < 0.3 ? -1 : 1, 0); }, 0, 1,
       0.3},
      {"wrong slope", [](double x) { return ValueAndSlope(x - 0.7, -5); }, 0, 1, 0.7},
      {"root at the lower end", [](double x) { return ValueAndSlope(x - 2, 1); }, 2, 9, 2},
      {"root at the upper end", [](double x) { return ValueAndSlope(x - 9, 1); }, 2, 9, 9},
  };
  for (const Case& c : cases) {
    EXPECT_NEAR(bracketed_newton(c.function, c.low, c.high), c.root, 1e-14 * (1 + std::abs(c.root)))
        << c.name;
  }
}

TEST(BracketedNewton, IsFastOnSmoothFunctions) {
  int calls = 0;
  auto function = [&](double x) {
    ++calls;
    return ValueAndSlope(std::atan(x - 0.25) + 0.1 * (x - 0.25),
                         1 / (1 + (x - 0.25) * (x - 0.25)) + 0.1);
  };
  EXPECT_NEAR(bracketed_newton(function, -1000, 3000), 0.25, 1e-15);
  EXPECT_LT(calls, 40);
}

}  // namespace
}  // namespace sturnus
