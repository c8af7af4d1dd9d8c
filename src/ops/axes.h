// Arithmetic on lists of axes. An axis list names positions in a shape, counted from 0.
#pragma once

#include <sturnus/runtime/dtype.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace sturnus::internal {

using Axes = std::vector<std::int64_t>;

inline Axes iota_axes(std::int64_t count, std::int64_t first = 0) {
  Axes axes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < axes.size(); i++) axes[i] = first + static_cast<std::int64_t>(i);
  return axes;
}

inline bool contains(const Axes& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Where `axis` stands in `axes`; it must be there.
inline std::int64_t position(const Axes& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) - axes.begin();
}

/// 0, ..., rank - 1 without those of `axes`.
inline Axes complement(std::int64_t rank, const Axes& axes) {
  Axes rest;
  for (std::int64_t i = 0; i < rank; i++) {
    if (!contains(axes, i)) rest.push_back(i);
  }
  return rest;
}

inline Axes shifted(Axes axes, std::int64_t by) {
  for (std::int64_t& axis : axes) axis += by;
  return axes;
}

inline Axes prepended(std::int64_t first, Axes axes) {
  axes.insert(axes.begin(), first);
  return axes;
}

inline Axes joined(Axes a, const Axes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Axes inverse(const Axes& permutation) {
  Axes result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); i++) {
    result[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  }
  return result;
}

/// from[axes[0]], from[axes[1]], ...
inline Axes picked(const Axes& from, const Axes& axes) {
  Axes result;
  for (std::int64_t axis : axes) result.push_back(from[static_cast<std::size_t>(axis)]);
  return result;
}

/// Sums and products of extents; where they overflow, the largest number, which checked_shape
/// refuses, or the lowest.
inline std::int64_t extent_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  using Limits = std::numeric_limits<std::int64_t>;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? Limits::min() : Limits::max();
  return sum;
}
inline std::int64_t extent_product(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  using Limits = std::numeric_limits<std::int64_t>;
  if (__builtin_mul_overflow(a, b, &product)) {
    return (a < 0) != (b < 0) ? Limits::min() : Limits::max();
  }
  return product;
}
inline std::int64_t product(const Shape& shape) {
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size = extent_product(size, extent);
  return size;
}

/// Counts a negative axis from the end. Throws ShapeError when there is no such axis.
std::int64_t checked_axis(std::string_view function, const ArrayType& type, std::int64_t axis);
/// The same for a list, sorted; throws ShapeError also when one occurs twice.
Axes checked_axes(std::string_view function, const ArrayType& type, const Axes& axes);
/// Throws ShapeError when there is nothing along the axes: for functions that choose an element.
void require_elements(std::string_view function, const ArrayType& type, const Axes& axes);
/// Throws DtypeError for complex numbers.
void require_real(std::string_view function, const ArrayType& type);
/// Throws DtypeError for bool, which has neither signs nor digits.
void require_numbers(std::string_view function, const ArrayType& type);
/// The shape. Throws ShapeError when an extent is negative, or when there are more elements than
/// XLA can count.
const Shape& checked_shape(std::string_view function, const Shape& shape);

}  // namespace sturnus::internal
