// The host's sums against plain loops in long double.

#include <gtest/gtest.h>
#include <sturnus/runtime/host_sum.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "src/runtime/threads.h"

namespace sturnus::internal {
namespace {

template <class Real>
std::vector<Real> numbers(const SumExtents& e) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  std::vector<Real> x(static_cast<std::size_t>(e.outer * e.terms * e.inner));
  for (Real& value : x) value = uniform(generator);
  return x;
}

// Beyond the result stands a mark that must stay.
template <class Real>
std::vector<Real> sums(const Threads* threads, const SumExtents& e, const std::vector<Real>& x) {
  std::vector<Real> result(static_cast<std::size_t>(e.outer * e.inner) + 16, Real(77));
  host_sum(threads, e, x.data(), result.data());
  return result;
}

const std::vector<SumExtents> extents = {
    {1, 1, 1},    {1, 40, 1},    {3, 7, 1},      {5, 50, 1},   {2, 512, 1}, {2, 513, 1},
    {3, 1024, 1}, {1, 40000, 1}, {1, 300000, 1}, {1, 33, 2},   {2, 40, 3},  {3, 512, 5},
    {2, 600, 17}, {1, 2000, 64}, {2, 1536, 100}, {1, 50, 1000}};

template <class Real>
class HostSum : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostSum, Reals);

TYPED_TEST(HostSum, AddsUp) {
  using Real = TypeParam;
  for (const SumExtents& e : extents) {
    std::vector<Real> x = numbers<Real>(e), result = sums<Real>(nullptr, e, x);
    for (std::int64_t o = 0; o < e.outer; o++) {
      for (std::int64_t i = 0; i < e.inner; i++) {
        long double sum = 0, size = 0;
        for (std::int64_t t = 0; t < e.terms; t++) {
          long double term = x[static_cast<std::size_t>((o * e.terms + t) * e.inner + i)];
          sum += term;
          size += std::fabs(term);
        }
        // Rounding does not grow with the number of terms beyond that of a part.
        double steps = std::min<double>(static_cast<double>(e.terms), 600);
        double bound = static_cast<double>(size) * std::numeric_limits<Real>::epsilon() * steps;
        ASSERT_NEAR(static_cast<double>(result[static_cast<std::size_t>(o * e.inner + i)]),
                    static_cast<double>(sum), bound)
            << e.outer << " x " << e.terms << " x " << e.inner << " at " << o << ", " << i;
      }
    }
    for (std::size_t k = static_cast<std::size_t>(e.outer * e.inner); k < result.size(); k++) {
      ASSERT_EQ(result[k], 77);
    }
  }
}

class FourThreads final : public Threads {
 public:
  ~FourThreads() override {
    for (std::thread& thread : threads_) thread.join();
  }
  std::int64_t count() const override { return 4; }
  bool schedule(void (*task)(void*), void* data) const override {
    threads_.emplace_back(task, data);
    return true;
  }

 private:
  mutable std::vector<std::thread> threads_;
};

TYPED_TEST(HostSum, DoesNotDependOnThreads) {
  using Real = TypeParam;
  for (const SumExtents& e : extents) {
    std::vector<Real> x = numbers<Real>(e);
    FourThreads threads;
    EXPECT_EQ(sums<Real>(&threads, e, x), sums<Real>(nullptr, e, x));
  }
}

}  // namespace
}  // namespace sturnus::internal
