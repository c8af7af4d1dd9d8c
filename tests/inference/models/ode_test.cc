// Solvers of differential equations against closed forms, Boost.Odeint, and differences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/models/ode.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Method {
  OdeMethod method;
  double order, inside;  // of the end of a step, and at times between
};
constexpr Method methods[] = {
    {OdeMethod::dormand_prince, 5, 4}, {OdeMethod::tsitouras, 5, 4}, {OdeMethod::rosenbrock, 4, 4}};

// An equation with an answer: y at times, and its field.
struct Case {
  std::string name;
  VectorField f;
  Doubles start;
  double end;
  std::function<Doubles(double)> exact;
};

std::vector<Case> cases() {
  return {
      {"decay",
       [](const Array&, const Array& y) { return -0.7 * y; },
       {2.0},
       5,
       [](double t) { return Doubles{2 * std::exp(-0.7 * t)}; }},
      {"oscillation",
       [](const Array&, const Array& y) {
         return stack({y(1), -4.0 * y(0)}, 0);
       },
       {1.0, 0.0},
       6,
       [](double t) {
         return Doubles{std::cos(2 * t), -2 * std::sin(2 * t)};
       }},
      {"a field that depends on time",
       [](const Array& t, const Array& y) { return y * cos(t); },
       {1.0},
       7,
       [](double t) { return Doubles{std::exp(std::sin(t))}; }},
      {"logistic growth",
       [](const Array&, const Array& y) { return y * (1.0 - y); },
       {0.1},
       8,
       [](double t) { return Doubles{1 / (1 + 9 * std::exp(-t))}; }},
  };
}

Array even_times(double end, int count) {
  Doubles times;
  for (int i = 0; i < count; i++) times.push_back(end * i / (count - 1));
  return array(times);
}

Array start_of(const Case& c) { return array(c.start); }

double error_at(const Case& c, const Array& y, const Array& times) {
  Doubles values = doubles(y), at = doubles(times);
  double worst = 0;
  for (std::size_t i = 0; i < at.size(); i++) {
    Doubles exact = c.exact(at[i]);
    for (std::size_t j = 0; j < exact.size(); j++) {
      worst = std::max(worst, std::abs(values[i * exact.size() + j] - exact[j]));
    }
  }
  return worst;
}

TEST(Rk4, IsOfFourthOrder) {
  for (const Case& c : cases()) {
    Array times = even_times(c.end, 21);
    double coarse = error_at(c, rk4(c.f, start_of(c), times, {.substeps = 2}), times);
    double fine = error_at(c, rk4(c.f, start_of(c), times, {.substeps = 4}), times);
    EXPECT_NEAR(std::log2(coarse / fine), 4, 0.35) << c.name;
    EXPECT_LT(fine, 1e-4) << c.name;
  }
}

TEST(Rk4, GoesBackwards) {
  Case c = cases()[0];
  Array times = array(Doubles{0.0, -1.0, -2.0});
  EXPECT_LT(error_at(c, rk4(c.f, start_of(c), times, {.substeps = 50}), times), 1e-7);
}

struct Prey {
  double alpha = 1.5, beta = 1.0, gamma = 3.0, delta = 1.0;
  void operator()(const Doubles& y, Doubles& slope, double) const {
    slope[0] = y[0] * (alpha - beta * y[1]);
    slope[1] = -y[1] * (gamma - delta * y[0]);
  }
};

// lambda: alpha, beta, gamma, delta.
VectorField prey_field(const Array& lambda) {
  return [lambda](const Array&, const Array& y) {
    return stack({y(0) * (lambda(0) - lambda(1) * y(1)), -y(1) * (lambda(2) - lambda(3) * y(0))},
                 0);
  };
}

// The same steps by Boost.Odeint: the same numbers but for rounding.
TEST(Rk4, AgreesWithOdeint) {
  namespace odeint = boost::numeric::odeint;
  Doubles y = {1.0, 1.0}, expected = y;
  odeint::runge_kutta4<Doubles> stepper;
  const int substeps = 10;
  for (int i = 0; i < 12 * substeps; i++) {
    stepper.do_step(Prey{}, y, 0.25 / substeps * i, 0.25 / substeps);
    if ((i + 1) % substeps == 0) expected.insert(expected.end(), y.begin(), y.end());
  }
  Array lambda = array(Doubles{1.5, 1.0, 3.0, 1.0}), start = array(Doubles{1.0, 1.0});
  for (bool unroll : {false, true}) {
    auto solve = jit([&](Array lambda, Array start) {
      return rk4(prey_field(lambda), start, even_times(3, 13),
                 {.substeps = substeps, .unroll = unroll});
    });
    Doubles got = doubles(solve(lambda, start));
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); i++) {
      EXPECT_NEAR(got[i], expected[i], 1e-12 * std::abs(expected[i])) << i;
    }
  }
}

