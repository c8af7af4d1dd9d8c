// Which C++ types are trees, what their parts are, and the one walk over a tree value.
// Details of <sturnus/functional/tree.h>.
#pragma once

#include <sturnus/functional/aggregate.h>
#include <sturnus/functional/tree_def.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sturnus {

class Array;

/// Whether T is a leaf: an Array. Another type becomes one by specialising this before its first
/// use.
template <class T>
inline constexpr bool is_tree_leaf = false;
template <>
inline constexpr bool is_tree_leaf<Array> = true;

namespace internal {

/// Why a type is no tree; each has its sentence in `explain_flaw`.
enum class TreeFlaw {
  none,
  foreign,
  constant,
  base_class,
  c_array,
  not_countable,
  fields_by_value,
  two_leaf_types,
};

template <class T>
concept StaticNumber = sizeof(T) <= 8 && (std::is_arithmetic_v<T> || std::is_enum_v<T>);

template <class T>
concept HasFields = std::is_class_v<T> && requires(const T& tree) {
  fields(tree);
};

template <class T>
concept PlainStruct = std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_empty_v<T>;

template <class... T>
struct Types {};

template <class Fields>
inline constexpr bool all_references = false;
template <class... T>
inline constexpr bool all_references<std::tuple<T...>> = (std::is_lvalue_reference_v<T> && ...);

/// use(part, part, ...) with the parts of a struct or tuple of type T.
template <class T, class Use>
constexpr decltype(auto) with_parts(auto& tree, Use&& use) {
  if constexpr (HasFields<T>) {
    return std::apply(use, fields(std::as_const(tree)));
  } else if constexpr (PlainStruct<T>) {
    return with_fields<field_count<T>>(tree, use);
  } else if constexpr (std::is_empty_v<T>) {
    return use();
  } else {
    return std::apply(use, tree);
  }
}

/// What is wrong with T itself, its parts aside; for types that are no standard container.
template <class T>
consteval TreeFlaw flaw_of() {
  if constexpr (is_tree_leaf<T> || StaticNumber<T>) {
    return TreeFlaw::none;
  } else if constexpr (HasFields<T>) {
    using Fields = decltype(fields(std::declval<const T&>()));
    return all_references<Fields> ? TreeFlaw::none : TreeFlaw::fields_by_value;
  } else if constexpr (std::is_empty_v<T>) {
    return TreeFlaw::none;
  } else if constexpr (!PlainStruct<T>) {
    return TreeFlaw::foreign;
  } else if constexpr (field_count<T> > max_fields) {
    return TreeFlaw::not_countable;
  } else if constexpr (has_base_class<T>) {
    return TreeFlaw::base_class;
  } else if constexpr (has_c_array<T>) {
    return TreeFlaw::c_array;
  } else {
    return TreeFlaw::none;
  }
}

template <class T>
consteval TreeKind kind_of() {
  if constexpr (is_tree_leaf<T>) {
    return TreeKind::leaf;
  } else if constexpr (std::is_enum_v<T>) {
    return kind_of<std::underlying_type_t<T>>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return TreeKind::boolean;
  } else if constexpr (std::is_floating_point_v<T>) {
    return TreeKind::real;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? TreeKind::integer : TreeKind::natural;
  } else {
    return TreeKind::record;
  }
}

template <class T>
consteval auto parts_of() {
  if constexpr (flaw_of<T>() == TreeFlaw::none && kind_of<T>() == TreeKind::record) {
    // A friend `fields` is shown a const object, so const says nothing about its members.
    constexpr auto types = [](auto&... part) {
      return Types<std::conditional_t<HasFields<T>, std::remove_cvref_t<decltype(part)>,
                                      std::remove_reference_t<decltype(part)>>...>();
    };
    return decltype(with_parts<T>(std::declval<T&>(), types))();
  } else {
    return Types<>();
  }
}

/// A type's own flaw, its kind, and the types of its parts (the element type of a container).
template <class T>
struct TreeType {
  static constexpr TreeFlaw flaw = flaw_of<T>();
  static constexpr TreeKind kind = kind_of<T>();
  using Parts = decltype(parts_of<T>());
};

template <TreeKind container, class... Part>
struct TreeContainer {
  static constexpr TreeFlaw flaw = TreeFlaw::none;
  static constexpr TreeKind kind = container;
  using Parts = Types<Part...>;
};
template <>
struct TreeType<std::string> : TreeContainer<TreeKind::text> {};
template <class T, class Allocator>
struct TreeType<std::vector<T, Allocator>> : TreeContainer<TreeKind::vector, T> {};
template <class T, std::size_t n>
struct TreeType<std::array<T, n>> : TreeContainer<TreeKind::array, T> {};
template <class... T>
struct TreeType<std::tuple<T...>> : TreeContainer<TreeKind::tuple, T...> {};
template <class A, class B>
struct TreeType<std::pair<A, B>> : TreeContainer<TreeKind::tuple, A, B> {};
template <class T>
struct TreeType<std::optional<T>> : TreeContainer<TreeKind::optional, T> {};
template <class T, class Less, class Allocator>
struct TreeType<std::map<std::string, T, Less, Allocator>> : TreeContainer<TreeKind::map, T> {};

/// Leaves are assigned to, so only what has none may be const.
template <class T>
struct TreeType<const T> : TreeType<T> {
  static constexpr TreeFlaw flaw =
      StaticNumber<T> || std::is_same_v<T, std::string> ? TreeFlaw::none : TreeFlaw::constant;
};
template <class T>
struct TreeType<T&> {
  static constexpr TreeFlaw flaw = TreeFlaw::constant;
};

/// The verdict on a whole tree type: Verdict<none> (no leaves), Verdict<none, Leaf>, or
/// Verdict<flaw, Culprit...>.
template <TreeFlaw f, class... T>
struct Verdict {
  static constexpr TreeFlaw flaw = f;
};

/// The verdict so far, and the types it rests on: each is judged once, so types may contain
/// themselves.
template <class Verdict, class... Seen>
struct Judged {
  using verdict = Verdict;
};

template <class Judged, class... Part>
consteval auto judge_all(Judged so_far, Types<Part...>) {
  return (so_far << ... << std::type_identity<Part>());
}

template <TreeFlaw flaw, class... Leaf, class... Seen, class T>
consteval auto operator<<(Judged<Verdict<flaw, Leaf...>, Seen...> so_far, std::type_identity<T>) {
  if constexpr (flaw != TreeFlaw::none || (std::is_same_v<T, Seen> || ...)) {
    return so_far;
  } else if constexpr (TreeType<T>::flaw != TreeFlaw::none) {
    return Judged<Verdict<TreeType<T>::flaw, T>>();
  } else if constexpr (TreeType<T>::kind != TreeKind::leaf) {
    return judge_all(Judged<Verdict<flaw, Leaf...>, Seen..., T>(), typename TreeType<T>::Parts());
  } else if constexpr (sizeof...(Leaf) == 0) {
    return Judged<Verdict<TreeFlaw::none, T>, Seen..., T>();
  } else {
    return Judged<Verdict<TreeFlaw::two_leaf_types, Leaf..., T>>();
  }
}

template <class T>
using VerdictOn =
    typename decltype(judge_all(Judged<Verdict<TreeFlaw::none>>(), Types<T>()))::verdict;

/// Makes the compiler say in one sentence why the type Culprit keeps something from being a tree.
/// After that the leaves pass for Arrays, so that nothing else is reported.
template <TreeFlaw flaw, class... Culprit>
consteval auto explain_flaw() {
  static_assert(flaw != TreeFlaw::foreign,
                "this type cannot be part of a tree: a tree is made of Array, plain structs, "
                "std::vector, std::array, std::tuple, std::pair, std::optional and "
                "std::map<std::string, T>, with numbers of at most 64 bits, enums, std::string and "
                "empty classes as static parts; any other class X joins with "
                "`friend auto fields(const X& x) { return std::tie(x.a_, x.b_); }`");
  static_assert(flaw != TreeFlaw::constant,
                "only numbers and strings of a tree may be const, and nothing in it a reference: "
                "make this member a plain value");
  static_assert(flaw != TreeFlaw::base_class,
                "a struct with a base class cannot be part of a tree by itself: make the base a "
                "member, or list the members of this struct X with "
                "`friend auto fields(const X& x) { return std::tie(x.a, x.b); }`");
  static_assert(flaw != TreeFlaw::c_array,
                "a C array cannot be part of a tree: make that member of this struct a std::array");
  static_assert(flaw != TreeFlaw::not_countable,
                "a struct in a tree has at most 64 members, none of them a reference: nest "
                "structs, or use std::vector or std::array");
  static_assert(flaw != TreeFlaw::fields_by_value,
                "the friend `fields` of a class in a tree must return references to its members: "
                "`return std::tie(x.a_, x.b_);`");
  static_assert(flaw != TreeFlaw::two_leaf_types, "all leaves of a tree must have one type");
  return std::type_identity<Array>();
}

/// The type of the leaves; a tree without any passes for a tree of Arrays.
template <class Verdict>
struct LeafIn;
template <>
struct LeafIn<Verdict<TreeFlaw::none>> : std::type_identity<Array> {};
template <class Leaf>
struct LeafIn<Verdict<TreeFlaw::none, Leaf>> : std::type_identity<Leaf> {};
template <TreeFlaw flaw, class... Culprit>
struct LeafIn<Verdict<flaw, Culprit...>> : decltype(explain_flaw<flaw, Culprit...>()) {};

template <class T>
inline constexpr bool is_tree = VerdictOn<T>::flaw == TreeFlaw::none;

/// The constant that describes T. It is declared first, since a type may contain itself.
template <class T>
struct SchemaOf {
  static const TreeSchema value;
};

template <class Parts>
struct SchemasOf;
template <class... Part>
struct SchemasOf<Types<Part...>> {
  static constexpr std::array<const TreeSchema*, sizeof...(Part)> value = {
      &SchemaOf<std::remove_const_t<Part>>::value...};
};

template <class T>
constexpr std::span<const std::string_view> names_of() {
  if constexpr (TreeType<T>::kind == TreeKind::record && PlainStruct<T> && !HasFields<T>) {
    return field_names<T>;
  } else {
    return {};
  }
}

template <class T>
constexpr std::size_t length_of() {
  if constexpr (TreeType<T>::kind == TreeKind::array) return std::tuple_size_v<T>;
  return 0;
}

template <class T>
constexpr TreeSchema SchemaOf<T>::value = {TreeType<T>::kind, type_name<T>(),
                                           SchemasOf<typename TreeType<T>::Parts>::value,
                                           names_of<T>(), length_of<T>()};

template <class T>
constexpr const TreeSchema& schema_of() {
  return SchemaOf<std::conditional_t<is_tree<T>, T, std::tuple<>>>::value;
}

/// What one walk over a tree finds: its leaves, and what its type leaves open, in preorder.
struct TreeScan {
  std::vector<const void*> leaves;
  std::vector<std::uint64_t> open;
  std::string text;

