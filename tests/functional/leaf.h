// A leaf for tests of trees: a number, with the kinds of constructors that an array has.
#pragma once

#include <sturnus/functional/tree.h>

#include <initializer_list>
#include <ostream>
#include <type_traits>
#include <vector>

namespace sturnus {

struct Leaf {
  Leaf() = default;
  template <class T>
  requires std::is_arithmetic_v<T> Leaf(T number) : value(number) {}
  template <class T>
  explicit Leaf(const std::vector<T>& numbers) : value(numbers.size()) {}
  template <class T>
  Leaf(std::initializer_list<T> numbers) : value(numbers.size()) {}

  bool operator==(const Leaf&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Leaf& leaf) { return out << leaf.value; }

  double value = 0;
};

template <>
inline constexpr bool is_tree_leaf<Leaf> = true;

}  // namespace sturnus
