#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/small_loops.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <string>

namespace sturnus {
namespace {

Array f64(double value) { return Array(value, DType::f64); }

// t^6 by a loop that captures t.
Array sixth_power(Array t) {
  return fori_loop(
      0, 5, [&](Array, Array c) { return c * t; }, t);
}

TEST(ForiLoop, ValuesAndDerivativesToOrderThree) {
  for (double t : {0.5, 1.5, -2.0}) {
    EXPECT_NEAR(sixth_power(f64(t)).item<double>(), std::pow(t, 6), 1e-12);
    EXPECT_NEAR(grad(sixth_power)(f64(t)).item<double>(), 6 * std::pow(t, 5), 1e-12);
    EXPECT_NEAR(grad(grad(sixth_power))(f64(t)).item<double>(), 30 * std::pow(t, 4), 1e-11);
    EXPECT_NEAR(grad(grad(grad(sixth_power)))(f64(t)).item<double>(), 120 * std::pow(t, 3), 1e-10);
  }
}

// The same by reverse mode, since the argument is a vector.
TEST(ForiLoop, ReverseModeAndReverseOverReverse) {
  auto total = [](Array t) { return sum(sixth_power(t)); };
  Array t = array({0.5, 1.5, -2.0}, DType::f64);
  auto gradient = grad(total)(t).to_vector<double>();
  auto second = grad([&](Array t) { return sum(grad(total)(t)); })(t).to_vector<double>();
  auto values = t.to_vector<double>();
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_NEAR(gradient[i], 6 * std::pow(values[i], 5), 1e-11);
    EXPECT_NEAR(second[i], 30 * std::pow(values[i], 4), 1e-10);
  }
}

TEST(ForiLoop, VmapOfLoopIsLoopOfVmap) {
  Array t = array({0.5, 1.5, -2.0}, DType::f64);
  auto together = vmap(sixth_power)(t).to_vector<double>();
  auto slopes = vmap(grad(sixth_power))(t).to_vector<double>();
  auto values = t.to_vector<double>();
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_NEAR(together[i], std::pow(values[i], 6), 1e-11);
    EXPECT_NEAR(slopes[i], 6 * std::pow(values[i], 5), 1e-11);
  }
}

struct State {
  Array position, velocity;
};

// A harmonic oscillator by the leapfrog rule; the frequency is captured.
std::pair<State, Array> oscillate(Array frequency, const State& start, const Array& pushes) {
  return scan(
      [&](const State& s, Array push) {
        Array velocity = s.velocity - 0.1 * frequency * frequency * s.position + push;
        Array position = s.position + 0.1 * velocity;
        return std::pair(State{position, velocity}, position * frequency);
      },
      start, pushes);
}

double oscillate_plainly(double frequency, double x, double v, const std::vector<double>& pushes,
                         std::vector<double>* track = nullptr) {
  double total = 0;
  for (double push : pushes) {
    v += -0.1 * frequency * frequency * x + push;
    x += 0.1 * v;
    total += x * frequency * (1 + total);
    if (track != nullptr) track->push_back(x * frequency);
  }
  return total;
}

TEST(Scan, CarriesStructsAndStacksResults) {
  std::vector<double> pushes = {0.1, -0.2, 0.3, 0.05};
  auto [end, track] = oscillate(f64(1.3), State{f64(1), f64(0)}, array(pushes));
  std::vector<double> expected;
  oscillate_plainly(1.3, 1, 0, pushes, &expected);
  EXPECT_EQ(track.to_vector<double>().size(), 4u);
  for (std::size_t i = 0; i < 4; i++) EXPECT_NEAR(track.to_vector<double>()[i], expected[i], 1e-14);
  EXPECT_NEAR(end.position.item<double>(), expected[3] / 1.3, 1e-14);
}

