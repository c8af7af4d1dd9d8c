// NUTS against a plain recursive tree with the same random numbers.
#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/nuts.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

constexpr std::size_t size = 3;

// A funnel: narrow where x_0 is small.
Array log_density(const Array& x) {
  Array rest = slice(x, {1}, {3});
  return -square(x[0]) / 4.5 - 0.5 * sum(square(rest)) * exp(-x[0]) - x[0] - 0.2 * x[1];
}

struct Point {
  Doubles x, v, slope;
  double value = 0;
  double energy() const {
    double kinetic = 0;
    for (double a : v) kinetic += 0.5 * a * a;
    double total = kinetic - value;
    return std::isnan(total) ? std::numeric_limits<double>::infinity() : total;
  }
};

void evaluate_plainly(Point& p) {
  double e = std::exp(-p.x[0]), squares = p.x[1] * p.x[1] + p.x[2] * p.x[2];
  p.value = -p.x[0] * p.x[0] / 4.5 - 0.5 * squares * e - p.x[0] - 0.2 * p.x[1];
  p.slope = {-p.x[0] / 2.25 + 0.5 * squares * e - 1, -p.x[1] * e - 0.2, -p.x[2] * e};
}

Point leapfrog_plainly(Point p, double step, const Doubles& scale) {
  for (std::size_t i = 0; i < size; i++) p.v[i] += 0.5 * step * scale[i] * p.slope[i];
  for (std::size_t i = 0; i < size; i++) p.x[i] += step * scale[i] * p.v[i];
  evaluate_plainly(p);
  for (std::size_t i = 0; i < size; i++) p.v[i] += 0.5 * step * scale[i] * p.slope[i];
  return p;
}

double dot(const Doubles& a, const Doubles& b) {
  double total = 0;
  for (std::size_t i = 0; i < size; i++) total += a[i] * b[i];
  return total;
}
Doubles plus(Doubles a, const Doubles& b) {
  for (std::size_t i = 0; i < size; i++) a[i] += b[i];
  return a;
}
bool straight(const Doubles& first, const Doubles& last, const Doubles& sum) {
  return dot(first, sum) > 0 && dot(last, sum) > 0;
}

/// A subtree, its leaves in the order in which they were made.
struct Subtree {
  bool valid = true;
  Doubles sum, first, last;
};

/// One transition with given random numbers; trees are built by recursion, as in the literature.
struct RecursiveNuts {
  Doubles scale;
  double step;
  int max_depth;
  std::uint32_t directions;
  std::function<std::pair<double, double>(int)> chances;  // of leaf number i = 1, 2, ...

  double start_energy = 0, accept = 0;
  int leaves = 1, depth = 0;
  bool divergent = false;
  Point candidate = {};
  double new_weight = 0;

  static double log_add(double a, double b) {
    double high = std::max(a, b);
    return std::isinf(high) ? high : high + std::log1p(std::exp(std::min(a, b) - high));
  }

  static bool joined_straight(const Subtree& a, const Subtree& b) {
    return straight(a.first, b.last, plus(a.sum, b.sum)) &&
           straight(a.first, b.first, plus(a.sum, b.first)) &&
           straight(a.last, b.last, plus(b.sum, a.last));
  }

  Subtree leaf(Point& end, double signed_step) {
    end = leapfrog_plainly(end, signed_step, scale);
    double weight = start_energy - end.energy();
    accept += std::exp(std::min(weight, 0.0));
    if (!(weight >= -1000)) divergent = true;
    new_weight = log_add(new_weight, weight);
    if (std::log(chances(leaves).first) < weight - new_weight) candidate = end;
    leaves++;
    return {!divergent, end.v, end.v, end.v};
  }

  Subtree build(Point& end, double signed_step, int levels) {
    if (levels == 0) return leaf(end, signed_step);
    Subtree a = build(end, signed_step, levels - 1);
    if (!a.valid) return a;
    Subtree b = build(end, signed_step, levels - 1);
    return {b.valid && joined_straight(a, b), plus(a.sum, b.sum), a.first, b.last};
  }

  Point transition(Point start) {
    start_energy = start.energy();
    Point sample = start, forward = start, backward = start;
    double weight = 0;
    Doubles sum = start.v;
    while (depth < max_depth) {
      bool ahead = (directions >> depth) & 1;
      Point& end = ahead ? forward : backward;
      const Point& other = ahead ? backward : forward;
      Subtree old = {true, sum, other.v, end.v};
      new_weight = -std::numeric_limits<double>::infinity();
      Subtree grown = build(end, ahead ? step : -step, depth);
      if (!grown.valid) break;
      depth++;
      if (std::log(chances(leaves - 1).second) < new_weight - weight) sample = candidate;
      weight = log_add(weight, new_weight);
      sum = plus(sum, grown.sum);
      if (!joined_straight(old, grown)) break;
    }
    return sample;
  }
};

