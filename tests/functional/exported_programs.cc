// Prints programs with arguments and results as JSON, for exported_programs_test.py to run
// elsewhere.
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jet.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/convolution.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/fft.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

namespace sturnus {
namespace {

struct Exported {
  std::string name;
  std::function<Arrays(const Arrays& x)> f;
  std::vector<Shape> shapes;  // of the arguments, in f64
};

Array positive(const Array& a) { return matmul(a, transpose(a)) + eye(a.shape()[0], DType::f64); }

std::vector<Exported> programs() {
  auto loss = [](const Arrays& x) { return mean(square(matmul(tanh(matmul(x[0], x[1])), x[2]))); };
  auto oscillator = [](Array rates) {
    auto step = [&](Array y, Array h) {
      Array next = y + h * stack({y[1], -rates[0] * y[0] - rates[1] * y[1]});
      return std::pair(next, next[0]);
    };
    return sum(
        square(scan(step, array(std::vector<double>{1, 0}), full({20}, 0.1, DType::f64)).second));
  };
  auto root = [](Array a) {
    auto go_on = [&](Array y) { return abs(y * y - a) > 1e-12; };
    return while_loop(
        go_on, [&](Array y) { return 0.5 * (y + a / y); }, a + 1.0);
  };
  return {
      {"a network's gradient",
       [=](const Arrays& x) { return grad(loss)(x); },
       {{5, 3}, {3, 4}, {4, 2}}},
      {"the hessian of a scan",
       [=](const Arrays& x) { return Arrays{hessian(oscillator)(x[0])}; },
       {{2}}},
      {"a while_loop under vmap and jvp",
       [=](const Arrays& x) {
         auto [value, tangent] = jvp(vmap(root), square(x[0]) + 0.5, x[1]);
         return Arrays{value, tangent};
       },
       {{4}, {4}}},
      {"decisions under vmap",
       [](const Arrays& x) {
         auto choose = [](Array t) {
           return cond(
               t > 0.0, [&] { return sin(t); }, [&] { return t * t; });
         };
         return Arrays{vmap(grad(choose))(x[0])};
       },
       {{5}}},
      {"matrices",
       [](const Arrays& x) {
         Array a = positive(x[0]);
         return Arrays{cholesky(a), solve(a, x[1]), eigh(a).values, svd(x[0]).s, expm(x[0])};
       },
       {{3, 3}, {3}}},
      {"sorting, positions and updates",
       [](const Arrays& x) {
         Array order = argsort(x[0]);
         return Arrays{sort(x[0]), x[0][order], x[0].at(order(Slice{0, 2})).add(1.0)};
       },
       {{6}}},
      {"transforms of signals",
       [](const Arrays& x) {
         Array filtered = convolution(reshape(x[0], {1, 1, 8}), reshape(x[1], {1, 1, 3}));
         return Arrays{irfft(rfft(x[0]) * 2.0), abs(fft(x[0])), filtered};
       },
       {{8}, {3}}},
      {"special functions",
       [](const Arrays& x) {
         return Arrays{lgamma(x[0] + 2.0), erf_inv(0.9 * x[0])};
       },
       {{5}}},
      {"random numbers",
       [](const Arrays& x) { return Arrays{x[0] + normal(key(3), {4}, DType::f64)}; },
       {{4}}},
      {"Taylor mode",
       [](const Arrays& x) {
         return jet([](Array t) { return exp(sin(t)); }, x[0], {x[1], x[1], x[1]}).second;
       },
       {{3}, {3}}},
  };
}

Array argument(const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size()));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = std::sin(1.7 * static_cast<double>(i) + 0.3);
  return array(values, shape);
}

nlohmann::json described(const Arrays& arrays) {
  nlohmann::json list;
  for (const Array& x : arrays) {
    list.push_back({{"shape", x.shape()}, {"values", convert(x, DType::f64).to_vector<double>()}});
  }
  return list;
}

}  // namespace
}  // namespace sturnus

int main() {
  using namespace sturnus;
  nlohmann::json all;
  for (const Exported& program : programs()) {
    Arrays x;
    for (const Shape& shape : program.shapes) x.push_back(argument(shape));
    all.push_back({{"name", program.name},
                   {"stablehlo", lower(program.f, x).stablehlo()},
                   {"arguments", described(x)},
                   {"results", described(jit(program.f)(x))}});
  }
  std::cout << all << "\n";
}
