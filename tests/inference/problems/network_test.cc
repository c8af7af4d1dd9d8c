#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/tree.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/problems/network.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/subscript.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct NamedActivation {
  Activation activation;
  std::function<double(double)> function;
};

const std::vector<NamedActivation> activations = {
    {Activation::tanh, [](double x) { return std::tanh(x); }},
    {Activation::sin, [](double x) { return std::sin(x); }},
    {Activation::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {Activation::softplus, [](double x) { return std::log1p(std::exp(x)); }},
    {Activation::relu, [](double x) { return x > 0 ? x : 0; }},
    {Activation::gelu, [](double x) { return x * std::erfc(-x / std::numbers::sqrt2) / 2; }},
    {Activation::silu, [](double x) { return x / (1 + std::exp(-x)); }},
};

Doubles affine(const Dense& layer, const Doubles& x) {
  Doubles w = doubles(layer.w), result = doubles(layer.b);
  for (std::size_t o = 0; o < result.size(); o++) {
    for (std::size_t i = 0; i < x.size(); i++) result[o] += x[i] * w[i * result.size() + o];
  }
  return result;
}

// The value at one point by loops.
Doubles forward(const Network& network, const Layers& layers, Doubles x,
                const std::function<double(double)>& activation) {
  for (std::size_t i = 0; i < network.input_low.size(); i++) {
    double low = network.input_low[i], high = network.input_high[i];
    x[i] = 2 * (x[i] - low) / (high - low) - 1;
  }
  for (std::size_t l = 0; l < layers.size(); l++) {
    x = affine(layers[l], x);
    if (l + 1 == layers.size()) break;
    for (double& value : x) value = activation(value);
  }
  for (double& value : x) {
    auto [low, high] = network.output_range.value_or(std::pair(-1.0, 1.0));
    value = low + 0.5 * (value + 1) * (high - low);
  }
  return x;
}

// What init would draw, without its random numbers.
Layers shapes_only(const Network& network) {
  return eval_shape([&] { return network.init(key(1)); });
}

Layers random_layers(const Network& network) {
  unsigned seed = 1;
  return tree_map(
      [&](const Array& a) {
        return device_array(random_numbers(static_cast<std::size_t>(a.size()), seed++), a.shape());
      },
      shapes_only(network));
}

std::vector<Shape> shapes_of(const Layers& layers) {
  std::vector<Shape> result;
  for (const Array& leaf : tree_leaves(layers)) result.push_back(leaf.shape());
  return result;
}

TEST(Activation, IsItsFormula) {
  Doubles x = {-8, -1.5, -0.1, 0, 0.2, 1, 9};
  for (const NamedActivation& row : activations) {
    Doubles found = doubles(apply(row.activation, array(x)));
    for (std::size_t i = 0; i < x.size(); i++) {
      EXPECT_NEAR(found[i], row.function(x[i]), 1e-13) << static_cast<int>(row.activation);
    }
  }
}

TEST(Network, HasLayersOfItsWidths) {
  Network network = {.inputs = 2, .outputs = 3, .hidden = {4, 5}};
  Layers layers = network.init(key(1));
  EXPECT_THAT(shapes_of(layers),
              ElementsAre(Shape{2, 4}, Shape{4}, Shape{4, 5}, Shape{5}, Shape{5, 3}, Shape{3}));
  EXPECT_EQ(network.size(), 2 * 4 + 4 + 4 * 5 + 5 + 5 * 3 + 3);
  network.fourier_features = 7;
  EXPECT_EQ(shapes_only(network)[0].w.shape(), (Shape{14, 4}));
  EXPECT_EQ(network.size(), 14 * 4 + 4 + 4 * 5 + 5 + 5 * 3 + 3);
  Network linear = {.hidden = {}};
  EXPECT_THAT(shapes_of(shapes_only(linear)), ElementsAre(Shape{1, 1}, Shape{1}));
  EXPECT_EQ(linear.size(), 2);
}

TEST(Network, SizeIsTheNumberOfPublishedParameters) {
  EXPECT_EQ((Network{.hidden = {20, 20}}.size()), 481);
  EXPECT_EQ((Network{.hidden = {20, 20, 20}}.size()), 901);
  EXPECT_EQ((Network{.inputs = 2, .hidden = {100, 100, 100, 100}}.size()), 30701);
  EXPECT_EQ((Network{.outputs = 2, .hidden = {20, 20, 20}}.size()), 922);
}

TEST(Network, ForwardPassIsThatOfLoops) {
  struct Row {
    Network network;
    std::vector<Doubles> points;
  };
  const std::vector<Row> rows = {
      {{.hidden = {3, 4}}, {{-2}, {0}, {0.3}, {5}}},
      {{.hidden = {3}, .input_low = {0}, .input_high = {25}}, {{0}, {12.5}, {25}, {30}}},
      {{.hidden = {}, .output_range = {{2, 10}}}, {{-1}, {0}, {1}}},
      {{.inputs = 2,
        .hidden = {5, 2},
        .input_low = {0, -0.1},
        .input_high = {2, 0.7},
        .output_range = {{-0.251, 1.865}}},
       {{0, 0}, {2, 0.7}, {1.1, 0.3}}},
      {{.inputs = 3, .outputs = 2, .hidden = {4}, .output_range = {{-3, 0.5}}},
       {{0.1, 0.2, 0.3}, {-1, 2, 0}}},
  };
  for (const Row& row : rows) {
    // Every activation for the first network, another one for each of the others.
    for (std::size_t a = 0; a < activations.size(); a++) {
      if (&row != &rows[0] && &row != &rows[a % rows.size()]) continue;
      const NamedActivation& activation = activations[a];
      Network network = row.network;
      network.activation = activation.activation;
      EXPECT_NO_THROW(network.check());
      Layers layers = random_layers(network);
      auto f = jit([&](const Layers& l, const Array& x) { return network(l, x); });
      for (const Doubles& point : row.points) {
        Shape shape = network.inputs == 1 ? Shape{} : Shape{network.inputs};
        Array value = f(layers, device_array(point, shape));
        EXPECT_EQ(value.shape(), network.outputs == 1 ? Shape{} : Shape{network.outputs});
        EXPECT_EQ(value.dtype(), DType::f64);
        Doubles found = doubles(value);
        Doubles expected = forward(network, layers, point, activation.function);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], expected[i], 1e-12);
      }
    }
  }
}