// A function of everything: captured value, start, xs; its gradient against central differences.
// x -> r x, n times: x r^k stacked, and their derivatives.
TEST(Scan, WithoutXsTakesALength) {
  auto powers = [](Array r) {
    return scan([&](Array c) { return std::pair(r * c, c); }, f64(3), none, {.length = 4});
  };
  auto [last, all] = powers(f64(2));
  EXPECT_EQ(last.item<double>(), 48);
  EXPECT_EQ(all.to_vector<double>(), (std::vector<double>{3, 6, 12, 24}));
  auto total = [&](Array r) { return sum(powers(sum(r)).second); };  // 3 (1 + r + r^2 + r^3)
  Array halves = array({1, 1}, DType::f64);
  EXPECT_EQ(grad(total)(halves).to_vector<double>(), (std::vector<double>{51, 51}));
  EXPECT_EQ(grad(grad(total))(f64(2)).item<double>(), 42);
  EXPECT_EQ(vmap(total)(array({1, 2}, DType::f64)).to_vector<double>(),
            (std::vector<double>{12, 45}));
  // No step, and a carry of one's own type.
  struct Count {
    Array n;
  };
  auto count = [](Count c) { return std::pair(Count{c.n + 1}, std::tuple<>()); };
  EXPECT_EQ(jit([&](Array n) { return scan(count, Count{n}, none, {.length = 5}).first.n; })(2)
                .item<int>(),
            7);
  auto [same, nothing] = scan([](Array c) { return std::pair(c, c); }, 1.5, none, {.length = 0});
  EXPECT_EQ(same.item<float>(), 1.5f);
  EXPECT_EQ(nothing.shape(), Shape{0});
}

TEST(Scan, ReverseModeIsThatOfDifferences) {
  std::vector<double> pushes = {0.1, -0.2, 0.3, 0.05};
  auto loss = [](Array frequency, const State& start, const Array& pushes) {
    auto [end, track] = oscillate(frequency, start, pushes);
    return sum(track * track) + end.position * end.velocity;
  };
  auto value = [&](double frequency, double x, double v, const std::vector<double>& p) {
    return jit(loss)(f64(frequency), State{f64(x), f64(v)}, array(p)).item<double>();
  };
  auto [by_frequency, by_start, by_pushes] =
      grad<0, 1, 2>(loss)(f64(1.3), State{f64(1), f64(0.2)}, array(pushes));
  double h = 1e-5;
  auto difference = [&](auto f) { return (f(h) - f(-h)) / (2 * h); };
  EXPECT_NEAR(by_frequency.template item<double>(),
              difference([&](double d) { return value(1.3 + d, 1, 0.2, pushes); }), 1e-8);
  EXPECT_NEAR(by_start.position.template item<double>(),
              difference([&](double d) { return value(1.3, 1 + d, 0.2, pushes); }), 1e-8);
  EXPECT_NEAR(by_start.velocity.template item<double>(),
              difference([&](double d) { return value(1.3, 1, 0.2 + d, pushes); }), 1e-8);
  auto slopes = by_pushes.template to_vector<double>();
  for (std::size_t i = 0; i < pushes.size(); i++) {
    EXPECT_NEAR(slopes[i], difference([&](double d) {
                  auto moved = pushes;
                  moved[i] += d;
                  return value(1.3, 1, 0.2, moved);
                }),
                1e-8);
  }
}

TEST(WhileLoop, CountsAndDifferentiatesForwards) {
  // Newton's method for sqrt(a): x <- (x + a / x) / 2 until it stands still.
  auto root = [](Array a) {
    auto end = while_loop(
        [&](const std::pair<Array, Array>& s) { return abs(s.first - s.second) > 1e-12; },
        [&](const std::pair<Array, Array>& s) {
          return std::pair(0.5 * (s.first + a / s.first), s.first);
        },
        std::pair(a, 0.0 * a));
    return end.first;
  };
  for (double a : {0.3, 2.0, 10.0}) {
    EXPECT_NEAR(root(f64(a)).item<double>(), std::sqrt(a), 1e-12);
    EXPECT_NEAR(grad(root)(f64(a)).item<double>(), 0.5 / std::sqrt(a), 1e-10);
  }
  // Problems that end at different times, in one loop.
  auto together = vmap(root)(array({0.3, 2.0, 10.0}, DType::f64)).to_vector<double>();
  EXPECT_NEAR(together[0], std::sqrt(0.3), 1e-12);
  EXPECT_NEAR(together[2], std::sqrt(10.0), 1e-12);
}

