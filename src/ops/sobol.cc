#include <sturnus/functional/evaluate.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/sobol.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "src/ops/sobol_directions.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

constexpr int word = 32;
constexpr auto most_dimensions = static_cast<std::int64_t>(sobol_dimensions.size()) + 1;

// Bit j of the index flips the bits directions[j] of the point.
using Directions = std::array<std::uint32_t, word>;

Directions directions_of(std::int64_t dimension) {
  Directions v;
  if (dimension == 0) {
    for (int j = 0; j < word; j++) v[static_cast<std::size_t>(j)] = 1u << (word - 1 - j);
    return v;
  }
  const SobolDimension& row = sobol_dimensions[static_cast<std::size_t>(dimension) - 1];
  std::size_t degree = static_cast<std::size_t>(std::bit_width(row.polynomial)) - 1;
  for (std::size_t j = 0; j < v.size(); j++) {
    if (j < degree) {
      v[j] = row.first[j] << (word - 1 - j);
      continue;
    }
    v[j] = v[j - degree] ^ (v[j - degree] >> degree);
    for (std::size_t k = 1; k < degree; k++) {
      if ((row.polynomial >> (degree - k)) & 1u) v[j] ^= v[j - k];
    }
  }
  return v;
}

// [32, dimensions]
Array all_directions(std::int64_t dimensions) {
  std::vector<std::uint32_t> all(static_cast<std::size_t>(word * dimensions));
  for (std::int64_t d = 0; d < dimensions; d++) {
    Directions v = directions_of(d);
    for (std::int64_t j = 0; j < word; j++) {
      all[static_cast<std::size_t>(j * dimensions + d)] = v[static_cast<std::size_t>(j)];
    }
  }
  return array(all, {word, dimensions});
}

// Bit `i` of each element, counted from the lowest, as 0 or 1.
Array bit_of(const Array& x, int i) { return shift_right(x, i) & 1; }

// Each bit of a number also flips random lower bits, the same for all numbers of a dimension.
Array with_random_lower_bits(const Array& directions, const Key& key) {
  std::int64_t dimensions = directions.shape()[1];
  Array random = bits(key, {word, dimensions});
  Array result = zeros_of(directions.type());
  for (int i = 0; i < word; i++) {
    Array row = slice(random, {i, 0}, {i + 1, dimensions});
    double own = std::ldexp(1.0, i);
    Array flips = (row & full(own - 1, row.type())) | full(own, row.type());
    result = result ^ (bit_of(directions, i) * flips);
  }
  return result;
}

Array points(std::int64_t count, std::int64_t dimensions, const SobolOptions& options,
             const Key* key) {
  ArrayType type{options.dtype, checked_shape("sobol", {count, dimensions})};
  std::int64_t end = options.first + count;
  if (dimensions > most_dimensions || options.first < 0 || end > (std::int64_t{1} << word)) {
    throw ShapeError(message(
        "sobol",
        "points " + std::to_string(options.first) + " to " + std::to_string(end) + " in " +
            std::to_string(dimensions) + " dimensions",
        "There are 2^32 points in up to " + std::to_string(most_dimensions) + " dimensions"));
  }
  if (!is_floating(options.dtype)) {
    throw DtypeError(
        message("sobol",
                "points of type " + std::string(name_of(options.dtype)) + " are not floating point",
                "Ask for f32 or f64"));
  }
  Array directions = all_directions(dimensions);
  Array shift = zeros({dimensions}, DType::u32);
  if (key != nullptr) {
    auto [for_bits, for_shift] = split(*key);
    directions = with_random_lower_bits(directions, for_bits);
    shift = bits(for_shift, {dimensions});
  }
  Array index =
      iota({count, 1}, 0, DType::u32) + full(static_cast<double>(options.first), {DType::u32, {}});
  Array gray = index ^ shift_right(index, 1);
  Array x = broadcast_to(shift, type.shape);
  int used = std::min(word, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(end))));
  for (int j = 0; j < used; j++) {
    x = x ^ (bit_of(gray, j) * slice(directions, {j, 0}, {j + 1, dimensions}));
  }
  // Of what does not fit into the mantissa the rest is cut off: no number is rounded up to 1.
  int mantissa = options.dtype == DType::f64 ? word : options.dtype == DType::f32 ? 24 : 8;
  return convert(shift_right(x, word - mantissa), options.dtype) * std::ldexp(1.0, -mantissa);
}

}  // namespace
}  // namespace internal

using internal::as_one_program;
using internal::Blame;

Array sobol(std::int64_t count, std::int64_t dimensions, const SobolOptions& options, Where where) {
  Blame blame(where);
  return as_one_program([&] { return internal::points(count, dimensions, options, nullptr); });
}

Array sobol(const Key& key, std::int64_t count, std::int64_t dimensions,
            const SobolOptions& options, Where where) {
  Blame blame(where);
  return as_one_program([&] { return internal::points(count, dimensions, options, &key); });
}

}  // namespace sturnus
