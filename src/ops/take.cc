#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/gather.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/take.h>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {

Array wrapped_index(const Array& indices, std::int64_t extent) {
  // The larger half of u64 is no i64, but beyond the end in any case.
  if (indices.dtype() == DType::u64) return converted(minimum(indices, extent), DType::i64);
  if (indices.dtype() > DType::i64) return indices;  // unsigned
  bool fits = Number(extent).fits(indices.dtype());
  Array wide = fits ? indices : converted(indices, DType::i64);
  Array from_end = wide + full(extent, wide.type());
  return select(wide < zeros_of(wide.type()), from_end, wide);
}

}  // namespace internal

using internal::Axes;
using internal::Blame;

namespace {

Array checked_indices(std::string_view function, const Array& indices) {
  if (is_integer(indices.dtype())) return indices;
  throw DtypeError(internal::message(
      function, "the indices are " + indices.type().str() + ", but must be integers",
      "Choose with where when they are a mask"));
}

}  // namespace

Array take(Operand operand, Operand positions, int axis) {
  Blame blame(operand.where, "take");
  Array x = internal::to_array(operand);
  Array indices = checked_indices("take", internal::to_array(positions));
  std::int64_t at = internal::checked_axis("take", x.type(), axis);
  std::int64_t extent = x.shape()[static_cast<std::size_t>(at)];
  if (indices.size() > 0) internal::require_elements("take", x.type(), {at});
  Array wrapped = internal::wrapped_index(indices, extent);
  Shape sizes = x.shape();
  sizes[static_cast<std::size_t>(at)] = 1;
  GatherAxes axes{.collapsed = {at}, .start_map = {at}};
  for (std::int64_t i = 0; i + 1 < x.rank(); i++) {
    axes.offset.push_back(i < at ? i : i + indices.rank());
  }
  return gather(x, expand_dims(wrapped, -1), axes, sizes);
}

Array take_along_axis(Operand operand, const Array& positions, int axis) {
  Blame blame(operand.where, "take_along_axis");
  Array x = internal::to_array(operand);
  Array indices = checked_indices("take_along_axis", positions);
  if (indices.rank() != x.rank()) {
    throw ShapeError(internal::message(
        "take_along_axis",
        "the indices are " + indices.type().str() + ", the array is " + x.type().str(),
        "Give them as many axes"));
  }
  std::int64_t at = internal::checked_axis("take_along_axis", x.type(), axis);
  auto k = static_cast<std::size_t>(at);
  ArrayType x_rest = x.type(), indices_rest = indices.type();
  x_rest.shape[k] = indices_rest.shape[k] = 1;
  Shape x_shape = internal::broadcast_shapes("take_along_axis", x_rest, indices_rest);
  Shape indices_shape = x_shape;
  x_shape[k] = x.shape()[k];
  indices_shape[k] = indices.shape()[k];
  x = internal::broadcast_to_shape("take_along_axis", x, x_shape);
  indices = internal::broadcast_to_shape("take_along_axis", indices, indices_shape);
  Array wrapped = internal::wrapped_index(indices, x.shape()[k]);
  Axes others = internal::complement(x.rank(), {at});
  if (indices.size() == 0) return internal::zeros_of({x.dtype(), indices_shape});
  return gather(x, expand_dims(wrapped, -1),
                {.collapsed = {at}, .x_batch = others, .indices_batch = others, .start_map = {at}},
                Shape(x.shape().size(), 1));
}

Array one_hot(Operand positions, std::int64_t n, DType dtype) {
  Blame blame(positions.where, "one_hot");
  Array indices = checked_indices("one_hot", internal::to_array(positions));
  Shape shape = indices.shape();
  shape.push_back(n);
  internal::checked_shape("one_hot", shape);
  // In a type that counts to n: of u8 the columns 0 and 256 would be one.
  if (!Number(n).fits(indices.dtype())) indices = convert(indices, DType::i64);
  Array wide = internal::broadcast(indices, shape, internal::iota_axes(indices.rank()));
  return convert(wide == iota(shape, -1, indices.dtype()), dtype);
}

}  // namespace sturnus
