// What the calls of a vmapped function can know of each other: collectives over its named axis.
//
//   auto centred = vmap([](Array x) { return x - pmean(x, "members"); }, {.axis_name = "members"});
#pragma once

#include <sturnus/functional/array.h>

#include <string>
#include <string_view>

namespace sturnus {

/// The sum, mean, largest and smallest of x over all calls along the axis.
/// Throws Error when no vmap around has an axis of that name.
Array psum(Operand x, std::string_view axis_name);
Array pmean(Operand x, std::string_view axis_name);
Array pmax(Operand x, std::string_view axis_name);
Array pmin(Operand x, std::string_view axis_name);
/// All the calls' x, stacked along a new axis 0.
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

}  // namespace internal
}  // namespace sturnus
