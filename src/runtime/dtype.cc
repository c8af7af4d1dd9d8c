#include <sturnus/runtime/dtype.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sturnus {
namespace {

struct Facts {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Facts, dtype_count> facts = {{{"bool", 1},
                                                   {"i8", 1},
                                                   {"i16", 2},
                                                   {"i32", 4},
                                                   {"i64", 8},
                                                   {"u8", 1},
                                                   {"u16", 2},
                                                   {"u32", 4},
                                                   {"u64", 8},
                                                   {"f16", 2},
                                                   {"bf16", 2},
                                                   {"f32", 4},
                                                   {"f64", 8},
                                                   {"c64", 8},
                                                   {"c128", 16}}};

// Shifts right by `shift` bits, rounding to nearest, ties to even.
std::uint32_t round_shift(std::uint32_t value, int shift) {
  std::uint32_t kept = value >> shift;
  std::uint32_t rest = value & ((std::uint32_t{1} << shift) - 1);
  std::uint32_t half = std::uint32_t{1} << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
}

}  // namespace

void throw_unknown(DType dtype) {
  throw Error("DType: " + std::to_string(static_cast<int>(dtype)) + " is no element type");
}

std::size_t size_of(DType dtype) { return facts[static_cast<std::size_t>(dtype)].bytes; }
std::string_view name_of(DType dtype) { return facts[static_cast<std::size_t>(dtype)].name; }
bool is_floating(DType dtype) { return dtype >= DType::f16 && dtype <= DType::f64; }
bool is_integer(DType dtype) { return dtype >= DType::i8 && dtype <= DType::u64; }
bool is_complex(DType dtype) { return dtype >= DType::c64; }

// binary16 has 5 exponent bits (bias 15) and 10 mantissa bits; binary32 has 8 (bias 127) and 23.
f16::f16(float value) {
  std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  std::uint32_t sign = (word >> 16) & 0x8000;
  std::uint32_t magnitude = word & 0x7fffffff;
  std::uint32_t half;
  if (magnitude > 0x7f800000) {  // NaN: keep it quiet and keep its upper payload
    half = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  } else if (magnitude >= 0x47800000) {  // 65536 and above, infinity included
    half = 0x7c00;
  } else if (magnitude >= 0x38800000) {  // normal: rounding may carry into the exponent, rightly so
    half = round_shift(magnitude - (std::uint32_t{127 - 15} << 23), 13);
  } else if (magnitude >= 0x33000000) {  // subnormal: the implicit one becomes explicit
    int shift = 126 - static_cast<int>(magnitude >> 23);
    half = round_shift((magnitude & 0x7fffff) | 0x800000, shift);
  } else {
    half = 0;
  }
  bits = static_cast<std::uint16_t>(sign | half);
}

f16::operator float() const {
  int exponent = (bits >> 10) & 0x1f;
  int mantissa = bits & 0x3ff;
  float magnitude;
  if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  } else if (exponent == 31) {
    magnitude = std::bit_cast<float>(0x7f800000u | (static_cast<std::uint32_t>(mantissa) << 13));
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  }
  return std::copysign(magnitude, (bits & 0x8000) ? -1.0f : 1.0f);
}

bf16::bf16(float value) {
  std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  bool nan = (word & 0x7fffffff) > 0x7f800000;
  bits = static_cast<std::uint16_t>(nan ? (word >> 16) | 0x40 : round_shift(word, 16));
}

std::int64_t ArrayType::size() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t product = 1;
  for (std::int64_t extent : shape) {
    if (__builtin_mul_overflow(product, extent, &product)) {
      throw Error("ArrayType::size: " + str() +
                  " has more elements than an int64 counts. Give smaller extents");
    }
  }
  return product;
}

std::size_t ArrayType::bytes() const {
  std::size_t product;
  if (__builtin_mul_overflow(size(), size_of(dtype), &product)) {
    throw Error("ArrayType::bytes: " + str() +
                " has more bytes than a size_t counts. Give smaller extents");
  }
  return product;
}

std::string ArrayType::str() const {
  std::string text(name_of(dtype));
  text += '[';
  for (std::size_t i = 0; i < shape.size(); i++) {
    if (i > 0) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + ']';
}

}  // namespace sturnus
