#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/optimizers/lbfgs.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <functional>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using State = Lbfgs::State;

// All states from the first to the last of so many steps.
std::vector<State> walk(const Lbfgs& lbfgs, const Lbfgs::Objective& objective, const Array& start,
                        int steps) {
  auto step = jit([&](const State& s) { return lbfgs.step(objective, s); });
  std::vector<State> states = {
      jit([&](const Array& x) { return lbfgs.init(objective, x); })(start)};
  for (int i = 0; i < steps; i++) states.push_back(step(states.back()));
  return states;
}

// sum over k of size - 1: 100 (x_{k+1} - x_k^2)^2 + (1 - x_k)^2; its minimum is 0 at (1, ..., 1).
Array rosenbrock(const Array& x) {
  std::int64_t n = x.shape()[0], size = x.shape()[1];
  Array now = slice(x, {0, 0}, {n, size - 1}), next = slice(x, {0, 1}, {n, size});
  return sum(100.0 * square(next - square(now)) + square(1.0 - now), 1);
}

TEST(Lbfgs, FindsTheMinimumOfQuadratics) {
  // Row r: sum_k a_rk (x_k - c_rk)^2 / 2, with curvatures that differ by powers of ten.
  constexpr std::int64_t rows = 3, size = 6;
  Doubles a, c = random_numbers(rows * size, 1);
  for (int r = 0; r < rows; r++) {
    for (int k = 0; k < size; k++) a.push_back(std::pow(10.0, 0.5 * r * k));
  }
  Array scale = device_array(a, {rows, size}), centre = device_array(c, {rows, size});
  auto objective = [&](const Array& x) { return 0.5 * sum(scale * square(x - centre), 1); };
  for (std::int64_t history : {1, 10}) {
    SCOPED_TRACE(history);
    Array start = device_array(random_numbers(rows * size, 2, 3), {rows, size});
    State end = walk({.history = history}, objective, start, history == 1 ? 200 : 100).back();
    Doubles x = doubles(end.x), value = doubles(end.value), gradient = doubles(end.gradient);
    // With a memory of one step the last row, whose condition is 1e5, takes thousands.
    std::size_t done = history == 1 ? rows - 1 : rows;
    for (std::size_t i = 0; i < done * size; i++) {
      EXPECT_NEAR(x[i], c[i], 1e-6) << "element " << i;
      EXPECT_NEAR(gradient[i], a[i] * (x[i] - c[i]), 1e-9);
    }
    for (std::size_t r = 0; r < done; r++) EXPECT_LT(value[r], 1e-9);
  }
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrocksValley) {
  Array start = device_array({-1.2, 1, -1.2, 1, 3, -2, 0.5, 4}, {2, 4});
  State end = walk({}, rosenbrock, start, 80).back();
  for (double x : doubles(end.x)) EXPECT_NEAR(x, 1, 1e-8);
  for (double value : doubles(end.value)) EXPECT_LT(value, 1e-16);
}

// The weak Wolfe conditions along each step s: f falls by at least c1 |g s|, and the slope by at
// least the part 1 - c2.
TEST(Lbfgs, EveryStepFulfilsTheConditionsOfItsLineSearch) {
  Lbfgs lbfgs;
  Array start = device_array({-1.2, 1, 4, -3}, {2, 2});
  std::vector<State> states = walk(lbfgs, rosenbrock, start, 30);
  int steps = 0;
  for (std::size_t i = 1; i < states.size(); i++) {
    Doubles x0 = doubles(states[i - 1].x), x1 = doubles(states[i].x);
    Doubles f0 = doubles(states[i - 1].value), f1 = doubles(states[i].value);
    Doubles g0 = doubles(states[i - 1].gradient), g1 = doubles(states[i].gradient);
    for (std::size_t row : {0u, 1u}) {
      if (f0[row] < 1e-12) continue;  // there rounding decides
      double slope0 = 0, slope1 = 0;
      for (std::size_t k = 2 * row; k < 2 * row + 2; k++) {
        slope0 += g0[k] * (x1[k] - x0[k]);
        slope1 += g1[k] * (x1[k] - x0[k]);
      }
      EXPECT_LT(slope0, 0);
      EXPECT_LE(f1[row], f0[row] + lbfgs.sufficient_decrease * slope0 + 1e-14);
      EXPECT_GE(slope1, lbfgs.sufficient_flattening * slope0 - 1e-14);
      steps++;
    }
  }
  EXPECT_GT(steps, 30);
}

// x - log(x) / 2 is not a number below 0, where the first guesses lead; its minimum is at 1/2.
TEST(Lbfgs, StepsNeverLeadToWhatIsNotANumber) {
  auto objective = [](const Array& x) { return sum(x - 0.5 * log(x), 1); };
  std::vector<State> states =
      walk({}, objective, device_array({10, 0.001, 300, 2, 7, 0.5}, {3, 2}), 40);
  Doubles last = doubles(states[0].value);
  for (const State& state : states) {
    for (double x : doubles(state.x)) EXPECT_GT(x, 0);
    Doubles value = doubles(state.value);
    for (std::size_t i = 0; i < 3; i++) EXPECT_LE(value[i], last[i]);
    last = value;
  }
  for (double x : doubles(states.back().x)) EXPECT_NEAR(x, 0.5, 1e-6);
}

// A row that begins where nothing is finite, and one at its minimum, stay; the third is alone.
TEST(Lbfgs, NeedsAHistoryAndATrial) {
  for (const Lbfgs& bad : {Lbfgs{.history = 0}, Lbfgs{.trials = 0}, Lbfgs{.history = -1}}) {
    std::string message = error_of([&] {
      bad.init([](const Array& x) { return sum(x, 1); }, device_array({1}, {1, 1}));
    });
    EXPECT_NE(message.find("Give at least 1 of both"), std::string::npos) << message;
  }
}

TEST(Lbfgs, RowsDoNotMeet) {
  Doubles third = {-1.2, 1};
  Array together = device_array({std::nan(""), 1, 1, 1, third[0], third[1]}, {3, 2});
  Doubles all = doubles(walk({}, rosenbrock, together, 15).back().x);
  Doubles alone = doubles(walk({}, rosenbrock, device_array(third, {1, 2}), 15).back().x);
  EXPECT_TRUE(std::isnan(all[0]));
  EXPECT_EQ(all[1], 1);
  EXPECT_EQ(all[2], 1);
  EXPECT_EQ(all[3], 1);
  EXPECT_NEAR(all[4], alone[0], 1e-9);
  EXPECT_NEAR(all[5], alone[1], 1e-9);
}

}  // namespace
}  // namespace sturnus
