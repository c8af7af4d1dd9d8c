// The structure of a tree: everything about a tree value except its leaves.
//
// A C++ type fixes most of that, so a TreeDef is the type's schema (one constant per type) plus, in
// preorder, what the type leaves open: lengths, presence of optionals, map keys, static values.
// Comparing and hashing run once over those flat arrays.
#pragma once

#include <sturnus/runtime/error.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus {

/// Trees that do not fit: different structures, or a wrong number of leaves.
class TreeError : public Error {
 public:
  using Error::Error;
};

enum class TreeKind : std::uint8_t {
  leaf,
  boolean,  // static values
  integer,  // (enums too)
  natural,
  real,
  text,
  record,    // a struct: its fields
  tuple,     // std::tuple, std::pair
  array,     // std::array
  vector,    // length is open
  optional,  // presence is open
  map,       // keys are open
};

/// What a C++ type says about its trees.
struct TreeSchema {
  TreeKind kind;
  std::string_view type;
  std::span<const TreeSchema* const> parts;  // one per field, or the one element type
  std::span<const std::string_view> names;   // of a record's fields; empty where there are none
  std::size_t length = 0;                    // of an array
};

/// The structure of one tree. Equal for trees of one C++ type with equal lengths, keys and static
/// values.
///
/// Two struct types of the same shape are different structures: a generic function may do different
/// things with them, and a result is rebuilt as its own type. Reals are compared by their bits, so
/// 0.0 and -0.0 differ and a NaN equals itself, as a cache key must.
class TreeDef {
 public:
  /// The structure `schema` with `open` and `text` in preorder, as `tree_structure` collects them.
  TreeDef(const TreeSchema& schema, std::vector<std::uint64_t> open, std::string text,
          std::size_t leaf_count);

  std::size_t leaf_count() const { return leaf_count_; }
  /// The paths of all leaves in order: ".net[1].w", ".params[\"a\"]", "<0>"; "" for a bare leaf.
  std::vector<std::string> leaf_paths() const;
  /// For instance "{net: [{w: *, b: *}], omega: *}", with * for a leaf.
  std::string str() const;
  /// Equal for equal structures; differs from run to run.
  std::size_t hash() const;
  /// The name of the tree's C++ type.
  std::string_view type() const { return schema_->type; }

  bool operator==(const TreeDef&) const = default;
  /// Whether this is the structure made of these parts, without making it.
  bool fits(const TreeSchema& schema, const std::vector<std::uint64_t>& open,
            std::string_view text) const {
    return schema_ == &schema && open_ == open && text_ == text;
  }

 private:
  friend std::string first_difference(std::string_view, const TreeDef&, std::string_view,
                                      const TreeDef&);

  const TreeSchema* schema_;
  std::vector<std::uint64_t> open_;
  std::string text_;  // static strings and keys, end to end; their lengths stand in open_
  std::size_t leaf_count_;
};

std::ostream& operator<<(std::ostream& out, const TreeDef& def);

/// Says where two structures first differ, or "" if they are equal; `a_name` and `b_name` are what
/// the trees are called: ".net has 2 elements in carry in and has 3 elements in carry out".
std::string first_difference(std::string_view a_name, const TreeDef& a, std::string_view b_name,
                             const TreeDef& b);

/// Throws a TreeError in the name of `function` that says where the structures first differ. `line`
/// is the one that gives them, "pinn.cc:41", if known.
void require_same_structure(std::string_view function, std::string_view a_name, const TreeDef& a,
                            std::string_view b_name, const TreeDef& b, std::string_view line = {});

/// Throws a TreeError in the name of `function` unless `given` is the number of leaves; `line` is
/// the one that gives them, if known.
void require_leaf_count(std::string_view function, const TreeDef& def, std::size_t given,
                        std::string_view line = {});

/// Throws the TreeError for a leaf that is Array(): `leaf` of `function` is "the result .b" or the
/// like.
[[noreturn]] void throw_no_value(std::string_view function, std::string_view leaf,
                                 std::string_view line);

}  // namespace sturnus

template <>
struct std::hash<sturnus::TreeDef> {
  std::size_t operator()(const sturnus::TreeDef& def) const { return def.hash(); }
};