// Slopes of a function of six numbers, forwards and backwards, against differences of fourth order.
void expect_derivatives(const std::function<Array(Array)>& forwards,
                        const std::function<Array(Array)>& backwards, double tolerance) {
  Array x = array(Doubles{1.5, 1.0, 3.0, 1.0, 1.1, 0.9});
  Doubles forward = doubles(jit(jacfwd(forwards))(x));
  Doubles reverse = doubles(jit(grad(backwards))(x));
  auto value = jit(forwards);
  Doubles point = doubles(x);
  for (std::size_t i = 0; i < point.size(); i++) {
    auto at = [&](double step) {
      Doubles moved = point;
      moved[i] += step;
      return value(array(moved)).item<double>();
    };
    constexpr double h = 1e-3;
    double difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    EXPECT_NEAR(forward[i], difference, tolerance * (1 + std::abs(difference))) << i;
    EXPECT_NEAR(reverse[i], forward[i], 1e-9 * (1 + std::abs(forward[i]))) << i;
  }
}

TEST(Rk4, DifferentiatesInBothModes) {
  for (bool unroll : {false, true}) {
    SCOPED_TRACE(unroll);
    auto objective = [=](Array x) {
      Array lambda = x(Slice{0, 4}), start = x(Slice{4, 6});
      return sum(square(
          rk4(prey_field(lambda), start, even_times(3, 7), {.substeps = 5, .unroll = unroll})));
    };
    expect_derivatives(objective, objective, 1e-7);
  }
}

// Errors stay near the tolerance, and fall with it as the order says: with ten times less tolerance
// there are 10^(1/order) times as many steps.
TEST(SolveOde, KeepsTheTolerance) {
  for (const Method& m : methods) {
    for (const Case& c : cases()) {
      Array times = even_times(c.end, 37);
      double steps_before = 0;
      for (double tolerance : {1e-5, 1e-9}) {
        OdeSolution s =
            solve_ode(c.f, start_of(c), times,
                      {.method = m.method, .relative = tolerance, .absolute = tolerance});
        EXPECT_LT(error_at(c, s.y, times), 30 * tolerance) << c.name << " " << tolerance;
        double steps = s.steps.item<int>();
        // Steps of rosenbrock end at the times.
        if (steps_before > 0 && m.method != OdeMethod::rosenbrock) {
          EXPECT_NEAR(std::log(steps / steps_before) / std::log(1e4), 1 / m.order, 0.07) << c.name;
        }
        steps_before = steps;
      }
    }
  }
}

// One step of any length.
TEST(SolveOde, IsOfTheOrderItSays) {
  Case c = cases()[2];
  for (const Method& m : methods) {
    auto errors = [&](double h) {
      const double from = 0.5;
      Array times = array(Doubles{from, from + 0.37 * h, from + h});
      // Tolerances so loose that one step does it.
      OdeSolution s = solve_ode(c.f, array(c.exact(from)), times,
                                {.method = m.method, .relative = 1e3, .absolute = 1e3});
      Doubles y = doubles(s.y);
      return std::pair(std::abs(y[1] - c.exact(from + 0.37 * h)[0]),
                       std::abs(y[2] - c.exact(from + h)[0]));
    };
    auto [inside, at_end] = errors(0.2);
    auto [inside_half, at_end_half] = errors(0.1);
    EXPECT_NEAR(std::log2(at_end / at_end_half), m.order + 1, 0.6);
    EXPECT_NEAR(std::log2(inside / inside_half), m.inside + 1, 0.7);
  }
}

