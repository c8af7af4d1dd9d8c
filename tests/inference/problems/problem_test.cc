#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/inference/problems/problem.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Spring {
  Array omega, zeta;
};

Array spring_residual(const Field& f, const Array& t, const Spring& s) {
  return grad(grad(f))(t) + 2.0 * s.zeta * s.omega * grad(f)(t) + square(s.omega) * f(t);
}

Problem spring() {
  Problem problem;
  problem.name = "spring";
  problem.equation = spring_residual;
  problem.parameters = {{.name = "omega"}, {.name = "zeta"}};
  problem.low = {0};
  problem.high = {10};
  problem.data = measurements({0, 1, 10}, {0.5, 0.2, -0.1});
  problem.noise_sd = 0.1;
  return problem;
}

TEST(Equation, TakesItsParametersAsAStruct) {
  Equation equation = spring_residual;
  EXPECT_FALSE(equation.empty());
  EXPECT_THAT(equation.names(), ElementsAre(".omega", ".zeta"));
  // f = t^3 at 2 with omega = 3, zeta = 0.5: 12 + 3 * 12 + 9 * 8.
  Field cube = [](const Array& t) { return t * t * t; };
  Array residual = equation(cube, Array(2.0, DType::f64), array(Doubles{3, 0.5}));
  EXPECT_NEAR(residual.item<double>(), 120, 1e-12);

  Equation lambda = [](const Field& f, const Array& t, const Spring& s) {
    return f(t) + s.omega - s.zeta;
  };
  EXPECT_THAT(lambda.names(), ElementsAre(".omega", ".zeta"));
  EXPECT_NEAR(lambda(cube, Array(2.0, DType::f64), array(Doubles{3, 0.5})).item<double>(), 10.5,
              1e-12);
}

TEST(Equation, TakesItsParametersAsAnArray) {
  Equation equation = [](const Field& f, const Array& t, const Array& p) {
    return grad(f)(t) - p[1] * f(t) + p[0];
  };
  EXPECT_THAT(equation.names(), IsEmpty());
  Field square_of = [](const Array& t) { return t * t; };
  EXPECT_NEAR(equation(square_of, Array(3.0, DType::f64), array(Doubles{0.25, 2})).item<double>(),
              6 - 18 + 0.25, 1e-12);
  EXPECT_TRUE(Equation().empty());
}

TEST(Measurements, AreSamplesOfOneInput) {
  Samples samples = measurements({0, 1.5}, {3, -4});
  EXPECT_EQ(samples.points, 2u);
  EXPECT_EQ(samples.inputs, 1u);
  EXPECT_EQ(samples.outputs, 1u);
  EXPECT_THAT(samples.x, ElementsAre(0, 1.5));
  EXPECT_THAT(samples.y, ElementsAre(3, -4));
  EXPECT_THAT(error_of([] {
                measurements({1, 2}, {3});
              }),
              HasSubstr("measurements: 2 points, but 1 values"));
}

TEST(Problem, ThatIsRightPasses) {
  EXPECT_NO_THROW(spring().check());
  EXPECT_EQ(spring().inputs(), 1);
  EXPECT_EQ(spring().outputs(), 1);

  Problem wave = spring();  // two inputs, two outputs, a vector of residuals
  wave.equation = [](const Field& u, const Array& x, const Array& p) {
    return p[0] * jvp(u, x, ones_like(x)).second + p[1] * u(x);
  };
  wave.low = {0, -1};
  wave.high = {2, 1};
  wave.data = {.points = 1, .inputs = 2, .outputs = 2, .x = {1, 0}, .truth = {}, .y = {3, 4}};
  EXPECT_NO_THROW(wave.check());
  EXPECT_EQ(wave.inputs(), 2);
  EXPECT_EQ(wave.outputs(), 2);

  Problem known = spring();  // nothing unknown but f
  known.equation = [](const Field& f, const Array& t, const Array&) { return f(t); };
  known.parameters = {};
  EXPECT_NO_THROW(known.check());
}

