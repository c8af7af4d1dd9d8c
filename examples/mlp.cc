// A small network learns a function from noisy points: parameters in plain structs, Adam, and the
// whole training in one program.
#include <sturnus/sturnus.h>

#include <cmath>
#include <iostream>

using namespace sturnus;

struct Layer {
  Array w, b;
};
using Network = std::vector<Layer>;

Network make_network(const std::vector<std::int64_t>& widths, Key key) {
  Network network;
  for (std::size_t i = 0; i + 1 < widths.size(); i++) {
    double scale = 1 / std::sqrt(static_cast<double>(widths[i]));
    Array w = scale * normal(fold_in(key, static_cast<int>(i)), {widths[i], widths[i + 1]});
    network.push_back({w, zeros({widths[i + 1]})});
  }
  return network;
}

// x[points, features in] -> y[points, features out].
Array predict(const Network& network, Array x) {
  for (std::size_t i = 0; i + 1 < network.size(); i++) {
    x = tanh(matmul(x, network[i].w) + network[i].b);
  }
  return matmul(x, network.back().w) + network.back().b;
}

struct Adam {
  Network parameters, mean, square;
};

Adam updated(const Adam& s, const Network& gradient, const Array& step, double rate = 0.01) {
  Array t = convert(step + 1, DType::f32);
  Array mean_scale = 1.0 / (1.0 - pow(0.9, t)), square_scale = 1.0 / (1.0 - pow(0.999, t));
  Adam next;
  next.mean =
      tree_map([](const Array& m, const Array& g) { return 0.9 * m + 0.1 * g; }, s.mean, gradient);
  next.square =
      tree_map([](const Array& v, const Array& g) { return 0.999 * v + 0.001 * square(g); },
               s.square, gradient);
  next.parameters = tree_map(
      [&](const Array& p, const Array& m, const Array& v) {
        return p - rate * (m * mean_scale) / (sqrt(v * square_scale) + 1e-8);
      },
      s.parameters, next.mean, next.square);
  return next;
}

int main() {
  auto [for_network, for_noise] = split(key(1));
  Array x = linspace(-3.0, 3.0, 128)(Slice{}, new_axis);
  Array y = sin(2.0 * x) * exp(-0.1 * square(x)) + 0.05 * normal(for_noise, {128, 1});

  auto loss = [&](const Network& network) { return mean(square(predict(network, x) - y)); };
  auto train = jit([&](const Adam& start) {
    auto step = [&](const Adam& state, const Array& i) {
      auto [value, gradient] = value_and_grad(loss)(state.parameters);
      return std::pair(updated(state, gradient, i), value);
    };
    return scan(step, start, arange(1000));
  });

  Network network = make_network({1, 32, 32, 1}, for_network);
  Network zero = tree_map([](const Array& p) { return zeros_like(p); }, network);
  auto [end, losses] = train(Adam{network, zero, zero});
  for (int i = 0; i < 1000; i += 200) std::cout << "step " << i << "  loss " << losses[i] << "\n";
  float last = losses[-1].item<float>();
  std::cout << "end       loss " << last << ", noise " << 0.05 * 0.05 << "\n";
  return last < 0.005f ? 0 : 1;
}
