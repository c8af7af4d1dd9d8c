// Random programs of ops and transforms, under random nests of transforms, against an independent
// evaluation: Taylor series and loops in plain C++.
#include <gtest/gtest.h>
#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jet.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/functional/composition_ops.h"

namespace sturnus::testing {
namespace {

using Doubles = std::vector<double>;
using Function = std::function<Array(Array)>;  // of f64[4], to a number

Array number(double value) { return Array(value, DType::f64); }

// Those that have no reverse mode are the last.
const std::vector<CompositionOp>& ops() {
  static const std::vector<CompositionOp> all = [] {
    std::vector<CompositionOp> rows = elementwise_ops();
    for (const auto& more : {structural_ops(), nested_ops(), forward_only_ops()}) {
      rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
  }();
  return all;
}

// v[n + 1] = ops()[op](v[n], v[b]): every step uses the one before.
struct Step {
  std::size_t op, b;
};
using Program = std::vector<Step>;

std::size_t reversible() { return ops().size() - forward_only_ops().size(); }

// Of operations that have reverse mode, but for the first.
Program random_program(std::size_t first_op, std::mt19937& generator) {
  Program program = {{first_op, 0}};
  for (std::size_t n = 2; n <= 6; n++) {
    program.push_back({generator() % reversible(), generator() % n});
  }
  return program;
}

std::string text_of(const Program& program) {
  std::string text;
  for (std::size_t n = 0; n < program.size(); n++) {
    text += "  v" + std::to_string(n + 1) + " = " + ops()[program[n].op].text + ", a = v" +
            std::to_string(n) + ", b = v" + std::to_string(program[n].b) + "\n";
  }
  return text;
}

const Doubles weights = {0.5, -1, 1.5, 0.75};

Taylor plain(const Program& program, const Four& x) {
  std::vector<Four> v = {x};
  for (const Step& step : program) v.push_back(ops()[step.op].plain(v.back(), v[step.b]));
  Taylor result;
  for (std::size_t i = 0; i < 4; i++) result = result + weights[i] * v.back()[i];
  return result;
}

Array traced(const Program& program, const Array& x) {
  Arrays v = {x};
  for (const Step& step : program) v.push_back(ops()[step.op].traced(v.back(), v[step.b]));
  return dot(v.back(), array(weights));
}

// Along which all derivatives are taken.
const Doubles direction = {1, -0.5, 0.25, 0.75};

// A transform of a function; `order` says how often it differentiates, `reverse` that it does so
// in reverse mode.
struct Transform {
  std::string name;
  int order;
  bool reverse;
  std::function<Function(Function)> apply;
};

const std::vector<Transform>& transforms() {
  static const std::vector<Transform> all = [] {
    Array d = array(direction), none = zeros_like(d);
    return std::vector<Transform>{
        {"jit", 0, false, [](Function g) { return jit(g); }},
        {"checkpoint", 0, false, [](Function g) { return checkpoint(g); }},
        {"vmap of one", 0, false,
         [](Function g) { return [g](Array x) { return vmap(g)(expand_dims(x, 0))[0]; }; }},
        {"map over two", 0, false,
         [](Function g) {
           return [g](Array x) {
             Array both = map(g, stack({x, x}));
             return 0.25 * both[0] + 0.75 * both[1];
           };
         }},
        {"grad", 1, true, [d](Function g) { return [=](Array x) { return dot(grad(g)(x), d); }; }},
        {"grad along a line", 1, true,
         [d](Function g) {
           return [=](Array x) { return grad([&](Array s) { return g(x + s * d); })(number(0)); };
         }},
        {"vjp", 1, true,
         [d](Function g) { return [=](Array x) { return dot(vjp(g, x).second(number(1)), d); }; }},
        {"jvp", 1, false, [d](Function g) { return [=](Array x) { return jvp(g, x, d).second; }; }},
        {"linearize", 1, false,
         [d](Function g) { return [=](Array x) { return linearize(g, x).second(d); }; }},
        {"jacfwd", 1, false,
         [d](Function g) { return [=](Array x) { return dot(jacfwd(g)(x), d); }; }},
        {"jacrev", 1, true,
         [d](Function g) { return [=](Array x) { return dot(jacrev(g)(x), d); }; }},
        {"jet", 1, false,
         [d](Function g) { return [=](Array x) { return jet(g, x, {d}).second[0]; }; }},
        {"jet of order 2", 2, false,
         [=](Function g) { return [=](Array x) {
                             return jet(g, x, {d, none}).second[1];
                           }; }},
        {"hvp", 2, true, [d](Function g) { return [=](Array x) { return dot(hvp(g, x, d), d); }; }},
        {"hessian", 2, true,
         [d](Function g) { return [=](Array x) { return dot(matmul(hessian(g)(x), d), d); }; }},
        {"jet of order 3", 3, false,
         [=](Function g) { return [=](Array x) {
                             return jet(g, x, {d, none, none}).second[2];
                           }; }},
    };
  }();
  return all;
}

int order_of(const std::vector<Transform>& nest) {
  int order = 0;
  for (const Transform& transform : nest) order += transform.order;
  return order;
}

// One to three transforms, innermost first, that differentiate no more than three times together.
std::vector<Transform> random_nest(const Transform& first, bool reverse, std::mt19937& generator) {
  std::vector<Transform> nest;
  auto refused = [&](const Transform& transform) { return transform.reverse && !reverse; };
  do {
    nest = {first};
    for (std::size_t n = generator() % 3; n > 0; n--) {
      nest.push_back(transforms()[generator() % transforms().size()]);
    }
  } while (order_of(nest) > 3 || std::any_of(nest.begin(), nest.end(), refused));
  return nest;
}

void expect_derivatives(const Program& program, const std::vector<Transform>& nest,
                        std::mt19937& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Function f = [&](Array x) { return traced(program, x); };
  std::string name = "f";
  for (const Transform& transform : nest) {
    f = transform.apply(f);
    name = transform.name + "(" + name + ")";
  }
  SCOPED_TRACE("jit(vmap(" + name + ")) of\n" + text_of(program));
  Doubles points(2 * 4);
  for (double& point : points) point = uniform(generator);
  Doubles found = jit(vmap(f))(array(points, {2, 4})).to_vector<double>();
  for (std::size_t i = 0; i < found.size(); i++) {
    Four x;
    for (std::size_t j = 0; j < 4; j++) x[j].c = {points[4 * i + j], direction[j], 0, 0};
    int order = order_of(nest);
    double expected = plain(program, x).c[static_cast<std::size_t>(order)] * std::tgamma(order + 1);
    EXPECT_NEAR(found[i], expected, 1e-10 * std::max(1.0, std::abs(expected)));
  }
}

// As many programs as there are ops, so that each op and each transform comes first in some.
TEST(Composition, RandomProgramsUnderRandomTransforms) {
  std::mt19937 generator(7);
  for (std::size_t trial = 0; trial < reversible(); trial++) {
    Program program = random_program(trial, generator);
    const Transform& first = transforms()[trial % transforms().size()];
    expect_derivatives(program, random_nest(first, true, generator), generator);
  }
}

TEST(Composition, LoopsOfUnknownLengthUnderForwardMode) {
  std::mt19937 generator(11);
  std::size_t trial = 0;
  for (const Transform& first : transforms()) {
    if (first.reverse || first.order == 0) continue;
    Program program = random_program(reversible() + trial++ % forward_only_ops().size(), generator);
    expect_derivatives(program, random_nest(first, false, generator), generator);
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
}  // namespace sturnus::testing
