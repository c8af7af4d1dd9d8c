// The laws that every row of the op table is held to, against independent oracles: plain C++ for
// values, central differences for derivatives of order 1 to 3 in forward and reverse mode, Taylor
// mode against nested derivatives, a loop for vmap, eager evaluation for jit and for what is
// lowered differently for GPUs.
#pragma once

#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jet.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/op.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "src/ops/limits.h"
#include "tests/ops/op_table.h"

namespace sturnus::testing {

/// The rows that a test binary tries.
const std::vector<Row>& rows();

namespace {

Array random_array(const Shape& shape, double low, double high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size()));
  for (double& value : values) value = uniform(generator);
  return array(values, shape);
}

Arrays arguments_of(const Row& row, unsigned seed = 1) {
  Arrays x;
  for (std::size_t i = 0; i < row.shapes.size(); i++) {
    x.push_back(random_array(row.shapes[i], row.low, row.high, seed + static_cast<unsigned>(i)));
  }
  return x;
}

// Largest difference, relative to the largest value (at least 1).
double distance(const Array& a, const Array& b) {
  EXPECT_EQ(a.type(), b.type());
  if (a.type() != b.type()) return INFINITY;
  auto x = a.to_vector<double>(), y = b.to_vector<double>();
  double largest = 1, difference = 0;
  for (std::size_t i = 0; i < x.size(); i++) {
    largest = std::max(largest, std::abs(y[i]));
    difference = std::max(difference, std::abs(x[i] - y[i]));
    if (std::isnan(x[i]) != std::isnan(y[i])) return INFINITY;
  }
  return difference / largest;
}

class OpTable : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Row& row() const { return rows()[GetParam()]; }
};

TEST_P(OpTable, ValueIsThatOfPlainCode) {
  if (!row().scalar) GTEST_SKIP() << "not elementwise";
  Arrays x = arguments_of(row());
  auto result = row().f(x).to_vector<double>();
  std::vector<std::vector<double>> columns;
  for (const Array& argument : x) columns.push_back(argument.to_vector<double>());
  for (std::size_t i = 0; i < result.size(); i++) {
    std::vector<double> point;
    for (const auto& column : columns) point.push_back(column[i]);
    EXPECT_NEAR(result[i], row().scalar(point), 1e-13 * std::max(1.0, std::abs(result[i])));
  }
}

// A number that depends on the whole result, with weights so that nothing cancels.
Array weighted(const Array& y) {
  Array weights = random_array(y.shape(), 0.5, 1.5, 99);
  return sum(y * weights);
}

Arrays directions_of(const Row& row) {
  Arrays direction;
  for (std::size_t i = 0; i < row.shapes.size(); i++) {
    direction.push_back(random_array(row.shapes[i], -1, 1, 50 + static_cast<unsigned>(i)));
  }
  return direction;
}

// The tests below compile one program each for all that they compare: compiling is what takes time.

TEST_P(OpTable, DerivativesAreThoseOfDifferences) {
  if (row().order == 0) GTEST_SKIP() << "not differentiable";
  Arrays x = arguments_of(row()), direction = directions_of(row());
  using Function = std::function<Array(Array)>;
  std::vector<Function> derivatives = {[&](const Array& s) {
    Arrays moved;
    for (std::size_t i = 0; i < x.size(); i++) moved.push_back(x[i] + s * direction[i]);
    return weighted(row().f(moved));
  }};
  for (int k = 0; k < row().order; k++) derivatives.push_back(grad(derivatives.back()));
  auto all = jit([&](const Array& s) {
    Arrays values;
    for (const Function& f : derivatives) values.push_back(f(s));
    return values;
  });
  Arrays exact = all(Array(0.0, DType::f64));
  const double h = 1e-3;
  // d/ds at 0 by a central difference of fourth order.
  Arrays p1 = all(Array(h, DType::f64)), m1 = all(Array(-h, DType::f64));
  Arrays p2 = all(Array(2 * h, DType::f64)), m2 = all(Array(-2 * h, DType::f64));
  for (std::size_t k = 1; k < exact.size(); k++) {
    auto at = [k](const Arrays& values) { return values[k - 1].item<double>(); };
    double difference = (8 * (at(p1) - at(m1)) - (at(p2) - at(m2))) / (12 * h);
    double derivative = exact[k].item<double>();
    EXPECT_NEAR(derivative, difference, row().tolerance * std::max(1.0, std::abs(derivative)))
        << "order " << k;
  }
}

