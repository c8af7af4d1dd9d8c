#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/optimizers/optimizer.h>

#include <cmath>
#include <limits>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::HasSubstr;
using Method = Optimizer::Method;

// Three members that have a matrix, a vector and a number each.
const std::vector<Shape> shapes = {{3, 2, 4}, {3, 5}, {3}};
constexpr std::size_t members = 3;
constexpr int steps = 20;

std::size_t count(const Shape& shape) {
  std::size_t result = 1;
  for (std::int64_t extent : shape) result *= static_cast<std::size_t>(extent);
  return result;
}

std::vector<Doubles> numbers(unsigned seed, double sd) {
  std::vector<Doubles> result;
  for (const Shape& shape : shapes) result.push_back(random_numbers(count(shape), seed++, sd));
  return result;
}

// Gradients of very different sizes: over steps, and over members.
std::vector<Doubles> gradients_at(int iteration) {
  auto result = numbers(100 + 10 * static_cast<unsigned>(iteration), 1 + iteration % 4);
  for (Doubles& g : result) {
    std::size_t own = g.size() / members;
    for (std::size_t i = 0; i < own; i++) g[i] *= 1e-3;
    for (std::size_t i = 2 * own; i < 3 * own; i++) g[i] *= 100;
  }
  return result;
}

// The formulas as published, number by number.
struct Host {
  const Optimizer& optimizer;
  std::vector<Doubles> p = numbers(1, 1), m = numbers(1, 0), v = numbers(1, 0);

  void step(std::vector<Doubles> g, int iteration, double rate) {
    if (optimizer.clip_norm) clip(g);
    double t = iteration + 1;
    for (std::size_t a = 0; a < p.size(); a++) {
      for (std::size_t i = 0; i < p[a].size(); i++) {
        double d = g[a][i], decay = optimizer.weight_decay * p[a][i];
        if (optimizer.method != Method::adamw) d += decay;
        if (optimizer.method == Method::sgd) {
          m[a][i] = optimizer.momentum * m[a][i] + d;
          p[a][i] -= rate * m[a][i];
          continue;
        }
        m[a][i] = optimizer.beta1 * m[a][i] + (1 - optimizer.beta1) * d;
        v[a][i] = optimizer.beta2 * v[a][i] + (1 - optimizer.beta2) * d * d;
        double mean = m[a][i] / (1 - std::pow(optimizer.beta1, t));
        double square = v[a][i] / (1 - std::pow(optimizer.beta2, t));
        p[a][i] -= rate * mean / (std::sqrt(square) + optimizer.epsilon);
        if (optimizer.method == Method::adamw) p[a][i] -= rate * decay;
      }
    }
  }

  void clip(std::vector<Doubles>& g) const {
    for (std::size_t member = 0; member < members; member++) {
      auto each = [&](auto f) {
        for (Doubles& part : g) {
          std::size_t own = part.size() / members;
          for (std::size_t i = 0; i < own; i++) f(part[member * own + i]);
        }
      };
      double total = 0;
      each([&](double& x) { total += x * x; });
      double norm = std::sqrt(total);
      if (norm > *optimizer.clip_norm) each([&](double& x) { x *= *optimizer.clip_norm / norm; });
    }
  }
};

Arrays on_device(const std::vector<Doubles>& values, DType dtype) {
  Arrays result;
  for (std::size_t a = 0; a < values.size(); a++) {
    result.push_back(device_array(values[a], shapes[a], dtype));
  }
  return result;
}

void expect_near(const Arrays& found, const std::vector<Doubles>& expected, double error) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t a = 0; a < found.size(); a++) {
    Doubles values = doubles(found[a]);
    for (std::size_t i = 0; i < values.size(); i++) {
      EXPECT_NEAR(values[i], expected[a][i], error * (1 + std::abs(expected[a][i])))
          << "array " << a << ", element " << i;
    }
  }
}

/// The step of an optimiser as one program.
auto compiled_step(const Optimizer& optimizer) {
  return jit([&optimizer](const Arrays& p, const Arrays& g, const OptimizerState& s,
                          const Array& iteration) {
    Optimizer::Step next = optimizer.step(p, g, s, iteration);
    return std::pair(next.parameters, next.state);
  });
}

