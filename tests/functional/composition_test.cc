// Random programs of ops and transforms against an independent evaluation: dual numbers and loops
// in plain C++.
#include <gtest/gtest.h>
#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jet.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <random>

namespace sturnus {
namespace {

// A truncated Taylor series in plain C++: the independent evaluation.
struct Taylor {
  std::array<double, 4> c = {};
};
Taylor operator+(Taylor a, const Taylor& b) {
  for (std::size_t k = 0; k < 4; k++) a.c[k] += b.c[k];
  return a;
}
Taylor operator*(const Taylor& a, const Taylor& b) {
  Taylor r;
  for (std::size_t k = 0; k < 4; k++) {
    for (std::size_t i = 0; i <= k; i++) r.c[k] += a.c[i] * b.c[k - i];
  }
  return r;
}
// f(a) from f's derivatives at a.c[0].
Taylor composed(const Taylor& a, const std::array<double, 4>& derivatives) {
  Taylor d = a;
  d.c[0] = 0;
  Taylor power, r;
  power.c[0] = 1;
  double factorial = 1;
  for (std::size_t k = 0; k < 4; k++) {
    if (k > 0) factorial *= static_cast<double>(k);
    for (std::size_t i = 0; i < 4; i++) r.c[i] += derivatives[k] / factorial * power.c[i];
    power = power * d;
  }
  return r;
}

// One step of a program: values are combined with an earlier one. The same table in both worlds.
struct Step {
  int kind;
  std::size_t a, b;
};

Taylor plain(const std::vector<Step>& program, const Taylor& x) {
  std::vector<Taylor> v = {x};
  for (const Step& s : program) {
    const Taylor &a = v[s.a], &b = v[s.b];
    double t = a.c[0], e = std::exp(-t * t / 2), h = std::tanh(t), g = 1 - h * h;
    switch (s.kind) {
      case 0:
        v.push_back(a + b);
        break;
      case 1:
        v.push_back(a * b);
        break;
      case 2:
        v.push_back(composed(a, {std::sin(t), std::cos(t), -std::sin(t), -std::cos(t)}));
        break;
      case 3:
        v.push_back(composed(a, {h, g, -2 * h * g, -2 * g * g + 4 * h * h * g}));
        break;
      case 4:
        v.push_back(composed(a, {e, -t * e, (t * t - 1) * e, (3 * t - t * t * t) * e}));
        break;
      default: {  // three passes of sin(y) b
        Taylor y = a;
        for (int i = 0; i < 3; i++) {
          double u = y.c[0];
          y = composed(y, {std::sin(u), std::cos(u), -std::sin(u), -std::cos(u)}) * b;
        }
        v.push_back(y);
      }
    }
  }
  return v.back();
}

Array traced(const std::vector<Step>& program, const Array& x) {
  Arrays v = {x};
  for (const Step& s : program) {
    Array a = v[s.a], b = v[s.b];
    switch (s.kind) {
      case 0:
        v.push_back(a + b);
        break;
      case 1:
        v.push_back(a * b);
        break;
      case 2:
        v.push_back(sin(a));
        break;
      case 3:
        v.push_back(checkpoint([](Array t) { return tanh(t); })(a));
        break;
      case 4:
        v.push_back(cond(
            a > 0.0, [](Array t) { return exp(-0.5 * t * t); },
            [](Array t) { return exp(-0.5 * (t * t)); }, a));
        break;
      default:
        v.push_back(fori_loop(
            0, 3, [&](Array, Array y) { return sin(y) * b; }, a));
    }
  }
  return v.back();
}

std::vector<Step> random_program(std::mt19937& generator) {
  std::vector<Step> program;
  for (std::size_t n = 1; n <= 6; n++) {
    int kind = static_cast<int>(generator() % 6);
    std::size_t a = n - 1, b = generator() % n;  // every step uses the one before
    program.push_back({kind, a, b});
  }
  return program;
}

TEST(Composition, RandomProgramsUnderRandomTransforms) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int trial = 0; trial < 25; trial++) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    std::vector<Step> program = random_program(generator);
    auto f = [&](Array x) { return traced(program, x); };
    using Function = std::function<Array(Array)>;
    auto by_reverse = [](Function g) -> Function {
      // As a vector of one, so that reverse mode is used.
      return
          [g](Array x) { return sum(grad([g](Array v) { return g(sum(v)); })(reshape(x, {1}))); };
    };
    auto by_jvp = [](Function g) -> Function {
      return [g](Array x) { return jvp(g, x, Array(1.0, DType::f64)).second; };
    };
    auto by_linearize = [](Function g) -> Function {
      return [g](Array x) { return linearize(g, x).second(Array(1.0, DType::f64)); };
    };
    auto by_jet = [](Function g) -> Function {
      return [g](Array x) { return derivatives(g, x, 1)[1]; };
    };
    auto by_grad = [](Function g) -> Function { return grad(g); };
    std::vector<std::function<Function(Function)>> ways = {by_reverse, by_jvp, by_linearize, by_jet,
                                                           by_grad};
    // A derivative of order 0 to 3, each taken in a random way.
    int order = static_cast<int>(generator() % 4);
    Function g = f;
    for (int k = 0; k < order; k++) g = ways[generator() % ways.size()](g);
    std::vector<double> points = {uniform(generator), uniform(generator), uniform(generator)};
    auto got = jit(vmap(g))(array(points)).to_vector<double>();
    for (std::size_t i = 0; i < points.size(); i++) {
      Taylor x;
      x.c = {points[i], 1, 0, 0};
      double expected =
          plain(program, x).c[static_cast<std::size_t>(order)] * std::tgamma(order + 1);
      EXPECT_NEAR(got[i], expected, 1e-10 * std::max(1.0, std::abs(expected))) << "order " << order;
    }
  }
}

// A long chain neither overflows the stack nor grows with each derivative.
TEST(Composition, LongChains) {
  auto f = [](Array x) {
    Array y = x;
    for (int i = 0; i < 20000; i++) y = y + x;
    return y;
  };
  EXPECT_EQ(eval_shape(grad(f), Array(1.0)).rank(), 0);
}

}  // namespace
}  // namespace sturnus