struct Moments {
  double low = 0, high = 0, mean = 0, variance = 0;
};

Moments moments(const Array& x) {
  Doubles values = doubles(x);
  Moments m = {values[0], values[0]};
  for (double v : values) {
    m.low = std::min(m.low, v);
    m.high = std::max(m.high, v);
    m.mean += v / static_cast<double>(values.size());
  }
  for (double v : values) {
    m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  }
  return m;
}

TEST(Network, InitializersHaveTheirBoundsAndVariances) {
  Network network = {.inputs = 64, .outputs = 100, .hidden = {400}};
  auto init = [&](Initializer initializer) {
    network.initializer = initializer;
    return jit([&](const Key& k) { return network.init(k); })(key(5));
  };
  auto fill = [](const Moments& m, double bound) {  // uniform within the bound
    EXPECT_LE(m.high, bound);
    EXPECT_GE(m.low, -bound);
    EXPECT_GT(m.high, 0.9 * bound);
    EXPECT_LT(m.low, -0.9 * bound);
  };

  Layers torch = init(Initializer::torch_linear);
  fill(moments(torch[0].w), 1 / 8.0);
  fill(moments(torch[0].b), 1 / 8.0);
  fill(moments(torch[1].w), 1 / 20.0);
  fill(moments(torch[1].b), 1 / 20.0);
  EXPECT_NEAR(moments(torch[1].w).variance, 1 / 400.0 / 3, 0.02 / 1200);

  Layers glorot = init(Initializer::glorot);
  fill(moments(glorot[0].w), std::sqrt(6.0 / 464));
  fill(moments(glorot[1].w), std::sqrt(6.0 / 500));
  EXPECT_NEAR(moments(glorot[1].w).variance, 2.0 / 500, 0.02 * 2 / 500);

  Layers lecun = init(Initializer::lecun);
  EXPECT_NEAR(moments(lecun[0].w).variance, 1 / 64.0, 0.03 / 64);
  EXPECT_NEAR(moments(lecun[1].w).variance, 1 / 400.0, 0.03 / 400);
  EXPECT_NEAR(moments(lecun[1].w).mean, 0, 4 * 0.05 / std::sqrt(40000.0));
  EXPECT_GT(moments(lecun[1].w).high, 3.5 / 20);  // normal numbers have tails

  for (const Layers& layers : {glorot, lecun}) {
    for (const Dense& layer : layers) {
      for (double b : doubles(layer.b)) EXPECT_EQ(b, 0);
    }
  }
}

TEST(Network, AnotherKeyGivesOtherNumbersTheSameKeyTheSame) {
  Network network = {.inputs = 4, .hidden = {4}, .initializer = Initializer::glorot};
  auto init = jit([&](const Key& k) { return network.init(k); });
  Layers a = init(key(1)), again = init(key(1)), b = init(key(2));
  EXPECT_EQ(bytes_of(a[0].w), bytes_of(again[0].w));
  EXPECT_NE(bytes_of(a[0].w), bytes_of(b[0].w));
  Doubles first = doubles(a[0].w), second = doubles(a[1].w);
  EXPECT_NE(first[0] / second[0], first[1] / second[1]);  // layers are not multiples
}

