// Arrays: values on a device, or values of a program that is being traced.
#pragma once

#include <sturnus/functional/number.h>
#include <sturnus/functional/where.h>
#include <sturnus/runtime/buffer.h>
#include <sturnus/runtime/dtype.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace sturnus {

namespace internal {

struct Node;

template <class T>
struct ElementOf {
  using type = T;
  static constexpr std::size_t depth = 0;
};
template <class T>
struct ElementOf<std::vector<T>> {
  using type = typename ElementOf<T>::type;
  static constexpr std::size_t depth = ElementOf<T>::depth + 1;
};

/// Throws ShapeError: two lists along an axis have `first` and `other` elements.
[[noreturn]] void throw_ragged(std::size_t axis, std::int64_t first, std::int64_t other,
                               Where where);

/// Appends the elements of nested vectors, which must fill a box: `shape` from `axis` on.
template <class T, class Element>
void flatten_rows(const std::vector<T>& rows, std::size_t axis, Shape& shape,
                  std::vector<Element>& elements, Where where) {
  auto extent = static_cast<std::int64_t>(rows.size());
  if (axis == shape.size()) shape.push_back(extent);
  if (shape[axis] != extent) throw_ragged(axis, shape[axis], extent, where);
  for (const T& row : rows) {
    if constexpr (std::is_same_v<T, Element>) {
      elements.push_back(row);
    } else {
      flatten_rows(row, axis + 1, shape, elements, where);
    }
  }
}

}  // namespace internal

class At;
struct Index;

/// An immutable array with value semantics; copying is cheap. Operations on concrete arrays run at
/// once; inside a function that is being transformed they build its graph.
class Array {
 public:
  /// An array of nothing: has no type, and is only good for assigning to.
  Array() = default;
  /// Scalars: bool is bool, integers are i32, floating-point numbers are f32, complex ones c64. For
  /// another type ask for it: Array(2.0, DType::f64). Throw DtypeError when the type cannot hold
  /// the number.
  Array(bool value);
  template <internal::RealNumber T>
  Array(T value, Where where = Where::here()) : Array(scalar(value, where)) {}
  template <class T>
  Array(std::complex<T> value, Where where = Where::here()) : Array(scalar(value, where)) {}
  Array(Number value, DType dtype, Where where = Where::here());
  Array(const void*) = delete;

  const ArrayType& type() const;
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape().size()); }
  std::int64_t size() const { return type().size(); }
  bool empty() const { return node_ == nullptr; }

  /// Whether the array has a value now, rather than being part of a trace.
  bool concrete() const;
  /// The value on its device. Throws TraceError for a traced array.
  const Buffer& buffer(Where where = Where::here()) const { return value_for("buffer", where); }
  Device device(Where where = Where::here()) const { return value_for("device", where).device(); }

  /// The only element. Throws Error when there is not exactly one, T is not the element type, or
  /// the memory was donated; TraceError for a traced array.
  template <class T>
  T item(Where where = Where::here()) const {
    return value_for("item", where, dtype_of<T>, 1).template item<T>();
  }
  /// The elements in row-major order.
  template <class T>
  HostVector<T> to_vector(Where where = Where::here()) const {
    return value_for("to_vector", where, dtype_of<T>, size()).template to_vector<T>();
  }
  /// Writes the elements in row-major order. Throws Error when there are not as many, or T is not
  /// their type.
  template <class T>
  void copy_to(std::span<T> elements, Where where = Where::here()) const {
    const Buffer& value =
        value_for("copy_to", where, dtype_of<T>, static_cast<std::int64_t>(elements.size()));
    value.to_host(elements.data(), elements.size_bytes());
  }
  /// The same array on another device. Throws TraceError for a traced array.
  Array to(const Device& device, Where where = Where::here()) const;
  /// Waits until the value is there.
  const Array& await(Where where = Where::here()) const;

  /// Parts, as sturnus/ops/subscript.h explains: x[-1], x(2, Slice{1, 5}), x.at(2).set(y).
  Array operator[](const Index& index) const;
  template <class... Rest>
  Array operator()(const Index& first, const Rest&... rest) const;
  template <class... Rest>
  At at(const Index& first, const Rest&... rest) const;

  /// Whether both are the same value: the same node of a graph, or the same memory.
  bool same(const Array& other) const { return node_ == other.node_ && output_ == other.output_; }

  const std::shared_ptr<const internal::Node>& node() const { return node_; }
  int output() const { return output_; }
  Array(std::shared_ptr<const internal::Node> node, int output);

 private:
  /// The value, for the member `function` that the line `where` calls.
  const Buffer& value_for(std::string_view function, Where where) const;
  /// The same to be read as `count` elements of a type.
  const Buffer& value_for(std::string_view function, Where where, DType dtype,
                          std::int64_t count) const;
  /// The number in the type that it has by default.
  static Array scalar(const Number& number, Where where);

  std::shared_ptr<const internal::Node> node_;
  int output_ = 0;
};

