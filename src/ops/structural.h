// The structs of the ops that move elements about, for the rules of other ops.
// Strict forms: shapes must fit exactly. The functions that users call are in shape.h.
#pragma once

#include <sturnus/functional/op.h>

#include <optional>
#include <string>
#include <string_view>

#include "src/ops/axes.h"

namespace sturnus::internal {

/// Axis i of the input is axis axes[i] of the result; the result is constant along its other axes.
struct Broadcast {
  static constexpr std::string_view name = "broadcast", hlo = "broadcast_in_dim";
  Shape shape;
  Axes axes;
  std::string attributes() const { return mlir_integers("broadcast_dimensions", axes); }
  ArrayType infer(const Arrays& x) const;
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const;
  Array transpose(const Array& ct, const Arrays& x, const Mask& linear) const;
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
};

struct Reshape {
  static constexpr std::string_view name = "reshape", hlo = "reshape";
  Shape shape;
  ArrayType infer(const Arrays& x) const;
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const;
  Array transpose(const Array& ct, const Arrays& x, const Mask& linear) const;
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
};

/// Axis i of the result is axis permutation[i] of the input.
struct Permute {
  static constexpr std::string_view name = "transpose", hlo = "transpose";
  Axes permutation;
  std::string attributes() const { return mlir_integers("permutation", permutation); }
  ArrayType infer(const Arrays& x) const;
  Array simplify(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const;
  Array transpose(const Array& ct, const Arrays& x, const Mask& linear) const;
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
};

/// Sums of so few terms XLA's CPU compiler does on the way to others, without a kernel.
inline constexpr std::int64_t few_elements = 4096;

inline Array zeros_of(const ArrayType& type) { return full(0, type); }
inline Array ones_of(const ArrayType& type) { return full(1, type); }
Array broadcast(const Array& x, Shape shape, Axes axes);
Array reshape_to(const Array& x, Shape shape);
Array permute(const Array& x, Axes permutation);
/// Sums over `axes`, which disappear.
Array sum_over(const Array& x, Axes axes);
/// dynamic_slice and dynamic_update_slice at starts of one type, none of them negative; x[i].
Array part_at(const Array& x, const Arrays& start, const Shape& sizes);
Array update_at(const Array& x, const Array& part, const Arrays& start);
Array row_at(const Array& x, const Array& i);
/// Neighbouring columns of a matrix.
struct Columns {
  Array matrix;
  std::int64_t first;
};
/// The columns that x is, if it is that: perhaps reshaped, but its elements are those of the first
/// row's columns, then of the second's, and so on.
std::optional<Columns> as_columns(const Array& x);
/// x itself when it is mapped, else x repeated along a new axis 0.
Array with_mapped_axis(const Array& x, bool mapped, std::int64_t n);
/// Coefficient k of the product of two series: the sum of a_i b_(k-i).
Array product_coefficient(const Series& a, const Series& b, std::size_t k,
                          const std::function<Array(const Array&, const Array&)>& product);
/// Passes values on as they are, and keeps the compiler from merging what is computed from them
/// with what is computed from `x` itself. StableHLO: optimization_barrier.
Arrays barrier(const Arrays& x);
/// Negative positions along an axis, counted from its end.
Array wrapped_index(const Array& indices, std::int64_t extent);
/// The sum of two tangents, of which each may be zero (null).
Array add_tangents(const Array& a, const Array& b);

}  // namespace sturnus::internal
