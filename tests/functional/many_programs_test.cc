// More programs than a process may have mappings for.
#include <gtest/gtest.h>
#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/jit.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/mappings.h>

namespace sturnus {
namespace {

TEST(ManyPrograms, MakeRoomForEachOther) {
  Array x = arange(8, DType::f32);
  for (int i = 0; i < 4200; i++) {
    auto f = [&](const Array& y) { return sum(sin(y * (i + 0.5))) + cumsum(y); };
    ASSERT_TRUE(is_finite(sum(jit(f)(x))).item<bool>());
    EXPECT_THROW(reshape(x, {3}), ShapeError);  // the unwinder reads the tables of all programs
    if (i % 500 == 0) {
      EXPECT_LT(internal::used_mappings(), 0.6);
    }
  }
  EXPECT_LE(internal::kept_programs(), 4096u);
}

}  // namespace
}  // namespace sturnus