TEST(SolveOde, AgreesWithOdeint) {
  namespace odeint = boost::numeric::odeint;
  Doubles y = {1.0, 1.0}, expected, times;
  for (int i = 0; i <= 40; i++) times.push_back(0.25 * i);
  auto stepper = odeint::make_dense_output(1e-12, 1e-12, odeint::runge_kutta_dopri5<Doubles>());
  odeint::integrate_times(
      stepper, Prey{}, y, times.begin(), times.end(), 1e-3,
      [&](const Doubles& at, double) { expected.insert(expected.end(), at.begin(), at.end()); });
  Array lambda = array(Doubles{1.5, 1.0, 3.0, 1.0});
  for (const Method& m : methods) {
    OdeOptions options{.method = m.method, .relative = 1e-9, .absolute = 1e-9};
    auto solve = jit([&](Array lambda, Array start) {
      return solve_ode(prey_field(lambda), start, array(times), options).y;
    });
    Doubles got = doubles(solve(lambda, array(Doubles{1.0, 1.0})));
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 3e-7) << i;
  }
}

// Backwards through the loop that takes all its turns.
TEST(SolveOde, DifferentiatesInBothModes) {
  for (const Method& m : methods) {
    auto objective = [m](bool bounded) {
      return [m, bounded](Array x) {
        Array lambda = x(Slice{0, 4}), start = x(Slice{4, 6});
        bool implicit = m.method == OdeMethod::rosenbrock;
        double tolerance = implicit ? 1e-7 : 1e-8;
        OdeOptions options{.method = m.method,
                           .relative = tolerance,
                           .absolute = tolerance,
                           .max_steps = implicit ? 400 : 120,
                           .bounded = bounded};
        return sum(square(solve_ode(prey_field(lambda), start, even_times(3.0, 7), options).y));
      };
    };
    expect_derivatives(objective(false), objective(true), 2e-4);
  }
}

// Of y' = -rate y from y(0) = 1, by the rate, in every order of the transforms: under vmap those
// that arrive first wait for the others, and their loop tries steps that it does not take.
TEST(SolveOde, DifferentiatesUnderAndOverVmap) {
  Array rates = array(Doubles{0.1, 1.0, 10.0}), times = array(Doubles{0.0, 0.5, 2.0});
  for (const Method& m : methods) {
    SCOPED_TRACE(static_cast<int>(m.method));
    auto last_of = [&](bool bounded) {
      OdeOptions options = {.method = m.method,
                            .relative = 1e-7,
                            .absolute = 1e-9,
                            .max_steps = 200,
                            .bounded = bounded};
      return [=](Array rate) {
        VectorField f = [rate](const Array&, const Array& y) { return -rate * y; };
        return sum(solve_ode(f, array(Doubles{1.0}), times, options).y);
      };
    };
    auto total = [&](Array x) { return sum(vmap(last_of(true))(x)); };
    auto forward = [&](Array x) { return sum(vmap(last_of(false))(x)); };
    auto expect_slopes = [](const char* how, const Array& slopes) {
      SCOPED_TRACE(how);
      Doubles found = doubles(slopes);
      for (std::size_t i = 0; i < 3; i++) {
        double rate = std::pow(10, static_cast<double>(i) - 1);
        double exact = -0.5 * std::exp(-0.5 * rate) - 2 * std::exp(-2 * rate);
        EXPECT_NEAR(found[i], exact, 1e-5) << "rate " << rate;
      }
    };
    expect_slopes("grad of vmap", jit(grad(total))(rates));
    expect_slopes("vmap of grad", jit(vmap(grad(last_of(true))))(rates));
    expect_slopes("jacfwd of vmap", jit(jacfwd(forward))(rates));
  }
}

// Without any error the norm of it has no slope.
TEST(SolveOde, DifferentiatesWhereNothingMoves) {
  Array times = array(Doubles{0.0, 1.0, 3.0});
  for (const Method& m : methods) {
    for (bool bounded : {false, true}) {
      OdeOptions options = {.method = m.method, .max_steps = 100, .bounded = bounded};
      auto logistic = [&](Array start) {
        VectorField f = [](const Array&, const Array& y) { return y * (1.0 - y); };
        return solve_ode(f, reshape(start, {1}), times, options).y(2, 0);
      };
      // d y(3) / d y(0) is exp(f'(y) 3) at a place that stays.
      for (double at : {0.0, 1.0}) {
        double exact = std::exp((1 - 2 * at) * 3);
        Array start(at, DType::f64);
        double slope =
            bounded ? doubles(grad(logistic)(start))[0] : doubles(jacfwd(logistic)(start))[0];
        // Steps are long where there is no error.
        EXPECT_NEAR(slope, exact, 0.2 * exact) << "at " << at << (bounded ? ", backwards" : "");
      }
    }
  }
}

