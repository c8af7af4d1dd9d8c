#include <sturnus/functional/evaluate.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/sobol.h>
#include <sturnus/runtime/host_random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "src/ops/random_words.h"
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

// The first of every dimension's: [count, dimensions].
Array first_directions(std::int64_t count, std::int64_t dimensions) {
  std::vector<std::uint32_t> all(static_cast<std::size_t>(count * dimensions));
  for (std::int64_t d = 0; d < dimensions; d++) {
    Directions v = directions_of(d);
    for (std::int64_t j = 0; j < count; j++) {
      all[static_cast<std::size_t>(j * dimensions + d)] = v[static_cast<std::size_t>(j)];
    }
  }
  return array(all, {count, dimensions});
}

// The exclusive or of the elements along an axis. Loops of single operations instead would be
// repeated by the compiler for every point.
struct XorOver {
  static constexpr std::string_view name = "xor_over";
  std::int64_t axis;
  ArrayType infer(const Arrays& x) const {
    return {x[0].dtype(), picked(x[0].shape(), complement(x[0].rank(), {axis}))};
  }
  Array jvp(const Arrays&, const Array&, const Arrays&) const { return {}; }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const {
    return make(XorOver{axis + 1}, x);
  }
  void lower(Emitter& emitter, const Node& node) const {
    DType dtype = node.types[0].dtype;
    std::string zero = emitter.constant("0", {dtype, {}});
    emitter.line(node, "reduce", {emitter.name_of(node.inputs[0]), zero},
                 {node.inputs[0].type(), {dtype, {}}}, emitter.binary_region("xor", dtype),
                 mlir_integers("dimensions", {axis}));
  }
};

// The exclusive or of those words, along `axis`, whose bit is set in `x`, which has 1 there.
Array combined(const Array& x, const Array& words, std::int64_t axis) {
  Shape one(static_cast<std::size_t>(words.rank()), 1);
  one[static_cast<std::size_t>(axis)] = words.shape()[static_cast<std::size_t>(axis)];
  Array bit = shift_right(x, iota(one, static_cast<int>(axis), DType::u32)) & 1;
  return make(XorOver{axis}, {bit * words});
}

// Each bit of a number also flips random lower bits, the same for all numbers of a dimension.
Array with_random_lower_bits(const Array& directions, const Key& key) {
  Shape shape = {1, word, directions.shape()[1]};
  Array own = shift_left(full(1, {DType::u32, {1, word, 1}}), iota({1, word, 1}, 1, DType::u32));
  Array flips = (bits(key, shape) & (own - 1)) | own;
  return combined(expand_dims(directions, 1), flips, 1);
}

// Points as numbers in [0, 1). Of what does not fit into the mantissa the rest is cut off: no
// number is rounded up to 1.
Array points(std::int64_t first, std::int64_t count, const Array& directions, const Array& shift,
             DType dtype) {
  Array index =
      iota({count, 1, 1}, 0, DType::u32) + full(static_cast<double>(first), {DType::u32, {}});
  Array gray = index ^ shift_right(index, 1);
  Array x = shift ^ combined(gray, expand_dims(directions, 0), 1);
  int mantissa = dtype == DType::f64 ? word : dtype == DType::f32 ? 24 : 8;
  return convert(shift_right(x, word - mantissa), dtype) * std::ldexp(1.0, -mantissa);
}

// Inputs: keys, u32[..., 2], and directions, u32[directions, dimensions].
struct ScrambledSobol {
  static constexpr std::string_view name = "scrambled_sobol";
  std::int64_t first, count;
  DType dtype;
  ArrayType infer(const Arrays& x) const {
    Shape shape(x[0].shape().begin(), x[0].shape().end() - 1);
    shape.push_back(count);
    shape.push_back(x[1].shape()[1]);
    return {dtype, shape};
  }
  Array jvp(const Arrays&, const Array&, const Arrays&) const { return {}; }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const { return make(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    bool real = dtype == DType::f32 || dtype == DType::f64;
    if (real && emitter.calls_host()) {
      return emitter.host_call(node, host_sobol_name, host_sobol_parameter(first));
    }
    const Array& directions = node.inputs[1];
    auto draw = [&](const Array& data) {
      auto [for_bits, for_shift] = split(Key{data});
      return points(first, count, with_random_lower_bits(directions, for_bits),
                    bits(for_shift, {directions.shape()[1]}), dtype);
    };
    const Array& keys = node.inputs[0];
    if (keys.rank() == 1) return emitter.expand(node, {draw(keys)});
    Array all = sturnus::vmap(draw)(reshape_to(keys, {keys.size() / 2, 2}));
    emitter.expand(node, {reshape_to(all, node.types[0].shape)});
  }
};

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
  int used = std::min(word, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(end))));
  Array directions = first_directions(used, dimensions);
  if (key == nullptr) {
    return points(options.first, count, directions, zeros({dimensions}, DType::u32), options.dtype);
  }
  words_of("sobol", *key);
  return make(ScrambledSobol{options.first, count, options.dtype}, {key->data, directions});
}

}  // namespace
}  // namespace internal

using internal::as_one_program;
using internal::Blame;

Array sobol(std::int64_t count, std::int64_t dimensions, const SobolOptions& options, Where where) {
  Blame blame(where, "sobol");
  return as_one_program([&] { return internal::points(count, dimensions, options, nullptr); });
}

Array sobol(const Key& key, std::int64_t count, std::int64_t dimensions,
            const SobolOptions& options, Where where) {
  Blame blame(where, "sobol");
  return as_one_program([&] { return internal::points(count, dimensions, options, &key); });
}

}  // namespace sturnus
