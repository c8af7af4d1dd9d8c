// Dense row-major matrices on the host: rows are draws or ensemble members, columns what they say.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sturnus {

/// A matrix that someone else owns.
struct MatrixView {
  const double* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;

  double operator()(std::size_t row, std::size_t col) const { return data[row * cols + col]; }
  std::span<const double> row(std::size_t index) const { return {data + index * cols, cols}; }
};

/// A matrix that owns its values; it passes as a MatrixView.
struct Matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols) : rows(rows), cols(cols), values(rows * cols) {}
  double& operator()(std::size_t row, std::size_t col) { return values[row * cols + col]; }
  double operator()(std::size_t row, std::size_t col) const { return values[row * cols + col]; }
  operator MatrixView() const { return {values.data(), rows, cols}; }
};

}  // namespace sturnus
