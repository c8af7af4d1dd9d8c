// Jacobians and second derivatives against closed forms and against each other.
#include <gtest/gtest.h>
#include <sturnus/functional/jacobian.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

namespace sturnus {
namespace {

using Doubles = std::vector<double>;

void expect_near(const Array& a, const Array& b, double tolerance = 1e-12) {
  ASSERT_EQ(a.type(), b.type());
  auto x = a.to_vector<double>(), y = b.to_vector<double>();
  for (std::size_t i = 0; i < x.size(); i++) EXPECT_NEAR(x[i], y[i], tolerance) << "element " << i;
}

struct Pair {
  Array a, b;
};

TEST(Jacobian, OfALinearMapIsItsMatrix) {
  Array m = normal(key(1), {3, 4}, DType::f64), x = normal(key(2), {4}, DType::f64);
  auto f = [&](Array v) { return matmul(m, v); };
  expect_near(jacfwd(f)(x), m);
  expect_near(jacrev(f)(x), m);
  expect_near(jit(jacfwd(f))(x), m);
}

TEST(Jacobian, ForwardAndReverseAgreeForAllShapes) {
  for (Shape in : {Shape{}, Shape{3}, Shape{2, 3}}) {
    Array x = normal(key(3), in, DType::f64);
    auto f = [](Array v) {
      return reshape(concatenate({ravel(sin(v)), ravel(v * sum(v))}), {2, -1});
    };
    Array forward = jacfwd(f)(x), reverse = jacrev(f)(x);
    Shape expected = {2, x.size()};
    expected.insert(expected.end(), in.begin(), in.end());
    EXPECT_EQ(forward.shape(), expected);
    expect_near(forward, reverse);
  }
}

TEST(Jacobian, OfTreesHasTheirTypes) {
  Pair p{normal(key(4), {2}, DType::f64), Array(0.5, DType::f64)};
  auto f = [](const Pair& q) { return q.a * q.b; };
  Pair j = jacrev(f)(p);
  expect_near(j.a, 0.5 * eye(2, DType::f64));
  expect_near(j.b, p.a);
  Pair of_pair = jacfwd([](Array x) { return Pair{x * x, sum(x)}; })(p.a);
  expect_near(of_pair.b, ones({2}, DType::f64));
  std::vector<Pair> rows = jacrev([](const Pair& q) { return Pair{q.a, q.b * q.b}; })(p);
  expect_near(rows[0].a, eye(2, DType::f64));
  expect_near(rows[1].b, Array(1.0, DType::f64));
  expect_near(jacfwd<1>([](Array a, Array b) { return a * b; })(p.a, p.b), p.a);
}

Array polynomial(const Array& x) { return sum(x * x * x) * sum(x) + x[0] * x[1]; }

TEST(Hessian, MatrixProductAndDiagonalAgree) {
  Array x = normal(key(5), {4}, DType::f64), v = normal(key(6), {4}, DType::f64);
  Array h = hessian(polynomial)(x);
  expect_near(h, jacfwd(jacfwd(polynomial))(x));
  expect_near(h, jacrev(jacrev(polynomial))(x));
  expect_near(hvp(polynomial, x, v), matmul(h, v));
  Array diagonal = hessian_diagonal(polynomial)(x);
  expect_near(diagonal, sum(h * eye(4, DType::f64), 1));
  expect_near(laplacian(polynomial)(x), sum(diagonal));
}

TEST(Hessian, OfATreeComesInBlocks) {
  Pair p{normal(key(7), {2}, DType::f64), Array(0.5, DType::f64)};
  auto f = [](const Pair& q) { return sum(q.a * q.a) * q.b * q.b; };
  std::vector<Pair> h = hessian(f)(p);
  expect_near(h[0].a, 0.5 * eye(2, DType::f64));
  expect_near(h[0].b, 2.0 * p.a);
  expect_near(h[1].a, 2.0 * p.a);
  Pair diagonal = hessian_diagonal(f)(p);
  expect_near(diagonal.a, full({2}, 0.5, DType::f64));
}

// By several arguments they are the tuples of what they are by each, for arrays and for trees.
TEST(Jacobian, BySeveralArgumentsIsATupleOfThoseByEach) {
  Array a = normal(key(11), {2}, DType::f64), b(0.7, DType::f64);
  Pair p{normal(key(12), {3}, DType::f64), Array(0.3, DType::f64)};
  auto f = [](Array x, const Pair& q, Array y) { return sin(x) * sum(q.a) * q.b * y; };
  auto expect_pairs_near = [](const Pair& u, const Pair& v) {
    expect_near(u.a, v.a);
    expect_near(u.b, v.b);
  };
  auto expect_each = [&](const auto& by_three, const auto& by_a, const auto& by_p,
                         const auto& by_b) {
    expect_near(std::get<0>(by_three), by_a);
    expect_pairs_near(std::get<1>(by_three), by_p);
    expect_near(std::get<2>(by_three), by_b);
  };
  expect_each(jacfwd<0, 1, 2>(f)(a, p, b), jacfwd<0>(f)(a, p, b), jacrev<1>(f)(a, p, b),
              jacrev<2>(f)(a, p, b));
  expect_each(jacrev<0, 1, 2>(f)(a, p, b), jacfwd<0>(f)(a, p, b), jacfwd<1>(f)(a, p, b),
              jacfwd<2>(f)(a, p, b));
  // In the order in which they are named.
  auto [by_b, by_a] = jacrev<2, 0>(f)(a, p, b);
  expect_near(by_b, jacrev<2>(f)(a, p, b));
  expect_near(by_a, jacrev<0>(f)(a, p, b));
  // Of a tree by each what it is by that alone.
  auto pair_of = [&](Array x, const Pair& q) { return Pair{x * q.b, sum(x * x) * q.a}; };
  auto [by_x, by_q] = jacfwd<0, 1>(pair_of)(a, p);
  expect_pairs_near(by_x, jacrev<0>(pair_of)(a, p));
  std::vector<Pair> rows = jacrev<1>(pair_of)(a, p);
  ASSERT_EQ(by_q.size(), 2u);
  for (std::size_t i = 0; i < 2; i++) expect_pairs_near(by_q[i], rows[i]);
}

TEST(Hessian, BySeveralArgumentsComesInBlocks) {
  Array a = normal(key(13), {2}, DType::f64), b(0.7, DType::f64);
  Pair p{normal(key(14), {3}, DType::f64), Array(0.3, DType::f64)};
  auto f = [](Array x, const Pair& q, Array y) {
    return sum(sin(x)) * sum(q.a * q.a) * exp(q.b * y) * y;
  };
  auto [by_a, by_b] = hessian<0, 2>(f)(a, p, b);
  expect_near(std::get<0>(by_a), hessian<0>(f)(a, p, b));
  expect_near(std::get<1>(by_a), jacrev<2>(grad<0>(f))(a, p, b));
  expect_near(std::get<0>(by_b), jacrev<0>(grad<2>(f))(a, p, b));
  expect_near(std::get<1>(by_b), hessian<2>(f)(a, p, b));
  auto [of_a, of_p] = hessian<0, 1>(f)(a, p, b);
  EXPECT_EQ(std::get<1>(of_a).a.shape(), (Shape{2, 3}));
  EXPECT_EQ(std::get<0>(of_p).a.shape(), (Shape{3, 2}));
  expect_near(transpose(std::get<1>(of_a).a), std::get<0>(of_p).a);
  expect_near(std::get<1>(of_p)[0].b, hessian<1>(f)(a, p, b)[0].b);
  auto [d_a, d_b] = hessian_diagonal<0, 2>(f)(a, p, b);
  expect_near(d_a, -sin(a) / sum(sin(a)) * f(a, p, b));
  expect_near(laplacian<0, 2>(f)(a, p, b), sum(d_a) + d_b);
}

TEST(Hessian, ProductsWithSeveralArgumentsAreThoseOfTheBlocks) {
  Array a = normal(key(15), {2}, DType::f64), b(0.7, DType::f64);
  Array va = normal(key(16), {2}, DType::f64), vb(-0.4, DType::f64);
  auto f = [](Array x, Array y) { return sum(x * x * x) * exp(y) + sum(sin(x)) * y * y; };
  auto [by_a, by_b] = hessian<0, 1>(f)(a, b);
  std::tuple x(a, b);
  expect_near(hvp(f, x, va), matmul(std::get<0>(by_a), va));
  expect_near(hvp<1>(f, x, vb), std::get<1>(by_b) * vb);
  auto [product_a, product_b] = hvp<0, 1>(f, x, std::tuple(va, vb));
  expect_near(product_a, matmul(std::get<0>(by_a), va) + std::get<1>(by_a) * vb);
  expect_near(product_b, matmul(std::get<0>(by_b), va) + std::get<1>(by_b) * vb);
  // By a tree, beside an argument that stays.
  auto of_pair = [&](const Pair& q, Array y) { return f(q.a, q.b) * y; };
  Pair product = hvp(of_pair, std::tuple(Pair{a, b}, Array(2.0, DType::f64)), Pair{va, vb});
  expect_near(product.a, 2.0 * product_a);
  expect_near(product.b, 2.0 * product_b);
}

TEST(Jacobian, WhatStandsBesideTheResultComesOutBeside) {
  Array x = normal(key(17), {3}, DType::f64), v = normal(key(18), {3}, DType::f64);
  auto value = [](Array u) { return sin(u) * sum(u); };
  auto f = has_aux([&](Array u) { return std::pair(value(u), Pair{u * u, sum(u)}); });
  auto expect_both = [&](const auto& both, const Array& derivative) {
    expect_near(both.first, derivative);
    expect_near(both.second.a, x * x);
    expect_near(both.second.b, sum(x));
  };
  Array matrix = jacfwd(value)(x);
  expect_both(jacfwd(f)(x), matrix);
  expect_both(jacrev(f)(x), matrix);
  expect_both(hessian_diagonal(f)(x), hessian_diagonal(value)(x));
  expect_both(laplacian(f)(x), laplacian(value)(x));
  // As grad does, its kin know a pair by themselves.
  auto number = [](Array u) { return std::pair(polynomial(u), Pair{u * u, sum(u)}); };
  expect_both(hessian(number)(x), hessian(polynomial)(x));
  expect_both(hessian(has_aux(number))(x), hessian(polynomial)(x));
  expect_both(hvp(number, x, v), hvp(polynomial, x, v));
  expect_both(jit(jacrev(f))(x), matrix);
}

// 1/r is harmonic in three dimensions, log r in two.
TEST(Laplacian, OfHarmonicFunctionsIsZero) {
  Array x = array(Doubles{0.3, -0.8, 0.6});
  auto one_over_r = [](Array v) { return rsqrt(sum(v * v)); };
  EXPECT_NEAR(laplacian(one_over_r)(x).item<double>(), 0, 1e-13);
  auto log_r = [](Array v) { return log(sum(v * v)); };
  EXPECT_NEAR(laplacian(log_r)(array(Doubles{0.3, -0.8})).item<double>(), 0, 1e-13);
  // Of several results, at several points.
  Array points = normal(key(8), {5, 3}, DType::f64);
  auto both = [&](Array v) { return stack({one_over_r(v), sum(v * v)}); };
  Array all = vmap(laplacian(both))(points);
  EXPECT_EQ(all.shape(), (Shape{5, 2}));
  for (double value : all(Slice{}, 1).to_vector<double>()) EXPECT_NEAR(value, 6, 1e-12);
}

}  // namespace
}  // namespace sturnus
