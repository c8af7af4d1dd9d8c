// Eigen tensors to and from devices; the axes keep their order whatever Eigen's storage order.
#pragma once

#include <sturnus/runtime/eigen.h>

#include <array>
#include <cstdint>
#include <unsupported/Eigen/CXX11/Tensor>

namespace sturnus {

/// Copies a tensor of either storage order.
template <class Scalar, int Rank, int Options>
Buffer to_device(const Device& device, const Eigen::Tensor<Scalar, Rank, Options>& tensor) {
  ArrayType type{dtype_of<Scalar>, {}};
  std::array<std::int64_t, Rank> strides{};
  std::int64_t stride = internal::element_bytes<Scalar>;
  for (int i = 0; i < Rank; i++) {
    int axis = (Options & Eigen::RowMajor) ? Rank - 1 - i : i;
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= tensor.dimension(axis);
  }
  for (int i = 0; i < Rank; i++) type.shape.push_back(tensor.dimension(i));
  return Buffer::from_host(device, type, tensor.data(), strides);
}

/// The contents as `T`, an Eigen::Tensor type. Throws Error when the element type or the number of
/// axes differs; `line` is the one that asks, in brackets, if known.
template <class T>
T to_eigen_tensor(const Buffer& buffer, const std::string& line = {}) {
  using Scalar = typename T::Scalar;
  constexpr int rank = T::NumIndices;
  const ArrayType& type = buffer.type();
  internal::check_fill("to_eigen_tensor", type, dtype_of<Scalar>,
                       static_cast<std::size_t>(type.size()), line);
  internal::check_rank("to_eigen_tensor", type, rank, line);
  auto values = buffer.to_vector<Scalar>();
  Eigen::array<Eigen::Index, rank> extents;
  for (int i = 0; i < rank; i++) {
    extents[static_cast<std::size_t>(i)] = type.shape[static_cast<std::size_t>(i)];
  }
  Eigen::TensorMap<const Eigen::Tensor<Scalar, rank, Eigen::RowMajor>> rows(
      reinterpret_cast<const Scalar*>(values.data()), extents);
  if constexpr (static_cast<int>(T::Layout) == Eigen::RowMajor) {
    return rows;
  } else {
    // Eigen changes the layout by reversing the axes; a shuffle puts them back.
    Eigen::array<int, rank> reversed;
    for (int i = 0; i < rank; i++) reversed[static_cast<std::size_t>(i)] = rank - 1 - i;
    return rows.swap_layout().shuffle(reversed);
  }
}

}  // namespace sturnus
