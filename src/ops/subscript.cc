#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/gather.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>

#include <algorithm>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

// What subscripts mean for an array: first a box is cut out by constant numbers, then integer
// arrays choose within it.
struct Part {
  Axes start, stop, step;  // the box, one entry per axis, steps positive
  Axes backwards;          // axes of the box that are reversed
  Shape box;               // its shape without the axes of single positions
  Axes chosen;             // axes of `box` along which arrays choose ...
  Arrays positions;        // ... these, broadcast to one shape
  std::int64_t front = 0;  // where the axes of the arrays stand in the result
  Shape result;            // the shape, with new axes

  GatherAxes axes() const {
    GatherAxes all{.collapsed = chosen, .start_map = chosen};
    std::int64_t inserted = positions[0].rank();
    auto others = static_cast<std::int64_t>(box.size() - chosen.size());
    for (std::int64_t i = 0; i < others; i++) {
      all.offset.push_back(i < front ? i : i + inserted);
    }
    return all;
  }
  Shape sizes() const {
    Shape all = box;
    for (std::int64_t axis : chosen) all[static_cast<std::size_t>(axis)] = 1;
    return all;
  }
  Array indices() const { return stack(positions, -1); }
  // One slice only: there is nothing to overlap.
  IndexFacts facts() const { return {.unique = positions[0].rank() == 0}; }
};

[[noreturn]] void fail(const Array& x, const std::string& what, const std::string& remedy) {
  throw ShapeError(message("subscript", what + " of " + x.type().str(), remedy));
}

// Replaces the ellipsis by whole axes, and adds those that are missing at the end.
std::vector<Index> completed(const Array& x, const std::vector<Index>& subscripts) {
  std::int64_t named = 0, ellipses = 0;
  for (const Index& index : subscripts) {
    if (index.kind == Index::Kind::ellipsis)
      ellipses++;
    else if (index.kind != Index::Kind::new_axis)
      named++;
  }
  if (ellipses > 1) fail(x, "more than one ellipsis in a subscript", "Write one");
  if (named > x.rank()) {
    fail(x, std::to_string(named) + " subscripts for the " + std::to_string(x.rank()) + " axes",
         "Give no more than one per axis");
  }
  std::vector<Index> result;
  auto fill = [&] {
    result.insert(result.end(), static_cast<std::size_t>(x.rank() - named), Slice{});
  };
  for (const Index& index : subscripts) {
    if (index.kind == Index::Kind::ellipsis)
      fill();
    else
      result.push_back(index);
  }
  if (ellipses == 0) fill();
  return result;
}

// Cuts `slice` out of an axis as Python does.
void cut(const Array& x, Part& part, const Slice& slice, std::int64_t extent) {
  if (slice.step == 0) fail(x, "a step of 0 in a slice", "Give a step that moves");
  bool backwards = slice.step < 0;
  auto counted = [&](std::optional<std::int64_t> end, std::int64_t missing) {
    if (!end) return missing;
    std::int64_t from_start = *end < 0 ? *end + extent : *end;
    std::int64_t low = backwards ? -1 : 0;
    return std::clamp(from_start, low, extent + low);
  };
  std::int64_t first = counted(slice.start, backwards ? extent - 1 : 0);
  std::int64_t end = counted(slice.stop, backwards ? -1 : extent);
  std::int64_t step = std::abs(slice.step), distance = backwards ? first - end : end - first;
  std::int64_t count = distance > 0 ? (distance + step - 1) / step : 0;
  std::int64_t span = count == 0 ? 0 : (count - 1) * step + 1;
  std::int64_t start = count == 0 ? 0 : (backwards ? first - span + 1 : first);
  if (backwards) part.backwards.push_back(static_cast<std::int64_t>(part.start.size()));
  part.start.push_back(start);
  part.stop.push_back(start + span);
  part.step.push_back(step);
  part.box.push_back(count);
}

std::int64_t checked_position(const Array& x, std::int64_t position, std::size_t axis) {
  std::int64_t extent = x.shape()[axis];
  std::int64_t counted = position < 0 ? position + extent : position;
  if (counted >= 0 && counted < extent) return counted;
  fail(x, "position " + std::to_string(position) + " is outside of axis " + std::to_string(axis),
       extent == 0
           ? "It has no elements"
           : "Give one from " + std::to_string(-extent) + " to " + std::to_string(extent - 1));
}

Array checked_positions(const Array& indices) {
  if (is_integer(indices.dtype())) return indices;
  throw DtypeError(message("subscript",
                           "an array is " + indices.type().str() + ", but must be of integers",
                           "Choose with where when it is a mask"));
}

// Arrays of positions in one type and one shape, counted from the start.
void agree(const Array& x, Part& part) {
  ArrayType common{DType::i32, {}};
  auto extent_of = [&](std::size_t i) {
    return part.box[static_cast<std::size_t>(part.chosen[i])];
  };
  for (std::size_t i = 0; i < part.positions.size(); i++) {
    Array& indices = part.positions[i];
    indices = wrapped_index(indices, extent_of(i));
    common.dtype = promoted(common.dtype, indices.dtype());
    common.shape = broadcast_shapes("subscript", common, indices.type());
  }
  for (std::size_t i = 0; i < part.positions.size(); i++) {
    if (extent_of(i) == 0 && product(common.shape) > 0)
      fail(x, "a position within an empty axis", "Give the axis elements first");
    Array indices = converted(part.positions[i], common.dtype);
    part.positions[i] = broadcast_to_shape("subscript", indices, common.shape);
  }
}

