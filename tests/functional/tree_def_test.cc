#include <gtest/gtest.h>
#include <sturnus/functional/tree_def.h>

#include <bit>
#include <limits>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

namespace sturnus {
namespace {

using Parts = std::vector<const TreeSchema*>;
using Names = std::vector<std::string_view>;

// Schemas written by hand: nothing here knows how they come from C++ types.
const TreeSchema leaf = {TreeKind::leaf, "Array", {}, {}};
const TreeSchema boolean = {TreeKind::boolean, "bool", {}, {}};
const TreeSchema integer = {TreeKind::integer, "int", {}, {}};
const TreeSchema natural = {TreeKind::natural, "unsigned", {}, {}};
const TreeSchema real = {TreeKind::real, "double", {}, {}};
const TreeSchema text = {TreeKind::text, "string", {}, {}};

const Parts leaf_part = {&leaf}, integer_part = {&integer}, layer_part_list = {&leaf, &leaf};
const Names layer_names = {"w", "b"};
const TreeSchema layer = {TreeKind::record, "Layer", layer_part_list, layer_names};
const TreeSchema nameless = {TreeKind::record, "Dense", layer_part_list, {}};
const TreeSchema empty = {TreeKind::record, "Tanh", {}, {}};
const TreeSchema tuple = {TreeKind::tuple, "tuple", layer_part_list, {}};
const Parts layer_part = {&layer};
const TreeSchema array = {TreeKind::array, "array", layer_part, {}, 2};
const TreeSchema vector = {TreeKind::vector, "vector", layer_part, {}};
const TreeSchema optional = {TreeKind::optional, "optional", leaf_part, {}};
const Parts optional_part = {&optional};
const TreeSchema optional_optional = {TreeKind::optional, "optional", optional_part, {}};
const TreeSchema map = {TreeKind::map, "map", leaf_part, {}};
const TreeSchema integers = {TreeKind::vector, "vector<int>", integer_part, {}};

const Parts model_parts = {&vector, &leaf, &integer, &text, &map, &optional};
const Names model_names = {"net", "omega", "act", "name", "extra", "bias"};
const TreeSchema model = {TreeKind::record, "Model", model_parts, model_names};

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }

struct Row {
  TreeDef def;
  std::string printed;
  std::vector<std::string> paths;
};

/// Structures, no two of them equal.
const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{leaf, {}, "", 1}, "*", {""}},
      {{boolean, {0}, "", 0}, "false", {}},
      {{boolean, {1}, "", 0}, "true", {}},
      {{integer, {3}, "", 0}, "3", {}},
      {{integer, {~std::uint64_t{0}}, "", 0}, "-1", {}},
      {{natural, {~std::uint64_t{0}}, "", 0}, "18446744073709551615", {}},
      {{real, {bits(0.1)}, "", 0}, "0.1", {}},
      {{real, {bits(0.0)}, "", 0}, "0", {}},
      {{real, {bits(-0.0)}, "", 0}, "-0", {}},
      {{real, {bits(std::numeric_limits<double>::quiet_NaN())}, "", 0}, "nan", {}},
      {{text, {0}, "", 0}, R"("")", {}},
      {{text, {5}, R"(a"b\c)", 0}, R"("a\"b\\c")", {}},
      {{layer, {}, "", 2}, "{w: *, b: *}", {".w", ".b"}},
      {{nameless, {}, "", 2}, "{*, *}", {".0", ".1"}},
      {{empty, {}, "", 0}, "{}", {}},
      {{tuple, {}, "", 2}, "(*, *)", {"<0>", "<1>"}},
      {{array, {}, "", 4}, "[{w: *, b: *}, {w: *, b: *}]", {"[0].w", "[0].b", "[1].w", "[1].b"}},
      {{vector, {0}, "", 0}, "[]", {}},
      {{vector, {1}, "", 2}, "[{w: *, b: *}]", {"[0].w", "[0].b"}},
      {{optional, {0}, "", 0}, "none", {}},
      {{optional, {1}, "", 1}, "*", {""}},
      {{optional_optional, {0}, "", 0}, "none", {}},
      {{optional_optional, {1, 0}, "", 0}, "none", {}},
      {{optional_optional, {1, 1}, "", 1}, "*", {""}},
      {{map, {0}, "", 0}, "{}", {}},
      {{map, {2, 1, 2}, "abc", 2}, R"({"a": *, "bc": *})", {R"(["a"])", R"(["bc"])"}},
      {{map, {2, 2, 1}, "abc", 2}, R"({"ab": *, "c": *})", {R"(["ab"])", R"(["c"])"}},
      {{integers, {2, 7, 8}, "", 0}, "[7, 8]", {}},
      {{integers, {2, 8, 7}, "", 0}, "[8, 7]", {}},
      {{model, {1, 2, 3, 1, 1, 0}, "logk", 4},
       R"({net: [{w: *, b: *}], omega: *, act: 2, name: "log", extra: {"k": *}, bias: none})",
       {".net[0].w", ".net[0].b", ".omega", R"(.extra["k"])"}},
      {{model, {0, 2, 3, 0, 1}, "log", 2},
       R"({net: [], omega: *, act: 2, name: "log", extra: {}, bias: *})",
       {".omega", ".bias"}},
  };
  return table;
}