  void add(std::string_view string);
  template <class Leaf>
  const Leaf& leaf(std::size_t i) const {
    return *static_cast<const Leaf*>(leaves[i]);
  }
  /// The leaf to assign to, if the scanned tree is not const.
  template <class Leaf>
  Leaf& slot(std::size_t i) const {
    return const_cast<Leaf&>(leaf<Leaf>(i));
  }
};

template <StaticNumber T>
std::uint64_t bits_of(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(number));
  } else {
    return static_cast<std::uint64_t>(number);  // extends the sign
  }
}

template <class T>
void walk(const T& tree, TreeScan& scan) {
  constexpr TreeKind kind = TreeType<T>::kind;
  if constexpr (kind == TreeKind::leaf) {
    scan.leaves.push_back(std::addressof(tree));
  } else if constexpr (StaticNumber<T>) {
    scan.open.push_back(bits_of(tree));
  } else if constexpr (kind == TreeKind::text) {
    scan.add(tree);
  } else if constexpr (kind == TreeKind::optional) {
    scan.open.push_back(tree.has_value());
    if (tree) walk(*tree, scan);
  } else if constexpr (kind == TreeKind::map) {
    scan.open.push_back(tree.size());
    for (const auto& [key, part] : tree) scan.add(key);
    for (const auto& [key, part] : tree) walk(part, scan);
  } else if constexpr (kind == TreeKind::vector || kind == TreeKind::array) {
    if constexpr (kind == TreeKind::vector) scan.open.push_back(tree.size());
    for (const auto& part : tree) walk(part, scan);
  } else {
    with_parts<T>(tree, [&scan](const auto&... part) { (walk(part, scan), ...); });
  }
}

template <class T>
TreeScan scan(const T& tree) {
  using Leaf [[maybe_unused]] = typename LeafIn<VerdictOn<T>>::type;  // or the sentence
  TreeScan found;
  found.leaves.reserve(16);  // most trees
  if constexpr (is_tree<T>) walk(tree, found);
  return found;
}

/// The structure of a scanned tree.
TreeDef def_of(const TreeSchema& schema, TreeScan scan);

/// Throws a TreeError in the name of `function` unless all trees have the structure of the first.
/// `line` is the one that gives them, if known.
void require_one_structure(std::string_view function, const TreeSchema& schema,
                           std::span<const TreeScan> scans, std::string_view line);

}  // namespace internal
}  // namespace sturnus
