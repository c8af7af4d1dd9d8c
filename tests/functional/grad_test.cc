// Derivatives of functions of trees: which arguments, what type, and the laws between the modes.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jet.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/ravel.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>

#include <functional>
#include <map>
#include <optional>

namespace sturnus {
namespace {

struct Layer {
  Array w, b;
};
struct Model {
  std::vector<Layer> layers;
  std::map<std::string, Array> extras;
  std::optional<Array> bias;
  int power = 2;
};

Array f64(std::vector<double> values) { return array(values); }

Model model() {
  Model m;
  m.layers = {{normal(key(1), {3, 4}, DType::f64), normal(key(2), {4}, DType::f64)},
              {normal(key(3), {4, 2}, DType::f64), normal(key(4), {2}, DType::f64)}};
  m.extras["scale"] = Array(1.5, DType::f64);
  m.bias = f64({0.1, -0.2});
  return m;
}

Array predict(const Model& m, const Array& x) {
  Array h = x;
  for (const Layer& layer : m.layers) h = tanh(matmul(h, layer.w) + layer.b);
  return m.extras.at("scale") * pow(h + *m.bias, m.power);
}

double inner(const Arrays& a, const Arrays& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); i++) total += sum(a[i] * b[i]).item<double>();
  return total;
}

Model random_like(const Model& m, std::uint64_t seed) {
  return tree_map([&](const Array& a) { return normal(key(seed++), a.shape(), a.dtype()); }, m);
}

TEST(Grad, HasTheTypeOfTheArgumentAndAgreesWithDifferences) {
  Model m = model();
  Array x = f64({0.3, -0.7, 1.1});
  auto loss = [&](const Model& p) { return sum(predict(p, x)); };
  Model g = grad(loss)(m), direction = random_like(m, 10);
  EXPECT_EQ(g.power, 2);
  auto along = [&](double s) {
    Model moved = tree_map([&](const Array& a, const Array& d) { return a + s * d; }, m, direction);
    return loss(moved).item<double>();
  };
  double difference = (along(1e-5) - along(-1e-5)) / 2e-5;
  EXPECT_NEAR(inner(tree_leaves(g), tree_leaves(direction)), difference, 1e-8);
}

TEST(Grad, ByOtherArgumentsAndBySeveral) {
  auto f = [](Array a, Array b, Array c) { return a * a * b + sin(c) * b; };
  Array a(2.0, DType::f64), b(3.0, DType::f64), c(0.5, DType::f64);
  EXPECT_NEAR(grad<1>(f)(a, b, c).item<double>(), 4 + std::sin(0.5), 1e-14);
  auto [da, dc] = grad<0, 2>(f)(a, b, c);
  EXPECT_NEAR(da.item<double>(), 12, 1e-14);
  EXPECT_NEAR(dc.item<double>(), 3 * std::cos(0.5), 1e-14);
  auto [value, both] = value_and_grad<0, 2>(f)(a, b, c);
  EXPECT_NEAR(value.item<double>(), 12 + 3 * std::sin(0.5), 1e-14);
  EXPECT_TRUE(std::get<0>(both).item<double>() == da.item<double>());
}

TEST(Grad, PassesOnWhatStandsBesideTheValue) {
  struct Aux {
    Array doubled;
    std::string note;
  };
  auto f = [](Array x) { return std::pair(sum(x * x), Aux{2.0 * x, "kept"}); };
  Array x = f64({1, 2});
  auto [g, aux] = grad(f)(x);
  EXPECT_EQ(g.to_vector<double>(), (std::vector<double>{2, 4}));
  EXPECT_EQ(aux.doubled.to_vector<double>(), (std::vector<double>{2, 4}));
  EXPECT_EQ(aux.note, "kept");
  auto [both, gradient] = value_and_grad(f)(x);
  EXPECT_EQ(both.first.item<double>(), 5);
  EXPECT_EQ(gradient.to_vector<double>(), (std::vector<double>{2, 4}));
}