struct Row {
  const char* name;
  Optimizer optimizer;
};

const std::vector<Row> rows = {
    {"adam", {}},
    {"adam, other betas", {.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3}},
    {"adam without memory", {.beta1 = 0, .beta2 = 0}},
    {"adam with decay", {.rate = 0.003, .weight_decay = 5e-4}},
    {"adam, clipped", {.clip_norm = 2.0}},
    {"adamw", {.method = Method::adamw, .weight_decay = 0.1}},
    {"adamw, clipped", {.method = Method::adamw, .weight_decay = 0.1, .clip_norm = 0.5}},
    {"sgd", {.method = Method::sgd}},
    {"sgd with momentum", {.method = Method::sgd, .momentum = 0.9}},
    {"sgd, all at once",
     {.method = Method::sgd, .momentum = 0.5, .weight_decay = 0.2, .clip_norm = 3.0}},
};

TEST(Optimizer, FollowsItsFormulasOverTwentySteps) {
  for (const Row& row : rows) {
    for (auto [dtype, error] : {std::pair(DType::f64, 1e-12), std::pair(DType::f32, 2e-5)}) {
      SCOPED_TRACE(row.name + std::string(" ") + std::string(name_of(dtype)));
      EXPECT_NO_THROW(row.optimizer.check());
      auto step = compiled_step(row.optimizer);
      Host host{row.optimizer};
      Arrays parameters = on_device(host.p, dtype);
      OptimizerState state = row.optimizer.init(parameters);
      for (int i = 0; i < steps; i++) {
        auto gradients = gradients_at(i);
        std::tie(parameters, state) =
            step(parameters, on_device(gradients, dtype), state, Array(i));
        host.step(gradients, i, row.optimizer.rate.value);
      }
      for (const Array& p : parameters) EXPECT_EQ(p.dtype(), dtype);
      expect_near(parameters, host.p, error);
      if (!state.mean.empty()) expect_near(state.mean, host.m, error);
      if (!state.square.empty()) expect_near(state.square, host.v, error);
    }
  }
}

TEST(Optimizer, RemembersNoMoreThanItNeeds) {
  Arrays parameters = on_device(numbers(1, 1), DType::f32);
  auto sizes = [&](const Optimizer& optimizer) {
    OptimizerState state = optimizer.init(parameters);
    return std::pair(state.mean.size(), state.square.size());
  };
  EXPECT_EQ(sizes({.method = Method::sgd}), std::pair(0ul, 0ul));
  EXPECT_EQ(sizes({.method = Method::sgd, .momentum = 0.1}), std::pair(3ul, 0ul));
  EXPECT_EQ(sizes({}), std::pair(3ul, 3ul));
  EXPECT_EQ(sizes({.method = Method::adamw}), std::pair(3ul, 3ul));
}

TEST(Optimizer, TakesTheRateOfTheIteration) {
  for (Method method : {Method::sgd, Method::adam}) {
    Optimizer optimizer = {.method = method,
                           .rate = Schedule::stepwise(0.1, {{4, 0.02}, {11, 0}}).with_warm_up(3)};
    auto step = compiled_step(optimizer);
    Host host{optimizer};
    Arrays parameters = on_device(host.p, DType::f64);
    OptimizerState state = optimizer.init(parameters);
    for (int i = 0; i < steps; i++) {
      auto gradients = gradients_at(i);
      std::tie(parameters, state) =
          step(parameters, on_device(gradients, DType::f64), state, Array(i));
      double rate = i > 11 ? 0 : i > 4 ? 0.02 : 0.1;
      host.step(gradients, i, rate * std::min(1.0, (i + 1) / 3.0));
      expect_near(parameters, host.p, 1e-12);
    }
  }
}

