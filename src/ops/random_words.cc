#include "src/ops/random_words.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "src/ops/quick_erf_inv.h"
#include "src/ops/structural.h"

namespace sturnus::internal {
namespace {

struct FloatLayout {
  DType bits;   // the unsigned type of the same size
  DType drawn;  // what is drawn: enough bits for the mantissa
  int mantissa;
  int one_high;  // the bits of 1.0, without the mantissa
};

FloatLayout layout_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {DType::u16, DType::u16, 10, 15};
    case DType::bf16:
      return {DType::u16, DType::u8, 7, 127};
    case DType::f32:
      return {DType::u32, DType::u32, 23, 127};
    default:
      return {DType::u64, DType::u64, 52, 1023};
  }
}

}  // namespace

void check_floating(std::string_view function, DType dtype) {
  if (is_floating(dtype)) return;
  throw DtypeError(message(
      function, "numbers of type " + std::string(name_of(dtype)) + " are not floating point",
      "Ask for f32 or f64"));
}

Words words_of(std::string_view function, const Key& key) {
  if (key.data.type() != ArrayType{DType::u32, {2}}) {
    throw ShapeError(message(function,
                             "the key is " + key.data.type().str() + ", but must be u32[2]",
                             "Make one with key(seed), and use vmap for a stack of keys"));
  }
  Array first = reshape_to(slice(key.data, {0}, {1}), {});
  Array second = reshape_to(slice(key.data, {1}, {2}), {});
  return {first, second};
}

// The hash of 0, 1, ... in row-major order.
Words hashed_positions(std::string_view function, const Key& key, const Shape& shape) {
  ArrayType type{DType::u32, checked_shape(function, shape)};
  if (type.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw ShapeError(message(function, type.str() + " has more elements than 32 bits can count",
                             "Draw parts with several keys"));
  }
  Words words = words_of(function, key);
  Array position = reshape_to(iota({type.size()}, 0, DType::u32), shape);
  Array first = broadcast(words.first, shape, {});
  Array second = broadcast(words.second, shape, {});
  return threefry({first, second}, {zeros_of(type), position});
}

Words hashed_number(const Words& keys, const Array& number) {
  Array counter = broadcast(number, keys.first.shape(), {});
  return threefry(keys, {zeros_of(counter.type()), counter});
}

Array joined_words(const Words& words, DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::u16:
    case DType::u32:
      return convert(words.first ^ words.second, dtype);
    case DType::u64: {
      Array high = shift_left(convert(words.first, dtype), 32);
      return high | convert(words.second, dtype);
    }
    default:
      throw DtypeError(message("bits", std::string(name_of(dtype)) + " is not an unsigned integer",
                               "Ask for u8, u16, u32 or u64"));
  }
}

// A random mantissa under the exponent of 1 is uniform in [1, 2).
Array unit_uniform(const Words& words, DType dtype) {
  FloatLayout layout = layout_of(dtype);
  Array drawn = joined_words(words, layout.drawn);
  int spare = static_cast<int>(8 * size_of(layout.drawn)) - layout.mantissa;
  Array mantissa = shift_right(convert(drawn, layout.bits), spare);
  Array exponent = shift_left(full(layout.one_high, {layout.bits, {}}), layout.mantissa);
  return bitcast(mantissa | exponent, dtype) - 1.0;
}

Array unit_normal(const Words& words, DType dtype) {
  Array unit = unit_uniform(words, dtype);
  double above_minus_one = -1 + std::ldexp(1.0, -layout_of(dtype).mantissa - 1);
  Array low = full(above_minus_one, {dtype, {}}), high = full(1, {dtype, {}});
  return std::numbers::sqrt2 * quick_erf_inv(between(low, high, unit));
}

Array between(const Array& a, const Array& b, const Array& unit) {
  Array scaled = unit * (b - a) + a;
  return maximum(a, scaled);
}

}  // namespace sturnus::internal
