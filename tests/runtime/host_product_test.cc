// The host's product of small matrices against plain loops in long double.

#include <gtest/gtest.h>
#include <sturnus/runtime/host_product.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sturnus::internal {
namespace {

constexpr ProductLayout layouts[] = {ProductLayout::mk_kn, ProductLayout::km_kn,
                                     ProductLayout::mk_nk, ProductLayout::km_nk};

template <class Real>
struct Operands {
  Operands(ProductLayout layout, const ProductExtents& extents) : layout(layout), e(extents) {
    std::mt19937 generator(7);
    std::uniform_real_distribution<Real> uniform(-1, 1);
    left.resize(static_cast<std::size_t>(e.batch * e.m * e.k));
    right.resize(static_cast<std::size_t>(e.batch * e.k * e.n));
    for (Real& x : left) x = uniform(generator);
    for (Real& x : right) x = uniform(generator);
  }

  Real& at_left(std::int64_t b, std::int64_t m, std::int64_t k) {
    bool km = layout == ProductLayout::km_kn || layout == ProductLayout::km_nk;
    return left[static_cast<std::size_t>(b * e.m * e.k + (km ? k * e.m + m : m * e.k + k))];
  }
  Real& at_right(std::int64_t b, std::int64_t k, std::int64_t n) {
    bool nk = layout == ProductLayout::mk_nk || layout == ProductLayout::km_nk;
    return right[static_cast<std::size_t>(b * e.k * e.n + (nk ? n * e.k + k : k * e.n + n))];
  }

  std::vector<Real> product() {
    // Beyond the result stands a mark that must stay.
    std::vector<Real> result(static_cast<std::size_t>(e.batch * e.m * e.n) + 64, Real(77));
    host_product(nullptr, layout, e, left.data(), right.data(), result.data());
    return result;
  }

  void check() {
    std::vector<Real> result = product();
    std::size_t at = 0;
    for (std::int64_t b = 0; b < e.batch; b++) {
      for (std::int64_t m = 0; m < e.m; m++) {
        for (std::int64_t n = 0; n < e.n; n++, at++) {
          long double sum = 0, size = 0;
          for (std::int64_t k = 0; k < e.k; k++) {
            long double term = static_cast<long double>(at_left(b, m, k)) * at_right(b, k, n);
            sum += term;
            size += std::fabs(term);
          }
          auto bound = static_cast<double>(size) * std::numeric_limits<Real>::epsilon() *
                       static_cast<double>(e.k);
          ASSERT_NEAR(static_cast<double>(result[at]), static_cast<double>(sum), bound)
              << "layout " << static_cast<int>(layout) << " m " << e.m << " k " << e.k << " n "
              << e.n << " at " << b << ", " << m << ", " << n;
        }
      }
    }
    for (; at < result.size(); at++) ASSERT_EQ(result[at], Real(77)) << "written past the end";
  }

  ProductLayout layout;
  ProductExtents e;
  std::vector<Real> left, right;
};

// Extents around every width and height that the function treats apart.
TEST(HostProduct, EqualsPlainSumsForAllExtentsAndLayouts) {
  for (ProductLayout layout : layouts) {
    for (std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 13}) {
      for (std::int64_t k : {1, 2, 3, 7, 8, 9, 16, 33, 67}) {
        for (std::int64_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 50}) {
          Operands<float>(layout, {2, m, k, n}).check();
          Operands<double>(layout, {2, m, k, n}).check();
        }
      }
    }
  }
}

// Many rows have the right operand copied by strips, which are narrower for long sums; and what is
// beyond a cache is fetched ahead.
TEST(HostProduct, EqualsPlainSumsForLargeMatrices) {
  const ProductExtents large[] = {
      {2, 48, 64, 96}, {2, 49, 300, 40}, {1, 100, 129, 17}, {30, 50, 65, 130}};
  for (ProductLayout layout : layouts) {
    for (const ProductExtents& extents : large) {
      Operands<float>(layout, extents).check();
      Operands<double>(layout, extents).check();
    }
  }
}

// Matrices that do not follow each other at once: what is between them is not read.
TEST(HostProduct, StepsOverWhatIsBetweenMatrices) {
  for (ProductLayout layout : layouts) {
    for (ProductExtents e : {ProductExtents{3, 4, 5, 6}, {3, 20, 20, 1}, {2, 48, 64, 96}}) {
      Operands<float> packed(layout, e);
      auto spread = [&](const std::vector<float>& x, std::int64_t size, std::int64_t step) {
        std::vector<float> result(static_cast<std::size_t>(e.batch * step), std::nanf(""));
        for (std::int64_t b = 0; b < e.batch; b++) {
          std::copy_n(x.begin() + b * size, size, result.begin() + b * step);
        }
        return result;
      };
      e.left_step += 7;
      e.right_step += 3;
      std::vector<float> left = spread(packed.left, e.m * e.k, e.left_step),
                         right = spread(packed.right, e.k * e.n, e.right_step),
                         result(static_cast<std::size_t>(e.batch * e.m * e.n) + 64, 77.f);
      host_product(nullptr, layout, e, left.data(), right.data(), result.data());
      EXPECT_EQ(result, packed.product());
    }
  }
}

TEST(HostProduct, MultipliesSeveralMatricesByOne) {
  for (ProductLayout layout : layouts) {
    for (ProductExtents e : {ProductExtents{3, 4, 5, 6}, {3, 20, 20, 1}, {2, 48, 64, 96}}) {
      Operands<float> repeated(layout, e);
      std::int64_t size = e.k * e.n;
      for (std::int64_t b = 1; b < e.batch; b++) {
        std::copy_n(repeated.right.begin(), size, repeated.right.begin() + b * size);
      }
      std::vector<float> expected = repeated.product();
      repeated.right.resize(static_cast<std::size_t>(size));
      repeated.e.right_step = 0;
      EXPECT_EQ(repeated.product(), expected);
    }
  }
}

// One NaN or infinity reaches its row or column, and nothing else.
TEST(HostProduct, KeepsInfinitiesAndNaNsWhereTheyBelong) {
  float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (ProductLayout layout : layouts) {
    for (std::int64_t k : {5, 37}) {
      for (float value : {infinity, nan}) {
        ProductExtents extents{1, 5, k, 19};
        Operands<float> operands(layout, extents);
        operands.at_left(0, 3, k - 2) = value;
        std::vector<float> result = operands.product();
        for (std::size_t i = 0; i < 5 * 19; i++) {
          EXPECT_EQ(std::isfinite(result[i]), i / 19 != 3) << i;
          EXPECT_EQ(std::isnan(result[i]), i / 19 == 3 && std::isnan(value)) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sturnus::internal
