#include <gtest/gtest.h>
#include <sturnus/functional/tree.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/functional/leaf.h"

namespace sturnus {
namespace tree_test {

using Paths = std::vector<std::string>;

enum class Act { tanh, relu };

struct Layer {
  Leaf w, b;
};
struct Twin {
  Leaf w, b;
};
struct Member {
  std::vector<Layer> net;
  Leaf omega, zeta;
  Act act = Act::tanh;
};
struct Node {
  std::vector<Node> children;
  Leaf x;
};
struct Tanh {};
struct Statics {
  bool flag = true;
  Leaf x;
  double rate = 0.5;
  std::string name = "adam";
  std::vector<bool> mask = {};
  std::array<float, 2> betas = {0.75f, 0.5f};
  Tanh act = {};
};
class Dense {
 public:
  explicit Dense(int width) : width_(width) {}
  friend auto fields(const Dense& dense) { return std::tie(dense.w_, dense.width_, dense.b_); }

 private:
  Leaf w_, b_;
  int width_;
};
struct Net {
  Dense in;
  std::optional<Dense> out;
  Leaf scale;
};
struct Wide {
  Leaf a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2,
      c3, c4, c5, c6, c7, c8, c9;
};
struct Mixed {
  std::map<std::string, std::vector<std::optional<Layer>>> groups;
  std::tuple<Leaf, std::pair<int, Leaf>, std::array<Leaf, 2>> rest;
};

/// A tree, how it prints, and the paths of its leaves.
template <class T>
struct Sample {
  T tree;
  std::string printed;
  Paths paths;
};

/// Trees of one type, no two of them with the same structure.
template <class T>
std::vector<Sample<T>> samples();

template <>
std::vector<Sample<Leaf>> samples() {
  return {{Leaf(1), "*", {""}}};
}
template <>
std::vector<Sample<Layer>> samples() {
  return {{{1, 2}, "{w: *, b: *}", {".w", ".b"}}};
}
template <>
std::vector<Sample<Member>> samples() {
  return {
      {{{}, 1, 2, Act::tanh}, "{net: [], omega: *, zeta: *, act: 0}", {".omega", ".zeta"}},
      {{{}, 1, 2, Act::relu}, "{net: [], omega: *, zeta: *, act: 1}", {".omega", ".zeta"}},
      {{{{1, 2}, {3, 4}}, 5, 6, Act::tanh},
       "{net: [{w: *, b: *}, {w: *, b: *}], omega: *, zeta: *, act: 0}",
       {".net[0].w", ".net[0].b", ".net[1].w", ".net[1].b", ".omega", ".zeta"}},
  };
}
template <>
std::vector<Sample<Node>> samples() {
  return {
      {{{}, 1}, "{children: [], x: *}", {".x"}},
      {{{{{}, 1}, {{}, 2}}, 3},
       "{children: [{children: [], x: *}, {children: [], x: *}], x: *}",
       {".children[0].x", ".children[1].x", ".x"}},
      {{{{{{{}, 1}}, 2}}, 3},
       "{children: [{children: [{children: [], x: *}], x: *}], x: *}",
       {".children[0].children[0].x", ".children[0].x", ".x"}},
  };
}
template <>
std::vector<Sample<Statics>> samples() {
  const std::string rest = R"(, mask: [], betas: [0.75, 0.5], act: {}})";
  return {
      {{}, R"({flag: true, x: *, rate: 0.5, name: "adam")" + rest, {".x"}},
      {{.flag = false, .x = 1}, R"({flag: false, x: *, rate: 0.5, name: "adam")" + rest, {".x"}},
      {{.x = 1, .rate = 0.0}, R"({flag: true, x: *, rate: 0, name: "adam")" + rest, {".x"}},
      {{.x = 1, .rate = -0.0}, R"({flag: true, x: *, rate: -0, name: "adam")" + rest, {".x"}},
      {{.x = 1, .rate = std::numeric_limits<double>::quiet_NaN()},
       R"({flag: true, x: *, rate: nan, name: "adam")" + rest,
       {".x"}},
      {{.x = 1, .name = ""}, R"({flag: true, x: *, rate: 0.5, name: "")" + rest, {".x"}},
      {{.x = 1, .mask = {true, false}},
       R"({flag: true, x: *, rate: 0.5, name: "adam", mask: [true, false], betas: [0.75, 0.5], act: {}})",
       {".x"}},
      {{.x = 1, .betas = {0.5f, 0.75f}},
       R"({flag: true, x: *, rate: 0.5, name: "adam", mask: [], betas: [0.5, 0.75], act: {}})",
       {".x"}},
  };
}
template <>
std::vector<Sample<Dense>> samples() {
  return {{Dense(3), "{*, 3, *}", {".0", ".2"}}, {Dense(-4), "{*, -4, *}", {".0", ".2"}}};
}
template <>
std::vector<Sample<Net>> samples() {
  return {
      {{Dense(3), {}, 1}, "{in: {*, 3, *}, out: none, scale: *}", {".in.0", ".in.2", ".scale"}},
      {{Dense(3), Dense(4), 1},
       "{in: {*, 3, *}, out: {*, 4, *}, scale: *}",
       {".in.0", ".in.2", ".out.0", ".out.2", ".scale"}},
  };
}
template <>
std::vector<Sample<Wide>> samples() {
  std::string printed;
  Paths paths;
  for (char letter : {'a', 'b', 'c'}) {
    for (char digit = '0'; digit <= '9'; ++digit) {
      const std::string name = {letter, digit};
      printed += (printed.empty() ? "{" : ", ") + name + ": *";
      paths.push_back("." + name);
    }
  }
  return {{{}, printed + "}", paths}};
}
template <>
std::vector<Sample<std::vector<Leaf>>> samples() {
  return {{{}, "[]", {}}, {{1}, "[*]", {"[0]"}}, {{1, 2}, "[*, *]", {"[0]", "[1]"}}};
}
template <>
std::vector<Sample<std::vector<std::vector<Leaf>>>> samples() {
  return {
      {{}, "[]", {}},
      {{{}}, "[[]]", {}},
      {{{}, {}}, "[[], []]", {}},
      {{{1, 2}, {}, {3}}, "[[*, *], [], [*]]", {"[0][0]", "[0][1]", "[2][0]"}},
      {{{1}, {2, 3}}, "[[*], [*, *]]", {"[0][0]", "[1][0]", "[1][1]"}},
  };
}
template <>
std::vector<Sample<std::array<Layer, 2>>> samples() {
  return {{{}, "[{w: *, b: *}, {w: *, b: *}]", {"[0].w", "[0].b", "[1].w", "[1].b"}}};
}
template <>
std::vector<Sample<std::array<Leaf, 0>>> samples() {
  return {{{}, "[]", {}}};
}
template <>
std::vector<Sample<std::tuple<Leaf, int, Layer>>> samples() {
  return {
      {{1, 3, {2, 3}}, "(*, 3, {w: *, b: *})", {"<0>", "<2>.w", "<2>.b"}},
      {{1, 4, {2, 3}}, "(*, 4, {w: *, b: *})", {"<0>", "<2>.w", "<2>.b"}},
  };
}
template <>
std::vector<Sample<std::pair<std::string, Leaf>>> samples() {
  return {{{"a", 1}, R"(("a", *))", {"<1>"}}, {{"b", 1}, R"(("b", *))", {"<1>"}}};
}
template <>
std::vector<Sample<std::optional<std::optional<Leaf>>>> samples() {
  using Inner = std::optional<Leaf>;
  return {{std::nullopt, "none", {}}, {Inner(), "none", {}}, {Inner(Leaf(1)), "*", {""}}};
}
template <>
std::vector<Sample<std::map<std::string, Layer>>> samples() {
  return {
      {{}, "{}", {}},
      {{{"b", {1, 2}}, {"a", {3, 4}}},
       R"({"a": {w: *, b: *}, "b": {w: *, b: *}})",
       {R"(["a"].w)", R"(["a"].b)", R"(["b"].w)", R"(["b"].b)"}},
      {{{"a", {}}, {"c", {}}},
       R"({"a": {w: *, b: *}, "c": {w: *, b: *}})",
       {R"(["a"].w)", R"(["a"].b)", R"(["c"].w)", R"(["c"].b)"}},
  };
}
template <>
std::vector<Sample<Mixed>> samples() {
  const Layer layer = {1, 2};
  return {
      {{{}, {1, {2, 3}, {4, 5}}},
       "{groups: {}, rest: (*, (2, *), [*, *])}",
       {".rest<0>", ".rest<1><1>", ".rest<2>[0]", ".rest<2>[1]"}},
      {{{{"x", {layer, std::nullopt}}, {"y", {}}}, {1, {2, 3}, {4, 5}}},
       R"({groups: {"x": [{w: *, b: *}, none], "y": []}, rest: (*, (2, *), [*, *])})",
       {R"(.groups["x"][0].w)", R"(.groups["x"][0].b)", ".rest<0>", ".rest<1><1>", ".rest<2>[0]",
        ".rest<2>[1]"}},
  };
}

template <class T, class Law>
void check(Law law) {
  SCOPED_TRACE(internal::type_name<T>());
  law(std::type_identity<T>());
}
template <class... T, class Law>
void check_each(Law law) {
  (check<T>(law), ...);
}
/// Checks the law for trees of all these types. GoogleTest's typed tests would make a class of each
/// law and type, which takes long to compile.
template <class Law>
void for_each_type(Law law) {
  check_each<Leaf, Layer, Member, Node, Statics, Dense, Net, Wide, std::vector<Leaf>,
             std::vector<std::vector<Leaf>>, std::array<Layer, 2>, std::array<Leaf, 0>,
             std::tuple<Leaf, int, Layer>, std::pair<std::string, Leaf>,
             std::optional<std::optional<Leaf>>, std::map<std::string, Layer>, Mixed>(law);
}

Leaf doubled(const Leaf& leaf) { return leaf.value * 2; }
Leaf plus_three(const Leaf& leaf) { return leaf.value + 3; }

/// The tree with leaves `start`, `start` + 1, ...
template <class T>
T numbered(T tree, double start = 0) {
  for_each_leaf(tree, [&](Leaf& leaf) { leaf = start++; });
  return tree;
}

std::vector<Leaf> range(std::size_t count, double start = 0) {
  std::vector<Leaf> leaves(count);
  for (Leaf& leaf : leaves) leaf = start++;
  return leaves;
}

TEST(TreeLaws, StructureAndPathsAreThoseWrittenByHand) {
  for_each_type([]<class T>(std::type_identity<T>) {
    for (const auto& [tree, printed, paths] : samples<T>()) {
      const TreeDef def = tree_structure(tree);
      EXPECT_EQ(def.str(), printed);
      EXPECT_EQ(def.leaf_paths(), paths);
      EXPECT_EQ(def.leaf_count(), paths.size());
      EXPECT_EQ(tree_leaves(tree).size(), paths.size());
    }
  });
}

TEST(TreeLaws, LeavesAreVisitedInOrderWithTheirPaths) {
  for_each_type([]<class T>(std::type_identity<T>) {
    for (const auto& [tree, printed, paths] : samples<T>()) {
      T changed = numbered(tree, 10);
      EXPECT_EQ(tree_leaves(changed), range(paths.size(), 10));
      Paths visited;
      for_each_leaf_with_path(changed, [&](const std::string& path, Leaf& leaf) {
        EXPECT_EQ(leaf, Leaf(10.0 + visited.size()));
        visited.push_back(path);
        leaf = -1;
      });
      EXPECT_EQ(visited, paths);
      EXPECT_EQ(tree_leaves(changed), std::vector<Leaf>(paths.size(), -1));
      for_each_leaf(std::as_const(changed), [&](auto& leaf) {
        static_assert(std::is_same_v<decltype(leaf), const Leaf&>);
        EXPECT_EQ(leaf, Leaf(-1));
      });
    }
  });
}

TEST(TreeLaws, StructureIsEqualExactlyForTheSameSample) {
  for_each_type([]<class T>(std::type_identity<T>) {
    const auto all = samples<T>();
    for (const auto& one : all) {
      for (const auto& other : all) {
        const bool same = &one == &other;
        const TreeDef a = tree_structure(one.tree), b = tree_structure(numbered(other.tree, 5));
        EXPECT_EQ(a == b, same) << one.printed << " and " << other.printed;
        EXPECT_EQ(a.hash() == b.hash(), same) << one.printed << " and " << other.printed;
      }
    }
  });
}

TEST(TreeLaws, UnflattenInvertsFlatten) {
  for_each_type([]<class T>(std::type_identity<T>) {
    for (const auto& [tree, printed, paths] : samples<T>()) {
      const auto [leaves, def] = tree_flatten(numbered(tree));
      const T rebuilt = tree_unflatten(tree, leaves);
      EXPECT_EQ(tree_leaves(rebuilt), leaves);
      EXPECT_EQ(tree_structure(rebuilt), def);
      EXPECT_EQ(leaves, range(paths.size()));
      EXPECT_EQ(def, tree_structure(tree));
    }
  });
}

TEST(TreeLaws, UnflattenRefusesTooFewAndTooMany) {
  for_each_type([]<class T>(std::type_identity<T>) {
    for (const auto& [tree, printed, paths] : samples<T>()) {
      EXPECT_THROW(tree_unflatten(tree, range(paths.size() + 1)), TreeError);
      if (paths.empty()) continue;
      EXPECT_THROW(tree_unflatten(tree, range(paths.size() - 1)), TreeError);
    }
  });
}

TEST(TreeLaws, MapKeepsIdentityAndComposition) {
  for_each_type([]<class T>(std::type_identity<T>) {
    for (const auto& sample : samples<T>()) {
      const T tree = numbered(sample.tree, 1);
      const T same = tree_map([](const Leaf& leaf) { return leaf; }, tree);
      EXPECT_EQ(tree_leaves(same), tree_leaves(tree));
      EXPECT_EQ(tree_structure(same), tree_structure(tree));

      const T steps = tree_map(plus_three, tree_map(doubled, tree));
      const T at_once = tree_map([](Leaf leaf) { return plus_three(doubled(leaf)); }, tree);
      EXPECT_EQ(tree_leaves(steps), tree_leaves(at_once));
      EXPECT_EQ(tree_leaves(tree), range(sample.paths.size(), 1));  // as before
      std::vector<Leaf> expected = tree_leaves(tree);
      std::transform(expected.begin(), expected.end(), expected.begin(),
                     [](const Leaf& leaf) { return Leaf(2 * leaf.value + 3); });
      EXPECT_EQ(tree_leaves(steps), expected);
    }
  });
}

TEST(TreeLaws, MapJoinsTreesOfOneStructureOnly) {
  for_each_type([]<class T>(std::type_identity<T>) {
    const auto all = samples<T>();
    const auto join = [](const Leaf& a, const Leaf& b, const Leaf& c) {
      return Leaf(a.value + 100 * b.value + 10000 * c.value);
    };
    for (const auto& one : all) {
      const T joined =
          tree_map(join, numbered(one.tree, 1), numbered(one.tree, 2), numbered(one.tree, 3));
      std::vector<Leaf> expected;
      for (std::size_t i = 0; i < one.paths.size(); ++i) {
        expected.push_back((i + 1.0) + 100 * (i + 2.0) + 10000 * (i + 3.0));
      }
      EXPECT_EQ(tree_leaves(joined), expected);
      for (const auto& other : all) {
        if (&one == &other) continue;
        EXPECT_THROW(tree_map(join, one.tree, other.tree, one.tree), TreeError);
        EXPECT_THROW(tree_map(join, one.tree, one.tree, other.tree), TreeError);
      }
    }
  });
}

TEST(Tree, StructureTellsTypesApart) {
  EXPECT_NE(tree_structure(Layer()), tree_structure(Twin()));
  EXPECT_NE(tree_structure(std::pair<Leaf, Leaf>()), tree_structure(std::tuple<Leaf, Leaf>()));
  EXPECT_NE(tree_structure(std::vector<Leaf>(2)), tree_structure(std::array<Leaf, 2>()));
  EXPECT_NE(tree_structure(1), tree_structure(1L));
  EXPECT_EQ(first_difference("a", tree_structure(Layer()), "b", tree_structure(Twin())),
            "the tree is a sturnus::tree_test::Layer in a and a sturnus::tree_test::Twin in b");
}

TEST(Tree, WithoutLeavesHasOnlyStructure) {
  struct Config {
    int depth = 3;
    std::vector<std::string> names = {"a"};
  };
  Config config;
  for_each_leaf(config, [](auto&) { ADD_FAILURE(); });
  EXPECT_EQ(tree_structure(config).str(), R"({depth: 3, names: ["a"]})");
  EXPECT_EQ(tree_structure(config).leaf_count(), 0);
  EXPECT_EQ(tree_structure(std::tuple<>()).str(), "()");
  EXPECT_EQ(tree_structure(Tanh()).str(), "{}");
}

TEST(Tree, StaticNumbersKeepTheirExtremes) {
  const auto printed = [](auto number) { return tree_structure(number).str(); };
  EXPECT_EQ(printed(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(printed(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(printed(std::int8_t{-1}), "-1");
  EXPECT_EQ(printed(std::uint8_t{255}), "255");
  EXPECT_EQ(printed(0.1f), "0.10000000149011612");
  EXPECT_EQ(printed(-INFINITY), "-inf");
}

TEST(Tree, MapMovesATreeThatIsGivenAway) {
  std::vector<Leaf> tree(1000);
  const Leaf* storage = tree.data();
  tree = tree_map(plus_three, std::move(tree));
  EXPECT_EQ(tree.data(), storage);
  EXPECT_EQ(tree.front(), Leaf(3));
}

TEST(Tree, MapVisitsInOrderAndAnExceptionLeavesTheArgumentAlone) {
  const std::vector<Leaf> tree = range(5);
  double next = 0;
  const auto f = [&](const Leaf& leaf) -> Leaf {
    EXPECT_EQ(leaf, Leaf(next++));
    if (leaf == Leaf(3)) throw std::runtime_error("three");
    return -1;
  };
  EXPECT_THROW(tree_map(f, tree), std::runtime_error);
  EXPECT_EQ(next, 4);
  EXPECT_EQ(tree, range(5));
}

TEST(Tree, ErrorsNameThePathBothFactsAndTheRemedy) {
  const Member member = {{{1, 2}, {3, 4}}, 5, 6, Act::tanh};
  Member longer = member, other_act = member;
  longer.net.push_back({});
  other_act.act = Act::relu;
  const auto text = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const TreeError& error) {
      return std::regex_replace(error.what(), std::regex("tree_test\\.cc:[0-9]+"), "<here>");
    }
    return "no error";
  };
  const auto sum = [](const auto&... leaf) { return Leaf((leaf.value + ...)); };
  EXPECT_EQ(text([&] { tree_map(sum, member, longer); }),
            "tree_map: .net has 2 elements in tree 1 and has 3 elements in tree 2 (<here>). "
            "Give both the same structure");
  EXPECT_EQ(text([&] { tree_map(sum, member, member, other_act); }),
            "tree_map: .act is 0 in tree 1 and is 1 in tree 3. Give both the same structure");
  EXPECT_EQ(text([&] {
              Mixed a, b;
              a.groups["x"] = {Layer(), std::nullopt};
              b.groups["x"] = {Layer(), Layer()};
              tree_map(sum, a, b);
            }),
            "tree_map: .groups[\"x\"][1] is absent in tree 1 and is present in tree 2 (<here>). "
            "Give both the same structure");
  EXPECT_EQ(text([&] { tree_unflatten(member, range(4)); }),
            "tree_unflatten: sturnus::tree_test::Member has 6 leaves, given: 4; the first without "
            "one is .omega (<here>). Give as many leaves as tree_leaves of such a tree returns");
}

}  // namespace tree_test
}  // namespace sturnus
