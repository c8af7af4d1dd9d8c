#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>

#include <algorithm>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {

using internal::Axes;
using internal::Blame;
using internal::checked_axis;
using internal::to_array;

namespace {

std::int64_t extent_of(const Array& x, std::int64_t axis) {
  return x.shape()[static_cast<std::size_t>(axis)];
}

// Elements start, ..., stop - 1 along one axis.
Array range(const Array& x, std::int64_t axis, std::int64_t start, std::int64_t stop) {
  Axes from(x.shape().size()), to = x.shape();
  from[static_cast<std::size_t>(axis)] = start;
  to[static_cast<std::size_t>(axis)] = stop;
  return slice(x, from, to);
}

void require_matrices(std::string_view function, const Array& x) {
  if (x.rank() >= 2) return;
  throw ShapeError(internal::message(function,
                                     x.type().str() + " is not a matrix or a stack of them",
                                     "The last two axes are rows and columns"));
}

// column - row in the last two axes.
Array distance_from_diagonal(std::string_view function, const Array& x) {
  require_matrices(function, x);
  auto last = static_cast<int>(x.rank()) - 1;
  Array column = iota(x.shape(), last), row = iota(x.shape(), last - 1);
  return column - row;
}

}  // namespace

Array ravel(Operand x) {
  Blame blame(x.where, "ravel");
  return reshape(x, {-1});
}

Array moveaxis(Operand operand, int from, int to) {
  Blame blame(operand.where, "moveaxis");
  Array x = to_array(operand);
  std::int64_t source = checked_axis("moveaxis", x.type(), from);
  std::int64_t target = checked_axis("moveaxis", x.type(), to);
  Axes order = internal::complement(x.rank(), {source});
  order.insert(order.begin() + target, source);
  return internal::permute(x, order);
}

Arrays split(Operand operand, std::int64_t count, int axis) {
  Blame blame(operand.where, "split");
  Array x = to_array(operand);
  std::int64_t along = checked_axis("split", x.type(), axis);
  std::int64_t extent = extent_of(x, along);
  if (count < 1 || extent % count != 0) {
    throw ShapeError(internal::message("split",
                                       "axis " + std::to_string(along) + " of " + x.type().str() +
                                           " has no " + std::to_string(count) + " equal parts",
                                       "Give the positions at which to split instead"));
  }
  Axes at;
  for (std::int64_t i = 1; i < count; i++) at.push_back(i * (extent / count));
  return split(x, at, axis);
}

Arrays split(Operand operand, const std::vector<std::int64_t>& at, int axis) {
  Blame blame(operand.where, "split");
  Array x = to_array(operand);
  std::int64_t along = checked_axis("split", x.type(), axis);
  Arrays parts;
  std::int64_t start = 0;
  for (std::int64_t stop : at) {
    parts.push_back(range(x, along, start, stop));
    start = stop;
  }
  parts.push_back(range(x, along, start, extent_of(x, along)));
  return parts;
}

Array roll(Operand operand, std::int64_t shift, int axis) {
  Blame blame(operand.where, "roll");
  Array x = to_array(operand);
  std::int64_t along = checked_axis("roll", x.type(), axis), extent = extent_of(x, along);
  if (extent == 0) return x;
  std::int64_t front = ((shift % extent) + extent) % extent;
  if (front == 0) return x;
  Array last = range(x, along, extent - front, extent);
  Array first = range(x, along, 0, extent - front);
  return concatenate({last, first}, axis);
}

Array tile(Operand operand, std::vector<std::int64_t> counts) {
  Blame blame(operand.where, "tile");
  Array x = to_array(operand);
  auto rank = std::max(x.shape().size(), counts.size());
  counts.insert(counts.begin(), rank - counts.size(), 1);
  Shape shape = x.shape();
  shape.insert(shape.begin(), rank - shape.size(), 1);
  // Axis i becomes a pair: the repetitions, then the elements.
  Shape pairs, result;
  Axes elements;
  for (std::size_t i = 0; i < rank; i++) {
    if (counts[i] < 0) {
      throw ShapeError(internal::message(
          "tile",
          x.type().str() + " cannot be repeated " + internal::print_field(counts) + " times",
          "Give counts of 0 or more"));
    }
    elements.push_back(static_cast<std::int64_t>(pairs.size()) + 1);
    pairs.insert(pairs.end(), {counts[i], shape[i]});
    result.push_back(internal::extent_product(counts[i], shape[i]));
  }
  internal::checked_shape("tile", result);
  Array wide = internal::broadcast(internal::reshape_to(x, shape), pairs, elements);
  return internal::reshape_to(wide, result);
}