TEST(Nuts, GrowsTheTreesOfTheRecursiveMethod) {
  const std::int64_t chains = 120;
  const Doubles scale = {0.8, 1.3, 1};
  for (int max_depth : {3, 10}) {
    Nuts nuts{.max_depth = max_depth};
    Metric metric = {device_array(scale, {3})};
    auto all = jit([&](const Key& keys, const Array& starts, const Array& length) {
      auto one = [&](const Key& k, const Array& x) {
        Nuts::State at = nuts.init(log_density, x);
        return std::pair(nuts.begin(at, nuts.impulse(k, at)),
                         nuts.step(k, log_density, at, length, metric));
      };
      return vmap(one)(keys, starts);
    });
    for (double step : {0.02, 0.3, 1.1}) {
      SCOPED_TRACE("depth " + std::to_string(max_depth) + ", step " + std::to_string(step));
      Array starts = device_array(random_numbers(chains * size, 8, 1.2), {chains, size});
      auto [trees, ends] = all(split(key(5), chains), starts, Array(step, DType::f64));
      auto draw = [](const Key& k) {
        auto of_leaf = [&](const Array& i) {
          return (convert(fold_in(k, i).data, DType::f64) + 0.5) * 0x1p-32;
        };
        return vmap(of_leaf)(arange(1024));
      };
      Doubles chances = doubles(jit([&](const Key& k) { return vmap(draw)(k); })(trees.key));
      auto directions = trees.directions.to_vector<std::uint32_t>();
      Doubles momenta = doubles(trees.near.momentum), x = doubles(starts);
      Doubles end = doubles(ends.first.position), accept = doubles(ends.second.accept),
              energies = doubles(ends.second.energy), divergent = doubles(ends.second.divergent),
              depths = doubles(ends.second.depth), leapfrogs = doubles(ends.second.leapfrogs);
      double moved = 0, deepest = 0;
      for (std::size_t c = 0; c < static_cast<std::size_t>(chains); c++) {
        Point start;
        for (std::size_t i = 0; i < size; i++) {
          start.x.push_back(x[c * size + i]);
          start.v.push_back(momenta[c * size + i]);
        }
        evaluate_plainly(start);
        RecursiveNuts plain{scale, step, max_depth, directions[c], [&](int leaf) {
                              std::size_t at = (c * 1024 + static_cast<std::size_t>(leaf)) * 2;
                              return std::pair(chances[at], chances[at + 1]);
                            }};
        Point sample = plain.transition(start);
        ASSERT_EQ(leapfrogs[c], plain.leaves - 1) << "chain " << c;
        ASSERT_EQ(depths[c], plain.depth) << "chain " << c;
        ASSERT_EQ(divergent[c] != 0, plain.divergent) << "chain " << c;
        ASSERT_NEAR(accept[c], plain.accept / (plain.leaves - 1), 1e-8) << "chain " << c;
        ASSERT_NEAR(energies[c], sample.energy(), 1e-6 * (1 + std::abs(sample.energy())));
        for (std::size_t i = 0; i < size; i++) {
          ASSERT_NEAR(end[c * size + i], sample.x[i], 1e-6) << "chain " << c;
        }
        moved += sample.x != start.x;
        deepest = std::max(deepest, depths[c]);
      }
      EXPECT_GT(moved, chains / 3);
      if (max_depth == 10 && step < 0.1) {
        EXPECT_GE(deepest, 7);
      }
    }
  }
}

TEST(Nuts, AStepThatLeadsNowhereIsDivergent) {
  Nuts nuts;
  Metric unit = {Array(1.0, DType::f64)};
  LogDensity half_line = [](const Array& x) { return sum(log(x) - x); };
  Nuts::State at = nuts.init(half_line, device_array({0.5, 2}, {2}));
  auto [next, info] = nuts.step(key(1), half_line, at, Array(50.0, DType::f64), unit);
  EXPECT_TRUE(info.divergent.item<bool>());
  EXPECT_EQ(info.leapfrogs.item<int>(), 1);
  EXPECT_EQ(info.accept.item<double>(), 0);
  EXPECT_EQ(bytes_of(next.position), bytes_of(at.position));
}

}  // namespace
}  // namespace sturnus
