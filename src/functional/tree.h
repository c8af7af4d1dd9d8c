// Trees: ordinary C++ values that hold arrays.
//
//   struct Layer  { Array w, b; };
//   struct Member { std::vector<Layer> net; Array omega, zeta; Act act = Act::tanh; };
//
// A tree is an Array (a leaf), a plain struct, std::vector, std::array, std::tuple, std::pair,
// std::optional or std::map<std::string, T>, in any nesting. Numbers, enums, strings and empty
// classes are static: they belong to the structure, not to the leaves. Any other class joins with
// one friend:
//
//   friend auto fields(const Dense& d) { return std::tie(d.w_, d.b_); }
//
// Everything else is a sentence of the compiler. Leaves come in the order of the members, those of
// a map in the order of its keys.
#pragma once

#include <sturnus/functional/tree_def.h>
#include <sturnus/functional/tree_type.h>
#include <sturnus/functional/where.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sturnus {

/// Types whose values are trees.
template <class T>
concept Tree = internal::is_tree<T>;

/// The type of a tree's leaves: Array.
template <class T>
using TreeLeaf = typename internal::LeafIn<internal::VerdictOn<T>>::type;

/// What `tree_flatten` returns: `auto [leaves, def] = tree_flatten(tree);`.
template <class Leaf>
struct FlatTree {
  std::vector<Leaf> leaves;
  TreeDef def;
};

/// The tree's structure: everything but the leaves.
template <class T>
TreeDef tree_structure(const T& tree) {
  return internal::def_of(internal::schema_of<T>(), internal::scan(tree));
}

/// Calls f(leaf) for every leaf in order; if the tree is not const, f may assign to the leaf.
template <class T, class F>
void for_each_leaf(T&& tree, F&& f) {
  using Leaf = TreeLeaf<std::remove_cvref_t<T>>;
  const internal::TreeScan scan = internal::scan(tree);
  for (std::size_t i = 0; i < scan.leaves.size(); ++i) {
    if constexpr (std::is_const_v<std::remove_reference_t<T>>) {
      f(scan.leaf<Leaf>(i));
    } else {
      f(scan.slot<Leaf>(i));
    }
  }
}

/// Calls f(path, leaf) for every leaf in order; a path reads ".net[1].w".
template <class T, class F>
void for_each_leaf_with_path(T&& tree, F&& f) {
  const std::vector<std::string> paths = tree_structure(tree).leaf_paths();
  std::size_t i = 0;
  for_each_leaf(tree, [&](auto& leaf) { f(paths[i++], leaf); });
}

/// The tree's leaves and structure.
template <class T>
FlatTree<TreeLeaf<T>> tree_flatten(const T& tree) {
  internal::TreeScan scan = internal::scan(tree);
  std::vector<TreeLeaf<T>> leaves;
  leaves.reserve(scan.leaves.size());
  for (std::size_t i = 0; i < scan.leaves.size(); ++i) leaves.push_back(scan.leaf<TreeLeaf<T>>(i));
  return {std::move(leaves), internal::def_of(internal::schema_of<T>(), std::move(scan))};
}

/// Copies of the tree's leaves, in order.
template <class T>
std::vector<TreeLeaf<T>> tree_leaves(const T& tree) {
  return tree_flatten(tree).leaves;
}

/// A tree with the structure of `like` and the given leaves.
/// Throws TreeError if they are more or fewer than those of `like`.
template <class T>
T tree_unflatten(T like, std::span<const TreeLeaf<T>> leaves, Where where = Where::here()) {
  const internal::TreeScan scan = internal::scan(like);
  if (scan.leaves.size() != leaves.size()) {
    require_leaf_count("tree_unflatten", tree_structure(like), leaves.size(), where.str());
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) scan.slot<TreeLeaf<T>>(i) = leaves[i];
  return like;
}

namespace internal {

template <class F, class T, class... Rest>
T tree_map_at(std::string_view name, Where where, F&& f, T tree, const Rest&... rest) {
  using Leaf = TreeLeaf<T>;
  static_assert((std::is_same_v<T, Rest> && ...), "tree_map: all trees must have the same type");
  static_assert(std::is_invocable_r_v<Leaf, F&, const Leaf&, const TreeLeaf<Rest>&...>,
                "tree_map: the function must take one leaf of each tree and return a leaf");
  const std::array scans = {scan(tree), scan(rest)...};
  require_one_structure(name, schema_of<T>(), scans, where.str());
  for (std::size_t i = 0; i < scans[0].leaves.size(); ++i) {
    scans[0].template slot<Leaf>(i) =
        std::apply([&](const auto&... scan) { return f(scan.template leaf<Leaf>(i)...); }, scans);
  }
  return tree;
}

}  // namespace internal

/// The tree of f(leaf of tree, leaf of rest...): leaf by leaf in order, over trees of one type.
/// f returns a leaf, since a struct's members cannot change their type; `for_each_leaf` serves for
/// any other result.
/// Throws TreeError if the structures differ, and says at which path they first do.
template <class F, class T, class... Rest>
T tree_map(F&& f, T tree, const Rest&... rest) {
  return internal::tree_map_at("tree_map", {}, f, std::move(tree), rest...);
}
/// The same for two trees, with the line that gives them in messages.
template <class F, class T>
T tree_map(F&& f, T tree, const T& other, Where where = Where::here()) {
  return internal::tree_map_at("tree_map", where, f, std::move(tree), other);
}

}  // namespace sturnus
