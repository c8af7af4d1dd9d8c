// Parts of arrays by subscripts, as in NumPy.
//
//   x[2], x[-1]                   one position along axis 0
//   x[i]                          at the positions that an integer array holds
//   x(2, Slice{1, 5}, i)          one subscript per axis; axes that are not named are whole
//   x(ellipsis, 0), x(new_axis)   all axes before the last; a new axis of extent 1
//   x.at(2, Slice{1, 5}).set(y)   x with that part replaced; also add, multiply, max, min
//
// A C++ integer outside of its axis is an error. Positions in integer arrays are known only when
// the program runs: reads take the nearest position inside, writes outside are left out. Negative
// positions count from the end. Several integer arrays are broadcast together and read pointwise;
// their axes stand where the first of them stands, or first when a Slice is between them.
// A mask of bool is not a subscript, since the shape of x[mask] would depend on values: use where.
//
// Reading and writing throw ShapeError for a C++ integer outside of its axis, more subscripts than
// axes, a second ellipsis, a step of 0, integer arrays that do not fit together, and positions
// along an axis without elements; and DtypeError for an array that is not of integers.
#pragma once

#include <sturnus/functional/array.h>

#include <concepts>
#include <optional>
#include <vector>

namespace sturnus {

/// start, start + step, ... below stop. Missing ends are those of the axis; negative ones count
/// from its end; a negative step goes backwards. Slice{} is the whole axis.
struct Slice {
  std::optional<std::int64_t> start = {}, stop = {};
  std::int64_t step = 1;
};

/// All axes that the other subscripts leave.
inline constexpr struct Ellipsis {
} ellipsis;
/// A new axis of extent 1.
inline constexpr struct NewAxis {
} new_axis;

/// One subscript, and the line that gives it.
struct Index {
  template <std::integral T>
  requires(!std::same_as<T, bool>) Index(T position, Where where = Where::here())
      : kind(Kind::position), position(static_cast<std::int64_t>(position)), where(where) {}
  Index(Slice slice, Where where = Where::here()) : kind(Kind::slice), slice(slice), where(where) {}
  Index(Array array, Where where = Where::here())
      : kind(Kind::array), array(std::move(array)), where(where) {}
  Index(Ellipsis, Where where = Where::here()) : kind(Kind::ellipsis), where(where) {}
  Index(NewAxis, Where where = Where::here()) : kind(Kind::new_axis), where(where) {}

  enum class Kind { position, slice, array, ellipsis, new_axis };
  Kind kind;
  std::int64_t position = 0;
  Slice slice;
  Array array;
  Where where;
};

/// A part of an array that is to be read or replaced. The updates are broadcast to the part's
/// shape, and take the array's element type; they throw ShapeError when they do not fit it.
class At {
 public:
  At(Array x, std::vector<Index> subscripts)
      : x_(std::move(x)), subscripts_(std::move(subscripts)) {}
  /// The part.
  Array get() const;
  /// The array with its part replaced: a new one, since nothing changes an array. Of several values
  /// for one position one stays.
  [[nodiscard("nothing changes an array: use the new one that At::set returns")]] Array set(
      Operand values) const;
  /// The array with its part changed; several values for one position all count. max and min
  /// throw DtypeError for complex numbers.
  [[nodiscard]] Array add(Operand values) const;
  [[nodiscard]] Array multiply(Operand values) const;
  [[nodiscard]] Array max(Operand values) const;
  [[nodiscard]] Array min(Operand values) const;

 private:
  Array x_;
  std::vector<Index> subscripts_;
};

template <class... Rest>
Array Array::operator()(const Index& first, const Rest&... rest) const {
  return at(first, rest...).get();
}

template <class... Rest>
At Array::at(const Index& first, const Rest&... rest) const {
  return At(*this, {first, Index(rest)...});
}

}  // namespace sturnus
