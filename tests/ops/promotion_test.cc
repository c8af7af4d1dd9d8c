// Which element type two arrays of different ones have together: a law for integers, a table for
// the others.
#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/ops/arithmetic.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace sturnus {
namespace {

DType together(DType a, DType b) {
  return eval_shape([](Array x, Array y) { return x + y; }, abstract_array(a, {}),
                    abstract_array(b, {}))
      .dtype();
}

void expect_together(DType a, DType b, DType expected) {
  EXPECT_EQ(name_of(together(a, b)), name_of(expected)) << name_of(a) << " + " << name_of(b);
  EXPECT_EQ(name_of(together(b, a)), name_of(expected)) << name_of(b) << " + " << name_of(a);
}

struct Integer {
  DType dtype;
  std::int64_t lowest;
  std::uint64_t largest;
};

template <class T>
Integer integer(DType dtype) {
  return {dtype, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
          static_cast<std::uint64_t>(std::numeric_limits<T>::max())};
}

// The smallest integer type that holds all values of both; f64 where there is none.
TEST(Promotion, OfIntegersHoldsBoth) {
  std::vector<Integer> all = {
      // the smaller first, and of one size the signed one
      integer<std::int8_t>(DType::i8),   integer<std::uint8_t>(DType::u8),
      integer<std::int16_t>(DType::i16), integer<std::uint16_t>(DType::u16),
      integer<std::int32_t>(DType::i32), integer<std::uint32_t>(DType::u32),
      integer<std::int64_t>(DType::i64), integer<std::uint64_t>(DType::u64)};
  for (const Integer& a : all) {
    for (const Integer& b : all) {
      DType expected = DType::f64;
      for (const Integer& c : all) {
        bool holds_both =
            c.lowest <= std::min(a.lowest, b.lowest) && c.largest >= std::max(a.largest, b.largest);
        if (!holds_both) continue;
        expected = c.dtype;
        break;
      }
      expect_together(a.dtype, b.dtype, expected);
    }
    expect_together(DType::boolean, a.dtype, a.dtype);
  }
}

TEST(Promotion, OfRealAndComplexNumbers) {
  for (DType whole : {DType::boolean, DType::i8, DType::i64, DType::u64}) {
    for (DType other : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128}) {
      expect_together(whole, other, other);
    }
  }
  expect_together(DType::f16, DType::bf16, DType::f32);
  for (DType half : {DType::f16, DType::bf16}) {
    for (DType other : {DType::f32, DType::f64, DType::c64, DType::c128}) {
      expect_together(half, other, other);
    }
  }
  expect_together(DType::f32, DType::f64, DType::f64);
  expect_together(DType::f32, DType::c64, DType::c64);
  expect_together(DType::f64, DType::c64, DType::c128);
  expect_together(DType::c64, DType::c128, DType::c128);
}

// What f64 keeps of a u64 beside an i64, and f32 would not.
TEST(Promotion, OfTheWidestIntegersIsExactTo53Bits) {
  const std::int64_t large = (std::int64_t{1} << 53) - 1;
  Array a = array(std::vector<std::int64_t>{-large}), b = array(std::vector<std::uint64_t>{1});
  EXPECT_EQ((a + b).to_vector<double>()[0], static_cast<double>(1 - large));
}

}  // namespace
}  // namespace sturnus
