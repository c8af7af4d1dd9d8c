// One of two trees, leaf by leaf.
#pragma once

#include <sturnus/functional/tree.h>
#include <sturnus/ops/arithmetic.h>

namespace sturnus {

/// A tree whose leaves are where(condition, leaf of a, leaf of b). Throws TreeError when the
/// structures differ, and what `where` throws.
template <class T>
T tree_where(const Array& condition, const T& a, const T& b, Where line = Where::here()) {
  auto choose = [&](const Array& x, const Array& y) { return where({condition, line}, x, y); };
  return internal::tree_map_at("tree_where", line, choose, a, b);
}

}  // namespace sturnus
