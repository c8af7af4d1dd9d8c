#include <gtest/gtest.h>
#include <sturnus/functional/aggregate.h>

#include <any>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tests/functional/leaf.h"

namespace sturnus::internal {
namespace {

struct Layer {
  Leaf w, b;
};
struct Node {
  std::vector<Node> children;
  Leaf x;
};
struct Nothing {};
struct Greedy {
  Greedy() = default;
  template <class T>
  Greedy(T&&) {}
};
class NoDefault {
 public:
  explicit NoDefault(int) {}
};

template <class... T>
struct Members;
template <class A>
struct Members<A> {
  A a;
};
template <class A, class B>
struct Members<A, B> {
  A a;
  B b;
};
template <class A, class B, class C>
struct Members<A, B, C> {
  A a;
  B b = {};
  C c = {};
};

template <class... T>
constexpr bool all_counted = field_count<Members<T...>> == sizeof...(T) &&
                             !has_base_class<Members<T...>> && !has_c_array<Members<T...>>;

// Types that are known to mislead such counting: they convert from much, or hold several values.
static_assert(all_counted<Leaf> && all_counted<Leaf, Leaf, Leaf>);
static_assert(all_counted<bool, char> && all_counted<double, std::string, int*>);
static_assert(all_counted<std::array<Layer, 2>, int> && all_counted<std::array<Leaf, 1>>);
static_assert(all_counted<std::array<std::array<Layer, 2>, 3>, std::array<float, 100000>>);
static_assert(all_counted<std::optional<Leaf>, Leaf> && all_counted<std::optional<Layer>>);
static_assert(all_counted<std::optional<std::optional<Leaf>>> &&
              all_counted<std::optional<Greedy>>);
static_assert(all_counted<std::tuple<Leaf>> && all_counted<std::tuple<std::optional<Leaf>>>);
static_assert(all_counted<std::pair<Leaf, int>, std::tuple<Leaf, Layer>>);
static_assert(all_counted<std::map<std::string, Leaf>, std::vector<std::vector<Leaf>>>);
static_assert(all_counted<std::vector<bool>, std::any, std::function<void()>>);
static_assert(all_counted<Node, std::vector<Node>, std::optional<Node>>);
static_assert(all_counted<std::any> && all_counted<Nothing, Leaf, Nothing> &&
              all_counted<Greedy, Leaf>);
static_assert(all_counted<std::unique_ptr<Leaf>, std::shared_ptr<Leaf>>);
static_assert(all_counted<NoDefault> && all_counted<NoDefault, NoDefault>);
static_assert(all_counted<const int, const Leaf> && field_count<Nothing> == 0);

template <class... T>
constexpr bool seen_array = has_c_array<Members<T...>>;
static_assert(seen_array<float[3]> && seen_array<float[2][3], Leaf> && seen_array<Leaf, Leaf[2]>);
static_assert(seen_array<NoDefault, float[3]> && seen_array<Leaf, int, float[2]>);

struct EmptyBaseOnly : Nothing {};
struct EmptyBase : Nothing {
  Leaf x;
};
struct FullBase : Layer {
  NoDefault x;
};
static_assert(has_base_class<EmptyBase> && has_base_class<FullBase>);
static_assert(std::is_empty_v<EmptyBaseOnly>);  // needs no counting

static_assert(field_count<Members<Leaf&, Leaf>> > max_fields);

struct Most {
  Leaf a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, b3, b4, b5, b6, b7, b8;
  Leaf c1, c2, c3, c4, c5, c6, c7, c8, d1, d2, d3, d4, d5, d6, d7, d8;
  Leaf e1, e2, e3, e4, e5, e6, e7, e8, f1, f2, f3, f4, f5, f6, f7, f8;
  Leaf g1, g2, g3, g4, g5, g6, g7, g8, h1, h2, h3, h4, h5, h6, h7, h8;
};
struct TooMany {
  Leaf a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, b3, b4, b5, b6, b7, b8;
  Leaf c1, c2, c3, c4, c5, c6, c7, c8, d1, d2, d3, d4, d5, d6, d7, d8;
  Leaf e1, e2, e3, e4, e5, e6, e7, e8, f1, f2, f3, f4, f5, f6, f7, f8;
  Leaf g1, g2, g3, g4, g5, g6, g7, g8, h1, h2, h3, h4, h5, h6, h7, h8, i1;
};
static_assert(field_count<Most> == max_fields && field_count<TooMany> > max_fields);

/// An aggregate with n members of type int, for any n: an array is one.
template <std::size_t n>
void expect_members_in_order() {
  std::array<int, n> object;
  for (std::size_t i = 0; i < n; ++i) object[i] = static_cast<int>(i);
  with_fields<n>(object, [&](auto&... member) {
    ASSERT_EQ(sizeof...(member), n);
    if constexpr (n > 0) {
      const void* addresses[] = {&member...};
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(addresses[i], &object[i]) << i << " of " << n;
    }
  });
}

TEST(WithFields, PassesEveryMemberOnceAndInOrder) {
  []<std::size_t... n>(std::index_sequence<n...>) { (expect_members_in_order<n>(), ...); }
  (std::make_index_sequence<max_fields + 1>());
}

TEST(FieldNames, AreThoseOfTheSource) {
  using Names = std::vector<std::string_view>;
  const auto names = [](const auto& array) { return Names(array.begin(), array.end()); };
  struct Local {
    std::string Name_2;
    Node ω;
    double d;
  };
  EXPECT_EQ(names(field_names<Layer>), (Names{"w", "b"}));
  EXPECT_EQ(names(field_names<Node>), (Names{"children", "x"}));
  EXPECT_EQ(names(field_names<Local>), (Names{"Name_2", "ω", "d"}));
  EXPECT_EQ(names(field_names<Members<Layer, std::vector<Node>, Members<int>>>),
            (Names{"a", "b", "c"}));
  EXPECT_EQ(names(field_names<Nothing>), Names());
  EXPECT_EQ(field_names<Most>.front(), "a1");
  EXPECT_EQ(field_names<Most>.back(), "h8");
}

TEST(TypeName, IsTheCompilersSpelling) {
  EXPECT_EQ(type_name<int>(), "int");
  EXPECT_EQ(type_name<Leaf>(), "sturnus::Leaf");
  EXPECT_EQ(type_name<Members<Leaf>>().substr(type_name<Members<Leaf>>().find("Members")),
            "Members<sturnus::Leaf>");
}

}  // namespace
}  // namespace sturnus::internal
