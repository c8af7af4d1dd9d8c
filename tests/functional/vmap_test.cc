// Axes of arguments, leaves and results, and collectives over a named axis.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>

namespace sturnus {
namespace {

using Floats = std::vector<float>;

Floats values(const Array& x) { return x.to_vector<float>(); }

struct Layer {
  Array w, b;
};
struct Model {
  std::vector<Layer> net;
  Array scale;
};

TEST(Vmap, AxesOfArgumentsAndResults) {
  Array x = reshape(convert(arange(6), DType::f32), {2, 3});
  auto total = [](Array v) { return sum(v); };
  EXPECT_EQ(values(vmap(total)(x)), (Floats{3, 12}));
  EXPECT_EQ(values(vmap(total, {.in_axes = {1}})(x)), (Floats{3, 5, 7}));
  EXPECT_EQ(values(vmap(total, {.in_axes = {-1}})(x)), (Floats{3, 5, 7}));
  auto same = [](Array v) { return v; };
  Array moved = vmap(same, {.in_axes = {0}, .out_axes = 1})(x);
  EXPECT_EQ(moved.shape(), (Shape{3, 2}));
  EXPECT_EQ(values(moved), (Floats{0, 3, 1, 4, 2, 5}));
  auto scaled = [](Array v, Array s) { return v * s; };
  EXPECT_EQ(values(vmap(scaled, {.in_axes = {0, none}})(x, 2.0)), (Floats{0, 2, 4, 6, 8, 10}));
}

TEST(Vmap, AxesOfParts) {
  Model m{{{ones({3, 2, 2}), zeros({2})}}, ones({3})};
  auto f = [](const Model& p, Array x) { return p.scale * (matmul(x, p.net[0].w) + p.net[0].b); };
  Array x = array({1, 2});
  VmapOptions options = {.in_axes = {by_path({{".net[0].w", 0}, {".scale", 0}}), none}};
  EXPECT_EQ(values(vmap(f, options)(m, x)), (Floats{3, 3, 3, 3, 3, 3}));
  // The longer path counts.
  options.in_axes[0] = by_path({{".net", 0}, {".net[0].b", none}, {".scale", 0}});
  EXPECT_EQ(vmap(f, options)(m, x).shape(), (Shape{3, 2}));
  // Parts of a result: a shared one is passed whole.
  auto both = [](Array v) { return std::pair(v * v, Array(7.0f)); };
  auto [squares, seven] =
      vmap(both, {.out_axes = by_path({{"<0>", 0}, {"<1>", none}})})(array({1, 2, 3}));
  EXPECT_EQ(values(squares), (Floats{1, 4, 9}));
  EXPECT_EQ(seven.rank(), 0);
}

// Pairs and tuples too are named as wholes: their leaves are ".q<0>", ".q<1>".
TEST(Vmap, AxesOfPairs) {
  struct Moments {
    std::pair<Array, Array> q;
    Array scale;
  };
  Moments m{{array({1, 2}), array({3, 4})}, 10.0};
  auto f = [](const Moments& p) { return p.scale * (p.q.first + p.q.second); };
  EXPECT_EQ(values(vmap(f, {.in_axes = {by_path({{".q", 0}})}})(m)), (Floats{40, 60}));
  auto dotted = [](const std::pair<Array, Array>& p) { return p.first * p.second; };
  EXPECT_EQ(values(vmap(dotted, {.in_axes = {by_path({{"", 0}})}})(m.q)), (Floats{3, 8}));
}

TEST(Vmap, NestsAndTakesNothing) {
  Array x = reshape(convert(arange(24), DType::f32), {2, 3, 4});
  auto f = vmap(vmap([](Array v) { return sum(v * v); }));
  EXPECT_EQ(f(x).shape(), (Shape{2, 3}));
  EXPECT_EQ(f(zeros({0, 3, 4})).shape(), (Shape{0, 3}));
}

TEST(Collectives, SeeAllCalls) {
  Array x = array({1, 2, 6});
  auto over = [&](auto f) { return values(vmap(f, {.axis_name = "m"})(x)); };
  EXPECT_EQ(over([](Array v) { return psum(v, "m"); }), (Floats{9, 9, 9}));
  EXPECT_EQ(over([](Array v) { return v - pmean(v, "m"); }), (Floats{-2, -1, 3}));
  EXPECT_EQ(over([](Array v) { return pmax(v, "m") - pmin(v, "m"); }), (Floats{5, 5, 5}));
  EXPECT_EQ(over([](Array v) { return v * convert(axis_index("m"), DType::f32); }),
            (Floats{0, 2, 12}));
  EXPECT_EQ(over([](Array v) { return v + sum(all_gather(v, "m")); }), (Floats{10, 11, 15}));
  EXPECT_EQ(over([](Array v) { return v + static_cast<double>(axis_size("m")); }),
            (Floats{4, 5, 9}));
  Array holds = vmap([](Array v) { return psum(v > 1.0, "m"); }, {.axis_name = "m"})(x);
  EXPECT_EQ(holds.to_vector<int>(), (HostVector<int>{2, 2, 2}));
  // Of what does not differ between the calls there are still as many.
  EXPECT_EQ(over([](Array v) { return v + psum(1.0, "m"); }), (Floats{4, 5, 9}));
  // What all calls share needs no axis.
  auto whole = [&](const std::function<Array(Array)>& f) {
    return vmap(f, {.out_axes = none, .axis_name = "m"})(x).to_vector<float>();
  };
  EXPECT_EQ(whole([](Array v) { return psum(v, "m"); }), (Floats{9}));
  EXPECT_EQ(whole([](Array v) { return 2.0 * pmean(v, "m"); }), (Floats{6}));
  EXPECT_EQ(whole([](Array v) { return pmax(v, "m") - pmin(v, "m"); }), (Floats{5}));
  EXPECT_EQ(whole([](Array v) { return all_gather(v, "m"); }), (Floats{1, 2, 6}));
  EXPECT_EQ(whole([](Array v) {
              return fori_loop(
                  0, 2, [&](Array, Array y) { return y + psum(v, "m"); }, psum(v, "m"));
            }),
            (Floats{27}));
}

// A collective of a tree is that of each of its arrays.
TEST(Collectives, TakeTrees) {
  struct Both {
    Array a, b;
    int kept = 7;
  };
  using Tree = std::pair<Both, Arrays>;
  Tree x{{array({1, 2, 6}), reshape(convert(arange(6), DType::f32), {3, 2})}, {array({-1, 0, 4})}};
  auto over = [&](auto f) { return vmap(f, {.axis_name = "m"})(x); };
  auto expect_same = [](const Tree& found, const Tree& expected) {
    EXPECT_EQ(found.first.kept, 7);
    Arrays u = tree_leaves(found), v = tree_leaves(expected);
    for (std::size_t i = 0; i < u.size(); i++) EXPECT_EQ(values(u[i]), values(v[i]));
  };
  auto of_tree_and_of_leaves = [&](auto collective) {
    auto of_leaves = [&](const Tree& t) {
      return tree_map([&](const Array& leaf) { return collective(leaf); }, t);
    };
    expect_same(over([&](const Tree& t) { return collective(t); }), over(of_leaves));
  };
  of_tree_and_of_leaves([](const auto& t) { return psum(t, "m"); });
  of_tree_and_of_leaves([](const auto& t) { return pmean(t, "m"); });
  of_tree_and_of_leaves([](const auto& t) { return pmax(t, "m"); });
  of_tree_and_of_leaves([](const auto& t) { return pmin(t, "m"); });
  of_tree_and_of_leaves([](const auto& t) { return all_gather(t, "m"); });
  EXPECT_EQ(values(over([](const Tree& t) { return psum(t, "m"); }).first.a), (Floats{9, 9, 9}));
}

TEST(Collectives, ThroughOtherTransformsAndOverTwoAxes) {
  Array x = reshape(convert(arange(6), DType::f32), {2, 3});
  auto f = [](Array v) { return psum(v, "rows") + 10.0 * psum(v, "columns"); };
  auto both = vmap(vmap(f, {.axis_name = "columns"}), {.axis_name = "rows"});
  EXPECT_EQ(values(both(x)), (Floats{33, 35, 37, 123, 125, 127}));
  EXPECT_EQ(values(jit(both)(x)), values(both(x)));
  // The gradient of sum_i x_i (sum_j x_j) is 2 sum_j x_j.
  auto product = [](Array all) {
    return sum(vmap([](Array v) { return v * psum(v, "m"); }, {.axis_name = "m"})(all));
  };
  EXPECT_EQ(values(grad(product)(array({1, 2, 6}))), (Floats{18, 18, 18}));
}

// The gradient inside is that of the sum of all calls' results by one call's argument, for numbers
// as for arrays.
TEST(Collectives, GradientsInsideAreOfAllCallsByOneArgument) {
  auto gradients = [](auto f, const Array& x) {
    return values(vmap(grad(f), {.axis_name = "m"})(x));
  };
  Array numbers = array({1, 2, 6, 7}), rows = reshape(numbers, {4, 1});
  auto both = [&](auto f) {
    Floats found = gradients(f, numbers);
    EXPECT_EQ(found, gradients(f, rows));
    return found;
  };
  EXPECT_EQ(both([](Array x) { return psum(sum(x * x), "m"); }), (Floats{8, 16, 48, 56}));
  EXPECT_EQ(both([](Array x) { return sum(square(x - pmean(x, "m"))); }), (Floats{-6, -4, 4, 6}));
  EXPECT_EQ(both([](Array x) { return sum(x) * sum(all_gather(x, "m")); }),
            (Floats{32, 32, 32, 32}));
  auto in_a_loop = [](Array x) {
    return fori_loop(
        0, 2, [](Array, Array y) { return y + psum(sum(y * y), "m"); }, sum(x));
  };
  Floats looped = both(in_a_loop);
  auto of_all = grad([&](Array x) { return sum(vmap(in_a_loop, {.axis_name = "m"})(x)); });
  EXPECT_EQ(looped, values(of_all(numbers)));
}

TEST(Vmap, OneAxisForAllAndASizeWithoutArguments) {
  Array x = reshape(convert(arange(6), DType::f32), {2, 3});
  auto dotted = [](Array a, Array b) { return sum(a * b); };
  EXPECT_EQ(values(vmap(dotted, {.in_axes = 1})(x, x)), (Floats{9, 17, 29}));
  auto twice = [](Array v) { return 2.0 * v; };
  EXPECT_EQ(values(vmap(twice, {.in_axes = none, .axis_size = 3})(1.0)), (Floats{2, 2, 2}));
  auto place = [] { return axis_index("m"); };
  EXPECT_EQ(vmap(place, {.axis_name = "m", .axis_size = 3})().to_vector<int>(),
            (HostVector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace sturnus
