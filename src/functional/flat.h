// Between trees and flat lists of arrays. Details of the transforms' headers.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/functional/tree.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace sturnus::internal {

/// What a transformed function gets for an argument: a number stands for a scalar array.
template <class T>
using Argument = std::conditional_t<std::is_arithmetic_v<std::decay_t<T>>, Array, std::decay_t<T>>;

template <class... Args>
std::tuple<Argument<Args>...> to_arguments(const Args&... args) {
  return std::tuple<Argument<Args>...>(args...);
}

template <class T>
Arrays leaves_of(const T& tree) {
  return tree_leaves(tree);
}

template <class T>
T with_leaves(const T& like, const Arrays& leaves) {
  return tree_unflatten(like, std::span<const Array>(leaves));
}

}  // namespace sturnus::internal