TEST(Problem, SaysWhatIsWrong) {
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  struct Bad {
    std::function<void(Problem&)> spoil;
    const char* message;
  };
  const std::vector<Bad> table = {
      {[](Problem& p) { p.low = {}; }, "problem spring: the domain has 0 lower and 1 upper bounds"},
      {[](Problem& p) { p.low = p.high = {}; }, "0 lower and 0 upper bounds. Give one of each"},
      {[](Problem& p) {
         p.high = {1, 2};
       },
       "1 lower and 2 upper bounds"},
      {[](Problem& p) { p.low = {10}; }, "input 0 ranges from 10.000000 to 10.000000"},
      {[&](Problem& p) { p.low = {nan}; }, "input 0 ranges from nan"},
      {[&](Problem& p) { p.high = {inf}; }, "to inf. Both must be finite"},
      {[](Problem& p) { p.data = {}; }, "there are no measurements. Give at least one"},
      {[](Problem& p) { p.data.inputs = 2; }, "measured points have 2 inputs, the domain has 1"},
      {[](Problem& p) { p.data.outputs = 0; }, "measurements of 0 outputs"},
      {[](Problem& p) { p.data.x.pop_back(); },
       "3 measurements of 1 inputs and 1 outputs need 3 and 3 numbers, but there are 2 and 3"},
      {[](Problem& p) { p.data.y = {}; }, "need 3 and 3 numbers, but there are 3 and 0"},
      {[](Problem& p) { p.data.outputs = 2; }, "need 3 and 6 numbers"},
      {[](Problem& p) { p.data.x[2] = 10.5; },
       "measurement 2 lies at 10.500000, outside the domain from 0.000000 to 10.000000"},
      {[&](Problem& p) { p.data.x[1] = nan; }, "measurement 1 lies at nan"},
      {[&](Problem& p) { p.data.y[1] = nan; },
       "measurement 1 is nan. Leave out what was not measured"},
      {[&](Problem& p) { p.data.y[0] = -inf; }, "measurement 0 is -inf"},
      {[](Problem& p) { p.noise_sd = 0; }, "the noise has standard deviation 0.000000. It must be"},
      {[](Problem& p) { p.noise_sd = -1; }, "standard deviation -1.000000"},
      {[&](Problem& p) { p.noise_sd = nan; }, "standard deviation nan"},
      {[&](Problem& p) { p.noise_sd = inf; }, "standard deviation inf"},
      {[](Problem& p) { p.equation = {}; }, "there is no equation"},
      {[](Problem& p) { p.parameters.pop_back(); },
       "the equation has 2 parameters (.omega ...), but 1 are described"},
      {[](Problem& p) { p.parameters.push_back({.name = "more"}); }, "but 3 are described"},
      {[](Problem& p) {
         p.parameters[1].start = {2, 2};
       },
       "parameter zeta starts between 2.000000 and 2.000000"},
      {[&](Problem& p) {
         p.parameters[0].start = {nan, 2};
       },
       "parameter omega starts between nan"},
      {[](Problem& p) {
         p.equation = [](const Field& f, const Array& t, const Array&) {
           return broadcast_to(f(t), {2, 3});
         };
       },
       "the residual at one point is f32[2,3]. It must be a number, or a vector"},
      {[](Problem& p) {
         p.equation = [](const Field&, const Array&, const Array&) { return Array(1); };
       },
       "the residual at one point is i32[]"},
      {[](Problem& p) {
         p.equation = [](const Field&, const Array&, const Array&) { return Array(); };
       },
       "the residual at one point is an empty array"},
      {[](Problem& p) { p.name = "", p.noise_sd = 0; }, "problem without a name: the noise"},
  };
  for (const Bad& bad : table) {
    Problem problem = spring();
    bad.spoil(problem);
    EXPECT_THAT(error_of([&] { problem.check(); }), HasSubstr(bad.message));
  }
}

// Where lambda is an array, what it lacks is found when the residual is traced.
TEST(Problem, WithTooFewElementsOfAnArrayIsRefused) {
  Problem problem = spring();
  problem.equation = [](const Field& f, const Array& t, const Array& p) { return f(t) * p[2]; };
  EXPECT_NE(error_of([&] { problem.check(); }), "");
}

}  // namespace
}  // namespace sturnus
