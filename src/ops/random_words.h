// From the words of the generator to numbers, element by element: for distributions that draw as
// often as they need, each element under its own key.
#pragma once

#include <sturnus/ops/random.h>

#include <string_view>

#include "src/ops/threefry.h"

namespace sturnus::internal {

/// The words of a key. Throws ShapeError when it is a stack of keys.
Words words_of(std::string_view function, const Key& key);
/// The hashes of 0, 1, ... in row-major order under the key; also one new key for each element.
Words hashed_positions(std::string_view function, const Key& key, const Shape& shape);
/// The hashes of one number under each key.
Words hashed_number(const Words& keys, const Array& number);

/// Throws DtypeError in the name of `function` when numbers of another type are asked for.
void check_floating(std::string_view function, DType dtype);
/// Both words as one unsigned integer. Throws DtypeError when dtype is not one.
Array joined_words(const Words& words, DType dtype);
/// Uniform in 0 <= x < 1, floating point.
Array unit_uniform(const Words& words, DType dtype);
/// Normal with mean 0 and variance 1.
Array unit_normal(const Words& words, DType dtype);
/// a + (b - a) u, below b.
Array between(const Array& a, const Array& b, const Array& unit);

}  // namespace sturnus::internal
