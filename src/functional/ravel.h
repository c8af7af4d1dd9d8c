// A tree as one vector, and back.
#pragma once

#include <sturnus/functional/flat.h>
#include <sturnus/ops/rearrange.h>

#include <type_traits>
#include <utility>

namespace sturnus {
namespace internal {

/// All elements in order, as one vector of the type to which all can be promoted; f32 for none.
Array ravel_leaves(const Arrays& leaves);
/// Arrays of the given types from such a vector. Throws ShapeError when it is not as long.
Arrays unravel_leaves(const Array& vector, const ArrayTypes& types, Where where);

}  // namespace internal

/// The pair of a vector with all elements of the tree, in order, and the function that makes a tree
/// of such a vector: for optimisers and samplers that know vectors only. Throws TreeError when a
/// leaf is Array(); the function throws ShapeError for a vector of another length.
template <class T>
requires(Tree<T> && !std::is_convertible_v<T, Operand>) auto ravel(const T& tree,
                                                                   Where where = Where::here()) {
  Arrays leaves = internal::leaves_of(tree, "ravel", "the tree", where);
  auto back = [tree, types = internal::types_of(leaves)](const Array& vector,
                                                         Where where = Where::here()) {
    return internal::with_leaves(tree, internal::unravel_leaves(vector, types, where));
  };
  return std::pair(internal::ravel_leaves(leaves), std::move(back));
}

}  // namespace sturnus
