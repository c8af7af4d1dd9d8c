// What the graphs of transformed functions hold, by their sizes and their StableHLO, and what the
// functions that choose or replace a part of them give.
#include <gtest/gtest.h>
#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

using Doubles = std::vector<double>;
using Function = std::function<Array(Array)>;

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at++) found++;
  return found;
}

// Lives until the process ends, longer than what is thread_local: the sanitizers look at its end.
std::optional<Lowered> kept_to_the_end;

TEST(Graph, MayBeHeldByStaticVariables) {
  kept_to_the_end = lower([](Array t) { return sin(t) * exp(t); }, Array(0.5));
  EXPECT_EQ(kept_to_the_end->size(), 4u);
}

TEST(Graph, EqualOperationsAreOneNode) {
  Array x = array(Doubles{0.3, -0.7});
  auto twice = [](Array t) { return sin(t) + sin(t); };
  auto shared = [](Array t) {
    Array s = sin(t);
    return s + s;
  };
  EXPECT_EQ(lower(twice, x).size(), lower(shared, x).size());
  EXPECT_EQ(occurrences(lower(twice, x).stablehlo(), "stablehlo.sine"), 1u);
  // Sums and products are equal whatever the order of their operands.
  auto turned = [](Array t) { return (sin(t) + exp(t)) * (exp(t) + sin(t)); };
  auto squared = [](Array t) { return square(sin(t) + exp(t)); };
  EXPECT_EQ(lower(turned, x).size(), lower(squared, x).size());
  // The derivative of exp is exp, so that it adds nothing.
  auto f = [](Array t) { return exp(t); };
  EXPECT_EQ(lower(value_and_grad(f), Array(0.5)).size(), lower(f, Array(0.5)).size());
}

// From order 3 to order 6 a quadratic grows 4 times, and what doubles with each order 8 times.
// Without sharing, sizes nearly triple with each order, since the rule of products has two terms.
TEST(Graph, NestedDerivativesOfANumberGrowSlowly) {
  Function f = [](Array t) { return exp(sin(t)) * tanh(t); };
  std::vector<std::size_t> sizes;
  for (int order = 0; order <= 6; order++) {
    sizes.push_back(lower(f, Array(0.5, DType::f64)).size());
    f = grad(f);
  }
  EXPECT_LE(sizes[6], 5 * sizes[3]);
}

// Through a loop too: what it carries of each order is carried once, however it came about.
TEST(Graph, NestedDerivativesThroughLoopsGrowSlowly) {
  auto step = [](Array y) { return exp(sin(y)) * 0.5; };
  const std::vector<Function> loops = {
      [&](Array t) {
        return fori_loop(
            0, 4, [&](Array, Array y) { return step(y); }, t);
      },
      [&](Array t) {
        auto small = [](std::pair<Array, Array> c) { return c.first < 4; };
        auto next = [&](std::pair<Array, Array> c) {
          return std::pair(c.first + 1, step(c.second));
        };
        return while_loop(small, next, std::pair(Array(0), t)).second;
      }};
  for (Function f : loops) {
    std::vector<std::size_t> sizes;
    for (int order = 0; order <= 6; order++) {
      sizes.push_back(lower(f, Array(0.5, DType::f64)).size());
      f = grad(f);
    }
    EXPECT_LE(sizes[6], 5 * sizes[3]);
  }
}

TEST(Graph, ValuesThatStayEqualAreCarriedOnce) {
  using Three = std::tuple<Array, Array, Array>;
  auto run = [](bool alike) {
    return [alike](Array x) {
      auto next = [&](Array, Three c) {
        auto [a, b, d] = c;
        return Three(sin(a), alike ? sin(b) : cos(b), d * x);
      };
      return fori_loop(0, 3, next, Three(x, x, x));
    };
  };
  Array x = array(Doubles{0.3, -0.7});
  auto [a, b, d] = run(true)(x);
  EXPECT_EQ(a.to_vector<double>(), b.to_vector<double>());
  EXPECT_NEAR(a.to_vector<double>()[1], std::sin(std::sin(std::sin(-0.7))), 1e-15);
  EXPECT_NEAR(d.to_vector<double>()[1], std::pow(-0.7, 4), 1e-15);
  EXPECT_NEAR(std::get<1>(run(false)(x)).to_vector<double>()[0], std::cos(std::cos(std::cos(0.3))),
              1e-15);
  EXPECT_EQ(occurrences(lower(run(true), x).stablehlo(), "stablehlo.sine"), 1u);
}