TEST_P(OpTable, TaylorModeAgreesWithNestedForwardMode) {
  if (row().order == 0) GTEST_SKIP() << "not differentiable";
  Arrays x = arguments_of(row());
  // A curve, so that higher derivatives of the arguments count too.
  Arrays velocity = directions_of(row()), acceleration, zeros;
  for (std::size_t i = 0; i < x.size(); i++) {
    acceleration.push_back(random_array(row().shapes[i], -1, 1, 70 + static_cast<unsigned>(i)));
    zeros.push_back(zeros_like(x[i]));
  }
  auto along = [&](const Array& s) {
    Arrays moved;
    for (std::size_t i = 0; i < x.size(); i++) {
      moved.push_back(x[i] + s * velocity[i] + 0.5 * s * s * acceleration[i]);
    }
    return weighted(row().f(moved));
  };
  auto [taylor, nested] = jit([&](const Arrays& y) {
    std::vector<Arrays> curve = {velocity, acceleration, zeros};
    curve.resize(static_cast<std::size_t>(std::clamp(row().order, 2, 3)));
    Arrays derivatives =
        jet([&](const Arrays& z) { return weighted(row().f(z)); }, y, curve).second;
    std::function<Array(Array)> next = grad(along);
    Arrays one_by_one;
    for (std::size_t k = 0; k < curve.size(); k++) {
      one_by_one.push_back(next(Array(0.0, DType::f64)));
      next = grad(next);
    }
    return std::pair(derivatives, one_by_one);
  })(x);
  for (std::size_t k = 0; k < taylor.size(); k++) {
    EXPECT_LT(distance(taylor[k], nested[k]), 1e-11) << "order " << k + 1;
  }
}

// The second derivatives reverse over reverse, and forward over reverse; the third along a line
// reverse over reverse over forward, and by Taylor mode.
TEST_P(OpTable, ReverseModeAgreesWithForwardModeAndIsLinear) {
  if (row().order == 0 || !row().reverse) GTEST_SKIP() << "not differentiable backwards";
  Arrays x = arguments_of(row()), direction = directions_of(row()), none;
  for (const Array& d : direction) none.push_back(zeros_like(d));
  using Function = std::function<Array(Arrays)>;
  Function f = [&](const Arrays& y) { return weighted(row().f(y)); };
  Function forwards = [&](const Arrays& y) {
    return jvp(f, std::tuple(y), std::tuple(direction)).second;
  };
  auto slope = [&](const Function& h) -> Function {
    return [&direction, h](const Arrays& y) {
      Arrays g = grad(h)(y);
      Array total(0.0, DType::f64);
      for (std::size_t i = 0; i < y.size(); i++) total = total + sum(g[i] * direction[i]);
      return total;
    };
  };
  Array value = row().f(x);
  Array u = random_array(value.shape(), -1, 1, 100), v = random_array(value.shape(), -1, 1, 101);
  struct Results {
    Arrays backwards, forwards;
    Arrays mixed, apart;  // the pullback of a mixture, and the mixture of the pullbacks
  };
  Results results = jit([&](const Arrays& y) {
    Results r = {{slope(f)(y)}, {forwards(y)}, {}, {}};
    auto pullback = vjp(row().f, y).second;
    r.mixed = pullback(2.0 * u - 3.0 * v);
    r.apart = tree_map([](const Array& a, const Array& b) { return 2.0 * a - 3.0 * b; },
                       pullback(u), pullback(v));
    if (row().order < 2) return r;
    auto append = [](Arrays& list, const Arrays& more) {
      list.insert(list.end(), more.begin(), more.end());
    };
    append(r.backwards, grad(slope(f))(y));
    append(r.forwards, jvp(grad(f), std::tuple(y), std::tuple(direction)).second);
    if (row().order < 3) return r;
    r.backwards.push_back(slope(slope(forwards))(y));
    r.forwards.push_back(jet(f, y, {direction, none, none}).second[2]);
    return r;
  })(x);
  EXPECT_LT(distance(results.backwards[0], results.forwards[0]), 1e-12);
  for (std::size_t i = 1; i < results.backwards.size(); i++) {
    EXPECT_LT(distance(results.backwards[i], results.forwards[i]), 1e-11) << "derivative " << i;
  }
  for (std::size_t i = 0; i < x.size(); i++) {
    EXPECT_LT(distance(results.mixed[i], results.apart[i]), 1e-12) << "argument " << i;
  }
}

// x[k] along an axis, which disappears.
Array one_of(const Array& x, std::int64_t axis, std::int64_t k) {
  Shape start(x.shape().size(), 0), stop = x.shape(), kept = x.shape();
  start[static_cast<std::size_t>(axis)] = k;
  stop[static_cast<std::size_t>(axis)] = k + 1;
  kept.erase(kept.begin() + axis);
  return reshape(slice(x, start, stop), kept);
}

