// What is a tree and what is not is decided by the compiler, so these tests are its assertions.
#include <gtest/gtest.h>

#include <any>
#include <array>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "tests/functional/leaf.h"

namespace sturnus {
namespace {

enum class Act { tanh, relu };
enum Old : unsigned char { first };
struct Layer {
  Leaf w, b;
};
struct Node {
  std::vector<Node> children;
  Leaf x;
};
struct Tanh {
  Leaf operator()(Leaf x) const { return x; }
};
struct Config {
  int depth = 3;
  const double rate = 0.1;
  const std::string name = "a";
};
class Dense {
 public:
  explicit Dense(int n) : n_(n) {}
  friend auto fields(const Dense& dense) { return std::tie(dense.w_, dense.n_); }

 private:
  Leaf w_;
  int n_;
};
struct Derived : Layer {
  Leaf c;
  friend auto fields(const Derived& d) { return std::tie(d.w, d.b, d.c); }
};
template <class T>
struct Holds {
  Leaf x;
  T member;
};
template <class... T>
constexpr bool all_trees = (Tree<T> && ...) && (Tree<Holds<T>> && ...) &&
                           (Tree<std::vector<T>> && ...) && (Tree<std::pair<Leaf, T>> && ...) &&
                           (Tree<std::map<std::string, std::optional<T>>> && ...);

static_assert(all_trees<Leaf, Layer, Node, Dense, Derived, Config, Tanh, std::monostate>);
static_assert(all_trees<bool, char, short, int, long, unsigned long, float, double, Act, Old>);
static_assert(all_trees<std::string, std::vector<Leaf>, std::vector<bool>, std::array<Layer, 0>>);
static_assert(all_trees<std::array<Layer, 3>, std::tuple<>, std::tuple<Leaf, int, Layer>>);
static_assert(all_trees<std::optional<std::optional<Leaf>>, std::pair<Layer, Act>>);
static_assert(all_trees<std::map<std::string, Layer>, std::map<std::string, Leaf, std::less<>>>);
static_assert(all_trees<std::vector<std::vector<std::vector<Leaf>>>, decltype([] {})>);

static_assert(std::is_same_v<TreeLeaf<Holds<Node>>, Leaf>);
static_assert(std::is_same_v<TreeLeaf<Config>, Array>);  // no leaves

struct Base {
  Leaf x;
};
struct HasBase : Base {
  Leaf y;
};
struct CArray {
  Leaf x;
  float numbers[3];
};
struct Reference {
  Leaf x;
  Leaf& y;
};
struct ConstReference {
  const Leaf& y;
};
struct ConstLeaf {
  const Leaf x;
};
class Private {
 public:
  Private() : x_(1) {}
  const Leaf& x() const { return x_; }

 private:
  Leaf x_;
};
class ByValue {
 public:
  [[maybe_unused]] friend auto fields(const ByValue& tree) { return std::make_tuple(tree.x_); }

 private:
  Leaf x_;
};
struct OtherLeaf {
  int number;
};
union Union {
  int i;
  float f;
};

}  // namespace

template <>
inline constexpr bool is_tree_leaf<OtherLeaf> = true;

namespace {

using internal::TreeFlaw;

template <TreeFlaw flaw, class... T>
constexpr bool all_flawed = ((internal::VerdictOn<T>::flaw == flaw) && ...) &&
                            ((internal::VerdictOn<Holds<T>>::flaw == flaw) && ...) &&
                            ((internal::VerdictOn<std::vector<Holds<T>>>::flaw == flaw) && ...) &&
                            ((internal::VerdictOn<std::tuple<int, T>>::flaw == flaw) && ...);

static_assert(all_flawed<TreeFlaw::foreign, int*, Leaf*, const char*, void (*)(), std::nullptr_t>);
static_assert(all_flawed<TreeFlaw::foreign, std::unique_ptr<Leaf>, std::shared_ptr<Leaf>>);
static_assert(all_flawed<TreeFlaw::foreign, std::unordered_map<std::string, Leaf>>);
static_assert(all_flawed<TreeFlaw::foreign, std::map<int, Leaf>, std::set<int>, std::list<Leaf>>);
static_assert(all_flawed<TreeFlaw::foreign, std::deque<Leaf>, std::function<void()>, std::any>);
static_assert(all_flawed<TreeFlaw::foreign, std::variant<Leaf, int>, std::string_view, Union>);
static_assert(all_flawed<TreeFlaw::foreign, long double, std::wstring, Private>);
static_assert(all_flawed<TreeFlaw::base_class, HasBase>);
static_assert(all_flawed<TreeFlaw::c_array, CArray>);
static_assert(all_flawed<TreeFlaw::not_countable, Reference>);
static_assert(all_flawed<TreeFlaw::constant, ConstReference, ConstLeaf>);
static_assert(all_flawed<TreeFlaw::fields_by_value, ByValue>);
static_assert(all_flawed<TreeFlaw::two_leaf_types, Holds<OtherLeaf>, std::pair<Layer, OtherLeaf>>);
static_assert(!Tree<std::tuple<Leaf&>> && !Tree<std::tuple<const Leaf>> && !Tree<float[3]>);
static_assert(!Tree<std::optional<const Layer>> && !Tree<std::pair<Dense&, int>>);

template <class Type, class... Part>
void expect_schema(TreeKind kind, std::vector<std::string_view> names, std::size_t length = 0) {
  const TreeSchema& schema = internal::SchemaOf<Type>::value;
  EXPECT_EQ(schema.kind, kind);
  EXPECT_EQ(schema.type, internal::type_name<Type>());
  EXPECT_EQ(schema.length, length);
  EXPECT_EQ(std::vector(schema.names.begin(), schema.names.end()), names);
  EXPECT_EQ(std::vector(schema.parts.begin(), schema.parts.end()),
            (std::vector<const TreeSchema*>{&internal::SchemaOf<Part>::value...}));
}

TEST(TreeSchema, DescribesTheType) {
  expect_schema<Leaf>(TreeKind::leaf, {});
  expect_schema<bool>(TreeKind::boolean, {});
  expect_schema<Act>(TreeKind::integer, {});
  expect_schema<Old>(TreeKind::natural, {});
  expect_schema<float>(TreeKind::real, {});
  expect_schema<std::string>(TreeKind::text, {});
  expect_schema<Layer, Leaf, Leaf>(TreeKind::record, {"w", "b"});
  expect_schema<Node, std::vector<Node>, Leaf>(TreeKind::record, {"children", "x"});
  expect_schema<Config, int, double, std::string>(TreeKind::record, {"depth", "rate", "name"});
  expect_schema<Dense, Leaf, int>(TreeKind::record, {});
  expect_schema<Tanh>(TreeKind::record, {});
  expect_schema<std::tuple<Leaf, int>, Leaf, int>(TreeKind::tuple, {});
  expect_schema<std::pair<Leaf, int>, Leaf, int>(TreeKind::tuple, {});
  expect_schema<std::array<Layer, 5>, Layer>(TreeKind::array, {}, 5);
  expect_schema<std::vector<Layer>, Layer>(TreeKind::vector, {});
  expect_schema<std::optional<Layer>, Layer>(TreeKind::optional, {});
  expect_schema<std::map<std::string, Layer>, Layer>(TreeKind::map, {});
}

}  // namespace
}  // namespace sturnus