TEST(Graph, SizesCountBodiesOnce) {
  auto chain_of = [](int length) {
    return [length](Array x) {
      for (int i = 0; i < length; i++) x = sin(x);
      return x;
    };
  };
  auto looped = [&](int length) {
    return [f = chain_of(length)](Array x) {
      return fori_loop(
          0, 9, [&](Array, Array y) { return f(y); }, x);
    };
  };
  auto chosen = [&](int length) {
    return [f = chain_of(length)](Array x) { return cond(x < 0.0, f, f, x); };
  };
  EXPECT_EQ(lower(looped(30), 1.0).size() - lower(looped(10), 1.0).size(), 20u);
  EXPECT_EQ(lower(chosen(30), 1.0).size() - lower(chosen(10), 1.0).size(), 40u);
}

// Each step uses the value before twice: n steps are n values, but a tree of 2^n.
Function chain(int steps) {
  return [steps](Array t) {
    Array y = t;
    for (int i = 0; i < steps; i++) y = sin(y) * y;
    return sum(y);
  };
}

// Reverse over reverse. A gradient costs a few times what its function costs, however long that is:
// by a factor of at most 4 per gradient, and twice as much for twice the steps. Were one value
// computed again for each of its uses, 8 more steps would cost 2^8 times as much.
TEST(Graph, NestedGradientsOfAVectorGrowByAConstantFactor) {
  Array x = array(Doubles{0.3, -0.7, 1.1});
  Function f = chain(8), longer = chain(16);
  std::size_t before = lower(f, x).size();
  for (int depth = 1; depth <= 3; depth++) {
    f = [f](Array t) { return sum(square(grad(f)(t))); };
    longer = [longer](Array t) { return sum(square(grad(longer)(t))); };
    std::size_t size = lower(f, x).size();
    EXPECT_LE(size, 4 * before) << "depth " << depth;
    EXPECT_LE(lower(longer, x).size(), 3 * size) << "depth " << depth;
    before = size;
  }
}

TEST(Checkpoint, ComputesAgainBehindABarrier) {
  auto f = [](Array t) { return tanh(t); };
  auto keeping = [&](Array t) { return sum(square(f(t))); };
  auto again = [&](Array t) { return sum(square(checkpoint(f)(t))); };
  Doubles points = {0.3, -0.7, 1.1};
  Array x = array(points);

  std::string without = lower(grad(keeping), x).stablehlo();
  EXPECT_EQ(occurrences(without, "stablehlo.tanh"), 1u) << without;
  EXPECT_EQ(occurrences(without, "optimization_barrier"), 0u) << without;
  std::string with = lower(grad(again), x).stablehlo();
  EXPECT_EQ(occurrences(with, "stablehlo.tanh"), 2u) << with;
  std::size_t barrier = with.find("optimization_barrier");
  ASSERT_NE(barrier, std::string::npos) << with;
  EXPECT_LT(with.find("stablehlo.tanh"), barrier) << with;
  EXPECT_GT(with.rfind("stablehlo.tanh"), barrier) << with;

  auto kept = jit(grad(keeping))(x).to_vector<double>();
  auto computed_again = jit(grad(again))(x).to_vector<double>();
  for (std::size_t i = 0; i < points.size(); i++) {
    double y = std::tanh(points[i]);
    EXPECT_NEAR(kept[i], 2 * y * (1 - y * y), 1e-12);
    EXPECT_NEAR(computed_again[i], kept[i], 1e-14);
  }
  EXPECT_NEAR(again(x).item<double>(), keeping(x).item<double>(), 1e-14);
}

// A rule of custom_jvp may call functions that are linear in its tangents: then reverse mode meets
// these, and not their derivatives.
TEST(Custom, RulesMayCallCheckpointsAndOtherRules) {
  auto times_sine = [](Array t, Array dt) { return sin(t) * dt; };
  auto both = [&](Array t, Array dt) {
    return custom_jvp(times_sine, [&](Array t, Array dt, Array move, Array turn) {
      return std::pair(times_sine(t, dt), cos(t) * move * dt + times_sine(t, turn));
    })(t, dt);
  };
  const std::vector<std::function<Array(Array, Array)>> linear = {
      [&](Array t, Array dt) { return checkpoint(times_sine)(t, dt); },
      both,
      [&](Array t, Array dt) { return checkpoint(both)(t, dt); },
  };
  Doubles points = {0.3, -0.7, 1.1};
  Array x = array(points);
  for (const auto& slope : linear) {
    auto f = custom_jvp([](Array t) { return -cos(t); },
                        [&](Array t, Array dt) { return std::pair(-cos(t), slope(t, dt)); });
    auto gradient = grad([&](Array t) { return sum(t * f(t)); });
    auto found = gradient(x).to_vector<double>(), compiled = jit(gradient)(x).to_vector<double>();
    auto forward = jvp(f, x, ones_like(x)).second.to_vector<double>();
    for (std::size_t i = 0; i < points.size(); i++) {
      double t = points[i], expected = t * std::sin(t) - std::cos(t);
      EXPECT_NEAR(found[i], expected, 1e-14);
      EXPECT_NEAR(compiled[i], expected, 1e-14);
      EXPECT_NEAR(forward[i], std::sin(t), 1e-14);
    }
  }
}

