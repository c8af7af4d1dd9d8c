#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/shape.h>

#include <cmath>
#include <limits>
#include <vector>

#include "src/ops/promotion.h"
#include "src/ops/random_words.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {

namespace {

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
  Blame blame(where, "split");
  return {as_one_program([&] {
    auto [first, second] = internal::hashed_positions("split", key, {count});
    return stack({first, second}, 1);
  })};
}

Key key_at(const Key& keys, std::int64_t i, Where where) {
  Blame blame(where, "key_at");
  const ArrayType& type = keys.data.type();
  if (type.shape.size() != 2 || i < 0 || i >= type.shape[0]) {
    throw ShapeError(internal::message("key_at",
                                       "there is no key " + std::to_string(i) + " in " + type.str(),
                                       "Keys in a stack u32[n,2] count from 0 to n - 1"));
  }
  return {internal::reshape_to(slice(keys.data, {i, 0}, {i + 1, 2}), {2})};
}

Key fold_in(const Key& key, Operand data) {
  Blame blame(data.where, "fold_in");
  // As data: one program for all numbers. Of a number only the lower bits fit.
  bool whole = data.number && data.number->kind == Number::Kind::integer;
  Array number = whole ? Array(static_cast<std::uint32_t>(data.number->integer), DType::u32)
                       : internal::to_array(data);
  return {as_one_program([&] {
    if (number.rank() != 0 || !is_integer(number.dtype())) {
      throw DtypeError(internal::message(
          "fold_in", "the data is " + number.type().str() + ", but must be an integer scalar",
          "Give one integer, such as the number of an iteration"));
    }
    internal::Words words = internal::words_of("fold_in", key);
    Array counter = convert(number, DType::u32);
    auto [first, second] = internal::threefry(words, {zeros_like(counter), counter});
    return stack({first, second});
  })};
}

Array bits(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "bits");
  return as_one_program([&] {
    internal::Words words = internal::hashed_positions("bits", key, shape);
    return internal::joined_words(words, dtype);
  });
}

Array uniform(const Key& key, const Shape& shape, Operand low, Operand high, DType dtype) {
  Blame blame(low.where, "uniform");
  internal::check_floating("uniform", dtype);
  bool of_unit = low.number && low.number->real == 0 && high.number && high.number->real == 1;
  Array a = internal::to_array("uniform", low, dtype);
  Array b = internal::to_array("uniform", high, dtype);
  return as_one_program([&] {
    Array unit = internal::unit_uniform(internal::hashed_positions("uniform", key, shape), dtype);
    if (of_unit) return unit;
    auto spread = [&](const Array& bound) {
      return internal::broadcast_to_shape("uniform", convert(bound, dtype), shape);
    };
    Array lowest = spread(a), highest = spread(b);
    return internal::between(lowest, highest, unit);
  });
}

Array normal(const Key& key, const Shape& shape, DType dtype, Where where) {
  Blame blame(where, "normal");
  internal::check_floating("normal", dtype);
  return as_one_program([&] {
    return internal::unit_normal(internal::hashed_positions("normal", key, shape), dtype);
  });
}

Array randint(const Key& key, const Shape& shape, Operand low, Operand high, DType dtype) {
  Blame blame(low.where, "randint");
  return as_one_program([&] {
    if (!is_integer(dtype)) {
      throw DtypeError(internal::message(
          "randint", "numbers of type " + std::string(name_of(dtype)) + " are not integers",
          "Ask for i32 or another integer type, or use uniform"));
    }
    auto spread = [&](const Operand& bound) {
      Array number = convert(internal::to_array("randint", bound, dtype), dtype);
      return internal::broadcast_to_shape("randint", number, shape);
    };
    Array a = spread(low);
    // One more than the largest of the type is no number of the type, yet an end.
    bool whole = high.number && high.number->kind == Number::Kind::integer;
    Operand largest = whole && high.number->real > 0 ? high.number->integer - 1 : 0;
    bool to_the_end = whole && !high.number->fits(dtype) && largest.number->fits(dtype);
    Array b = spread(to_the_end ? largest : high);
    DType word = internal::unsigned_of(dtype);
    auto [for_high, for_low] = split(key);
    Array high_bits = bits(for_high, shape, word), low_bits = bits(for_low, shape, word);
    Array span = convert(b - a, word);
    // Of all numbers of the type it is 0.
    span = to_the_end ? span + 1 : where(b <= a, 1, span);
    Array all = span == 0;
    span = where(all, 1, span);
    // 2^n modulo the span, from its square root, which fits.
    Array root = internal::full(std::ldexp(1.0, static_cast<int>(4 * size_of(dtype))),
                                {word, span.shape()}) %
                 span;
    Array power = (root * root) % span;
    Array from_high = (high_bits % span) * power;
    Array offset = (from_high + low_bits % span) % span;
    return a + convert(where(all, low_bits, offset), dtype);
  });
}

}  // namespace sturnus
