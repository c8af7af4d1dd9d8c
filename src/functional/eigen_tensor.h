// Eigen tensors to and from arrays; the axes keep their order whatever Eigen's storage order.
#pragma once

#include <sturnus/functional/graph.h>
#include <sturnus/runtime/eigen_tensor.h>

namespace sturnus {

/// A tensor on the default device.
template <class Scalar, int Rank, int Options>
Array from_eigen(const Eigen::Tensor<Scalar, Rank, Options>& tensor) {
  return from_buffer(to_device(default_device(), tensor));
}

/// The elements as `T`, an Eigen::Tensor type. Throws Error when the element type or the number of
/// axes differs, TraceError for a traced array.
template <class T>
T to_eigen_tensor(const Array& array, Where where = Where::here()) {
  internal::Blame blame(where, "to_eigen_tensor");
  return to_eigen_tensor<T>(array.buffer(where), internal::in_parentheses(where));
}

}  // namespace sturnus