Part resolve(const Array& x, const std::vector<Index>& subscripts) {
  Part part;
  Shape kept;                          // the result without the axes of the arrays
  std::vector<std::size_t> arrays_at;  // subscripts that are arrays or single positions
  std::size_t axis = 0;
  std::int64_t before_arrays = -1;
  std::vector<Index> all = completed(x, subscripts);
  for (std::size_t i = 0; i < all.size(); i++) {
    const Index& index = all[i];
    if (index.kind == Index::Kind::new_axis) {
      kept.push_back(1);
      continue;
    }
    std::int64_t extent = x.shape()[axis];
    if (index.kind == Index::Kind::slice) {
      cut(x, part, index.slice, extent);
      kept.push_back(part.box.back());
      axis++;
      continue;
    }
    if (before_arrays < 0) before_arrays = static_cast<std::int64_t>(kept.size());
    arrays_at.push_back(i);
    if (index.kind == Index::Kind::position) {
      std::int64_t at = checked_position(x, index.position, axis);
      part.start.push_back(at);
      part.stop.push_back(at + 1);
      part.step.push_back(1);
    } else {
      cut(x, part, Slice{}, extent);
      part.chosen.push_back(static_cast<std::int64_t>(part.box.size()) - 1);
      part.positions.push_back(checked_positions(index.array));
    }
    axis++;
  }
  part.result = kept;
  if (part.positions.empty()) return part;
  agree(x, part);
  // NumPy's rule: arrays (and single positions beside them) that stand together stay in place.
  bool together = arrays_at.back() - arrays_at.front() + 1 == arrays_at.size();
  std::int64_t insert = together ? before_arrays : 0;
  const Shape& inserted = part.positions[0].shape();
  part.result.insert(part.result.begin() + insert, inserted.begin(), inserted.end());
  // New axes are not there yet when the arrays choose.
  auto new_before =
      std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(arrays_at[0]),
                    [](const Index& index) { return index.kind == Index::Kind::new_axis; });
  part.front = together ? insert - new_before : 0;
  return part;
}

Array read_box(const Array& x, const Part& part) {
  Array box = slice(x, part.start, part.stop, part.step);
  if (!part.backwards.empty()) box = flip(box, part.backwards);
  return reshape_to(box, part.box);
}

Array read(const Array& x, const Part& part) {
  Array box = read_box(x, part);
  if (!part.positions.empty()) box = gather(box, part.indices(), part.axes(), part.sizes());
  return reshape_to(box, part.result);
}

// x with its box replaced.
Array write_box(const Array& x, const Part& part, const Array& box) {
  Shape shape;
  bool dense = true;
  for (std::size_t i = 0; i < part.start.size(); i++) {
    std::int64_t span = part.stop[i] - part.start[i];
    shape.push_back((span + part.step[i] - 1) / part.step[i]);
    dense = dense && shape.back() == span;
  }
  Array values = reshape_to(box, shape);
  if (shape == x.shape() && part.backwards.empty()) return values;
  if (values.size() == 0) return x;
  if (!part.backwards.empty()) values = flip(values, part.backwards);
  if (dense) {
    auto wide = [](std::int64_t at) { return !Number(at).fits(DType::i32); };
    bool far = std::any_of(part.start.begin(), part.start.end(), wide);
    DType dtype = far ? DType::i64 : DType::i32;
    Arrays start;
    for (std::int64_t at : part.start) start.push_back(Array(at, dtype));
    return update_at(x, values, start);
  }
  Axes high, interior;
  for (std::size_t i = 0; i < shape.size(); i++) {
    high.push_back(x.shape()[i] - part.stop[i]);
    interior.push_back(part.step[i] - 1);
  }
  Array spread = pad(values, Array(0.0, x.dtype()), part.start, high, interior);
  Array written = pad(full(1, {DType::boolean, shape}), Array(false), part.start, high, interior);
  return where(written, spread, x);
}

Array combined(Combine combine, const Array& old, const Array& values) {
  switch (combine) {
    case Combine::add:
      return old + values;
    case Combine::multiply:
      return old * values;
    case Combine::max:
      return maximum(old, values);
    case Combine::min:
      return minimum(old, values);
    default:
      return values;
  }
}

Array update(const Array& x, const std::vector<Index>& subscripts, Combine combine,
             const Operand& operand) {
  Blame blame(subscripts[0].where);
  Part part = resolve(x, subscripts);
  Array values = converted(to_array("subscript", operand, x.dtype()), x.dtype());
  values = broadcast_to_shape("subscript", values, part.result);
  if (part.positions.empty()) {
    values = reshape_to(values, part.box);
    if (combine != Combine::set) values = combined(combine, read_box(x, part), values);
    return write_box(x, part, values);
  }
  Array box = read_box(x, part);
  Array indices = part.indices();
  Shape shape = part.positions[0].shape();
  Shape others =
      picked(part.box, complement(static_cast<std::int64_t>(part.box.size()), part.chosen));
  others.insert(others.begin() + part.front, shape.begin(), shape.end());
  Array written =
      scatter(box, indices, reshape_to(values, others), part.axes(), combine, part.facts());
  return write_box(x, part, written);
}

}  // namespace
}  // namespace internal

Array Array::operator[](const Index& index) const { return At(*this, {index}).get(); }

Array At::get() const {
  internal::Blame blame(subscripts_[0].where);
  return internal::read(x_, internal::resolve(x_, subscripts_));
}

Array At::set(Operand values) const {
  return internal::update(x_, subscripts_, Combine::set, values);
}
Array At::add(Operand values) const {
  return internal::update(x_, subscripts_, Combine::add, values);
}
Array At::multiply(Operand values) const {
  return internal::update(x_, subscripts_, Combine::multiply, values);
}
Array At::max(Operand values) const {
  return internal::update(x_, subscripts_, Combine::max, values);
}
Array At::min(Operand values) const {
  return internal::update(x_, subscripts_, Combine::min, values);
}

}  // namespace sturnus