// A member with a gradient that is not finite is lost, the others are not.
TEST(Optimizer, MembersDoNotMeet) {
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto step = compiled_step(row.optimizer);
    for (double bad : {inf, nan, -inf}) {
      Arrays parameters = on_device(numbers(1, 1), DType::f32);
      auto gradients = gradients_at(0);
      Host host{row.optimizer};
      host.step(gradients, 0, row.optimizer.rate.value);
      for (Doubles& g : gradients) g[g.size() / members] = bad;  // of member 1
      Arrays moved = step(parameters, on_device(gradients, DType::f32),
                          row.optimizer.init(parameters), Array(0))
                         .first;
      for (std::size_t a = 0; a < shapes.size(); a++) {
        Doubles found = doubles(moved[a]);
        std::size_t own = found.size() / members;
        for (std::size_t i = 0; i < found.size(); i++) {
          if (i / own == 1) continue;
          EXPECT_NEAR(found[i], host.p[a][i], 2e-5 * (1 + std::abs(found[i])));
        }
      }
    }
  }
}

TEST(Optimizer, ClippingLeavesZeroGradientsAlone) {
  Optimizer optimizer = {.method = Method::sgd, .clip_norm = 1.0};
  Arrays parameters = on_device(numbers(1, 1), DType::f32);
  Arrays moved = compiled_step(optimizer)(parameters, on_device(numbers(1, 0), DType::f32),
                                          optimizer.init(parameters), Array(0))
                     .first;
  for (std::size_t a = 0; a < shapes.size(); a++) {
    EXPECT_EQ(doubles(moved[a]), doubles(parameters[a]));
  }
}

// The square of such a gradient overflows; its direction does not.
TEST(Optimizer, ClippingShortensVeryLongGradients) {
  Optimizer optimizer = {.method = Method::sgd, .rate = 1, .clip_norm = 1.0};
  Arrays parameters = {array(std::vector<float>{0, 0}, {1, 2})};
  Arrays gradients = {array(std::vector<float>{-3e25f, 4e25f}, {1, 2})};
  Doubles moved =
      doubles(compiled_step(optimizer)(parameters, gradients, optimizer.init(parameters), Array(0))
                  .first[0]);
  EXPECT_NEAR(moved[0], 0.6, 1e-6);
  EXPECT_NEAR(moved[1], -0.8, 1e-6);
}

TEST(Optimizer, SaysWhatIsWrong) {
  struct Bad {
    Optimizer optimizer;
    const char* message;
  };
  double nan = std::nan("");
  const std::vector<Bad> table = {
      {{.rate = nan}, "Optimizer, rate: a schedule holds a value that is not finite"},
      {{.rate = 0}, "Optimizer: rate is 0.000000. It must be positive"},
      {{.rate = Schedule::cosine(0.1, -0.2, 0, 5)}, "rate is -0.200000. It must be at least 0"},
      {{.beta1 = 1}, "Optimizer: beta1 is 1.000000. It must be at least 0 and below 1"},
      {{.beta1 = -0.1}, "beta1 is -0.100000"},
      {{.beta2 = 1.5}, "beta2 is 1.500000"},
      {{.beta2 = nan}, "beta2 is nan"},
      {{.epsilon = 0}, "epsilon is 0.000000. It must be positive"},
      {{.momentum = 1}, "momentum is 1.000000"},
      {{.momentum = 0.5}, "Optimizer: adam has no momentum. Leave it out"},
      {{.method = Method::adamw, .momentum = 0.5}, "adamw has no momentum"},
      {{.method = Method::sgd, .beta1 = 0.5}, "sgd has no beta1"},
      {{.method = Method::sgd, .beta2 = 0.5}, "sgd has no beta2"},
      {{.method = Method::sgd, .epsilon = 1e-4}, "sgd has no epsilon"},
      {{.weight_decay = -1}, "weight_decay is -1.000000. It must be at least 0"},
      {{.clip_norm = 0.0}, "clip_norm is 0.000000. It must be positive"},
  };
  for (const Bad& bad : table) {
    EXPECT_THAT(error_of([&] { bad.optimizer.check(); }), HasSubstr(bad.message));
  }
}

}  // namespace
}  // namespace sturnus
