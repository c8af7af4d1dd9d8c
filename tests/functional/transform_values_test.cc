// Transforms of small functions against recorded values of JAX. transform_values.py has the same
// functions under the same names.
#include "tests/functional/transform_values.h"

#include <gtest/gtest.h>
#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jet.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>

namespace sturnus::testing {
namespace {

using Doubles = std::vector<double>;
using Found = std::map<std::string, Doubles>;

Array number(double value) { return Array(value, DType::f64); }

Array points(const Shape& shape, double phase = 0) {
  Doubles values(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size()));
  for (std::size_t i = 0; i < values.size(); i++) {
    values[i] = std::sin(0.7 * static_cast<double>(i) + phase);
  }
  return array(values, shape);
}

struct Net {
  Array w, b, out, shift;
};

Net weights(double phase) {
  return {points({3, 4}, phase), points({4}, phase + 1), points({4, 2}, phase + 2),
          points({2}, phase + 3)};
}
Array inputs() { return points({5, 3}, 8); }
Array targets() { return points({5, 2}, 9); }
Array six() { return points({6}, 0.4); }
Array one_input() { return points({3}, 8); }
Array matrix() { return points({3, 2}, 0.2); }
Array along() { return points({3, 2}, 1); }

Array net(const Net& w, Array x) { return matmul(tanh(matmul(x, w.w) + w.b), w.out) + w.shift; }
Array loss(const Net& w, Array x) { return mean(square(net(w, x) - targets())); }
Array fit(const Net& w) { return loss(w, inputs()); }
Array outputs(const Net& w) { return net(w, inputs()); }

// The logarithm of the sum of a kernel matrix.
Array kernel(Array x) {
  Array difference = expand_dims(x, 1) - expand_dims(x, 0);
  Array product = outer(x(Slice{}, 0), x(Slice{}, 1));
  return logsumexp(-0.5 * sum(square(difference), -1) + product);
}

Array curve(Array x) { return exp(sin(x)) * tanh(x) / (1.0 + x * x); }

Array predator_prey(const Array& rates, const Array& y) {
  return stack(
      {rates[0] * y[0] - rates[1] * y[0] * y[1], rates[2] * y[0] * y[1] - rates[3] * y[1]});
}

auto trajectory(Array rates, Array start) {
  auto step = [&](Array y, Array h) {
    Array k1 = predator_prey(rates, y);
    Array k2 = predator_prey(rates, y + h / 2.0 * k1);
    Array k3 = predator_prey(rates, y + h / 2.0 * k2);
    Array k4 = predator_prey(rates, y + h * k3);
    Array next = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    return std::pair(next, next[0] * next[1]);
  };
  return scan(step, start, 0.1 + 0.01 * arange(6, DType::f64));
}

Array rates() { return array(Doubles{1.1, 0.4, 0.3, 0.8}); }
Array start() { return array(Doubles{2.0, 1.5}); }

Array passed(Array r, Array y) {
  auto [end, products] = trajectory(r, y);
  return sum(end) + sum(square(products));
}

// Kepler's equation E - e sin(E) = M by Newton's method, until it stands still.
Array anomaly(Array mean, Array eccentricity) {
  struct State {
    Array e, change, n;
  };
  auto go_on = [](const State& s) { return (abs(s.change) > 1e-14) & (s.n < 20); };
  auto step = [&](const State& s) {
    Array change = (s.e - eccentricity * sin(s.e) - mean) / (1.0 - eccentricity * cos(s.e));
    return State{s.e - change, change, s.n + 1};
  };
  return while_loop(go_on, step, State{mean, ones_like(mean), 0}).e;
}

Array either(Array x, Array y) {
  return cond(
      x * y > 0.0, [](Array a, Array b) { return sin(a) * b; },
      [](Array a, Array b) { return a / (2.0 + b * b); }, x, y);
}

Array one_of(Array i, Array x) {
  using Branch = std::function<Array(Array)>;
  return switch_(
      i,
      std::vector<Branch>{[](Array a) { return exp(a); }, [](Array a) { return pow(a, 3); },
                          [](Array a) { return cos(a * a); }},
      x);
}

// Not the derivative, so that it shows that the rule is used; and not constant, for the second.
Array soft(Array x) {
  auto value = [](Array a) { return log1p(exp(a)); };
  return custom_jvp(value, [=](Array a, Array da) { return std::pair(value(a), da * tanh(a)); })(x);
}

Array clipped(Array x, Array y) {
  auto product = [](Array a, Array b) { return a * b; };
  auto forward = [](Array a, Array b) { return std::pair(a * b, std::pair(a, b)); };
  auto backward = [](const std::pair<Array, Array>& kept, Array c) {
    return std::tuple(clamp(-0.5, c * kept.second, 0.5), c * sin(kept.first));
  };
  return custom_vjp(product, forward, backward)(x, y);
}

// y_i = a_i y_(i-1) + b_i.
Array recurrence(Array a, Array b) {
  using Pair = std::pair<Array, Array>;
  auto combine = [](const Pair& left, const Pair& right) {
    return Pair(left.first * right.first, left.second * right.first + right.second);
  };
  return associative_scan(combine, Pair(a, b)).second;
}

// A scan from the end, with two carries.
auto backwards(Array x) {
  using Carry = std::pair<Array, Array>;
  auto step = [](const Carry& carry, Array v) {
    auto [total, largest] = carry;
    return std::pair(Carry(total * 0.5 + sin(v * total), maximum(largest, v)), total + largest);
  };
  return scan(step, Carry(number(1), number(-2)), x, {.reverse = true});
}

Array powers(Array x) {
  return fori_loop(
      0, 4, [&](Array i, Array y) { return sin(y) * x + convert(i, DType::f64) * 0.1; }, x);
}

Array standardized(Array x) {
  Array centred = x - pmean(x, "rows");
  return centred / sqrt(psum(square(centred), "rows"));
}
Array standardized_rows(Array x) { return vmap(standardized, {.axis_name = "rows"})(x); }

// The numbers of the tree that f returns, computed in one program.
template <class F>
Doubles compiled(const F& f) {
  Doubles numbers;
  for (const Array& leaf : tree_leaves(jit(f)())) {
    Doubles values = leaf.to_vector<double>();
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  return numbers;
}

void add_derivatives(Found& found) {
  found["value_and_grad of a loss"] =
      compiled([] { return value_and_grad(loss)(weights(0), inputs()); });
  found["grad by the second argument"] =
      compiled([] { return grad<1>(loss)(weights(0), inputs()); });
  found["grad by both arguments"] = compiled([] { return grad<0, 1>(loss)(weights(0), inputs()); });
  found["jvp of a network"] = compiled([] { return jvp(outputs, weights(0), weights(4)); });
  found["vjp of a network"] =
      compiled([] { return vjp(net, weights(0), inputs()).second(targets()); });
  found["linearize"] = compiled([] { return linearize(outputs, weights(0)).second(weights(4)); });
  found["jacfwd"] = compiled([] { return jacfwd<1>(net)(weights(0), one_input()); });
  found["jacrev"] = compiled([] { return jacrev<0>(net)(weights(0), one_input()); });
  found["jacfwd of jacrev"] =
      compiled([] { return jacfwd<1>(jacrev<1>(net))(weights(0), one_input()); });
  found["hessian of a kernel"] = compiled([] { return hessian(kernel)(matrix()); });
  found["hvp of a loss"] = compiled([] { return hvp(fit, weights(0), weights(4)); });
  found["hvp of a kernel"] = compiled([] { return hvp(kernel, matrix(), along()); });
  found["hessian_diagonal"] = compiled([] { return hessian_diagonal(kernel)(matrix()); });
  found["laplacian"] = compiled([] { return laplacian(kernel)(matrix()); });
  found["third derivative of a kernel along a line"] = compiled([] {
    auto line = [](Array s) { return kernel(matrix() + s * along()); };
    return grad(grad(grad(line)))(number(0));
  });
  Arrays velocity;
  for (int k = 0; k < 4; k++) velocity.push_back(points({3}, 10 + k));
  found["jet of order 4"] = compiled([&] { return jet(curve, one_input(), velocity); });
  velocity.pop_back();
  found["jet of order 3 of a network"] = compiled(
      [&] { return jet([](Array x) { return net(weights(0), x); }, one_input(), velocity); });
}

void add_maps(Found& found) {
  found["vmap of grad"] = compiled([] { return vmap(grad(curve))(six()); });
  found["vmap along other axes"] = compiled([] {
    auto product = [](Array a, Array b) { return matmul(sin(a), b); };
    return vmap(product, {.in_axes = {1, none}, .out_axes = 1})(points({4, 3}), points({4, 2}));
  });
  found["vmap within vmap"] = compiled([] {
    auto row = [](Array a) { return vmap([&](Array b) { return either(a, b); })(six()); };
    return vmap(row)(six()(Slice{0, 3}));
  });
  found["vmap with collectives"] = compiled([] { return standardized_rows(points({4, 2})); });
  found["grad through collectives"] = compiled([] {
    auto weighted = [](Array x) { return sum(points({4, 2}, 1) * standardized_rows(x)); };
    return grad(weighted)(points({4, 2}));
  });
}

void add_loops(Found& found) {
  found["scan"] = compiled([] { return trajectory(rates(), start()); });
  found["grad of a scan"] = compiled([] { return grad<0, 1>(passed)(rates(), start()); });
  found["jvp of a scan"] = compiled([] {
    return jvp(trajectory, std::tuple(rates(), start()), std::tuple(points({4}), points({2})));
  });
  found["hessian of a scan"] = compiled([] { return hessian(passed)(rates(), start()); });
  found["vmap of grad of a scan"] = compiled([] {
    return vmap(grad(passed), {.in_axes = {none, 0}})(rates(), 2.0 + points({3, 2}));
  });
  found["scan from the end"] = compiled([] { return backwards(six()); });
  found["grad of a scan from the end"] = compiled([] {
    auto total = [](Array x) {
      auto [carry, ys] = backwards(x);
      return sum(ys) + carry.first;
    };
    return grad(total)(six());
  });
  found["fori_loop"] = compiled([] { return powers(six()); });
  found["grad of a fori_loop"] =
      compiled([] { return grad([](Array x) { return sum(powers(x)); })(six()); });
  found["while_loop"] = compiled([] { return anomaly(number(1.2), number(0.6)); });
  found["jvp of a while_loop"] = compiled([] {
    return jvp(anomaly, std::tuple(number(1.2), number(0.6)),
               std::tuple(number(0.3), number(-0.2)));
  });
  found["jacfwd of vmap of a while_loop"] = compiled([] {
    auto all = [](Array m) { return vmap(anomaly, {.in_axes = {0, none}})(m, number(0.4)); };
    return diagonal(jacfwd(all)(six()));
  });
  found["associative_scan"] = compiled([] { return recurrence(six(), cos(six())); });
  found["grad of associative_scan"] = compiled([] {
    auto total = [](Array a, Array b) { return sum(square(recurrence(a, b))); };
    return grad<0, 1>(total)(six(), cos(six()));
  });
  found["associative_scan from the end"] = compiled([] {
    return associative_scan([](Array a, Array b) { return a * b; }, six(), {.reverse = true});
  });
}

void add_decisions(Found& found) {
  Array choices = array(std::vector<int>{-1, 0, 1, 2, 3, 1});
  found["cond"] = compiled([] {
    Array x = six(), y = roll(x, 1);
    Arrays values;
    for (int i = 0; i < 6; i++) values.push_back(either(x[i], y[i]));
    return values;
  });
  found["grad of cond"] = compiled([] {
    Array x = six(), y = roll(x, 1);
    std::vector<std::tuple<Array, Array>> gradients;
    for (int i = 0; i < 6; i++) gradients.push_back(grad<0, 1>(either)(x[i], y[i]));
    return gradients;
  });
  found["grad of vmap of cond"] = compiled(
      [] { return grad([](Array x) { return sum(vmap(either)(x, roll(x, 1))); })(six()); });
  found["grad of switch"] = compiled([&] {
    Arrays gradients;
    for (int i = 0; i < 6; i++) gradients.push_back(grad<1>(one_of)(choices[i], six()[i]));
    return gradients;
  });
  found["grad of vmap of switch"] =
      compiled([&] { return grad([&](Array x) { return sum(vmap(one_of)(choices, x)); })(six()); });
}

void add_custom_rules(Found& found) {
  auto squared = [](Array x) { return square(soft(x)); };
  found["custom_jvp"] = compiled([] { return vmap(soft)(six()); });
  found["grad of custom_jvp"] = compiled([&] { return vmap(grad(squared))(six()); });
  found["second derivative of custom_jvp"] =
      compiled([&] { return vmap(grad(grad(squared)))(six()); });
  found["grad of custom_vjp"] = compiled([] {
    auto product = [](Array a, Array b) { return square(clipped(a, b)); };
    return vmap(grad<0, 1>(product))(six(), roll(six(), 1));
  });
  auto cubes = [](const Net& w) { return sum(pow(checkpoint(net)(w, inputs()), 3)); };
  found["grad of checkpoint"] = compiled([&] { return grad(cubes)(weights(0)); });
  found["hvp of checkpoint"] = compiled([&] { return hvp(cubes, weights(0), weights(4)); });
}

TEST(TransformValues, AreThoseOfJax) {
  Found found;
  add_derivatives(found);
  add_maps(found);
  add_loops(found);
  add_decisions(found);
  add_custom_rules(found);
  EXPECT_EQ(found.size(), transform_values.size());
  for (const auto& [name, expected] : transform_values) {
    SCOPED_TRACE(name);
    const Doubles& values = found[name];
    ASSERT_EQ(values.size(), expected.size());
    double largest = 1;
    for (double value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < expected.size(); i++) {
      EXPECT_NEAR(values[i], expected[i], 1e-12 * largest) << "number " << i;
    }
  }
}

}  // namespace
}  // namespace sturnus::testing
