// Fully connected networks as unknown functions.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace sturnus {

enum class Activation { tanh, sin, sigmoid, softplus, relu, gelu, silu };
/// torch_linear: weights and biases uniform within 1/sqrt(fan in). glorot: weights uniform within
/// sqrt(6/(fan in + fan out)); lecun: weights normal with variance 1/fan in; biases 0 in both.
enum class Initializer { torch_linear, glorot, lecun };

/// An affine map x w + b.
struct Dense {
  Array w;  // [in, out]
  Array b;  // [out]
};

/// What a network learns, layer by layer.
using Layers = std::vector<Dense>;

/// A fully connected network's architecture. Its inputs are scaled from their ranges to [-1, 1],
/// its outputs from [-1, 1] to theirs.
struct Network {
  /// One number stands for one with no axis: a point of one input, a value of one output.
  std::int64_t inputs = 1, outputs = 1;
  std::vector<std::int64_t> hidden = {20, 20, 20};
  Activation activation = Activation::tanh;
  Initializer initializer = Initializer::torch_linear;
  /// One bound per input; empty: inputs are taken as they are.
  std::vector<double> input_low = {}, input_high = {};
  /// From the lowest to the highest; not set: outputs are taken as they are.
  std::optional<std::pair<double, double>> output_range = {};
  /// That many random frequencies k instead of the scaled inputs z: sin(2 pi k z), cos(2 pi k z).
  std::int64_t fourier_features = 0;
  double fourier_scale = 1;  ///< The standard deviation of the frequencies.
  std::uint64_t fourier_seed = 0;
  /// A hard constraint: what the network is taken to say, of what it says and the point. For
  /// instance t -> t * f makes f(0) = 0.
  std::function<Array(const Array& value, const Array& point)> constraint = {};

  /// Random parameters.
  Layers init(const Key& key) const;
  /// The value at one point.
  Array operator()(const Layers& layers, const Array& point) const;
  /// How many numbers `init` draws.
  std::int64_t size() const;
  /// Throws Error when the settings contradict each other.
  void check() const;

 private:
  std::vector<std::int64_t> widths() const;
};

Array apply(Activation activation, const Array& x);

}  // namespace sturnus
