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
