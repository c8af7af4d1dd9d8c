// One row per op, driven through general oracles by op_table_test.cc.
#pragma once

#include <sturnus/functional/array.h>

#include <functional>
#include <string>
#include <vector>

namespace sturnus::testing {

/// A function of f64 arrays that exercises an op, and where it may be tried.
struct Row {
  std::string name;
  std::function<Array(const Arrays&)> f;
  std::vector<Shape> shapes;                                      // of the arguments
  double low = -1.5, high = 1.5;                                  // range of their elements
  std::function<double(const std::vector<double>&)> scalar = {};  // elementwise reference
  int order = 3;                                                  // derivatives to check
  double tolerance = 1e-6;                                        // relative, of a derivative
  bool reverse = true;                                            // whether it has reverse mode
  std::vector<DType> smaller = {DType::f32, DType::bf16, DType::f16};  // other types, same values
};

using Unary = Array (*)(Operand);
using Binary = Array (*)(Operand, Operand);

/// The rows of elementwise functions of one and of two arguments.
Row unary(std::string name, Unary f, double (*reference)(double), double low = -1.5,
          double high = 1.5, int order = 3);
Row binary(std::string name, Binary f, double (*reference)(double, double), double low = -1.5,
           double high = 1.5, int order = 3);

/// All rows, in two halves: ops that are one of StableHLO's or a few, and loops and large programs.
std::vector<Row> direct_rows();
std::vector<Row> iterative_rows();

/// The rows of single families.
std::vector<Row> complex_rows();
std::vector<Row> convolution_rows();
std::vector<Row> elementwise_rows();
std::vector<Row> fft_rows();
std::vector<Row> gather_rows();
std::vector<Row> linalg_rows();
std::vector<Row> order_rows();
std::vector<Row> random_rows();
std::vector<Row> reduce_rows();
std::vector<Row> shape_rows();
std::vector<Row> transform_rows();

}  // namespace sturnus::testing
