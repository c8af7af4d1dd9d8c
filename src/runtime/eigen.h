// Eigen matrices and vectors to and from devices. Whatever Eigen's storage order, the array on the
// device has the shape (rows, columns); a vector has one axis. Tensors are in eigen_tensor.h.
#pragma once

#include <sturnus/runtime/buffer.h>
#include <sturnus/runtime/error.h>

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string>

namespace sturnus {

namespace internal {

template <class T>
inline constexpr std::int64_t element_bytes = static_cast<std::int64_t>(sizeof(T));

/// Throws Error unless `type` has `rank` axes. `line` is the one that asks, in brackets, if known.
inline void check_rank(const char* function, const ArrayType& type, std::size_t rank,
                       const std::string& line = {}) {
  if (type.shape.size() == rank) return;
  throw Error(std::string(function) + ": the array is " + type.str() + ", the Eigen type has " +
              std::to_string(rank) + (rank == 1 ? " axis" : " axes") + line +
              ". Reshape the array, or ask for another type");
}

/// Throws Error when `extent` is not what a fixed-size Eigen type has.
inline void check_extent(const char* function, const ArrayType& type, Eigen::Index fixed,
                         std::int64_t extent, const std::string& line) {
  if (fixed == Eigen::Dynamic || fixed == extent) return;
  throw Error(std::string(function) + ": the array is " + type.str() +
              ", the Eigen type is fixed to " + std::to_string(fixed) + line +
              ". Ask for a type of that size, or for one that is Eigen::Dynamic");
}

}  // namespace internal

/// Copies a matrix or vector with direct access to its memory (Matrix, Array, Map, Ref, blocks).
template <class Derived>
Buffer to_device(const Device& device, const Eigen::DenseBase<Derived>& matrix) {
  static_assert(Eigen::internal::traits<Derived>::Flags & Eigen::DirectAccessBit,
                "an expression has no memory to copy from: call .eval() first");
  using Scalar = typename Derived::Scalar;
  const Derived& m = matrix.derived();
  constexpr bool row_major = Derived::IsRowMajor;
  std::int64_t inner = m.innerStride() * internal::element_bytes<Scalar>;
  std::int64_t outer = m.outerStride() * internal::element_bytes<Scalar>;
  ArrayType type{dtype_of<Scalar>, {}};
  if constexpr (Derived::IsVectorAtCompileTime) {
    type.shape = {m.size()};
    std::array strides = {inner};
    return Buffer::from_host(device, type, m.data(), strides);
  } else {
    type.shape = {m.rows(), m.cols()};
    std::array strides = {row_major ? outer : inner, row_major ? inner : outer};
    return Buffer::from_host(device, type, m.data(), strides);
  }
}

/// The contents as `M`, a Matrix or Array type. Throws Error when the element type, the number
/// of axes or a fixed size differs; `line` is the one that asks, in brackets, if known.
template <class M>
M to_eigen(const Buffer& buffer, const std::string& line = {}) {
  using Scalar = typename M::Scalar;
  const ArrayType& type = buffer.type();
  internal::check_fill("to_eigen", type, dtype_of<Scalar>, static_cast<std::size_t>(type.size()),
                       line);
  auto values = buffer.to_vector<Scalar>();
  const auto* data = reinterpret_cast<const Scalar*>(values.data());
  if constexpr (M::IsVectorAtCompileTime) {
    internal::check_rank("to_eigen", type, 1, line);
    internal::check_extent("to_eigen", type, M::SizeAtCompileTime, type.shape[0], line);
    return Eigen::Map<const M>(data, type.shape[0]);
  } else {
    internal::check_rank("to_eigen", type, 2, line);
    internal::check_extent("to_eigen", type, M::RowsAtCompileTime, type.shape[0], line);
    internal::check_extent("to_eigen", type, M::ColsAtCompileTime, type.shape[1], line);
    using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return M(Eigen::Map<const RowMajor>(data, type.shape[0], type.shape[1]));
  }
}

/// A matrix view of memory in place, without a copy; valid while `view` lives. An array with one
/// axis is seen as one column.
template <class Scalar>
auto as_eigen(const HostView& view) {
  using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Shape& shape = view.type().shape;
  if (shape.empty() || shape.size() > 2) internal::check_rank("as_eigen", view.type(), 2);
  return Eigen::Map<const RowMajor>(view.as<Scalar>().data(), shape[0],
                                    shape.size() == 2 ? shape[1] : 1);
}

}  // namespace sturnus