// y(t) = y0 + t - t0 of y' = 1, and what depends on the time itself.
TEST(SolveOde, DifferentiatesByTimes) {
  Array start = array(Doubles{0.0});
  for (const Method& m : methods) {
    auto end_of = [&](const VectorField& f) {
      return [=](Array times) { return solve_ode(f, start, times, {.method = m.method}).y(1, 0); };
    };
    Array times = array(Doubles{0.5, 2.0});
    auto steady = [](const Array&, const Array& y) { return ones_like(y); };
    auto growing = [](const Array& t, const Array& y) { return t * ones_like(y); };
    EXPECT_THAT(doubles(jacfwd(end_of(steady))(times)),
                ElementsAre(DoubleNear(-1, 1e-9), DoubleNear(1, 1e-9)));
    EXPECT_THAT(doubles(jacfwd(end_of(growing))(times)),
                ElementsAre(DoubleNear(-0.5, 1e-9), DoubleNear(2, 1e-9)));
  }
}

// Robertson's reactions, with rates of 0.04 to 3e7, by Odeint's implicit method: the same
// coefficients, but its own choice of steps.
TEST(SolveOde, StiffEquationsAgreeWithOdeint) {
  namespace odeint = boost::numeric::odeint;
  namespace ublas = boost::numeric::ublas;
  using Vector = ublas::vector<double>;
  auto slope = [](const Vector& y, Vector& dy, double) {
    dy[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    dy[2] = 3e7 * y[1] * y[1];
    dy[1] = -dy[0] - dy[2];
  };
  auto jacobian = [](const Vector& y, ublas::matrix<double>& j, double, Vector& by_time) {
    const double rows[3][3] = {{-0.04, 1e4 * y[2], 1e4 * y[1]}, {}, {0, 6e7 * y[1], 0}};
    for (std::size_t k = 0; k < 3; k++) {
      j(0, k) = rows[0][k];
      j(2, k) = rows[2][k];
      j(1, k) = -rows[0][k] - rows[2][k];
      by_time[k] = 0;
    }
  };
  const Doubles times = {0, 0.4, 4, 40, 400, 4000};
  Doubles expected;
  Vector y(3);
  y[0] = 1, y[1] = 0, y[2] = 0;
  odeint::integrate_times(
      odeint::make_dense_output(1e-12, 1e-10, odeint::rosenbrock4<double>()),
      std::pair(slope, jacobian), y, times.begin(), times.end(), 1e-6,
      [&](const Vector& at, double) { expected.insert(expected.end(), at.begin(), at.end()); });

  auto reactions = [](const Array&, const Array& y) {
    Array first = -0.04 * y(0) + 1e4 * y(1) * y(2), last = 3e7 * y(1) * y(1);
    return stack({first, -first - last, last}, 0);
  };
  OdeOptions options = {.method = OdeMethod::rosenbrock, .relative = 1e-7, .absolute = 1e-11};
  OdeSolution s = solve_ode(reactions, array(Doubles{1.0, 0.0, 0.0}), array(times), options);
  Doubles got = doubles(s.y);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); i++) {
    EXPECT_NEAR(got[i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-10) << i;
  }
  EXPECT_LT(s.steps.item<int>(), 400);
}

// y' = -1e6 (y - cos t): after a short while y is cos t + 1e-6 sin t, whatever the start.
TEST(SolveOde, AStiffEquationCostsRosenbrockFewSteps) {
  auto f = [](const Array& t, const Array& y) { return -1e6 * (y - cos(t)); };
  Array start = array(Doubles{0.0}), times = array(Doubles{0.0, 1.0, 2.0});
  OdeSolution s = solve_ode(f, start, times, {.method = OdeMethod::rosenbrock});
  EXPECT_NEAR(doubles(s.y)[1], std::cos(1) + 1e-6 * std::sin(1), 1e-6);
  EXPECT_NEAR(doubles(s.y)[2], std::cos(2) + 1e-6 * std::sin(2), 1e-6);
  EXPECT_LT(s.steps.item<int>(), 200);
  EXPECT_THAT([&] { solve_ode(f, start, times); },
              ThrowsMessage<Error>(HasSubstr("take OdeMethod::rosenbrock")));
}

