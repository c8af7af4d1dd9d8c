#include "tests/ops/op_table.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>

#include <cmath>

namespace sturnus::testing {

using Doubles = std::vector<double>;

Row unary(std::string name, Unary f, double (*reference)(double), double low, double high,
          int order) {
  return {std::move(name),
          [f](const Arrays& x) { return f(x[0]); },
          {{2, 3}},
          low,
          high,
          [reference](const Doubles& x) { return reference(x[0]); },
          order};
}

Row binary(std::string name, Binary f, double (*reference)(double, double), double low, double high,
           int order) {
  return {std::move(name),
          [f](const Arrays& x) { return f(x[0], x[1]); },
          {{2, 3}, {2, 3}},
          low,
          high,
          [reference](const Doubles& x) { return reference(x[0], x[1]); },
          order};
}

namespace {

// Rows whose functions take only these smaller types, or draw other numbers in other ones.
std::vector<Row> in_smaller(const std::vector<DType>& dtypes, std::vector<Row> rows) {
  for (Row& row : rows) row.smaller = dtypes;
  return rows;
}

}  // namespace

std::vector<Row> direct_rows() {
  std::vector<Row> rows = {
      // arithmetic
      binary("add", operator+, [](double a, double b) { return a + b; }),
      binary("subtract", operator-, [](double a, double b) { return a - b; }),
      binary("multiply", operator*, [](double a, double b) { return a * b; }),
      binary(
          "divide", operator/, [](double a, double b) { return a / b; }, 0.5, 2),
      {"remainder",
       [](const Arrays& x) { return (x[0] + 5.0) % (x[1] + 2.0); },
       {{3}, {3}},
       0.1,
       0.3,
       [](const Doubles& x) { return std::fmod(x[0] + 5, x[1] + 2); },
       1},
      binary(
          "power", pow, [](double a, double b) { return std::pow(a, b); }, 0.5, 2),
      binary(
          "maximum", maximum, [](double a, double b) { return std::max(a, b); }, -1.5, 1.5, 1),
      binary(
          "minimum", minimum, [](double a, double b) { return std::min(a, b); }, -1.5, 1.5, 1),
      unary("negate", operator-, [](double x) { return -x; }),
      unary("square", square, [](double x) { return x * x; }),
      unary(
          "abs", abs, [](double x) { return std::abs(x); }, 0.2, 1.5, 2),
      unary(
          "abs of negative", abs, [](double x) { return std::abs(x); }, -1.5, -0.2, 2),
      unary(
          "sign", sign, [](double x) { return x < 0 ? -1.0 : 1.0; }, 0.2, 1.5, 1),
      unary(
          "floor", floor, [](double x) { return std::floor(x); }, 0.1, 0.9, 1),
      unary(
          "ceil", ceil, [](double x) { return std::ceil(x); }, 0.1, 0.9, 1),
      unary(
          "round_nearest_even", round, [](double x) { return std::nearbyint(x); }, 0.6, 1.4, 1),
      unary(
          "stop_gradient", stop_gradient, [](double x) { return x; }, -1, 1, 0),
      {"pow with a whole exponent",
       [](const Arrays& x) { return pow(x[0], 5); },
       {{3}},
       -1.5,
       1.5,
       [](const Doubles& x) { return std::pow(x[0], 5); }},
      {"pow with a negative exponent",
       [](const Arrays& x) { return pow(x[0], -3); },
       {{3}},
       0.5,
       2,
       [](const Doubles& x) { return std::pow(x[0], -3); }},
      {"clamp",
       [](const Arrays& x) { return clamp(-0.5, x[0], 0.5); },
       {{5}},
       -1.5,
       1.5,
       [](const Doubles& x) { return std::min(std::max(x[0], -0.5), 0.5); },
       1},
      {"select",
       [](const Arrays& x) { return where(x[0] > x[1], x[0] * x[1], x[1]); },
       {{4}, {4}},
       -1.5,
       1.5,
       [](const Doubles& x) { return x[0] > x[1] ? x[0] * x[1] : x[1]; }},
      {"compare",
       [](const Arrays& x) { return convert(x[0] < x[1], x[0].dtype()); },
       {{4}, {4}},
       -1.5,
       1.5,
       [](const Doubles& x) { return x[0] < x[1] ? 1.0 : 0.0; },
       1},
      {"is_finite",
       [](const Arrays& x) { return convert(is_finite(x[0]), x[0].dtype()); },
       {{4}},
       -1,
       1,
       [](const Doubles&) { return 1.0; },
       1},
      {"convert",
       [](const Arrays& x) { return convert(convert(x[0], DType::f32), x[0].dtype()); },
       {{4}},
       -1,
       1,
       {},
       0},
      {"bitcast",
       [](const Arrays& x) {
         DType own = x[0].dtype();
         DType words = own == DType::f64 ? DType::i64 : own == DType::f32 ? DType::i32 : DType::i16;
         return bitcast(bitcast(x[0], words), own);
       },
       {{4}},
       -1,
       1,
       [](const Doubles& x) { return x[0]; },
       0},
      // transcendental
      unary("exp", exp, std::exp),
      unary("expm1", expm1, std::expm1),
      unary("log", log, std::log, 0.5, 3),
      unary("log1p", log1p, std::log1p, -0.4, 2),
      unary("sqrt", sqrt, std::sqrt, 0.5, 3),
      unary(
          "rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.5, 3),
      unary("sin", sin, std::sin),
      unary("cos", cos, std::cos),
      unary("tanh", tanh, std::tanh),
      unary("sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }),
      // broadcasting between operands
      {"add with broadcasting", [](const Arrays& x) { return x[0] + x[1]; }, {{2, 1, 3}, {4, 1}}},
      {"multiply by a scalar array", [](const Arrays& x) { return x[0] * x[1]; }, {{2, 3}, {}}},
      // reductions
      {"sum", [](const Arrays& x) { return sum(x[0], 1) * x[1]; }, {{2, 3, 2}, {2, 2}}},
      {"sum over all", [](const Arrays& x) { return sum(x[0] * x[0]); }, {{2, 3}}},
      {"mean, axes kept",
       [](const Arrays& x) {
         return x[0] * mean(x[0], {{0, 2}, true});
       },
       {{2, 3, 2}}},
      {"max", [](const Arrays& x) { return max(x[0], 1); }, {{2, 5}}, -2, 2, {}, 1},
      {"min", [](const Arrays& x) { return min(x[0], -1); }, {{2, 5}}, -2, 2, {}, 1},
      // movement
      {"reshape",
       [](const Arrays& x) {
         return square(reshape(x[0], {3, -1}));
       },
       {{2, 3}}},
      {"transpose",
       [](const Arrays& x) {
         return x[1] * transpose(x[0], {2, 0, 1});
       },
       {{2, 3, 4}, {4, 2, 3}}},
      {"broadcast",
       [](const Arrays& x) {
         return x[1] * broadcast_to(x[0], {4, 2, 3});
       },
       {{2, 1}, {4, 2, 3}}},
      {"concatenate",
       [](const Arrays& x) {
         return square(concatenate({x[0], x[1], x[0]}, 1));
       },
       {{2, 3}, {2, 1}}},
      {"stack",
       [](const Arrays& x) {
         return square(stack({x[0], x[1]}, -1));
       },
       {{2, 3}, {2, 3}}},
      {"slice",
       [](const Arrays& x) {
         return square(slice(x[0], {1, 0}, {6, 3}, {2, 1}));
       },
       {{7, 3}}},
      {"pad",
       [](const Arrays& x) {
         return square(pad(x[0], x[1], {1, -1}, {0, 2}, {2, 0}));
       },
       {{3, 4}, {}}},
      {"reverse",
       [](const Arrays& x) {
         return x[1] * flip(x[0], {0, 2});
       },
       {{2, 3, 2}, {2, 3, 2}}},
      {"swapaxes, expand_dims, squeeze",
       [](const Arrays& x) { return squeeze(expand_dims(swapaxes(x[0], 0, -1), 1)) * x[1]; },
       {{2, 3}, {3, 2}}},
      // products
      {"dot", [](const Arrays& x) { return matmul(x[0], x[1]); }, {{2, 3}, {3, 4}}},
      {"matrix times vector", [](const Arrays& x) { return matmul(x[0], x[1]); }, {{2, 3}, {3}}},
      {"vector times matrix", [](const Arrays& x) { return matmul(x[0], x[1]); }, {{3}, {3, 2}}},
      {"vector times vector", [](const Arrays& x) { return dot(x[0], x[1]); }, {{3}, {3}}},
      {"stacks of matrices",
       [](const Arrays& x) { return matmul(x[0], x[1]); },
       {{2, 1, 2, 3}, {4, 3, 2}}},
      {"stack times vector", [](const Arrays& x) { return matmul(x[0], x[1]); }, {{2, 2, 3}, {3}}},
      {"outer", [](const Arrays& x) { return outer(x[0], x[1]); }, {{3}, {2}}},
      {"tensordot",
       [](const Arrays& x) { return tensordot(x[0], x[1], 2); },
       {{2, 3, 4}, {3, 4, 2}}},
      {"dot_general",
       [](const Arrays& x) {
         return dot_general(x[0], x[1], {{1}, {2}, {0, 3}, {1, 0}});
       },
       {{2, 3, 2, 4}, {4, 2, 3, 2}}},
      {"dot_general, sums between",
       [](const Arrays& x) {
         return dot_general(x[0], x[1], {{0}, {0}, {1}, {2}});
       },
       {{2, 5, 3}, {2, 4, 5}}},
      // creation inside a function
      {"iota",
       [](const Arrays& x) {
         return x[0] * iota({2, 3}, 1, x[0].dtype());
       },
       {{2, 3}}},
      {"linspace", [](const Arrays& x) { return linspace(x[0], x[1], 5); }, {{}, {}}},
      {"eye", [](const Arrays& x) { return matmul(x[0], eye(3, x[0].dtype())); }, {{2, 3}}},
      // dynamic positions
      {"dynamic_slice",
       [](const Arrays& x) {
         Array i = convert(floor(0.0 * x[1]), DType::i32) + 1;
         return x[1] * dynamic_slice(x[0], {i, Array(0)}, {2, 3});
       },
       {{4, 3}, {}}},
      {"dynamic_update_slice",
       [](const Arrays& x) {
         Array i = convert(floor(0.0 * x[2]), DType::i32) + 1;
         return x[2] * dynamic_update_slice(x[0], x[1], {i, Array(0)});
       },
       {{4, 3}, {2, 3}, {}}},
  };
  auto append = [&rows](std::vector<Row> more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  append(in_smaller({DType::f32}, complex_rows()));
  append(convolution_rows());
  append(elementwise_rows());
  append(in_smaller({DType::f32}, fft_rows()));
  append(gather_rows());
  append(order_rows());
  append(reduce_rows());
  append(shape_rows());
  append(transform_rows());
  return rows;
}

std::vector<Row> iterative_rows() {
  std::vector<Row> rows = in_smaller({DType::f32}, linalg_rows());
  for (Row& row : in_smaller({}, random_rows())) rows.push_back(std::move(row));
  return rows;
}

}  // namespace sturnus::testing