// What stands beside the value comes out of every transform, at its value, and needs no rule.
TEST(HasAux, ComesOutBesideTheResults) {
  struct Aux {
    Array bits, doubled;
    std::string note;
  };
  auto value = [](Array x) { return x * sum(sin(x)); };
  auto f = has_aux([&](Array x) {
    Array bits = shift_right(bitcast(x, DType::i64), 60);  // has no derivative
    return std::pair(value(x), Aux{bits, 2.0 * x, "kept"});
  });
  Array x = f64({1, -2}), v = f64({0.5, 3});
  auto expect_aux = [](const Aux& aux) {
    EXPECT_EQ(aux.bits.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 12}));
    EXPECT_EQ(aux.doubled.to_vector<double>(), (std::vector<double>{2, -4}));
    EXPECT_EQ(aux.note, "kept");
  };
  auto expect_same = [](const Array& a, const Array& b) {
    EXPECT_EQ(a.to_vector<double>(), b.to_vector<double>());
  };
  auto [at_x, along, aux] = jvp(f, x, v);
  expect_same(at_x, value(x));
  expect_same(along, jvp(value, x, v).second);
  expect_aux(aux);
  auto [linear_at_x, derivative, linear_aux] = linearize(f, x);
  expect_same(linear_at_x, at_x);
  expect_same(derivative(v), along);
  expect_aux(linear_aux);
  auto [vjp_at_x, pullback, vjp_aux] = vjp(f, x);
  expect_same(vjp_at_x, at_x);
  expect_same(pullback(v), vjp(value, x).second(v));
  expect_aux(vjp_aux);
  // A mark that grad does not need does no harm.
  auto [gradient, grad_aux] = grad(has_aux(
      [](Array y) { return std::pair(sum(y * y), shift_right(bitcast(y, DType::i64), 60)); }))(x);
  expect_same(gradient, 2.0 * x);
  EXPECT_EQ(grad_aux.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 12}));
}

// Under other transforms it is a value like any other, with derivatives by what is outside.
TEST(HasAux, IsDifferentiatedByWhatIsOutside) {
  auto f = [](Array x) {
    auto inner = has_aux([&](Array y) { return std::pair(x * y, x * x * y); });
    auto [value, derivative, aux] = jvp(inner, x, x);
    return value + derivative + aux;  // x^2 + x^2 + x^3
  };
  EXPECT_NEAR(grad(f)(Array(3.0, DType::f64)).item<double>(), 4 * 3 + 3 * 9, 1e-13);
  EXPECT_NEAR(jit(grad(f))(Array(3.0, DType::f64)).item<double>(), 4 * 3 + 3 * 9, 1e-13);
  // Without the mark a pair is a result of which both are differentiated.
  auto [value, tangent] = jvp(value_and_grad([](Array x) { return x * x * x; }), 2.0, 1.0);
  EXPECT_EQ(tangent.first.item<float>(), 12);
  EXPECT_EQ(tangent.second.item<float>(), 12);
}

// Clipped gradients, as they are written: the backward pass is not linear in the cotangent.
TEST(CustomVjp, NeedsNoLinearBackwardPassForGradients) {
  auto same = [](Array x) { return x; };
  auto kept = [](Array x) { return std::pair(x, std::tuple<>()); };
  auto clamped =
      custom_vjp(same, kept, [](std::tuple<>, Array ct) { return clamp(-1.0, ct, 1.0); });
  auto scaled =
      custom_vjp(same, kept, [](std::tuple<>, Array ct) { return ct / maximum(1.0, abs(ct)); });
  auto check = [](auto clipped) {
    auto f = [&](Array x) { return sum(5.0 * clipped(x)); };
    EXPECT_EQ(grad(f)(1.0).template item<float>(), 1);
    EXPECT_EQ(grad(f)(array({1, 2})).template to_vector<float>(), (std::vector<float>{1, 1}));
    auto looped = [&](Array x) {
      return fori_loop(
          0, 3, [&](Array, Array y) { return 5.0 * clipped(y); }, x);
    };
    EXPECT_EQ(grad(looped)(1.0).template item<float>(), 1);
    auto squared = [&](Array x) { return square(clipped(x)); };
    EXPECT_EQ(grad(grad(squared))(0.25).template item<float>(), 1);
    EXPECT_THROW(jvp(f, 1.0, 1.0), Error);
  };
  check(clamped);
  check(scaled);
}

