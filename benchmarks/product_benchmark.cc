// Products of many small matrices: the host's function beside XLA's dot_general on the CPU plugin,
// in billions of multiplications and additions per second.
//
// The shapes are those of trainings: m x k are a layer's weights or their derivatives, and the
// points at which a network is evaluated are the columns.
#include <benchmark/benchmark.h>
#include <sturnus/functional/array.h>
#include <sturnus/runtime/executable.h>
#include <sturnus/runtime/host_product.h>

#include <string>
#include <vector>

namespace sturnus::benchmarks {
namespace {

using internal::ProductExtents;
using internal::ProductLayout;

struct Layout {
  ProductLayout layout;
  const char* name;
  int left_sum, right_sum;  // the axis that is summed over
};

constexpr Layout layouts[] = {{ProductLayout::mk_kn, "mk_kn", 2, 1},
                              {ProductLayout::km_kn, "km_kn", 1, 1},
                              {ProductLayout::mk_nk, "mk_nk", 2, 2},
                              {ProductLayout::km_nk, "km_nk", 1, 2}};

void count_operations(benchmark::State& state, const ProductExtents& e) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(e.batch * e.m * e.k * e.n),
                         benchmark::Counter::kIsIterationInvariantRate);
}

std::vector<float> ones(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), 1.0f);
}

void host(benchmark::State& state, Layout layout, ProductExtents e) {
  std::vector<float> left = ones(e.batch * e.m * e.k), right = ones(e.batch * e.k * e.n),
                     result = ones(e.batch * e.m * e.n);
  for (auto _ : state) {
    internal::host_product(nullptr, layout.layout, e, left.data(), right.data(), result.data());
    benchmark::ClobberMemory();
  }
  count_operations(state, e);
}

std::string tensor(const Shape& shape) {
  std::string text = "tensor<";
  for (std::int64_t extent : shape) text += std::to_string(extent) + "x";
  return text + "f32>";
}

void xla(benchmark::State& state, Layout layout, ProductExtents e) {
  Shape left = layout.left_sum == 2 ? Shape{e.batch, e.m, e.k} : Shape{e.batch, e.k, e.m};
  Shape right = layout.right_sum == 1 ? Shape{e.batch, e.k, e.n} : Shape{e.batch, e.n, e.k};
  std::string l = tensor(left), r = tensor(right), result = tensor({e.batch, e.m, e.n});
  std::string text = "func.func public @main(%l: " + l + ", %r: " + r + ") -> " + result +
                     " {\n%p = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], "
                     "contracting_dims = [" +
                     std::to_string(layout.left_sum) + "] x [" + std::to_string(layout.right_sum) +
                     "] : (" + l + ", " + r + ") -> " + result + "\nreturn %p : " + result + "\n}";
  Device device = default_device();
  LoadedExecutable program = device.owner().compile(text);
  Buffer x = Buffer::from_host<float>(device, ones(e.batch * e.m * e.k), left),
         y = Buffer::from_host<float>(device, ones(e.batch * e.k * e.n), right);
  for (auto _ : state) program.run({&x, &y})[0].await();
  count_operations(state, e);
}

}  // namespace

void register_products() {
  const ProductExtents shapes[] = {{1, 50, 50, 1000},  {25, 20, 20, 100},  {25, 20, 100, 20},
                                   {50, 20, 20, 50},   {25, 100, 100, 64}, {25, 100, 100, 256},
                                   {25, 100, 256, 100}};
  for (const ProductExtents& e : shapes) {
    for (const Layout& layout : layouts) {
      std::string name = std::string(layout.name) + "/" + std::to_string(e.batch) + "x" +
                         std::to_string(e.m) + "x" + std::to_string(e.k) + "x" +
                         std::to_string(e.n);
      benchmark::RegisterBenchmark(("host/" + name).c_str(), host, layout, e)->UseRealTime();
      benchmark::RegisterBenchmark(("xla/" + name).c_str(), xla, layout, e)->UseRealTime();
    }
  }
}

}  // namespace sturnus::benchmarks

int main(int argc, char** argv) {
  sturnus::benchmarks::register_products();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