TEST(TreeDef, PrintsAndNamesItsLeaves) {
  for (const Row& row : rows()) {
    EXPECT_EQ(row.def.str(), row.printed);
    EXPECT_EQ(row.def.leaf_paths(), row.paths) << row.printed;
    EXPECT_EQ(row.def.leaf_count(), row.paths.size()) << row.printed;
    std::ostringstream stream;
    stream << row.def;
    EXPECT_EQ(stream.str(), row.printed);
  }
}

TEST(TreeDef, IsEqualExactlyToItself) {
  std::unordered_set<TreeDef> all;
  std::unordered_set<std::size_t> hashes;
  for (const Row& row : rows()) {
    for (const Row& other : rows()) {
      EXPECT_EQ(row.def == other.def, &row == &other) << row.printed << " and " << other.printed;
      EXPECT_EQ(first_difference("a", row.def, "b", other.def).empty(), &row == &other)
          << row.printed << " and " << other.printed;
    }
    TreeDef copy = row.def;
    EXPECT_EQ(copy.hash(), row.def.hash());
    EXPECT_NO_THROW(require_same_structure("f", "a", copy, "b", row.def));
    all.insert(copy);
    all.insert(row.def);
    hashes.insert(copy.hash());
  }
  EXPECT_EQ(all.size(), rows().size());
  EXPECT_EQ(hashes.size(), rows().size());
}

TEST(TreeDef, TellsWhereTwoStructuresFirstDiffer) {
  const TreeDef base(model, {1, 2, 3, 1, 1, 0}, "logk", 4);
  const struct {
    TreeDef a, b;
    std::string message;
  } table[] = {
      {base,
       {model, {2, 2, 3, 1, 1, 0}, "logk", 6},
       ".net has 1 element in a and has 2 elements in b"},
      {base, {model, {1, 5, 3, 1, 1, 1}, "logk", 5}, ".act is 2 in a and is 5 in b"},
      {base, {model, {1, 2, 3, 1, 1, 0}, "expk", 4}, R"(.name is "log" in a and is "exp" in b)"},
      {base,
       {model, {1, 2, 3, 1, 1, 0}, "logj", 4},
       R"(.extra has the key "k" in a and has the key "j" in b)"},
      {base,
       {model, {1, 2, 3, 0, 0}, "log", 3},
       R"(.extra has the key "k" in a and has no keys in b)"},
      {base,
       {model, {1, 2, 3, 2, 1, 1, 0}, "logkl", 5},
       R"(.extra has the key "k" in a and has the keys "k", "l" in b)"},
      {base, {model, {1, 2, 3, 1, 1, 1}, "logk", 5}, ".bias is absent in a and is present in b"},
      {{integers, {2, 7, 8}, "", 0}, {integers, {2, 7, 9}, "", 0}, "[1] is 8 in a and is 9 in b"},
      {{integers, {2, 7, 8}, "", 0},
       {integers, {0}, "", 0},
       "the tree has 2 elements in a and has 0 elements in b"},
      {{real, {bits(0.0)}, "", 0},
       {real, {bits(-0.0)}, "", 0},
       "the tree is 0 in a and is -0 in b"},
      {{layer, {}, "", 2}, {nameless, {}, "", 2}, "the tree is a Layer in a and a Dense in b"},
  };
  for (const auto& row : table) {
    EXPECT_EQ(first_difference("a", row.a, "b", row.b), row.message);
    try {
      require_same_structure("scan", "a", row.a, "b", row.b);
      ADD_FAILURE() << "no error for: " << row.message;
    } catch (const TreeError& error) {
      EXPECT_EQ(error.what(), "scan: " + row.message + ". Give both the same structure");
    }
  }
}

TEST(TreeDef, ChecksTheNumberOfLeaves) {
  const struct {
    TreeDef def;
    std::size_t given;
    std::string message;
  } table[] = {
      {{layer, {}, "", 2}, 1, "Layer has 2 leaves, given: 1; the first without one is .b"},
      {{layer, {}, "", 2}, 0, "Layer has 2 leaves, given: 0; the first without one is .w"},
      {{layer, {}, "", 2}, 3, "Layer has 2 leaves, given: 3"},
      {{leaf, {}, "", 1}, 0, "Array has 1 leaf, given: 0; the first without one is the tree"},
      {{empty, {}, "", 0}, 1, "Tanh has 0 leaves, given: 1"},
  };
  for (const auto& row : table) {
    EXPECT_NO_THROW(require_leaf_count("f", row.def, row.def.leaf_count()));
    try {
      require_leaf_count("tree_unflatten", row.def, row.given);
      ADD_FAILURE() << "no error for: " << row.message;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "tree_unflatten: " + row.message +
                                  ". Give as many leaves as tree_leaves of such a tree returns");
    }
  }
}

}  // namespace
}  // namespace sturnus