TEST(Grad, OfWhatDoesNotDependOnTheArgumentIsZero) {
  Array x = f64({1, 2}), y(3.0, DType::f64);
  EXPECT_EQ(grad([&](Array) { return y; })(x).to_vector<double>(), (std::vector<double>{0, 0}));
  EXPECT_EQ(grad([&](Array t) { return stop_gradient(t) * y; })(y).item<double>(), 0);
}

// Perturbations are not confused: d/dx (x d/dy (x + y)) = 1.
TEST(Grad, NestedDerivativesAreNotConfused) {
  auto f = [](Array x) { return x * grad([&](Array y) { return x + y; })(x); };
  EXPECT_EQ(grad(f)(Array(1.0)).item<float>(), 1);
}

// <ct, J dx> = <J^T ct, dx>.
TEST(Laws, ForwardAndReverseModeAreTransposes) {
  Model m = model(), dm = random_like(m, 20);
  Array x = f64({0.3, -0.7, 1.1});
  auto f = [&](const Model& p) { return predict(p, x); };
  auto [value, tangent] = jvp(f, m, dm);
  auto [same, pullback] = vjp(f, m);
  Array ct = normal(key(30), value.shape(), DType::f64);
  EXPECT_EQ(value.to_vector<double>(), same.to_vector<double>());
  EXPECT_NEAR(inner({ct}, {tangent}), inner(tree_leaves(pullback(ct)), tree_leaves(dm)), 1e-12);
}

TEST(Laws, ALinearizedFunctionIsItsJvpAndIsLinear) {
  Model m = model(), a = random_like(m, 40), b = random_like(m, 50);
  Array x = f64({0.3, -0.7, 1.1});
  auto f = [&](const Model& p) { return predict(p, x); };
  auto [value, map] = linearize(f, m);
  auto expect_near = [](const Array& p, const Array& q) {
    auto u = p.to_vector<double>(), v = q.to_vector<double>();
    for (std::size_t i = 0; i < u.size(); i++) EXPECT_NEAR(u[i], v[i], 1e-12);
  };
  expect_near(map(a), jvp(f, m, a).second);
  Model mixed = tree_map([](const Array& p, const Array& q) { return 2.0 * p - 3.0 * q; }, a, b);
  expect_near(map(mixed), 2.0 * map(a) - 3.0 * map(b));
}

// Numbers in a tuple of arguments are arrays, as they are by themselves.
TEST(Jvp, TakesNumbersForArguments) {
  auto f = [](Array a, Array b) { return a * b; };
  EXPECT_EQ(jvp(f, std::tuple(2.0, 3.0), std::tuple(1.0, 10.0)).second.item<float>(), 23);
}

TEST(Laws, PullbacksOfSeveralArgumentsAndResults) {
  auto f = [](Array a, Array b) { return std::tuple(a * b, sin(a)); };
  Array a = f64({1, 2}), b = f64({3, 4});
  auto [value, pullback] = vjp(f, a, b);
  auto [da, db] = pullback(std::tuple(f64({1, 1}), f64({0, 1})));
  EXPECT_NEAR(da.to_vector<double>()[1], 4 + std::cos(2.0), 1e-14);
  EXPECT_EQ(db.to_vector<double>(), (std::vector<double>{1, 2}));
}

