// Eigen matrices and vectors to and from arrays. A matrix becomes an array (rows, columns), a
// vector one with one axis. Tensors are in eigen_tensor.h.
#pragma once

#include <sturnus/functional/graph.h>
#include <sturnus/runtime/eigen.h>

namespace sturnus {

/// A matrix, vector or expression of them, on the default device.
template <class Derived>
Array from_eigen(const Eigen::DenseBase<Derived>& matrix) {
  if constexpr (Eigen::internal::traits<Derived>::Flags & Eigen::DirectAccessBit) {
    return from_buffer(to_device(default_device(), matrix));
  } else {
    auto values = matrix.derived().eval();
    return from_buffer(to_device(default_device(), values));
  }
}

/// The elements as `M`, a Matrix or Array type. Throws Error when the element type, the number of
/// axes or a fixed size differs, TraceError for a traced array.
template <class M>
M to_eigen(const Array& array, Where where = Where::here()) {
  internal::Blame blame(where, "to_eigen");
  return to_eigen<M>(array.buffer(where), internal::in_parentheses(where));
}

}  // namespace sturnus