TEST(Switch, TakesTheBranchOfItsIndexOrTheNearest) {
  const std::vector<Function> branches = {[](Array t) { return sin(t); },
                                          [](Array t) { return t * t; },
                                          [](Array t) { return exp(t); }};
  auto f = [&](Array index, Array t) { return switch_(index, branches, t); };
  auto compiled = jit(f);
  Array x(0.7, DType::f64);
  const Doubles values = {std::sin(0.7), 0.7 * 0.7, std::exp(0.7)};
  const Doubles slopes = {std::cos(0.7), 2 * 0.7, std::exp(0.7)};
  const std::vector<int> indices = {-3, -1, 0, 1, 2, 3, 100};
  auto together = vmap(f, {.in_axes = {0, none}})(array(indices), x).to_vector<double>();
  for (std::size_t i = 0; i < indices.size(); i++) {
    SCOPED_TRACE(indices[i]);
    auto nearest = static_cast<std::size_t>(std::clamp(indices[i], 0, 2));
    Array index(indices[i]);
    EXPECT_NEAR(switch_(indices[i], branches, x).item<double>(), values[nearest], 1e-13);
    EXPECT_NEAR(compiled(index, x).item<double>(), values[nearest], 1e-13);
    EXPECT_NEAR(grad<1>(f)(index, x).item<double>(), slopes[nearest], 1e-13);
    EXPECT_NEAR(together[i], values[nearest], 1e-13);
  }
}

// The rules are wrong on purpose, so that it shows whether they are used.
TEST(Custom, JvpHasTheValueOfTheFunctionAndTheDerivativeOfTheRule) {
  auto f = custom_jvp([](Array t) { return sin(t); },
                      [](Array t, Array dt) { return std::pair(sin(t), 7.0 * dt); });
  Array x(0.7, DType::f64), v = array(Doubles{0.3, -0.7, 1.1});
  EXPECT_NEAR(f(x).item<double>(), std::sin(0.7), 1e-14);
  auto [value, slope] = jit(value_and_grad(f))(x);
  EXPECT_NEAR(value.item<double>(), std::sin(0.7), 1e-14);
  EXPECT_EQ(slope.item<double>(), 7);
  EXPECT_EQ(grad(grad(f))(x).item<double>(), 0);
  // By reverse mode, and for each element by itself.
  Doubles sevens = {7, 7, 7};
  EXPECT_EQ(grad([&](Array t) { return sum(f(t)); })(v).to_vector<double>(), sevens);
  EXPECT_EQ(vmap(grad(f))(v).to_vector<double>(), sevens);
}

TEST(Custom, VjpHasTheValueOfTheFunctionAndTheDerivativeOfTheRule) {
  auto f = custom_vjp([](Array t) { return sin(t); }, [](Array t) { return std::pair(sin(t), t); },
                      [](Array kept, Array ct) { return 7.0 * kept * ct; });
  Doubles points = {0.3, -0.7, 1.1};
  Array x(0.7, DType::f64), v = array(points);
  EXPECT_NEAR(f(x).item<double>(), std::sin(0.7), 1e-14);
  auto [value, slope] = jit(value_and_grad(f))(x);
  EXPECT_NEAR(value.item<double>(), std::sin(0.7), 1e-14);
  EXPECT_NEAR(slope.item<double>(), 7 * 0.7, 1e-14);
  auto gradient = grad([&](Array t) { return sum(f(t)); })(v).to_vector<double>();
  auto together = vmap(grad(f))(v).to_vector<double>();
  for (std::size_t i = 0; i < points.size(); i++) {
    EXPECT_NEAR(gradient[i], 7 * points[i], 1e-14);
    EXPECT_NEAR(together[i], 7 * points[i], 1e-14);
  }
}

}  // namespace
}  // namespace sturnus
