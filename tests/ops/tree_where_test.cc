#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/tree_where.h>

#include <vector>

namespace sturnus {
namespace {

struct State {
  Array x;
  std::vector<Array> rest;
};

TEST(TreeWhere, TakesEachLeafFromOneOfTheTrees) {
  State a{ones({2}), {Array(3.0)}}, b{zeros({2}), {Array(4.0)}};
  auto choose =
      jit([](Array c, const State& yes, const State& no) { return tree_where(c, yes, no); });
  State first = choose(Array(true), a, b), second = choose(Array(false), a, b);
  EXPECT_EQ(first.x.to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(first.rest[0].item<float>(), 3);
  EXPECT_EQ(second.x.to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(second.rest[0].item<float>(), 4);
}

TEST(TreeWhere, RefusesTreesOfDifferentStructure) {
  EXPECT_THROW(tree_where(Array(true), State{ones({2}), {Array(3.0)}}, State{ones({2}), {}}),
               TreeError);
}

}  // namespace
}  // namespace sturnus