TEST(Laws, VmapOfGradIsALoopOfGradAndJitChangesNothing) {
  Model m = model();
  auto loss = [](const Model& p, Array x) { return sum(predict(p, x)); };
  Array points = normal(key(60), {5, 3}, DType::f64);
  auto gradients = vmap(grad(loss), {.in_axes = {none, 0}});
  Model all = gradients(m, points), compiled = jit(gradients)(m, points);
  auto rows = points.to_vector<double>();
  for (std::size_t i = 0; i < 5; i++) {
    Array x =
        f64({rows.begin() + 3 * static_cast<long>(i), rows.begin() + 3 * static_cast<long>(i) + 3});
    auto one = tree_leaves(grad(loss)(m, x));
    auto many = tree_leaves(all), same = tree_leaves(compiled);
    for (std::size_t k = 0; k < one.size(); k++) {
      auto expected = one[k].to_vector<double>();
      auto got = many[k].to_vector<double>(), again = same[k].to_vector<double>();
      for (std::size_t e = 0; e < expected.size(); e++) {
        EXPECT_NEAR(got[i * expected.size() + e], expected[e], 1e-13);
        EXPECT_NEAR(again[i * expected.size() + e], expected[e], 1e-13);
      }
    }
  }
}

// What only a comparison or a stop_gradient sees needs no derivative.
TEST(Grad, AsksForNoRuleWhoseTangentIsDiscarded) {
  auto f = [](Array x) {
    Array picked = stop_gradient(convert(shift_right(bitcast(x, DType::i64), 2), DType::f64));
    return sum(where(picked > 0.0, x * x, x));
  };
  EXPECT_EQ(grad(f)(f64({1, 3})).to_vector<double>(), (std::vector<double>{2, 6}));
}

TEST(Ravel, IsAVectorAndBack) {
  Model m = model();
  auto [vector, back] = ravel(m);
  EXPECT_EQ(vector.shape(), (Shape{12 + 4 + 8 + 2 + 1 + 2}));
  Model same = back(vector);
  EXPECT_EQ(same.layers[1].w.to_vector<double>(), m.layers[1].w.to_vector<double>());
  EXPECT_EQ(same.bias->to_vector<double>(), m.bias->to_vector<double>());
  auto [mixed, unmix] = ravel(std::tuple(Array(2), Array(0.5f)));
  EXPECT_EQ(mixed.dtype(), DType::f32);
  EXPECT_EQ(std::get<0>(unmix(mixed)).item<std::int32_t>(), 2);
  EXPECT_THROW(back(zeros({3}, DType::f64)), ShapeError);
  // Inside a trace: the gradient as a vector.
  Array x = f64({0.3, -0.7, 1.1});
  Array g = grad([&, back = back](Array v) { return sum(predict(back(v), x)); })(vector);
  EXPECT_EQ(g.shape(), vector.shape());
}

struct Mixed {
  Array x, k;
};

TEST(Derivatives, IntegersBesideRealsAreConstants) {
  auto f = [](const Mixed& m) { return Mixed{m.x * convert(m.k, DType::f32), m.k * m.k}; };
  Mixed at{2.0, 3}, along{1.0, 1};
  Mixed by_jvp = jvp(f, at, along).second;
  Mixed by_linearize = linearize(f, at).second(along);
  Mixed by_jet = jet(f, at, std::vector{along}).second[0];
  for (const Mixed& d : {by_jvp, by_linearize, by_jet}) {
    EXPECT_EQ(d.x.item<float>(), 3);
    EXPECT_EQ(d.k.item<int>(), 0);
  }
}

TEST(HasAux, OfCompiledFunctions) {
  auto f = [](Array x) { return std::pair(x * x, 10.0 * x); };
  for (auto& [value, slope, aux] : {jvp(has_aux(jit(f)), Array(3.0), Array(1.0)),
                                    jvp(jit(has_aux(f)), Array(3.0), Array(1.0))}) {
    EXPECT_EQ(value.item<float>(), 9);
    EXPECT_EQ(slope.item<float>(), 6);
    EXPECT_EQ(aux.item<float>(), 30);
  }
}

}  // namespace
}  // namespace sturnus
