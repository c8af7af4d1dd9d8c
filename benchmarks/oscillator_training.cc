#include "benchmarks/oscillator_training.h"

#include <algorithm>
#include <cmath>

namespace sturnus::benchmarks {
namespace {

constexpr double low = 0, high = 25, sigma = 0.1, rate = 0.01;
constexpr std::int64_t points = 100;
constexpr std::int64_t widths[] = {1, 20, 20, 20, 1};

// Lower median of the distances between members, in every dimension.
Array bandwidth(const Array& values) {
  std::int64_t n = values.shape()[0], pairs = n * (n - 1) / 2;
  std::vector<int> i, j;
  for (int a = 0; a < n; a++) {
    for (int b = a + 1; b < n; b++) {
      i.push_back(a);
      j.push_back(b);
    }
  }
  Array first = take(values, array(i), 0);
  Array gaps = abs(first - take(values, array(j), 0)) + 1e-7;
  Array median = order_statistic(gaps, (pairs - 1) / 2, 0);
  return stop_gradient(median / std::sqrt(std::log(static_cast<double>(n))));
}

Array residual_weight(const Array& iteration) {
  return where(iteration > 7500, 10.0, where(iteration > 5000, 5.0, 1.0));
}

}  // namespace

Array Oscillator::net(const std::vector<Layer>& layers, Array time) const {
  Array h = reshape(2.0 * (time - low) / (high - low) - 1.0, {1});
  for (std::size_t k = 0; k + 1 < layers.size(); k++) {
    h = tanh(matmul(h, layers[k].w) + layers[k].b);
  }
  Array out = reshape(matmul(h, layers.back().w) + layers.back().b, {});
  auto [smallest, largest] = std::minmax_element(y.begin(), y.end());
  return *smallest + 0.5 * (out + 1.0) * (*largest - *smallest);
}

Array Oscillator::residual(const Member& member, Array time) const {
  auto f = [&](Array s) { return net(member.net, s); };
  auto df = grad(f);
  auto ddf = grad(df);
  Array omega = member.lambda[0], zeta = member.lambda[1];
  return ddf(time) + 2.0 * zeta * omega * df(time) + square(omega) * f(time);
}

// The log of a kernel density of each member among the others, summed over dimensions.
Array Oscillator::repulsion(const Array& values) const {
  Array others = stop_gradient(values);
  Array h = bandwidth(others);
  Array gaps = (expand_dims(values, 1) - expand_dims(others, 0)) / h;
  return sum(logsumexp(-0.5 * square(gaps), 1) - log(h), 1);
}

Array Oscillator::loss(const Member& all, const Array& iteration) const {
  auto count = static_cast<double>(t.size());
  double weight = 2 * sigma * sigma / count;
  auto value = [&](const Member& m, Array s) { return net(m.net, s); };
  auto equation = [&](const Member& m, Array s) { return residual(m, s); };
  auto everywhere = [](auto f) {
    return vmap(vmap(f, {.in_axes = {none, 0}}), {.in_axes = {0, none}});
  };
  Array f = everywhere(value)(all, convert(array(t), DType::f32));
  Array r = everywhere(equation)(all, linspace(low, high, points));

  Array data = sum(square(f - convert(array(y), DType::f32)), 1) / count;
  Array physics = residual_weight(iteration) * mean(square(r), 1);
  Array prior = weight * 1000.0 * sum(square(minimum(all.lambda, 0.0)), 1);
  Array active = where(iteration >= 3000, weight / std::sqrt(count), 0.0);
  Array apart = active * repulsion(concatenate({f, all.lambda}, 1));
  return sum(data + physics + prior + apart);
}

Member Oscillator::unpack(const Array& rows) const {
  Member result;
  std::int64_t next = 0;
  auto part = [&](Shape shape) {
    std::int64_t size = 1;
    for (std::int64_t extent : shape) size *= extent;
    Array columns = slice(rows, {0, next}, {members, next + size});
    next += size;
    shape.insert(shape.begin(), members);
    return reshape(columns, shape);
  };
  for (std::size_t k = 0; k + 1 < std::size(widths); k++) {
    Array w = part({widths[k], widths[k + 1]});
    result.net.push_back({w, part({widths[k + 1]})});
  }
  result.lambda = part({2});
  return result;
}

Array Oscillator::pack(const Member& all) const {
  Arrays rows;
  for (const Array& leaf : tree_leaves(all)) rows.push_back(reshape(leaf, {members, -1}));
  return concatenate(rows, 1);
}

Array Oscillator::train(const Array& rows, const Array& first, const Array& count) const {
  Optimizer adam = {.rate = rate};
  auto step = [&](Array i, const State& s) {
    auto objective = [&](const Member& m) { return loss(m, first + i); };
    auto [value, g] = value_and_grad(objective)(unpack(s.rows));
    auto [parameters, optimizer] = adam.step({s.rows}, {pack(g)}, s.optimizer, i);
    return State{parameters[0], optimizer, value};
  };
  State start = {rows, adam.init({rows}), zeros({})};
  return fori_loop(Array(0), count, step, start).rows;
}

std::pair<Array, Array> Oscillator::loss_and_gradient(const Array& rows,
                                                      const Array& iteration) const {
  auto objective = [&](const Member& m) { return loss(m, iteration); };
  auto [value, g] = value_and_grad(objective)(unpack(rows));
  return {value, pack(g)};
}

}  // namespace sturnus::benchmarks
