// What the calls of a vmapped function can know of each other: collectives over its named axis.
//
//   auto centred = vmap([](Array x) { return x - pmean(x, "members"); }, {.axis_name = "members"});
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/functional/tree.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace sturnus {

/// The sum, mean, largest and smallest of x over all calls along the axis: of an array, or of each
/// array of a tree. Throws Error when no vmap around has an axis of that name.
Array psum(Operand x, std::string_view axis_name);
Array pmean(Operand x, std::string_view axis_name);
Array pmax(Operand x, std::string_view axis_name);
Array pmin(Operand x, std::string_view axis_name);
/// All the calls' x, stacked along a new axis 0; of a tree each array.
Array all_gather(Operand x, std::string_view axis_name);
/// Which of the calls this is (i32), and how many there are.
Array axis_index(std::string_view axis_name, Where where = Where::here());
std::int64_t axis_size(std::string_view axis_name, Where where = Where::here());

namespace internal {

/// While one lives, this thread traces a function under a vmap whose axis has a name.
class NamedAxis {
 public:
  NamedAxis(std::string name, std::int64_t size);
  ~NamedAxis();
  NamedAxis(const NamedAxis&) = delete;
  /// The value that differs between the calls: 0, 1, ..., size - 1.
  const Array& index() const { return index_; }
  const std::string& name() const { return name_; }
  std::int64_t size() const { return size_; }

 private:
  std::string name_;
  std::int64_t size_;
  Array index_;
};

/// A tree that is more than one argument of an operation.
template <class T>
concept TreeOfArrays = Tree<T> && !std::is_convertible_v<T, Operand>;

template <class T>
T of_each_leaf(Array (*collective)(Operand, std::string_view), const T& tree,
               std::string_view axis_name, Where where) {
  return tree_map([&](const Array& leaf) { return collective({leaf, where}, axis_name); }, tree);
}

}  // namespace internal

template <internal::TreeOfArrays T>
T psum(const T& x, std::string_view axis_name, Where where = Where::here()) {
  return internal::of_each_leaf(psum, x, axis_name, where);
}
template <internal::TreeOfArrays T>
T pmean(const T& x, std::string_view axis_name, Where where = Where::here()) {
  return internal::of_each_leaf(pmean, x, axis_name, where);
}
template <internal::TreeOfArrays T>
T pmax(const T& x, std::string_view axis_name, Where where = Where::here()) {
  return internal::of_each_leaf(pmax, x, axis_name, where);
}
template <internal::TreeOfArrays T>
T pmin(const T& x, std::string_view axis_name, Where where = Where::here()) {
  return internal::of_each_leaf(pmin, x, axis_name, where);
}
template <internal::TreeOfArrays T>
T all_gather(const T& x, std::string_view axis_name, Where where = Where::here()) {
  return internal::of_each_leaf(all_gather, x, axis_name, where);
}

}  // namespace sturnus
