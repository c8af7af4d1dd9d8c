#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/shape.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "src/ops/erf_inv.h"
#include "src/ops/promotion.h"
#include "src/ops/structural.h"
#include "src/ops/threefry.h"

namespace sturnus {
namespace internal {
namespace {

Words words_of(std::string_view function, const Key& key) {
  if (key.data.type() != ArrayType{DType::u32, {2}}) {
    throw ShapeError(std::string(function) + ": the key is " + key.data.type().str() +
                     ", but must be u32[2]" + where_text() +
                     ". Make one with key(seed), and use vmap for a stack of keys");
  }
  Array first = reshape_to(slice(key.data, {0}, {1}), {});
  Array second = reshape_to(slice(key.data, {1}, {2}), {});
  return {first, second};
}

// The hash of 0, 1, ... in row-major order.
Words hashed_positions(std::string_view function, const Key& key, const Shape& shape) {
  ArrayType type{DType::u32, shape};
  if (type.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw ShapeError(std::string(function) + ": " + type.str() +
                     " has more elements than fit into 32 bits" + where_text() +
                     ". Draw parts with several keys");
  }
  Words words = words_of(function, key);
  Array position = reshape_to(iota({type.size()}, 0, DType::u32), shape);
  Array first = broadcast(words.first, shape, {});
  Array second = broadcast(words.second, shape, {});
  return threefry({first, second}, {zeros_of(type), position});
}

struct FloatLayout {
  DType bits;   // the unsigned type of the same size
  DType drawn;  // what is drawn: enough bits for the mantissa
  int mantissa;
  int one_high;  // the bits of 1.0, without the mantissa
};

FloatLayout layout_of(std::string_view function, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {DType::u16, DType::u16, 10, 15};
    case DType::bf16:
      return {DType::u16, DType::u8, 7, 127};
    case DType::f32:
      return {DType::u32, DType::u32, 23, 127};
    case DType::f64:
      return {DType::u64, DType::u64, 52, 1023};
    default:
      throw DtypeError(std::string(function) + ": numbers of type " + std::string(name_of(dtype)) +
                       " are not floating point" + where_text() + ". Ask for f32 or f64");
  }
}

DType unsigned_of(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

}  // namespace
}  // namespace internal

using internal::as_one_program;
using internal::Blame;

Key key(std::uint64_t seed) {
  std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(seed >> 32),
                                      static_cast<std::uint32_t>(seed)};
  return {array(words)};
}

Key split(const Key& key, std::int64_t count, Where where) {
  Blame blame(where);
  return {as_one_program([&] {
    auto [first, second] = internal::hashed_positions("split", key, {count});
    return stack({first, second}, 1);
  })};
}

Key key_at(const Key& keys, std::int64_t i, Where where) {
  Blame blame(where);
  return {as_one_program([&] {
    return internal::reshape_to(slice(keys.data, {i, 0}, {i + 1, 2}), {2});
  })};
}

Key fold_in(const Key& key, Operand data) {
  Blame blame(data.where);
  return {as_one_program([&] {
    Array number = internal::to_array(data, DType::u32);
    if (number.rank() != 0 || !is_integer(number.dtype())) {
      throw DtypeError("fold_in: the data is " + number.type().str() +
                       ", but must be an integer scalar" + internal::where_text());
    }
    internal::Words words = internal::words_of("fold_in", key);
    Array counter = convert(number, DType::u32);
    auto [first, second] = internal::threefry(words, {zeros_like(counter), counter});
    return stack({first, second});
  })};
}

Array bits(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where);
  return as_one_program([&] {
    auto [first, second] = internal::hashed_positions("bits", key, shape);
    switch (dtype) {
      case DType::u8:
      case DType::u16:
      case DType::u32:
        return convert(first ^ second, dtype);
      case DType::u64: {
        Array high = shift_left(convert(first, dtype), 32);
        return high | convert(second, dtype);
      }
      default:
        throw DtypeError("bits: " + std::string(name_of(dtype)) + " is not an unsigned integer" +
                         internal::where_text() + ". Ask for u8, u16, u32 or u64");
    }
  });
}

Array uniform(const Key& key, const Shape& shape, Operand low, Operand high, DType dtype) {
  Blame blame(low.where);
  return as_one_program([&] {
    internal::FloatLayout layout = internal::layout_of("uniform", dtype);
    Array a = convert(internal::to_array(low, dtype), dtype);
    Array b = convert(internal::to_array(high, dtype), dtype);
    // A random mantissa under the exponent of 1 is uniform in [1, 2).
    Array drawn = bits(key, shape, layout.drawn);
    int spare = static_cast<int>(8 * size_of(layout.drawn)) - layout.mantissa;
    Array mantissa = shift_right(convert(drawn, layout.bits), spare);
    Array exponent =
        shift_left(internal::full(layout.one_high, {layout.bits, {}}), layout.mantissa);
    Array unit = bitcast(mantissa | exponent, dtype) - 1.0;
    if (internal::splat(a) == 0.0 && internal::splat(b) == 1.0) return unit;
    Array scaled = unit * (b - a) + a;
    if (scaled.shape() != shape) {
      throw ShapeError("uniform: limits " + a.type().str() + " and " + b.type().str() +
                       " do not fit into " + ArrayType{dtype, shape}.str() +
                       internal::where_text());
    }
    return maximum(a, scaled);
  });
}

Array normal(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where);
  return as_one_program([&] {
    int mantissa = internal::layout_of("normal", dtype).mantissa;
    double above_minus_one = -1 + std::ldexp(1.0, -mantissa - 1);
    Array u = uniform(key, shape, above_minus_one, 1.0, dtype);
    return std::numbers::sqrt2 * internal::erf_inverse(u);
  });
}

Array randint(const Key& key, const Shape& shape, Operand low, Operand high, DType dtype) {
  Blame blame(low.where);
  return as_one_program([&] {
    if (!is_integer(dtype)) {
      throw DtypeError("randint: numbers of type " + std::string(name_of(dtype)) +
                       " are not integers" + internal::where_text());
    }
    Array a = convert(internal::to_array(low, dtype), dtype);
    Array b = convert(internal::to_array(high, dtype), dtype);
    DType word = internal::unsigned_of(dtype);
    auto [for_high, for_low] = split(key);
    Array high_bits = bits(for_high, shape, word), low_bits = bits(for_low, shape, word);
    Array span = where(b <= a, 1, convert(b - a, word));
    // 2^n modulo the span, from its square root, which fits.
    Array root = internal::full(std::ldexp(1.0, static_cast<int>(4 * size_of(dtype))),
                                {word, span.shape()}) %
                 span;
    Array power = (root * root) % span;
    Array from_high = (high_bits % span) * power;
    Array offset = (from_high + low_bits % span) % span;
    return a + convert(offset, dtype);
  });
}

}  // namespace sturnus