using Arrays = std::vector<Array>;

/// An argument of an operation: an array or a number, and the line that passes it. A number takes
/// the element type of the array beside it: 2.0 * x has the type of x.
struct Operand {
  Operand(const Array& array, Where where = Where::here()) : array(array), where(where) {}
  template <internal::RealNumber T>
  Operand(T value, Where where = Where::here()) : number(value), where(where) {}
  template <class T>
  Operand(std::complex<T> value, Where where = Where::here()) : number(value), where(where) {}
  Operand(const void*) = delete;

  Array array;                   // empty for a number
  std::optional<Number> number;  // none for an array
  Where where;
};

namespace internal {
/// " (pinn.cc:41)", for messages; empty when unknown.
std::string in_parentheses(Where where);
}  // namespace internal

/// Puts a value of the host on the default device. The elements fill `shape` in row-major order;
/// without a shape the array has one axis. Throws Error when they do not fill it.
template <class T, std::size_t extent>
Array array(std::span<T, extent> values, Shape shape, Where where = Where::here());
template <class T, std::size_t extent>
Array array(std::span<T, extent> values, Where where = Where::here()) {
  return array(values, {static_cast<std::int64_t>(values.size())}, where);
}
template <class T, std::size_t extent>
Array array(const std::array<T, extent>& values, Shape shape, Where where = Where::here()) {
  return array(std::span<const T>(values), std::move(shape), where);
}
template <class T, std::size_t extent>
Array array(const std::array<T, extent>& values, Where where = Where::here()) {
  return array(std::span<const T>(values), where);
}
template <class T>
Array array(const std::vector<T>& values, Shape shape, Where where = Where::here()) {
  if constexpr (std::is_same_v<T, bool>) {
    // std::vector<bool> has no bool in memory.
    auto elements = std::make_unique<bool[]>(values.size());
    std::copy(values.begin(), values.end(), elements.get());
    return array(std::span<const bool>(elements.get(), values.size()), std::move(shape), where);
  } else {
    return array(std::span<const T>(values), std::move(shape), where);
  }
}
template <class T>
Array array(const std::vector<T>& values) {
  return array(values, {static_cast<std::int64_t>(values.size())});
}
/// Vectors of vectors, to any depth. Throws ShapeError when some differ in length.
template <class T>
Array array(const std::vector<std::vector<T>>& rows, Where where = Where::here()) {
  using Rows = std::vector<std::vector<T>>;
  std::vector<typename internal::ElementOf<Rows>::type> elements;
  Shape shape;
  internal::flatten_rows(rows, 0, shape, elements, where);
  shape.resize(internal::ElementOf<Rows>::depth);
  return array(elements, shape);
}
/// Numbers in nested braces: 3, {1, 2}, {{1, 2}, {3, 4}}, ...
struct NestedNumbers {
  template <internal::RealNumber T>
  NestedNumbers(T value) : value(value) {}
  template <class T>
  NestedNumbers(std::complex<T> value) : value(value) {}
  NestedNumbers(std::initializer_list<NestedNumbers> parts) : parts(parts), is_list(true) {}
  Number value = 0;
  std::vector<NestedNumbers> parts;
  bool is_list = false;
};
/// Numbers in braces are f32, unless another type is asked for: array({{1, 2}, {3, 4}}).
/// Throws ShapeError when lists beside each other differ in length, DtypeError when the type cannot
/// hold a number.
Array array(std::initializer_list<NestedNumbers> numbers, DType dtype = DType::f32,
            Where where = Where::here());

/// Wraps a buffer.
Array from_buffer(Buffer buffer);

/// Prints like NumPy, but whole floats without a point, [1 2.5], and exponents only for numbers of
/// 1e8 or more and below 1e-4; a traced array prints its type.
std::ostream& operator<<(std::ostream& out, const Array& array);
std::string to_string(const Array& array);

/// The device on which new arrays are made: the first one of $STURNUS_PLATFORM (default cpu), until
/// another is set.
Device default_device();
void set_default_device(const Device& device);

template <class T, std::size_t extent>
Array array(std::span<T, extent> values, Shape shape, Where where) {
  using Element = std::remove_const_t<T>;
  internal::check_fill("array", {dtype_of<Element>, shape}, dtype_of<Element>, values.size(),
                       internal::in_parentheses(where));
  return from_buffer(Buffer::from_host<Element>(default_device(), values, std::move(shape)));
}

}  // namespace sturnus
