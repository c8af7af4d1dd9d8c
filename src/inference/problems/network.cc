#include <sturnus/inference/problems/network.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/setting_error.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace sturnus {
namespace {

Dense init_layer(Initializer initializer, std::int64_t in, std::int64_t out, const Key& key) {
  auto [for_w, for_b] = split(key);
  auto fan_in = static_cast<double>(in), fan_out = static_cast<double>(out);
  double bound = 1 / std::sqrt(fan_in);
  switch (initializer) {
    case Initializer::torch_linear:
      return {uniform(for_w, {in, out}, -bound, bound), uniform(for_b, {out}, -bound, bound)};
    case Initializer::glorot: {
      double wide = std::sqrt(6 / (fan_in + fan_out));
      return {uniform(for_w, {in, out}, -wide, wide), zeros({out})};
    }
    case Initializer::lecun:
      return {bound * normal(for_w, {in, out}), zeros({out})};
  }
  throw Error("Network: no such initializer");
}

}  // namespace

Array apply(Activation activation, const Array& x) {
  switch (activation) {
    case Activation::tanh:
      return tanh(x);
    case Activation::sin:
      return sin(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::softplus:
      return softplus(x);
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::silu:
      return silu(x);
  }
  throw Error("Network: no such activation");
}

std::vector<std::int64_t> Network::widths() const {
  std::vector<std::int64_t> result = {fourier_features > 0 ? 2 * fourier_features : inputs};
  result.insert(result.end(), hidden.begin(), hidden.end());
  result.push_back(outputs);
  return result;
}

Layers Network::init(const Key& key) const {
  Layers layers;
  std::vector<std::int64_t> width = widths();
  for (std::size_t i = 0; i + 1 < width.size(); i++) {
    layers.push_back(
        init_layer(initializer, width[i], width[i + 1], fold_in(key, static_cast<int>(i))));
  }
  return layers;
}

Array Network::operator()(const Layers& layers, const Array& point) const {
  Array h = inputs == 1 ? reshape(point, {1}) : point;
  if (!input_low.empty()) {
    // Numbers of the graph rather than arrays, so that networks at the same points stay one.
    Arrays scale, shift;
    for (std::size_t i = 0; i < input_low.size(); i++) {
      double range = input_high[i] - input_low[i];
      scale.push_back(full({}, 2 / range, h.dtype()));
      shift.push_back(full({}, -2 * input_low[i] / range - 1, h.dtype()));
    }
    h = h * stack(scale, 0) + stack(shift, 0);
  }
  if (fourier_features > 0) {
    Array k = fourier_scale * normal(sturnus::key(fourier_seed), {inputs, fourier_features});
    Array angle = 2 * std::numbers::pi * matmul(h, convert(k, h.dtype()));
    h = concatenate({sin(angle), cos(angle)}, 0);
  }
  for (std::size_t i = 0; i + 1 < layers.size(); i++) {
    h = apply(activation, matmul(h, layers[i].w) + layers[i].b);
  }
  h = matmul(h, layers.back().w) + layers.back().b;
  if (outputs == 1) h = reshape(h, {});
  if (output_range) {
    auto [low, high] = *output_range;
    double half = 0.5 * (high - low);
    h = half * h + (low + half);
  }
  return constraint ? constraint(h, point) : h;
}

std::int64_t Network::size() const {
  std::vector<std::int64_t> width = widths();
  std::int64_t result = 0;
  for (std::size_t i = 0; i + 1 < width.size(); i++) result += (width[i] + 1) * width[i + 1];
  return result;
}

void Network::check() const {
  if (fourier_features < 0 || (fourier_features > 0 && inputs < 1)) {
    throw Error("Network: " + std::to_string(fourier_features) + " Fourier features of " +
                std::to_string(inputs) +
                " inputs. Give numbers that are not negative, and an input");
  }
  if (fourier_features == 0) {
    const char* idle = fourier_scale != Network().fourier_scale ? "fourier_scale"
                       : fourier_seed != Network().fourier_seed ? "fourier_seed"
                                                                : nullptr;
    if (idle != nullptr) {
      throw SettingError(idle, std::string("Network: ") + idle +
                                   " without Fourier features. Give fourier_features, or leave "
                                   "this out");
    }
  }
  std::vector<std::int64_t> width = widths();
  for (std::int64_t one : width) {
    if (one < 1) {
      throw Error("Network: a layer of width " + std::to_string(one) + ". Give at least 1");
    }
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i + 1 < width.size(); i++) {
    if (width[i] <= most / width[i + 1]) continue;
    bool of_features = i == 0 && fourier_features > 0 && width[0] > width[1];
    throw SettingError(of_features ? "fourier_features" : "hidden",
                       "Network: " + std::to_string(width[i]) + " x " +
                           std::to_string(width[i + 1]) +
                           " weights between neighbouring layers. Give widths whose product is "
                           "at most " +
                           std::to_string(most));
  }
  std::size_t bounds = input_low.size();
  if (bounds != input_high.size() || (bounds != 0 && static_cast<std::int64_t>(bounds) != inputs)) {
    throw Error("Network: " + std::to_string(bounds) + " lower and " +
                std::to_string(input_high.size()) + " upper bounds for " + std::to_string(inputs) +
                " inputs. Give one of each per input, or none");
  }
  for (std::size_t i = 0; i < bounds; i++) {
    if (!(input_low[i] < input_high[i])) {
      throw Error("Network: input " + std::to_string(i) + " ranges from " +
                  std::to_string(input_low[i]) + " to " + std::to_string(input_high[i]) +
                  ". The lower bound must be below the upper one");
    }
  }
  if (output_range && !(output_range->first < output_range->second)) {
    throw Error("Network: outputs range from " + std::to_string(output_range->first) + " to " +
                std::to_string(output_range->second) +
                ". The lower bound must be below the upper one");
  }
}

}  // namespace sturnus
