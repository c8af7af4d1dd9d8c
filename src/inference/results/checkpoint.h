// Arrays as bytes and back, for files that outlive a process.
#pragma once

#include <sturnus/functional/flat.h>

#include <string>
#include <string_view>
#include <vector>

namespace sturnus {

/// The arrays' types and values, with a checksum.
std::string arrays_to_bytes(const Arrays& arrays);

/// Arrays from such bytes. Throws Error when these are truncated, damaged or something else.
Arrays arrays_from_bytes(std::string_view bytes);

namespace internal {

/// Throws Error, naming the first path where they differ, unless both have the same types.
void require_types(const Arrays& expected, const Arrays& found,
                   const std::vector<std::string>& paths);

}  // namespace internal

/// The tree `like` with arrays from bytes. Throws Error when they are not of the types of `like`.
template <class T>
T tree_from_bytes(const T& like, std::string_view bytes) {
  Arrays found = arrays_from_bytes(bytes);
  Arrays expected = internal::leaves_of(like, "tree_from_bytes", "the tree", {});
  internal::require_types(expected, found, tree_structure(like).leaf_paths());
  return internal::with_leaves(like, found);
}

}  // namespace sturnus