// For every choice of mapped arguments but none at all; on the last axis too, and for none of them.
TEST_P(OpTable, VmapIsALoop) {
  std::size_t count = row().shapes.size();
  struct Choice {
    std::string name;
    std::int64_t n;
    std::vector<std::int64_t> axes;
  };
  std::vector<Choice> choices;
  std::vector<Arrays> arguments;
  auto add_choice = [&](unsigned choice, bool last, std::int64_t n) {
    choices.push_back({std::to_string(choice) + (last ? " last" : " first"), n, {}});
    arguments.emplace_back();
    for (std::size_t i = 0; i < count; i++) {
      Shape shape = row().shapes[i];
      bool mapped = (choice >> i) & 1;
      std::int64_t axis = last ? static_cast<std::int64_t>(shape.size()) : 0;
      if (mapped) shape.insert(shape.begin() + axis, n);
      arguments.back().push_back(
          random_array(shape, row().low, row().high, 7 + static_cast<unsigned>(i)));
      choices.back().axes.push_back(mapped ? axis : internal::unmapped);
    }
  };
  unsigned all = (1u << count) - 1;
  for (unsigned choice = 1; choice <= all; choice++) add_choice(choice, false, 2);
  add_choice(all, true, 2);  // rules see axis 0 wherever it was
  add_choice(all, false, 0);
  auto loop = [&](const Arrays& x, const Choice& choice) {
    Arrays results;
    for (std::int64_t k = 0; k < choice.n; k++) {
      Arrays one = x;
      for (std::size_t i = 0; i < count; i++) {
        if (choice.axes[i] != internal::unmapped) one[i] = one_of(x[i], choice.axes[i], k);
      }
      results.push_back(row().f(one));
    }
    return stack(results);
  };
  auto flat = [&](const Arrays& y) { return Arrays{row().f(y)}; };
  auto [together, one_by_one] = jit([&](const std::vector<Arrays>& x) {
    std::pair<Arrays, Arrays> results;
    for (std::size_t c = 0; c < choices.size(); c++) {
      auto first = [] { return std::vector<std::int64_t>{0}; };
      results.first.push_back(
          internal::vmap(flat, x[c], choices[c].axes, first, "", {}, {"vmap", {}})[0]);
      if (choices[c].n > 0) results.second.push_back(loop(x[c], choices[c]));
    }
    return results;
  })(arguments);
  auto expected = one_by_one.begin();
  for (std::size_t c = 0; c < choices.size(); c++) {
    SCOPED_TRACE("choice " + choices[c].name);
    if (choices[c].n == 0) {
      EXPECT_EQ(together[c].shape()[0], 0);
    } else {
      EXPECT_LT(distance(together[c], *expected++), 1e-13);
    }
  }
}

// The result has the type of the arguments, and is that of doubles but for rounding.
TEST_P(OpTable, SmallerFloatsGiveRoundedDoubles) {
  const std::vector<DType>& dtypes = row().smaller;
  if (dtypes.empty()) GTEST_SKIP() << "only in doubles";
  auto in = [](DType dtype, Arrays x) {
    for (Array& one : x) one = convert(one, dtype);
    return x;
  };
  auto [small, exact] = jit([&](const Arrays& x) {
    std::pair<Arrays, Arrays> results;
    for (DType dtype : dtypes) {
      Arrays rounded = in(dtype, x);
      results.first.push_back(row().f(rounded));
      results.second.push_back(row().f(in(DType::f64, rounded)));
    }
    return results;
  })(arguments_of(row()));
  for (std::size_t i = 0; i < dtypes.size(); i++) {
    EXPECT_EQ(small[i].dtype(), dtypes[i]);
    double unit = internal::limits_of(dtypes[i]).epsilon;
    EXPECT_LT(distance(convert(small[i], DType::f64), exact[i]), 16 * unit) << name_of(dtypes[i]);
  }
}

TEST_P(OpTable, JitChangesNothing) {
  Arrays x = arguments_of(row());
  EXPECT_LT(distance(jit(row().f)(x), row().f(x)), 1e-14);
}

// The form that ops have on GPUs, which the CPU can run too.
TEST_P(OpTable, FormForGpusGivesTheSame) {
  auto square_sum = [&](const Arrays& y) {
    Array value = row().f(y);
    return sum(value * value);
  };
  auto all = [&](const Arrays& x) {
    bool backwards = row().order > 0 && row().reverse;
    return std::pair(row().f(x), backwards ? grad(square_sum)(x) : Arrays());
  };
  Arrays x = arguments_of(row());
  auto lowered = lower(all, x);
  if (lowered.stablehlo("cuda") == lowered.stablehlo("cpu")) return;
  auto [value, gradient] = jit(all)(x);
  LoadedExecutable program = default_device().owner().compile(lowered.stablehlo("cuda"));
  std::vector<const Buffer*> buffers;
  for (const Array& argument : x) buffers.push_back(&argument.buffer());
  std::vector<Buffer> found = program.run(buffers);
  Arrays expected = {value};
  expected.insert(expected.end(), gradient.begin(), gradient.end());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); i++) {
    Array result = internal::constant(std::make_shared<const Buffer>(std::move(found[i])));
    EXPECT_LT(distance(result, expected[i]), 1e-11) << "result " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpTable, ::testing::Range<std::size_t>(0, rows().size()),
                         [](const auto& info) {
                           std::string name = rows()[info.param].name;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name + "_" + std::to_string(info.param);
                         });

}  // namespace
}  // namespace sturnus::testing
