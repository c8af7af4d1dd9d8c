// What operations make of nothing.
#include <gtest/gtest.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/take.h>

#include <cmath>
#include <limits>

#include "tests/ops/error_messages.h"

namespace sturnus {
namespace {

// Where nothing has an answer, as in NumPy.
TEST(EmptyArrays, HaveAnAnswer) {
  auto number = [](const Array& x) { return x.item<float>(); };
  EXPECT_EQ(number(sum(nothing())), 0);
  EXPECT_EQ(number(prod(nothing())), 1);
  EXPECT_TRUE(std::isnan(number(mean(nothing()))));
  EXPECT_TRUE(std::isnan(number(var(nothing()))));
  EXPECT_EQ(number(norm(nothing())), 0);
  EXPECT_EQ(number(logsumexp(nothing())), -std::numeric_limits<float>::infinity());
  EXPECT_FALSE(any(nothing()).item<bool>());
  EXPECT_TRUE(all(nothing()).item<bool>());
  EXPECT_EQ(softmax(nothing()).shape(), Shape{0});
  EXPECT_EQ(cumsum(nothing()).shape(), Shape{0});
  EXPECT_EQ(sort(nothing()).shape(), Shape{0});
  EXPECT_EQ(linspace(0, 1, 0).shape(), Shape{0});
  EXPECT_EQ(arange(0).shape(), Shape{0});
  EXPECT_EQ(max(zeros({0, 3}), 1).shape(), Shape{0});
  EXPECT_EQ(take(zeros({3}), zeros({0}, DType::i32)).shape(), Shape{0});
  EXPECT_EQ(vmap([](Array x) { return x; })(nothing()).shape(), Shape{0});
}

}  // namespace
}  // namespace sturnus
