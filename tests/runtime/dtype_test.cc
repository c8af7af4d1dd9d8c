#include <gtest/gtest.h>
#include <sturnus/runtime/dtype.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sturnus {
namespace {

// ------------------------------------------------------------------------------------------ facts

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
  enum { truth, integer, floating, complex } kind;
};

constexpr Row table[] = {
    {DType::boolean, "bool", 1, Row::truth}, {DType::i8, "i8", 1, Row::integer},
    {DType::i16, "i16", 2, Row::integer},    {DType::i32, "i32", 4, Row::integer},
    {DType::i64, "i64", 8, Row::integer},    {DType::u8, "u8", 1, Row::integer},
    {DType::u16, "u16", 2, Row::integer},    {DType::u32, "u32", 4, Row::integer},
    {DType::u64, "u64", 8, Row::integer},    {DType::f16, "f16", 2, Row::floating},
    {DType::bf16, "bf16", 2, Row::floating}, {DType::f32, "f32", 4, Row::floating},
    {DType::f64, "f64", 8, Row::floating},   {DType::c64, "c64", 8, Row::complex},
    {DType::c128, "c128", 16, Row::complex},
};

TEST(DType, HasItsNameSizeAndKind) {
  ASSERT_EQ(std::size(table), static_cast<std::size_t>(dtype_count));
  int index = 0;
  for (const Row& row : table) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(static_cast<int>(row.dtype), index++);  // so every dtype has its row
    EXPECT_EQ(name_of(row.dtype), row.name);
    EXPECT_EQ(size_of(row.dtype), row.bytes);
    EXPECT_EQ(is_integer(row.dtype), row.kind == Row::integer);
    EXPECT_EQ(is_floating(row.dtype), row.kind == Row::floating);
    EXPECT_EQ(is_complex(row.dtype), row.kind == Row::complex);
  }
}

template <class T>
constexpr bool stands_for(DType dtype) {
  return dtype_of<T> == dtype && dtype_of<const T> == dtype;
}

static_assert(stands_for<bool>(DType::boolean));
static_assert(stands_for<std::int8_t>(DType::i8) && stands_for<std::uint8_t>(DType::u8));
static_assert(stands_for<std::int16_t>(DType::i16) && stands_for<std::uint16_t>(DType::u16));
static_assert(stands_for<std::int32_t>(DType::i32) && stands_for<std::uint32_t>(DType::u32));
static_assert(stands_for<std::int64_t>(DType::i64) && stands_for<std::uint64_t>(DType::u64));
static_assert(stands_for<long>(DType::i64) && stands_for<unsigned long>(DType::u64));
static_assert(stands_for<long long>(DType::i64) && stands_for<unsigned long long>(DType::u64));
static_assert(stands_for<f16>(DType::f16) && stands_for<bf16>(DType::bf16));
static_assert(stands_for<float>(DType::f32) && stands_for<double>(DType::f64));
static_assert(stands_for<std::complex<float>>(DType::c64));
static_assert(stands_for<std::complex<double>>(DType::c128));
static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2);
static_assert(std::is_trivially_copyable_v<f16> && std::is_trivially_copyable_v<bf16>);

// ------------------------------------------------------------------------------------ conversions

// A 16-bit float with `exponent_bits`: its values by arithmetic on doubles, which hold them all.
struct Format {
  int exponent_bits;
  int mantissa_bits() const { return 15 - exponent_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int infinity() const { return ((1 << exponent_bits) - 1) << mantissa_bits(); }

  // Of magnitudes up to and with infinity, as if there were one more exponent.
  double value(int bits) const {
    int exponent = bits >> mantissa_bits();
    int mantissa = bits & ((1 << mantissa_bits()) - 1);
    if (exponent > 0) mantissa += 1 << mantissa_bits();
    return std::ldexp(mantissa, std::max(exponent, 1) - bias() - mantissa_bits());
  }
};

template <class T>
class Float16 : public testing::Test {
 protected:
  static constexpr Format format{std::is_same_v<T, f16> ? 5 : 8};