// With one linear layer the features are seen one by one.
TEST(Network, FourierFeaturesAreSinesAndCosinesOfRandomFrequencies) {
  Network network = {.inputs = 2,
                     .hidden = {},
                     .input_low = {0, 0},
                     .input_high = {4, 1},
                     .fourier_features = 200,
                     .fourier_scale = 3,
                     .fourier_seed = 8};
  auto feature = jit(vmap(
      [&](const Array& weights, const Array& x) {
        return network({{weights, zeros_like(weights[0])}}, x);
      },
      {.in_axes = {0, none}}));
  Doubles identity(400 * 400, 0);
  for (std::size_t i = 0; i < 400; i++) identity[i * 401] = 1;
  Array weights = device_array(identity, {400, 400, 1});
  auto features = [&](const Doubles& x) { return doubles(feature(weights, array(x))); };

  // Scaled inputs z = (2 t / 4 - 1, 2 x - 1): in the middle all are 0, near it are the frequencies.
  Doubles middle = features({2, 0.5});
  double squares = 0;
  for (std::size_t i = 0; i < 200; i++) {
    EXPECT_EQ(middle[i], 0);
    EXPECT_EQ(middle[200 + i], 1);
  }
  constexpr double step = 1e-3;
  Doubles by_t = features({2 + 2 * step, 0.5}), by_x = features({2, 0.5 + 0.5 * step});
  Doubles point = features({3.1, 0.8});
  for (std::size_t i = 0; i < 200; i++) {
    double k_t = std::asin(by_t[i]) / (2 * std::numbers::pi * step);
    double k_x = std::asin(by_x[i]) / (2 * std::numbers::pi * step);
    squares += k_t * k_t + k_x * k_x;
    double angle = 2 * std::numbers::pi * (k_t * 0.55 + k_x * 0.6);
    EXPECT_NEAR(point[i], std::sin(angle), 1e-9);
    EXPECT_NEAR(point[200 + i], std::cos(angle), 1e-9);
  }
  EXPECT_NEAR(std::sqrt(squares / 400), 3, 0.4);  // four standard errors

  Network other = network;
  other.fourier_seed = 9;
  Layers layers = random_layers(network);
  Array x = array(Doubles{3.1, 0.8});
  EXPECT_NE(doubles(network(layers, x)), doubles(other(layers, x)));
}

TEST(Network, ConstraintHoldsToTheBit) {
  Network network = {.hidden = {3}, .input_low = {0}, .input_high = {25}, .output_range = {{2, 7}}};
  Network free = network;
  network.constraint = [](const Array& value, const Array& t) { return t * value; };
  Layers layers = random_layers(network);
  auto f = jit([&](const Array& t) { return std::pair(network(layers, t), free(layers, t)); });
  EXPECT_EQ(f(Array(0.0, DType::f64)).first.item<double>(), 0);
  auto [constrained, without] = f(Array(3.0, DType::f64));
  EXPECT_NEAR(constrained.item<double>(), 3 * without.item<double>(), 1e-12);
}

TEST(Network, SaysWhatIsWrong) {
  struct Bad {
    Network network;
    const char* message;
  };
  double nan = std::nan("");
  const std::vector<Bad> table = {
      {{.hidden = {20, 0}}, "Network: a layer of width 0. Give at least 1"},
      {{.inputs = 0}, "a layer of width 0"},
      {{.outputs = -1}, "a layer of width -1"},
      {{.inputs = 0, .fourier_features = 3}, "3 Fourier features of 0 inputs"},
      {{.fourier_features = -3}, "-3 Fourier features"},
      {{.input_low = {0}}, "1 lower and 0 upper bounds for 1 inputs. Give one of each per input"},
      {{.inputs = 2, .input_low = {0}, .input_high = {1}}, "1 lower and 1 upper bounds for 2"},
      {{.input_low = {1}, .input_high = {1}}, "input 0 ranges from 1.000000 to 1.000000"},
      {{.inputs = 2, .input_low = {0, nan}, .input_high = {1, 1}}, "input 1 ranges from nan"},
      {{.output_range = {{3, 2}}}, "outputs range from 3.000000 to 2.000000"},
  };
  for (const Bad& bad : table) {
    EXPECT_THAT(error_of([&] { bad.network.check(); }), HasSubstr(bad.message));
  }
}

}  // namespace
}  // namespace sturnus
