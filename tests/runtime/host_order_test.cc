// The host's elements by rank against std::sort.

#include <gtest/gtest.h>
#include <sturnus/runtime/order_kernels.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sturnus::internal {
namespace {

template <class Real>
class HostOrder : public ::testing::Test {
 public:
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  static constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  std::mt19937 generator{3};

  // Numbers of all sizes and signs, many of them equal.
  std::vector<Real> some(std::int64_t count) {
    std::normal_distribution<Real> normal;
    std::uniform_int_distribution<int> power(-30, 30), kind(0, 9);
    std::vector<Real> result;
    for (std::int64_t i = 0; i < count; i++) {
      Real x = std::ldexp(normal(generator), power(generator));
      int which = kind(generator);
      result.push_back(which == 0 ? 0 : which == 1 && i > 0 ? result.back() : x);
    }
    return result;
  }
};

using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostOrder, Reals);

TYPED_TEST(HostOrder, IsTheSortedElement) {
  using Real = TypeParam;
  for (std::int64_t count : {1, 2, 3, 16, 17, 300, 1000}) {
    std::vector<Real> x = this->some(count), sorted = x;
    if (count > 16) {
      x[3] = this->infinity, x[5] = -this->infinity, x[7] = this->nan, x[8] = -this->nan;
      sorted = x;
    }
    std::sort(sorted.begin(), sorted.end(),
              [](Real a, Real b) { return a < b || (!std::isnan(a) && std::isnan(b)); });
    std::vector<std::int64_t> ranks(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < ranks.size(); i++) ranks[i] = static_cast<std::int64_t>(i);
    std::vector<Real> found(ranks.size());
    order_statistics_here<Real>(x, ranks, found.data());
    for (std::size_t i = 0; i < ranks.size(); i++) {
      if (std::isnan(sorted[i])) {
        EXPECT_TRUE(std::isnan(found[i])) << i << " of " << count;
      } else {
        EXPECT_EQ(found[i], sorted[i]) << i << " of " << count;
      }
    }
  }
}

// Few pairs are counted among themselves, many on sorted elements: 64 are the last few.
TYPED_TEST(HostOrder, IsTheSortedDistance) {
  using Real = TypeParam;
  for (std::int64_t count : {2, 3, 25, 64, 65, 200}) {
    for (bool finite : {true, false}) {
      std::vector<Real> x = this->some(count);
      if (!finite) x[0] = this->infinity, x.back() = this->nan;
      std::vector<Real> distances;
      for (std::size_t i = 0; i < x.size(); i++) {
        for (std::size_t j = 0; j < i; j++) {
          Real distance = std::abs(x[i] - x[j]);
          distances.push_back(std::isnan(distance) ? this->infinity : distance);
        }
      }
      std::sort(distances.begin(), distances.end());
      auto pairs = static_cast<std::int64_t>(distances.size());
      for (std::int64_t rank = 0; rank < pairs; rank += std::max<std::int64_t>(pairs / 50, 1)) {
        EXPECT_EQ(pair_order_statistic_here<Real>(x, rank),
                  distances[static_cast<std::size_t>(rank)])
            << rank << " of " << count << (finite ? "" : ", some not finite");
      }
    }
  }
}

TYPED_TEST(HostOrder, EqualElementsHaveNoDistance) {
  using Real = TypeParam;
  for (std::size_t count : {5u, 100u}) {
    std::vector<Real> x(count, Real(0.3));
    EXPECT_EQ(pair_order_statistic_here<Real>(x, 4), 0);
  }
}

}  // namespace
}  // namespace sturnus::internal
