// Random numbers without hidden state: a key gives the same numbers wherever it is used.
//
//   Key k = key(42);
//   auto [a, b] = split(k);               // two keys for two purposes
//   Array x = normal(a, {1000});
//   vmap([](Key k) { return normal(k); })(split(b, 25));
//
// Bits, uniform and normal numbers are those of jax.random with its default generator,
// Threefry-2x32 in the partitionable scheme: number i is a hash of i under the key, whatever the
// device.
#pragma once

#include <sturnus/functional/array.h>

#include <array>
#include <cstdint>
#include <utility>

namespace sturnus {

/// A key of the generator: u32[2], or more with axes in front for vmap.
struct Key {
  Array data;
};

/// The key for a seed.
Key key(std::uint64_t seed);
/// `count` new keys, stacked along a new axis 0: u32[count, 2]. Throws ShapeError when count is
/// negative, or the key is a stack of keys.
Key split(const Key& key, std::int64_t count, Where where = Where::here());
/// Key i of a stack of keys. Throws ShapeError when there is no such key.
Key key_at(const Key& keys, std::int64_t i, Where where = Where::here());
/// New keys, apart: auto [a, b] = split(k), auto [a, b, c] = split<3>(k).
template <std::size_t count = 2>
std::array<Key, count> split(const Key& key, Where where = Where::here()) {
  Key keys = split(key, static_cast<std::int64_t>(count), where);
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Key, count>{key_at(keys, static_cast<std::int64_t>(i), where)...};
  }
  (std::make_index_sequence<count>());
}
/// A new key from a key and an integer, of which the lower 32 bits count: for loops.
/// Throws DtypeError when data is no integer scalar, ShapeError when the key is a stack of keys.
Key fold_in(const Key& key, Operand data);

/// Random bits as unsigned integers of 8, 16, 32 or 64 bits.
/// Throws DtypeError for another type; this and all that follow throw ShapeError when the key is a
/// stack of keys.
Array bits(const Key& key, const Shape& shape = {}, DType dtype = DType::u32,
           Where where = Where::here());
/// Uniform in low <= x < high, where low and high fit the shape by broadcasting. The resolution is
/// that of the mantissa: 2^-23 (high - low) for f32.
/// Throws DtypeError when dtype is not floating point, ShapeError when a bound does not fit.
Array uniform(const Key& key, const Shape& shape = {}, Operand low = 0.0, Operand high = 1.0,
              DType dtype = DType::f32);
/// Normal with mean 0 and variance 1: sqrt(2) erf_inv(u) of u uniform in (-1, 1).
Array normal(const Key& key, const Shape& shape = {}, DType dtype = DType::f32,
             Where where = Where::here());
/// Integers in low <= i < high, nearly uniform: of twice the bits of the type, the remainder. low
/// and high fit the shape by broadcasting. Throws DtypeError when dtype is not an integer, or
/// cannot hold low and high - 1, ShapeError when a bound does not fit.
Array randint(const Key& key, const Shape& shape, Operand low, Operand high,
              DType dtype = DType::i32);

}  // namespace sturnus
