// Rearrangements and creation against values written out, and their errors.
#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace sturnus {
namespace {

void expect_same(const Array& actual, const Array& expected) {
  ASSERT_EQ(actual.shape(), expected.shape());
  Array wide = convert(actual, DType::f64), other = convert(expected, DType::f64);
  auto x = wide.to_vector<double>(), y = other.to_vector<double>();
  for (std::size_t i = 0; i < x.size(); i++) EXPECT_NEAR(x[i], y[i], 1e-5) << "element " << i;
}

TEST(Rearrange, MovesWhatItSays) {
  Array x = array({{1, 2, 3}, {4, 5, 6}}), v = array({1, 2, 3, 4, 5});
  expect_same(ravel(x), array({1, 2, 3, 4, 5, 6}));
  expect_same(moveaxis(x, 0, -1), array({{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(moveaxis(zeros({2, 3, 4}), 2, 0).shape(), (Shape{4, 2, 3}));
  expect_same(split(x, 3, 1)[2], array({{3}, {6}}));
  Arrays parts = split(v, std::vector<std::int64_t>{1, 1, 4});
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[1].size(), 0);
  expect_same(parts[2], array({2, 3, 4}));
  for (std::int64_t shift : {2, -3, 7, -13}) expect_same(roll(v, shift), array({4, 5, 1, 2, 3}));
  expect_same(roll(x, 1, 1), array({{3, 1, 2}, {6, 4, 5}}));
  expect_same(roll(v, 0), v);
  expect_same(tile(array({1, 2}), {2, 2}), array({{1, 2, 1, 2}, {1, 2, 1, 2}}));
  expect_same(tile(x, {2}), array({{1, 2, 3, 1, 2, 3}, {4, 5, 6, 4, 5, 6}}));
  expect_same(repeat(x, 2, 0), array({{1, 2, 3}, {1, 2, 3}, {4, 5, 6}, {4, 5, 6}}));
  expect_same(repeat(array({1, 2}), 2), array({1, 1, 2, 2}));
  expect_same(vstack({array({1, 2}), array({3, 4})}), array({{1, 2}, {3, 4}}));
  expect_same(hstack({array({1, 2}), Array(3)}), array({1, 2, 3}));
  expect_same(hstack({x, array({{7}, {8}})}), array({{1, 2, 3, 7}, {4, 5, 6, 8}}));
  Arrays grids = meshgrid({array({1, 2}), array({3, 4, 5})});
  expect_same(grids[0], array({{1, 1, 1}, {2, 2, 2}}));
  expect_same(grids[1], array({{3, 4, 5}, {3, 4, 5}}));
}

TEST(Rearrange, Diagonals) {
  Array x = array({{1, 2, 3}, {4, 5, 6}});
  expect_same(diagonal(x), array({1, 5}));
  expect_same(diagonal(x, 1), array({2, 6}));
  expect_same(diagonal(x, 2), array({3}));
  expect_same(diagonal(x, -1), array({4}));
  EXPECT_EQ(diagonal(x, 3).shape(), (Shape{0}));
  EXPECT_EQ(diagonal(zeros({5, 2, 3}), 1).shape(), (Shape{5, 2}));
  expect_same(diag(array({1, 2})), array({{1, 0}, {0, 2}}));
  expect_same(diag(array({1, 2}), 1), array({{0, 1, 0}, {0, 0, 2}, {0, 0, 0}}));
  expect_same(diag(array({1, 2}), -1), array({{0, 0, 0}, {1, 0, 0}, {0, 2, 0}}));
  expect_same(trace(x), Array(6));
  expect_same(tril(x), array({{1, 0, 0}, {4, 5, 0}}));
  expect_same(tril(x, 1), array({{1, 2, 0}, {4, 5, 6}}));
  expect_same(triu(x), array({{1, 2, 3}, {0, 5, 6}}));
  expect_same(triu(x, 1), array({{0, 2, 3}, {0, 0, 6}}));
}

TEST(Creation, Ranges) {
  expect_same(arange(1, 2, 0.25), array({1, 1.25, 1.5, 1.75}));
  expect_same(arange(3, 0, -1, DType::i32), array({3, 2, 1}));
  EXPECT_EQ(arange(3, 0, -1, DType::i32).dtype(), DType::i32);
  EXPECT_EQ(arange(2, 1).size(), 0);
  EXPECT_THROW(arange(0, 1, 0), Error);
  expect_same(linspace(array({0, 10}), 30.0, 3), array({{0, 10}, {15, 20}, {30, 30}}));
  expect_same(linspace(array({{1}, {2}}), array({3, 5}), 1), array({{{1, 1}, {2, 2}}}));
  expect_same(logspace(0, 3, 4), array({1, 10, 100, 1000}));
  expect_same(logspace(0, 3, 4, 2), array({1, 2, 4, 8}));
  expect_same(eye(2, 3), array({{1, 0, 0}, {0, 1, 0}}));
  expect_same(eye(2, 3, 1), array({{0, 1, 0}, {0, 0, 1}}));
}

TEST(Rearrange, SaysWhatDoesNotFit) {
  Array x = zeros({2, 3});
  struct Wrong {
    std::function<void()> call;
    std::string message;
  };
  const std::vector<Wrong> cases = {
      {[&] { split(x, 2, 1); }, "split: axis 1 of f32[2,3] has no 2 equal parts"},
      {[&] { roll(x, 1, 2); }, "f32[2,3]"},
      {[&] { tile(x, {-1}); }, "tile: f32[2,3] cannot be repeated [1,-1] times"},
      {[&] { repeat(x, -1); }, "repeat: f32[2,3] cannot be repeated -1 times"},
      {[&] { diag(x); }, "diag: f32[2,3] is not a vector"},
      {[&] { trace(zeros({3})); }, "f32[3] is not a matrix"},
      {[&] { meshgrid({x}); }, "meshgrid: f32[2,3] is not a vector"},
  };
  for (const Wrong& c : cases) {
    try {
      c.call();
      FAIL() << c.message << " was not thrown";
    } catch (const ShapeError& error) {
      EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace sturnus