TEST(SolveOde, MapsOverParameters) {
  Array rates = array(Doubles{0.1, 1.0, 10.0});
  Array times = even_times(2.0, 5);
  auto solve = [&](Array rate) {
    VectorField f = [rate](const Array&, const Array& y) { return -rate * y; };
    return solve_ode(f, array(Doubles{1.0}), times).y;
  };
  Doubles all = doubles(vmap(solve)(rates));
  for (int i = 0; i < 3; i++) {
    Doubles one = doubles(solve(rates(i)));
    for (std::size_t j = 0; j < one.size(); j++) {
      EXPECT_NEAR(all[static_cast<std::size_t>(i) * one.size() + j], one[j], 1e-12);
    }
  }
}

TEST(SolveOde, KeepsSinglePrecisionAndShapes) {
  Array start = ones({2, 3});
  OdeSolution s = solve_ode([](const Array&, const Array& y) { return -y; }, start,
                            array(Doubles{0.0, 1.0}), {.relative = 1e-4, .absolute = 1e-4});
  EXPECT_EQ(s.y.type().str(), "f32[2,2,3]");
  for (double y : doubles(s.y(1))) EXPECT_NEAR(y, std::exp(-1), 1e-3);
}

// y' = y^2 from 1 has a pole at t = 1; van der Pol's equation with 1e6 is stiff.
TEST(SolveOde, SaysWhereItStopped) {
  auto square_of = [](const Array&, const Array& y) { return y * y; };
  Array one = array(Doubles{1.0}), times = array(Doubles{0.0, 0.5, 2.0});
  OdeSolution pole = jit([&](Array start) { return solve_ode(square_of, start, times); })(one);
  EXPECT_NEAR(doubles(pole.y)[1], 2, 1e-4);
  EXPECT_TRUE(std::isnan(doubles(pole.y)[2]));
  EXPECT_NEAR(pole.reached.item<double>(), 1, 1e-3);
  auto says = ThrowsMessage<Error>(HasSubstr("of 2.000000 was reached"));
  EXPECT_THAT([&] { checked(pole, times); }, says);
  EXPECT_THAT([&] { solve_ode(square_of, one, times); }, says);

  auto stiff = [](const Array&, const Array& y) {
    return stack({y(1), 1e6 * (1.0 - y(0) * y(0)) * y(1) - y(0)}, 0);
  };
  Array start = array(Doubles{2.0, 0.0});
  times = array(Doubles{0.0, 1e3});
  OdeSolution slow =
      jit([&](Array start) { return solve_ode(stiff, start, times, {.max_steps = 500}); })(start);
  EXPECT_THAT([&] { checked(slow, times); },
              ThrowsMessage<Error>(HasSubstr("The equation is stiff")));
  EXPECT_EQ(slow.steps.item<int>() + slow.rejected.item<int>(), 500);
  OdeSolution quick = solve_ode(stiff, start, times, {.method = OdeMethod::rosenbrock});
  // As long as y is above 1, y' = -y / (1e6 (y^2 - 1)): y falls by t / 1.5e6.
  EXPECT_NEAR(doubles(quick.y)[2], 2 - 1e3 / 1.5e6, 1e-5);
  EXPECT_LT(quick.steps.item<int>(), 100);
}

TEST(SolveOde, RefusesWhatMakesNoSense) {
  Array y = array(Doubles{1.0}), times = array(Doubles{0.0, 1.0});
  auto decay = [](const Array&, const Array& y) { return -y; };
  auto scalar = [](const Array&, const Array& y) { return sum(y); };
  EXPECT_THAT([&] { rk4(scalar, y, times); },
              ThrowsMessage<ShapeError>(HasSubstr("y is f64[1], and y' is f64[]")));
  EXPECT_THAT([&] { solve_ode(scalar, y, times); },
              ThrowsMessage<ShapeError>(HasSubstr("Let the vector field return what y is")));
  EXPECT_THAT([&] { rk4(decay, y, times, {.substeps = 0}); },
              ThrowsMessage<Error>(HasSubstr("Take at least 1")));
  EXPECT_THAT([&] { rk4(decay, y, Array(0.0)); },
              ThrowsMessage<ShapeError>(HasSubstr("a vector of at least one time")));
  EXPECT_THAT(
      [&] {
        solve_ode(decay, y, array(Doubles{0.0, 2.0, 1.5}));
      },
      ThrowsMessage<Error>(HasSubstr("time 1 is 2.000000, and time 2 is 1.500000. Give times that "
                                     "increase")));
  EXPECT_THAT([&] { solve_ode(decay, y, times, {.relative = -1}); },
              ThrowsMessage<Error>(HasSubstr("Give positive ones")));
}

}  // namespace
}  // namespace sturnus