TEST(WhileLoop, ReverseModeNamesTheRemedy) {
  auto f = [](Array x) {
    return sum(
        while_loop([](Array y) { return sum(y) < 10.0; }, [](Array y) { return 2.0 * y; }, x));
  };
  try {
    grad(f)(array({1, 2, 3}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.what())
                    .starts_with("while_loop: reverse mode needs to know how many iterations there "
                                 "are (control_flow_test.cc:"))
        << error.what();
  }
}

TEST(Scan, CarryThatChangesItsTypeIsNamed) {
  try {
    fori_loop(
        0, 3,
        [](Array, const State& s) {
          return State{s.position, convert(s.velocity, DType::f32)};
        },
        State{f64(1), f64(2)});
    FAIL() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_TRUE(std::string_view(error.what())
                    .starts_with("fori_loop: carry out .velocity is f32[], carry in is f64[] "
                                 "(control_flow_test"))
        << error.what();
  }
}

TEST(Scan, CarryOfOneArrayHasNoPath) {
  try {
    fori_loop(
        0, 3, [](Array, Array x) { return x * 0.5; }, 1);
    FAIL() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_TRUE(std::string_view(error.what())
                    .starts_with("fori_loop: carry out is f32[], carry in is i32[] (control"))
        << error.what();
  }
}

TEST(ForiLoop, ZeroIterationsGiveTheStart) {
  EXPECT_EQ(fori_loop(
                3, 3, [](Array, Array c) { return c + 1.0; }, f64(7))
                .item<double>(),
            7);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at++) found++;
  return found;
}

// A value and its derivative share the loop that computes the value.
TEST(Loops, ValueAndDerivativeRunTogether) {
  auto stepped = [](Array t) {
    return fori_loop(
        0, 5, [&](Array, Array c) { return sin(c) * t; }, t);
  };
  Array x = f64(0.7);
  auto both = [&](Array t) { return jvp(stepped, t, ones_like(t)); };
  EXPECT_EQ(count(lower(both, x).stablehlo(), "stablehlo.while"), 1u);
  auto [value, tangent] = jit(both)(x);
  EXPECT_EQ(value.item<double>(), stepped(x).item<double>());
  EXPECT_NEAR(tangent.item<double>(), grad(stepped)(x).item<double>(), 1e-14);

  auto total = [&](Array t) { return sum(stepped(t)); };
  Array v = array({0.5, 1.5}, DType::f64);
  // Forwards once, backwards once.
  EXPECT_EQ(count(lower(value_and_grad(total), v).stablehlo(), "stablehlo.while"), 2u);
  auto [sum_of, gradient] = jit(value_and_grad(total))(v);
  EXPECT_NEAR(sum_of.item<double>(), total(v).item<double>(), 1e-14);
  EXPECT_NEAR(gradient.to_vector<double>()[0], grad(stepped)(f64(0.5)).item<double>(), 1e-14);

  auto open = [](Array t) {
    auto more = [](const std::pair<Array, Array>& s) { return s.second < 100.0; };
    auto step = [&](const std::pair<Array, Array>& s) {
      return std::pair(s.first + 1, s.second * t);
    };
    return while_loop(more, step, std::pair(Array(0), t)).second;
  };
  auto open_both = [&](Array t) { return jvp(open, t, ones_like(t)); };
  EXPECT_EQ(count(lower(open_both, f64(3)).stablehlo(), "stablehlo.while"), 1u);
  auto [power, slope] = jit(open_both)(f64(3));
  EXPECT_EQ(power.item<double>(), 243);
  EXPECT_NEAR(slope.item<double>(), 5 * 81, 1e-11);

  // Loops that only look alike stay apart.
  auto two = [](Array t) {
    Array a = fori_loop(
        0, 5, [&](Array, Array c) { return sin(c); }, t);
    Array b = fori_loop(
        0, 5, [&](Array, Array c) { return cos(c); }, t);
    return a + b;
  };
  EXPECT_EQ(count(lower(two, x).stablehlo(), "stablehlo.while"), 2u);
}

