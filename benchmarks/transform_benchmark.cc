// What the library itself costs: calling a compiled function, tracing, Taylor mode.
#include <benchmark/benchmark.h>
#include <sturnus/sturnus.h>

#include <vector>

#include "benchmarks/oscillator_training.h"

namespace sturnus::benchmarks {
namespace {

// Calls of a compiled x * x + 1 on a resident scalar, each waited for.
void BM_Call(benchmark::State& state) {
  auto f = jit([](Array x) { return x * x + 1.0; });
  Array x(2.0f);
  f(x).await();
  for (auto _ : state) f(x).await();
}
BENCHMARK(BM_Call);

// The same without waiting, as in a loop that keeps the device busy.
void BM_CallWithoutWaiting(benchmark::State& state) {
  auto f = jit([](Array x) { return x * x + 1.0; });
  Array x(2.0f);
  f(x).await();
  for (auto _ : state) benchmark::DoNotOptimize(f(x));
}
BENCHMARK(BM_CallWithoutWaiting);

struct Tree {
  std::vector<Layer> layers;
  Array scale;
};

// A call with a struct of nine arrays in and out.
void BM_CallWithTree(benchmark::State& state) {
  auto f = jit([](const Tree& t) { return tree_map([](const Array& a) { return a + 1.0; }, t); });
  Tree tree;
  for (int i = 0; i < 4; i++) tree.layers.push_back({zeros({4, 4}), zeros({4})});
  tree.scale = Array(1.0f);
  f(tree).scale.await();
  for (auto _ : state) f(tree).scale.await();
}
BENCHMARK(BM_CallWithTree);

// From plain code to StableHLO: nested grad, two vmaps, kernel density, Adam, reverse mode.
void BM_TraceAndLowerTraining(benchmark::State& state) {
  Oscillator oscillator;
  for (int i = 0; i < 10; i++) {
    oscillator.t.push_back(1.5 * i);
    oscillator.y.push_back(0.1 * i - 0.4);
  }
  Array rows = abstract_array(DType::f32, {25, 903});
  Array number = abstract_array(DType::i32, {});
  auto train = [&](Array r, Array first, Array count) { return oscillator.train(r, first, count); };
  for (auto _ : state) {
    benchmark::DoNotOptimize(lower(train, rows, number, number).stablehlo());
  }
}
BENCHMARK(BM_TraceAndLowerTraining)->Unit(benchmark::kMillisecond);

// A network of 4 x 50 at 1000 points, f32.
struct Network {
  std::vector<Layer> layers;

  static Network random() {
    Network network;
    std::int64_t widths[] = {1, 50, 50, 50, 50, 1};
    Key next = key(0);
    for (std::size_t k = 0; k + 1 < std::size(widths); k++) {
      next = fold_in(next, static_cast<int>(k));
      Array w = normal(next, {widths[k], widths[k + 1]}) * (k == 0 ? 1.0 : 0.14);
      network.layers.push_back({w, zeros({widths[k + 1]})});
    }
    return network;
  }
  Array operator()(Array t) const {
    Array h = reshape(t, {1});
    for (std::size_t k = 0; k + 1 < layers.size(); k++) {
      h = tanh(matmul(h, layers[k].w) + layers[k].b);
    }
    return reshape(matmul(h, layers.back().w) + layers.back().b, {});
  }
};

void run_at_points(benchmark::State& state, const std::function<Array(Array)>& one) {
  auto f = jit(vmap(one));
  Array points = linspace(-1.0, 1.0, 1000);
  f(points).await();
  for (auto _ : state) f(points).await();
}

void BM_FourthDerivativeByJet(benchmark::State& state) {
  Network network = Network::random();
  run_at_points(state, [&](Array t) { return derivatives(network, t, 4).back(); });
}
BENCHMARK(BM_FourthDerivativeByJet)->Unit(benchmark::kMicrosecond);

void BM_FourthDerivativeByNestedGrad(benchmark::State& state) {
  Network network = Network::random();
  run_at_points(state, [&](Array t) { return grad(grad(grad(grad(network))))(t); });
}
BENCHMARK(BM_FourthDerivativeByNestedGrad)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sturnus::benchmarks

BENCHMARK_MAIN();