  static T from_bits(int bits) {
    T value;
    value.bits = static_cast<std::uint16_t>(bits);
    return value;
  }
  static int bits_of(float value) { return T(value).bits; }
};

using Float16Types = testing::Types<f16, bf16>;
TYPED_TEST_SUITE(Float16, Float16Types);

TYPED_TEST(Float16, EveryPatternHasItsValue) {
  for (int bits = 0; bits <= 0xffff; bits++) {
    auto value = static_cast<float>(this->from_bits(bits));
    int magnitude = bits & 0x7fff;
    ASSERT_EQ(std::signbit(value), bits >= 0x8000) << std::hex << bits;
    if (magnitude > this->format.infinity()) {
      ASSERT_TRUE(std::isnan(value)) << std::hex << bits;
    } else if (magnitude == this->format.infinity()) {
      ASSERT_TRUE(std::isinf(value)) << std::hex << bits;
    } else {
      ASSERT_EQ(std::abs(static_cast<double>(value)), this->format.value(magnitude))
          << std::hex << bits;
    }
  }
}

TYPED_TEST(Float16, EveryPatternSurvivesTheWayThroughFloat) {
  int quiet = 1 << (this->format.mantissa_bits() - 1);
  for (int bits = 0; bits <= 0xffff; bits++) {
    bool nan = (bits & 0x7fff) > this->format.infinity();
    int back = this->bits_of(static_cast<float>(this->from_bits(bits)));
    ASSERT_EQ(back, nan ? bits | quiet : bits) << std::hex << bits;
  }
}

// Between two neighbours, everything below the middle goes down, everything above goes up, and the
// middle to the even one; the last neighbour is infinity.
TYPED_TEST(Float16, RoundsToNearestAndTiesToEven) {
  for (int sign : {0, 0x8000}) {
    for (int low = 0; low < this->format.infinity(); low++) {
      double exact = (this->format.value(low) + this->format.value(low + 1)) / 2;
      if (exact > std::numeric_limits<float>::max()) continue;
      auto middle = static_cast<float>(exact);
      ASSERT_EQ(middle, exact) << low;
      float signed_middle = sign ? -middle : middle;
      float inwards = std::nextafter(signed_middle, 0.0f);
      float outwards = std::nextafter(signed_middle, signed_middle * 4);
      ASSERT_EQ(this->bits_of(inwards), sign + low) << std::hex << low;
      ASSERT_EQ(this->bits_of(signed_middle), sign + low + (low & 1)) << std::hex << low;
      ASSERT_EQ(this->bits_of(outwards), sign + low + 1) << std::hex << low;
    }
  }
}

TYPED_TEST(Float16, LargeNumbersBecomeInfinity) {
  for (float large : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()}) {
    EXPECT_EQ(this->bits_of(large), this->format.infinity());
    EXPECT_EQ(this->bits_of(-large), 0x8000 + this->format.infinity());
  }
}

TYPED_TEST(Float16, NumbersBelowHalfTheSmallestBecomeZeroOfTheSameSign) {
  for (float small : {0.0f, std::numeric_limits<float>::denorm_min()}) {
    EXPECT_EQ(this->bits_of(small), 0x0000);
    EXPECT_EQ(this->bits_of(-small), 0x8000);
  }
}

TYPED_TEST(Float16, EveryKindOfNanStaysNan) {
  for (std::uint32_t payload = 1; payload < (1u << 23); payload += 0x3fff) {
    for (std::uint32_t sign : {0u, 0x80000000u}) {
      auto nan = std::bit_cast<float>(sign | 0x7f800000u | payload);
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(nan)))) << payload;
    }
  }
}

#ifdef __FLT16_MAX__
// The compiler's own half precision, on floats spread evenly over all bit patterns.
TEST(F16, AgreesWithTheCompiler) {
  constexpr std::uint32_t step = 4093;
  std::uint32_t word = 0;
  do {
    auto value = std::bit_cast<float>(word);
    if (!std::isnan(value)) {
      auto compiled = static_cast<_Float16>(value);
      ASSERT_EQ(f16(value).bits, std::bit_cast<std::uint16_t>(compiled)) << value;
      ASSERT_EQ(static_cast<float>(f16(value)), static_cast<float>(compiled));
    }
    word += step;
  } while (word >= step);
}
#endif

// -------------------------------------------------------------------------------------- ArrayType

TEST(ArrayType, PrintsAndCounts) {
  struct {
    ArrayType type;
    std::string_view text;
    std::int64_t size;
    std::size_t bytes;
  } const rows[] = {
      {{DType::f32, {}}, "f32[]", 1, 4},
      {{DType::c128, {}}, "c128[]", 1, 16},
      {{DType::boolean, {5}}, "bool[5]", 5, 5},
      {{DType::f64, {3, 4}}, "f64[3,4]", 12, 96},
      {{DType::i16, {2, 1, 7}}, "i16[2,1,7]", 14, 28},
      {{DType::f32, {0}}, "f32[0]", 0, 0},
      {{DType::u8, {3, 0, 2}}, "u8[3,0,2]", 0, 0},
      {{DType::u8, {std::int64_t{1} << 62}},
       "u8[4611686018427387904]",
       std::int64_t{1} << 62,
       std::size_t{1} << 62},
      // Empty, though the other extents alone would not fit.
      {{DType::f64, {std::int64_t{1} << 40, std::int64_t{1} << 40, 0}},
       "f64[1099511627776,1099511627776,0]",
       0,
       0},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.type.str(), row.text);
    EXPECT_EQ(row.type.size(), row.size) << row.text;
    EXPECT_EQ(row.type.bytes(), row.bytes) << row.text;
  }
}

TEST(ArrayType, RefusesToCountWhatDoesNotFit) {
  ArrayType many{DType::u8, {std::int64_t{1} << 40, std::int64_t{1} << 40}};
  ArrayType wide{DType::c128, {std::int64_t{1} << 62}};
  EXPECT_THROW(many.size(), Error);
  EXPECT_THROW(many.bytes(), Error);
  EXPECT_EQ(wide.size(), std::int64_t{1} << 62);
  EXPECT_THROW(wide.bytes(), Error);
}

TEST(ArrayType, IsEqualWhenDtypeAndShapeAre) {
  ArrayType type{DType::f32, {3, 4}};
  EXPECT_EQ(type, (ArrayType{DType::f32, {3, 4}}));
  EXPECT_NE(type, (ArrayType{DType::f64, {3, 4}}));
  EXPECT_NE(type, (ArrayType{DType::f32, {4, 3}}));
  EXPECT_NE(type, (ArrayType{DType::f32, {12}}));
}

}  // namespace
}  // namespace sturnus