// The counter of a loop is not an array of all its numbers.
TEST(Loops, NeedNoMemoryForTheirCounter) {
  auto next = [](Array i, Array x) { return x + 2 * i; };
  auto loop = [&](const Array& x) { return fori_loop(3, 10'000'003, next, x); };
  for (DType dtype : {DType::i32, DType::i64}) {
    Array start(0, dtype);
    std::string program = jit(loop).compile(start).program().optimized();
    EXPECT_EQ(program.find("[10000000]"), std::string::npos);
  }
  auto far = [](Array i, Array x) { return x + convert(i, DType::i64); };
  EXPECT_EQ(fori_loop(5'000'000'000, 5'000'000'003, far, Array(0, DType::i64)).item<std::int64_t>(),
            15'000'000'003);
  EXPECT_EQ(fori_loop(
                -2, 3, [](Array i, Array x) { return 10 * x + i; }, 0)
                .item<int>(),
            -20988);
}

TEST(Loops, SmallOnesAreOneFunctionWhereAskedFor) {
  auto turns = [](const Array& x) {
    auto inner = [&](Array, Array y) { return sin(y) + 0.1 * x; };
    auto outer = [&](Array i, Array y) {
      Array again = fori_loop(0, 3, inner, y);
      return cond((i & 1) == 0, [](const Array& z) { return z; },
                  [](const Array& z) { return 2.0 * z; }, again);
    };
    return fori_loop(0, 4, outer, x);
  };
  for (std::int64_t size : {3, 6000}) {
    Array x = linspace(0.1, 0.9, size);
    auto values = x.to_vector<float>(), before = jit(turns)(x).to_vector<float>();
    internal::SmallLoops guard;
    auto program = jit(turns).compile(x);
    bool called = program.program().optimized().find("calls loop") != std::string::npos;
    EXPECT_EQ(called, size == 3 && default_device().owner().platform_name() == "cpu");
    auto found = program(x).to_vector<float>();
    for (std::size_t k = 0; k < values.size(); k++) {
      float y = values[k];
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 3; j++) y = std::sin(y) + 0.1f * values[k];
        if (i % 2 == 1) y *= 2;
      }
      ASSERT_NEAR(found[k], y, 1e-5);
      ASSERT_NEAR(before[k], y, 1e-5);
    }
  }
}

TEST(Scan, NumbersAreStacked) {
  auto step = [](Array c, Array x) { return std::pair(c + x, 1.5); };
  auto [total, ys] = scan(step, 0.0, array({1, 2, 3}));
  EXPECT_EQ(total.item<float>(), 6);
  EXPECT_EQ(ys.to_vector<float>(), (HostVector<float>{1.5, 1.5, 1.5}));
}

TEST(Switch, LambdasOfDifferentTypes) {
  auto choose = [](Array i, Array x) {
    return switch_(i, std::tuple([](Array y) { return y; }, [](Array y) { return -y; }), x);
  };
  EXPECT_EQ(choose(0, 2.0).item<float>(), 2);
  EXPECT_EQ(jit(choose)(1, 2.0).item<float>(), -2);
  EXPECT_EQ(grad([&](Array x) { return choose(1, x); })(2.0).item<float>(), -1);
}

}  // namespace
}  // namespace sturnus