Array repeat(Operand operand, std::int64_t count, int axis) {
  Blame blame(operand.where, "repeat");
  Array x = to_array(operand);
  std::int64_t along = checked_axis("repeat", x.type(), axis);
  if (count < 0) {
    throw ShapeError(internal::message(
        "repeat", x.type().str() + " cannot be repeated " + std::to_string(count) + " times",
        "Give a count of 0 or more"));
  }
  Shape wide = x.shape(), result = x.shape();
  wide.insert(wide.begin() + along + 1, count);
  std::int64_t& extent = result[static_cast<std::size_t>(along)];
  extent = internal::extent_product(extent, count);
  internal::checked_shape("repeat", result);
  Axes axes = internal::complement(x.rank() + 1, {along + 1});
  return internal::reshape_to(internal::broadcast(x, wide, axes), result);
}

Array vstack(const Arrays& arrays, Where where) {
  Blame blame(where, "vstack");
  Arrays rows;
  for (const Array& array : arrays) {
    rows.push_back(array.rank() < 2 ? reshape(array, {1, array.size()}) : array);
  }
  return concatenate(rows, 0);
}

Array hstack(const Arrays& arrays, Where where) {
  Blame blame(where, "hstack");
  Arrays parts;
  for (const Array& array : arrays) parts.push_back(array.rank() == 0 ? ravel(array) : array);
  return concatenate(parts, !parts.empty() && parts[0].rank() > 1 ? 1 : 0);
}

Array diagonal(Operand operand, int offset) {
  Blame blame(operand.where, "diagonal");
  Array x = to_array(operand);
  require_matrices("diagonal", x);
  std::int64_t row_axis = x.rank() - 2, column_axis = x.rank() - 1;
  std::int64_t first_row = std::max(-offset, 0), first_column = std::max(offset, 0);
  std::int64_t rows = extent_of(x, row_axis) - first_row;
  std::int64_t columns = extent_of(x, column_axis) - first_column;
  std::int64_t count = std::max<std::int64_t>(std::min(rows, columns), 0);
  Shape kept(x.shape().begin(), x.shape().end() - 1);
  kept.back() = count;
  if (count == 0) return internal::zeros_of({x.dtype(), kept});
  // In a square block, laid out in a row, the elements of the diagonal are count + 1 apart.
  Array square = range(x, row_axis, first_row, first_row + count);
  square = range(square, column_axis, first_column, first_column + count);
  Shape flat = kept;
  flat.back() = count * count;
  Array row = internal::reshape_to(square, flat);
  Axes start(flat.size()), step(flat.size(), 1);
  step.back() = count + 1;
  return slice(row, start, flat, step);
}

Array diag(Operand operand, int offset) {
  Blame blame(operand.where, "diag");
  Array x = to_array(operand);
  if (x.rank() != 1) {
    throw ShapeError(internal::message("diag", x.type().str() + " is not a vector",
                                       "For the diagonal of a matrix use diagonal"));
  }
  std::int64_t low = std::max(-offset, 0), high = std::max(offset, 0);
  std::int64_t n = x.size() + low + high;
  Array rows = pad(x, Array(0.0, x.dtype()), {low}, {high});
  Array wide = internal::broadcast(rows, {n, n}, {0});
  Array at = distance_from_diagonal("diag", wide) == offset;
  return where(at, wide, internal::zeros_of(wide.type()));
}

Array trace(Operand x) {
  Blame blame(x.where, "trace");
  require_matrices("trace", to_array(x));
  return sum(diagonal(x), -1);
}

Array tril(Operand operand, int offset) {
  Blame blame(operand.where, "tril");
  Array x = to_array(operand);
  Array kept = distance_from_diagonal("tril", x) <= offset;
  return where(kept, x, internal::zeros_of(x.type()));
}

Array triu(Operand operand, int offset) {
  Blame blame(operand.where, "triu");
  Array x = to_array(operand);
  Array kept = distance_from_diagonal("triu", x) >= offset;
  return where(kept, x, internal::zeros_of(x.type()));
}

Arrays meshgrid(const Arrays& vectors, Where where) {
  Blame blame(where, "meshgrid");
  Shape shape;
  for (const Array& vector : vectors) {
    if (vector.rank() != 1) {
      throw ShapeError(internal::message("meshgrid", vector.type().str() + " is not a vector",
                                         "Give one vector for each axis of the grid"));
    }
    shape.push_back(vector.size());
  }
  Arrays grids;
  for (std::size_t i = 0; i < vectors.size(); i++) {
    grids.push_back(internal::broadcast(vectors[i], shape, {static_cast<std::int64_t>(i)}));
  }
  return grids;
}

}  // namespace sturnus
