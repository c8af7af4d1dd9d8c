// Matrices against Eigen, against recorded values, and against the laws that define their parts.
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>

#include "tests/ops/linalg_values.h"
#include "tests/ops/sample_tests.h"

namespace sturnus::testing {
namespace {

// Of one type, and few expressions of it: each kind of expression takes the compiler a second.
using Matrix = Eigen::MatrixXd;

Matrix to_eigen(const Array& a) {
  auto x = numbers(a);
  Matrix matrix(a.shape()[0], a.rank() == 1 ? 1 : a.shape()[1]);
  for (Eigen::Index i = 0; i < matrix.size(); i++) {
    matrix(i / matrix.cols(), i % matrix.cols()) = x[static_cast<std::size_t>(i)];
  }
  return matrix;
}

double norm(const Matrix& a) { return a.norm(); }
double distance(const Matrix& a, const Matrix& b) { return (a - b).norm(); }
Matrix product(const Matrix& a, const Matrix& b) { return a * b; }
// Ascending.
Matrix symmetric_eigenvalues(const Matrix& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues();
}
// {{0, a}, {a^T, 0}} has the eigenvalues +s and -s for each singular value s of a, and zeros.
Matrix singular_values(const Matrix& a) {
  Eigen::Index m = a.rows(), n = a.cols();
  Matrix both = Matrix::Zero(m + n, m + n), values(std::min(m, n), 1);
  for (Eigen::Index i = 0; i < m; i++) {
    for (Eigen::Index j = 0; j < n; j++) both(i, m + j) = both(m + j, i) = a(i, j);
  }
  Matrix ascending = symmetric_eigenvalues(both);
  for (Eigen::Index i = 0; i < values.size(); i++) values(i) = ascending(m + n - 1 - i);
  return values;
}

Array flipped(const Array& a) { return swapaxes(a, -1, -2); }

double size_of(const Array& a) {
  return a.size() == 0 ? 0 : max(abs(convert(a, DType::f64))).item<double>();
}

// The largest difference, in units of the precision.
double off(const Array& a, const Array& b) {
  EXPECT_EQ(a.type(), b.type());
  double epsilon = a.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23;
  return size_of(a - b) / std::max(1.0, size_of(b)) / epsilon;
}

Array orthogonal_to(const Array& q) { return matmul(flipped(q), q); }

struct Case {
  std::int64_t n;
  DType dtype;
};

class Linalg : public ::testing::TestWithParam<Case> {
 protected:
  std::int64_t n() const { return GetParam().n; }
  DType dtype() const { return GetParam().dtype; }
  Array random(const Shape& shape, std::uint64_t seed = 1) const {
    return normal(key(seed), shape, dtype());
  }
  double epsilon() const { return dtype() == DType::f64 ? 0x1p-52 : 0x1p-23; }
  // What rounding may do, in units of the precision.
  double few() const { return 30.0 * static_cast<double>(n()); }
};

TEST_P(Linalg, CholeskyOfPositiveMatrices) {
  Array x = random({n(), n()});
  Array a = matmul(x, flipped(x)) + static_cast<double>(n()) * eye(n(), dtype());
  Array l = cholesky(a);
  EXPECT_LT(off(matmul(l, flipped(l)), a), few());
  Matrix expected = to_eigen(a).llt().matrixL();
  EXPECT_LT(distance(to_eigen(l), expected) / norm(expected), few() * epsilon());
  double log = 0;
  for (Eigen::Index i = 0; i < n(); i++) log += 2 * std::log(expected(i, i));
  EXPECT_NEAR(numbers(logdet(a))[0], log, 1e3 * few() * epsilon());
  Array b = random({n(), 2}, 2);
  EXPECT_LT(off(matmul(a, solve_positive(a, b)), b), 10 * few());
}

TEST_P(Linalg, TrianglesOfAllKinds) {
  Array a = random({n(), n()}) / std::sqrt(static_cast<double>(n())) + 2.0 * eye(n(), dtype());
  Array b = random({n(), 2}, 2);
  for (bool lower : {false, true}) {
    for (bool transposed : {false, true}) {
      for (bool unit : {false, true}) {
        Array x = triangular_solve(
            a, b, {.lower = lower, .transposed = transposed, .unit_diagonal = unit});
        Matrix full = to_eigen(a), t = Matrix::Zero(n(), n());
        for (Eigen::Index i = 0; i < n(); i++) {
          for (Eigen::Index j = 0; j < n(); j++) {
            bool inside = lower ? j < i : j > i;
            double element = i == j ? (unit ? 1 : full(i, i)) : (inside ? full(i, j) : 0);
            (transposed ? t(j, i) : t(i, j)) = element;
          }
        }
        Matrix y = to_eigen(x);
        double scale = norm(t) * norm(y) + 1;
        EXPECT_LT(distance(product(t, y), to_eigen(b)) / scale, few() * epsilon());
      }
    }
  }
}

TEST_P(Linalg, SolutionsAndDeterminants) {
  Array a = random({n(), n()}), b = random({n(), 3}, 2);
  Matrix exact = to_eigen(a);
  Matrix x = to_eigen(solve(a, b));
  EXPECT_LT(distance(product(exact, x), to_eigen(b)) / (norm(exact) * norm(x)), few() * epsilon());
  Eigen::PartialPivLU<Matrix> lu(exact);
  double tolerance = few() * epsilon() * norm(exact) * norm(lu.inverse());
  Matrix back = product(to_eigen(inverse(a)), exact);
  EXPECT_LT(distance(back, Matrix::Identity(n(), n())), tolerance);
  auto [sign, log] = slogdet(a);
  double expected = lu.determinant();
  EXPECT_EQ(numbers(sign)[0], expected < 0 ? -1 : 1);
  EXPECT_NEAR(numbers(log)[0], std::log(std::abs(expected)), tolerance);
}

TEST_P(Linalg, QrOfTallAndWideMatrices) {
  for (auto [m, k] : {std::pair(n(), n()), std::pair(n() + 3, n()), std::pair(n(), n() + 2)}) {
    Array a = random({m, k});
    auto [q, r] = qr(a);
    EXPECT_LT(off(matmul(q, r), a), few());
    EXPECT_LT(off(orthogonal_to(q), eye(std::min(m, k), dtype())), few());
    Matrix upper = to_eigen(r);
    for (Eigen::Index i = 0; i < upper.rows(); i++) {
      for (Eigen::Index j = 0; j < std::min<Eigen::Index>(i, k); j++) EXPECT_EQ(upper(i, j), 0);
    }
  }
  Array a = random({n() + 4, n()}), b = random({n() + 4}, 3);
  Matrix expected = Eigen::HouseholderQR<Matrix>(to_eigen(a)).solve(to_eigen(b));
  EXPECT_LT(distance(to_eigen(lstsq(a, b)), expected) / norm(expected), 100 * few() * epsilon());
}

TEST_P(Linalg, EigenvaluesOfSymmetricMatrices) {
  Array x = random({n(), n()});
  Array a = x + flipped(x);
  auto [values, vectors] = eigh(a);
  EXPECT_LT(off(matmul(a, vectors), vectors * values), few());
  EXPECT_LT(off(orthogonal_to(vectors), eye(n(), dtype())), few());
  Matrix expected = symmetric_eigenvalues(to_eigen(a));
  EXPECT_LT(distance(to_eigen(values), expected) / norm(expected), few() * epsilon());
}

TEST_P(Linalg, SingularValuesOfTallAndWideMatrices) {
  for (auto [m, k] : {std::pair(n(), n()), std::pair(n() + 3, n()), std::pair(n(), n() + 2)}) {
    Array a = random({m, k});
    auto [u, s, vt] = svd(a);
    EXPECT_LT(off(matmul(u * s, vt), a), few());
    EXPECT_LT(off(orthogonal_to(u), eye(std::min(m, k), dtype())), few());
    EXPECT_LT(off(matmul(vt, flipped(vt)), eye(std::min(m, k), dtype())), few());
    Matrix expected = singular_values(to_eigen(a));
    EXPECT_LT(distance(to_eigen(s), expected) / norm(expected), few() * epsilon());
  }
}

// The four laws that make p the only pseudo-inverse.
TEST_P(Linalg, PseudoInversesOfAllRanks) {
  for (std::int64_t rank : {n(), (n() + 1) / 2}) {
    Array a = matmul(random({n() + 2, rank}, 3), random({rank, n()}, 4));
    Matrix m = to_eigen(a), p = to_eigen(pinv(a));
    Matrix s = singular_values(m);
    double condition = s(0) / s(rank - 1);
    auto near = [&](const Matrix& x, const Matrix& y) {
      return distance(x, y) / norm(y) < few() * epsilon() * condition;
    };
    Matrix mp = product(m, p), pm = product(p, m);
    EXPECT_TRUE(near(product(mp, m), m));
    EXPECT_TRUE(near(product(pm, p), p));
    EXPECT_TRUE(near(mp.transpose(), mp));
    EXPECT_TRUE(near(pm.transpose(), pm));
  }
}

TEST_P(Linalg, ExponentialsOfSymmetricMatrices) {
  Array x = random({n(), n()});
  Array a = x + flipped(x);
  Eigen::SelfAdjointEigenSolver<Matrix> solver(to_eigen(a));
  Matrix values = solver.eigenvalues(), v = solver.eigenvectors(), scaled = v;
  for (Eigen::Index i = 0; i < v.size(); i++) scaled(i) *= std::exp(values(i / n()));
  Matrix expected = product(scaled, v.transpose());
  double size = std::max(-values(0), values(n() - 1));
  EXPECT_LT(distance(to_eigen(expm(a)), expected) / norm(expected), size * few() * epsilon());
}

INSTANTIATE_TEST_SUITE_P(Sizes, Linalg,
                         ::testing::Values(Case{1, DType::f64}, Case{2, DType::f64},
                                           Case{3, DType::f32}, Case{7, DType::f64},
                                           Case{64, DType::f32}, Case{64, DType::f64}),
                         [](const auto& info) {
                           return std::string(name_of(info.param.dtype)) + "_" +
                                  std::to_string(info.param.n);
                         });

TEST(LinalgEdges, SmallSingularValuesAreRelativelyExact) {
  // Graded columns: one-sided rotations keep the small singular values, squares would lose them.
  std::vector<double> scales = {1, 1e-5, 1e-10, 1e-14};
  Array q = qr(normal(key(1), {6, 4}, DType::f64)).q;
  Array s = svd(q * array(scales)).s;
  auto found = numbers(s);
  for (std::size_t i = 0; i < 4; i++) EXPECT_NEAR(found[i] / scales[i], 1, 1e-13);
}

TEST(LinalgEdges, ZeroPivotsAndSingularMatrices) {
  Array a = array({{0, 2, 1}, {1, 0, 0}, {0, 0, 3}}, DType::f64);
  EXPECT_NEAR(numbers(det(a))[0], -6, 1e-14);
  EXPECT_LT(off(solve(a, array({1, 2, 3}, DType::f64)), array({2, 0, 1}, DType::f64)), 4);
  Array singular = array({{1, 2}, {2, 4}}, DType::f64);
  EXPECT_EQ(numbers(det(singular))[0], 0);
  auto [sign, log] = slogdet(singular);
  EXPECT_EQ(numbers(sign)[0], 0);
  EXPECT_EQ(numbers(log)[0], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(numbers(cholesky(array({{1, 2}, {2, 1}})))[3]));
  for (const Shape& shape : {Shape{0, 0}, Shape{2, 0, 0}}) {
    Array nothing = zeros(shape, DType::f64);
    for (double one : numbers(det(nothing))) EXPECT_EQ(one, 1);
    for (double one : numbers(slogdet(nothing).sign)) EXPECT_EQ(one, 1);
    for (double none : numbers(slogdet(nothing).log)) EXPECT_EQ(none, 0);
    for (double none : numbers(logdet(nothing))) EXPECT_EQ(none, 0);
  }
  auto zero = svd(zeros({3, 2}, DType::f64));
  EXPECT_EQ(numbers(zero.s), (std::vector<double>{0, 0}));
  EXPECT_EQ(numbers(eigh(zeros({3, 3}, DType::f64)).values), (std::vector<double>{0, 0, 0}));
}

TEST(LinalgEdges, EqualEigenvaluesAndScales) {
  for (double scale : {1e-150, 1.0, 1e150}) {
    Array q = qr(normal(key(2), {5, 5}, DType::f64)).q;
    Array values = scale * array({1, 1, 1, 2, 2}, DType::f64);
    Array a = matmul(q * values, flipped(q));
    auto found = numbers(eigh(a).values);
    for (std::size_t i = 0; i < 5; i++) EXPECT_NEAR(found[i] / scale, i < 3 ? 1 : 2, 1e-14);
    found = numbers(svd(a).s);
    for (std::size_t i = 0; i < 5; i++) EXPECT_NEAR(found[i] / scale, i < 2 ? 2 : 1, 1e-14);
  }
}

TEST(LinalgEdges, PowersOfMatrices) {
  Array a = array({{1, 2}, {3, 5}}, DType::f64);
  EXPECT_EQ(numbers(matrix_power(a, 0)), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(numbers(matrix_power(a, 3)), numbers(matmul(a, matmul(a, a))));
  auto back = numbers(matmul(matrix_power(a, -2), matmul(a, a)));
  EXPECT_NEAR(back[0], 1, 1e-12);
  EXPECT_NEAR(back[1], 0, 1e-12);
}

struct Recorded {
  Array (*f)(const Array& a);
  const std::vector<recorded::LinalgCase>& cases;
};

TEST(LinalgEdges, RecordedValuesAndGradients) {
  auto relative = [](const Array& found, const std::vector<double>& expected) {
    auto x = numbers(found);
    EXPECT_EQ(x.size(), expected.size());
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < expected.size(); i++) {
      largest = std::max(largest, std::abs(expected[i]));
      difference = std::max(difference, std::abs(x[i] - expected[i]));
    }
    return difference / largest;
  };
  for (const Recorded& kind : {Recorded{[](const Array& a) { return pinv(a); }, recorded::pinv},
                               Recorded{[](const Array& a) { return expm(a); }, recorded::expm}}) {
    for (const auto& one : kind.cases) {
      SCOPED_TRACE(one.text);
      Array a = array(one.matrix, one.shape);
      auto weighted = [&](const Array& x) {
        Array y = kind.f(x);
        Array weights = convert(arange(y.size()) % 3, DType::f64) - 0.5;
        return sum(y * reshape(weights, y.shape()));
      };
      EXPECT_LT(relative(kind.f(a), one.value), 2e-14);
      EXPECT_LT(relative(grad(weighted)(a), one.gradient), 2e-14);
    }
  }
}

TEST(LinalgEdges, SmallSingularValuesCountAsZeroWhenAsked) {
  Array a = array({{2, 0}, {0, 0.01}}, DType::f64);
  EXPECT_NEAR(numbers(pinv(a))[3], 100, 1e-12);
  EXPECT_EQ(numbers(pinv(a, 0.1)), (std::vector<double>{0.5, 0, 0, 0}));
  EXPECT_EQ(numbers(pinv(zeros({2, 3}))), std::vector<double>(6));
  EXPECT_EQ(pinv(zeros({4, 0, 3})).shape(), (Shape{4, 3, 0}));
}

// Each matrix of a stack is halved as often as it needs.
TEST(LinalgEdges, ExponentialsOfStacks) {
  Array scales = array({0, 1e-3, 1, 50, -700, 1e6, INFINITY}, DType::f64);
  Array turn = array({{0, -1}, {1, 0}}, DType::f64);
  Array y = expm(reshape(scales, {7, 1, 1}) * turn);
  auto found = numbers(y);
  for (std::size_t i = 0; i < 6; i++) {
    double angle = numbers(scales)[i];
    EXPECT_NEAR(found[4 * i], std::cos(angle), 1e-15 * (1 + std::abs(angle)));
    EXPECT_NEAR(found[4 * i + 2], std::sin(angle), 1e-15 * (1 + std::abs(angle)));
  }
  EXPECT_TRUE(std::isnan(found[24]));
  EXPECT_EQ(numbers(expm(array({{-1e5}}, DType::f64)))[0], 0);
  EXPECT_EQ(expm(zeros({0, 0})).shape(), (Shape{0, 0}));
}

TEST(LinalgEdges, StacksAreBroadcast) {
  Array a = normal(key(1), {4, 1, 3, 3}, DType::f64), b = normal(key(2), {2, 3, 2}, DType::f64);
  Array x = solve(a, b);
  EXPECT_EQ(x.shape(), (Shape{4, 2, 3, 2}));
  EXPECT_LT(off(matmul(a, x), broadcast_to(b, x.shape())), 1e3);
  EXPECT_EQ(solve(a, normal(key(3), {3}, DType::f64)).shape(), (Shape{4, 1, 3}));
  EXPECT_EQ(solve(zeros({0, 0}), zeros({0})).shape(), Shape{0});
}

// One factorisation for the value and both derivatives.
TEST(LinalgEdges, GradientOfALogLikelihood) {
  Array x = normal(key(1), {5}, DType::f64), points = normal(key(2), {5, 1}, DType::f64);
  auto likelihood = [&](const Array& scale) {
    Array distance = square(points - flipped(points));
    Array covariance = 1.0 / (1.0 + distance * scale) + 0.1 * eye(5, DType::f64);
    Array fit = dot(x, solve_positive(covariance, x));
    Array direct = dot(x, solve(covariance, x));
    return 0.25 * (fit + direct) + 0.25 * (logdet(covariance) + slogdet(covariance).log);
  };
  double h = 1e-4;
  auto at = [&](double s) { return likelihood(Array(s, DType::f64)).item<double>(); };
  double expected = (8 * (at(1 + h) - at(1 - h)) - (at(1 + 2 * h) - at(1 - 2 * h))) / (12 * h);
  EXPECT_NEAR(grad(likelihood)(Array(1.0, DType::f64)).item<double>(), expected, 1e-9);
}

TEST(LinalgEdges, Errors) {
  EXPECT_THROW(solve(zeros({2, 3}), zeros({2})), ShapeError);
  EXPECT_THROW(solve(zeros({2, 2}), zeros({3})), ShapeError);
  EXPECT_THROW(cholesky(zeros({2})), ShapeError);
  EXPECT_THROW(lstsq(zeros({2, 3}), zeros({2})), ShapeError);
  EXPECT_THROW(eigh(zeros({2, 2}, DType::c64)), DtypeError);
  EXPECT_THROW(expm(zeros({2, 3})), ShapeError);
  EXPECT_THROW(pinv(zeros({2})), ShapeError);
  try {
    solve(zeros({2, 2}), zeros({3}));
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("the right side f32[3] does not fit the matrix "
                        "f32[2,2] (linalg_test.cc:"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace sturnus::testing
