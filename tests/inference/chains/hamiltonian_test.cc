#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/chains/hamiltonian.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>
#include <vector>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

// Neither symmetric nor quadratic.
Array log_density(const Array& x) {
  return -0.5 * sum(square(x)) - 0.1 * sum(exp(0.5 * x)) + 0.3 * sin(x[0]) * x[1];
}

struct Case {
  const char* name;
  Metric metric;
};

std::vector<Case> cases() {
  return {{"unit", {Array(1.0, DType::f64)}},
          {"diagonal", {device_array({0.5, 1.5, 1}, {3})}},
          {"dense", {device_array({0.5, 0, 0, 0.3, 1.2, 0, -0.2, 0.1, 0.8}, {3, 3})}}};
}

PhasePoint start() {
  return {evaluate(log_density, device_array({0.3, -0.7, 1.1}, {3})),
          device_array({0.5, 0.2, -0.9}, {3})};
}

PhasePoint after(const Metric& metric, const PhasePoint& from, double step, std::int64_t count) {
  return jit([&](const PhasePoint& p, const Array& h) {
    auto body = [&](const Array&, const PhasePoint& q) {
      return leapfrog(log_density, metric, q, h);
    };
    return fori_loop(0, count, body, p);
  })(from, Array(step, DType::f64));
}

TEST(Leapfrog, IsReversible) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    PhasePoint there = after(c.metric, start(), 0.2, 25);
    there.momentum = -there.momentum;
    PhasePoint back = after(c.metric, there, 0.2, 25);
    Doubles x = doubles(back.at.position), v = doubles(back.momentum);
    Doubles x0 = doubles(start().at.position), v0 = doubles(start().momentum);
    for (std::size_t i = 0; i < 3; i++) {
      EXPECT_NEAR(x[i], x0[i], 1e-12);
      EXPECT_NEAR(v[i], -v0[i], 1e-12);
    }
    // Backwards in time is the same as with the momentum turned round.
    PhasePoint earlier = after(c.metric, after(c.metric, start(), 0.2, 25), -0.2, 25);
    EXPECT_NEAR(doubles(earlier.at.position)[1], x0[1], 1e-12);
  }
}

TEST(Leapfrog, PreservesVolume) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    auto map = [&](const Array& xv) {
      PhasePoint p = {evaluate(log_density, slice(xv, {0}, {3})), slice(xv, {3}, {6})};
      for (int i = 0; i < 3; i++) {
        p = leapfrog(log_density, c.metric, p, Array(0.3, DType::f64));
      }
      return concatenate({p.at.position, p.momentum});
    };
    PhasePoint p = start();
    // A map is symplectic when J^T W J = W, and its determinant is then 1.
    Array j = jacfwd(map)(concatenate({p.at.position, p.momentum}));
    Array factor = c.metric.factor, unit = eye(3, DType::f64);
    Array l = factor.rank() == 2 ? factor : factor * unit;
    // In coordinates x and p = L^-T v the form is canonical; in x and v it is L^-1. Solved for L:
    // (L^-1) is avoided by writing positions as L y, with y = L^-1 x.
    Array block = concatenate({concatenate({l, zeros({3, 3}, DType::f64)}, 1),
                               concatenate({zeros({3, 3}, DType::f64), unit}, 1)},
                              0);
    // J (L (+) 1) = (L (+) 1) K with K symplectic: (L (+) 1) W (L (+) 1)^T is what J preserves.
    Array w = concatenate({concatenate({zeros({3, 3}, DType::f64), unit}, 1),
                           concatenate({-unit, zeros({3, 3}, DType::f64)}, 1)},
                          0);
    Array form = matmul(matmul(block, w), transpose(block));
    Doubles expected = doubles(form);
    Doubles found = doubles(matmul(matmul(j, form), transpose(j)));
    for (std::size_t i = 0; i < 36; i++) EXPECT_NEAR(found[i], expected[i], 1e-12);
  }
}

TEST(Leapfrog, EnergyErrorIsOfSecondOrder) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    double before = energy(start()).item<double>();
    auto error = [&](double step, std::int64_t count) {
      return energy(after(c.metric, start(), step, count)).item<double>() - before;
    };
    double coarse = error(0.04, 25), fine = error(0.02, 50), finest = error(0.01, 100);
    EXPECT_NEAR(coarse / fine, 4, 0.15);
    EXPECT_NEAR(fine / finest, 4, 0.05);
  }
}

TEST(Leapfrog, AMetricIsAChangeOfCoordinates) {
  // With x = L y, the metric L for x is the unit metric for y, with the same momenta.
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Array y = device_array({0.4, -0.2, 0.6}, {3}), v = start().momentum;
    LogDensity of_y = [&](const Array& at) { return log_density(c.metric.times(at)); };
    Metric unit = {Array(1.0, DType::f64)};
    PhasePoint p = {evaluate(log_density, c.metric.times(y)), v}, q = {evaluate(of_y, y), v};
    for (int i = 0; i < 3; i++) {
      p = leapfrog(log_density, c.metric, p, Array(0.3, DType::f64));
      q = leapfrog(of_y, unit, q, Array(0.3, DType::f64));
    }
    Doubles x = doubles(p.at.position), from_y = doubles(c.metric.times(q.at.position));
    Doubles v_x = doubles(p.momentum), v_y = doubles(q.momentum);
    for (std::size_t i = 0; i < 3; i++) {
      EXPECT_NEAR(x[i], from_y[i], 1e-13);
      EXPECT_NEAR(v_x[i], v_y[i], 1e-13);
    }
  }
}

TEST(Energy, OfNoNumberIsInfinite) {
  LogDensity nowhere = [](const Array& x) { return log(sum(x)); };
  PhasePoint p = {evaluate(nowhere, device_array({-1}, {1})), device_array({1}, {1})};
  EXPECT_EQ(energy(p).item<double>(), INFINITY);
}

}  // namespace
}  // namespace sturnus
