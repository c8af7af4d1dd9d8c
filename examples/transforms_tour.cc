// Derivatives, vectorisation and compilation of plain functions over plain structs.
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct Layer {
  Array w, b;
};
struct Member {
  std::vector<Layer> net;
  Array omega, zeta;
};

Array network(const std::vector<Layer>& layers, Array t) {
  Array h = reshape(t, {1});
  for (std::size_t i = 0; i + 1 < layers.size(); i++) {
    h = tanh(matmul(h, layers[i].w) + layers[i].b);
  }
  return sum(matmul(h, layers.back().w) + layers.back().b);
}

// How far the network is from a damped oscillation: f'' + 2 zeta omega f' + omega^2 f.
Array residual(const Member& m, Array t) {
  auto f = [&](Array t) { return network(m.net, t); };
  auto df = grad(f);
  auto ddf = grad(df);
  return ddf(t) + 2.0 * m.zeta * m.omega * df(t) + square(m.omega) * f(t);
}

int main() {
  Layer hidden{array({{0.1, 0.2, 0.3}}), array({0.1, 0.2, 0.3})};
  Layer output{array({{1}, {2}, {3}}), array({0.5})};
  Member member{{hidden, output}, 2.0, 0.1};
  Array times = linspace(0, 1, 5);

  auto at_times = vmap(residual, {.in_axes = {none, 0}});
  auto loss = [&](const Member& m, Array t) { return mean(square(at_times(m, t))); };

  auto [value, gradient] = jit(value_and_grad(loss))(member, times);
  std::cout << "residuals " << at_times(member, times) << "\n";
  std::cout << "loss " << value << "\n";
  std::cout << "by omega " << gradient.omega << ", by the first weights " << gradient.net[0].w
            << "\n";

  // Twenty steps of gradient descent, in one program.
  auto train = jit([&](Member m, Array t) {
    return fori_loop(
        0, 20,
        [&](Array, Member m) {
          Member g = grad(loss)(m, t);
          return tree_map([](const Array& p, const Array& d) { return p - 0.001 * d; }, m, g);
        },
        m);
  });
  std::cout << "loss after training " << loss(train(member, times), times) << "\n";
}
