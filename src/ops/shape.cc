#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>
#include <sturnus/runtime/host_columns.h>

#include <algorithm>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

struct Concatenate {
  static constexpr std::string_view name = "concatenate", hlo = "concatenate";
  std::int64_t axis;

  std::string attributes() const { return mlir_integer("dimension", axis); }
  ArrayType infer(const Arrays& x) const {
    auto at = static_cast<std::size_t>(axis);
    ArrayType rest = x[0].type();
    rest.shape[at] = 0;
    std::int64_t extent = 0;
    for (const Array& part : x) {
      ArrayType other = part.type();
      if (other.shape.size() == rest.shape.size()) {
        extent = extent_sum(extent, std::exchange(other.shape[at], 0));
      }
      if (other != rest) {
        throw ShapeError(message("concatenate",
                                 x[0].type().str() + " and " + part.type().str() +
                                     " differ in more than axis " + std::to_string(axis),
                                 "Make the other extents equal"));
      }
    }
    rest.shape[at] = extent;
    checked_shape("concatenate", rest.shape);
    return rest;
  }
  Array simplify(const Arrays& x) const {
    if (x.size() == 1) return x[0];
    auto* first = as<Permute>(x[0]);
    if (first == nullptr) return {};
    Arrays inner;
    for (const Array& part : x) {
      auto* same = as<Permute>(part);
      if (same == nullptr || same->permutation != first->permutation) return {};
      inner.push_back(part.node()->inputs[0]);
    }
    Concatenate moved{first->permutation[static_cast<std::size_t>(axis)]};
    return permute(make(moved, inner), first->permutation);
  }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Arrays tangents;
    for (std::size_t i = 0; i < x.size(); i++) {
      tangents.push_back(dx[i].empty() ? zeros_of(x[i].type()) : dx[i]);
    }
    return make(*this, tangents);
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const {
    Arrays parts(x.size());
    Axes start(static_cast<std::size_t>(ct.rank())), stop = ct.shape();
    auto at = static_cast<std::size_t>(axis);
    stop[at] = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
      start[at] = stop[at];
      stop[at] += x[i].shape()[at];
      if (linear[i]) parts[i] = slice(ct, start, stop);
    }
    return parts;
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return make(Concatenate{axis + 1}, wide);
  }
};

struct Slice {
  static constexpr std::string_view name = "slice", hlo = "slice";
  Axes start, stop, step;

  std::string attributes() const {
    return mlir_integers("start_indices", start) + ", " + mlir_integers("limit_indices", stop) +
           ", " + mlir_integers("strides", step);
  }
  ArrayType infer(const Arrays& x) const {
    ArrayType type = x[0].type();
    for (std::size_t i = 0; i < start.size(); i++) {
      if (start[i] < 0 || stop[i] < start[i] || stop[i] > type.shape[i] || step[i] < 1) {
        throw ShapeError(message("slice",
                                 std::to_string(start[i]) + " to " + std::to_string(stop[i]) +
                                     " by " + std::to_string(step[i]) + " is not within axis " +
                                     std::to_string(i) + " of " + x[0].type().str(),
                                 "Give 0 <= start <= stop <= extent and a step of 1 or more"));
      }
      type.shape[i] = (stop[i] - start[i] + step[i] - 1) / step[i];
    }
    return type;
  }
  Array simplify(const Arrays& x) const {
    ArrayType type = infer(x);
    if (type.shape == x[0].shape()) return x[0];
    if (auto value = splat(x[0])) return full(*value, type);
    if (auto* inner = as<Permute>(x[0])) {
      Axes back = inverse(inner->permutation);
      Slice moved{picked(start, back), picked(stop, back), picked(step, back)};
      return permute(make(moved, {x[0].node()->inputs[0]}), inner->permutation);
    }
    return {};
  }
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const { return make(*this, {dx[0]}); }
  Array transpose(const Array& ct, const Arrays& x, const Mask&) const {
    Axes high, interior;
    for (std::size_t i = 0; i < start.size(); i++) {
      interior.push_back(step[i] - 1);
      std::int64_t used = ct.shape()[i] == 0 ? 0 : (ct.shape()[i] - 1) * step[i] + 1;
      high.push_back(x[0].shape()[i] - start[i] - used);
    }
    return pad(ct, Array(0.0, ct.dtype()), start, high, interior);
  }
  Array batch(const Arrays& x, const Mask&, std::int64_t n) const {
    return make(Slice{prepended(0, start), prepended(n, stop), prepended(1, step)}, x);
  }
  void lower(Emitter& emitter, const Node& node) const {
    if (emitter.calls_host() && few_of_long_rows(node.inputs[0].type(), node.types[0])) {
      return emitter.host_call(node, host_columns_name, host_columns_parameter(start[1]));
    }
    emitter.line(node, hlo, attributes());
  }

 private:
  // Neighbouring columns of all rows, such as one layer's biases of all parameters. In a small
  // program the call would take longer than what it saves.
  bool few_of_long_rows(const ArrayType& whole, const ArrayType& part) const {
    constexpr std::int64_t large = 1 << 18, long_row = 8192;
    return whole.shape.size() == 2 && part.shape[0] == whole.shape[0] && step[1] == 1 &&
           whole.size() >= large && whole.shape[1] >= long_row && part.size() <= few_elements;
  }
};

struct Pad {
  static constexpr std::string_view name = "pad", hlo = "pad";
  Axes low, high, interior;

  std::string attributes() const {
    return mlir_integers("edge_padding_low", low) + ", " +
           mlir_integers("edge_padding_high", high) + ", " +
           mlir_integers("interior_padding", interior);
  }
  ArrayType infer(const Arrays& x) const {
    ArrayType type = x[0].type();
    for (std::size_t i = 0; i < low.size(); i++) {
      std::int64_t gaps = std::max<std::int64_t>(type.shape[i] - 1, 0);
      std::int64_t around = extent_sum(low[i], high[i]);
      std::int64_t added = extent_sum(around, extent_product(gaps, interior[i]));
      type.shape[i] = extent_sum(type.shape[i], added);
      if (type.shape[i] < 0 || interior[i] < 0) {
        throw ShapeError(message("pad",
                                 "axis " + std::to_string(i) + " of " + x[0].type().str() +
                                     " would have " + std::to_string(type.shape[i]) +
                                     " elements, with " + std::to_string(interior[i]) +
                                     " between neighbours",
                                 "Cut off no more than there is, and put 0 or more between"));
      }
    }
    checked_shape("pad", type.shape);
    return type;
  }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Array inside = dx[0].empty() ? zeros_of(x[0].type()) : dx[0];
    Array around = dx[1].empty() ? zeros_of(x[1].type()) : dx[1];
    return make(*this, {inside, around});
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const {
    Arrays result(2);
    Array zero = zeros_of(x[1].type());
    // Cutting off what was added gives back the inside; what is left of the sum lay around it.
    Axes cut_low, cut_high, none(low.size(), 0), steps;
    for (std::size_t i = 0; i < low.size(); i++) {
      cut_low.push_back(-low[i]);
      cut_high.push_back(-high[i]);
      steps.push_back(interior[i] + 1);
    }
    Array inside = make(Pad{cut_low, cut_high, none}, {ct, zero});
    inside = slice(inside, none, inside.shape(), steps);
    if (linear[0]) result[0] = inside;
    if (linear[1]) {
      Array all = sum_over(ct, iota_axes(ct.rank()));
      result[1] = all - sum_over(inside, iota_axes(inside.rank()));
    }
    return result;
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    if (!mapped[1]) {
      return make(Pad{prepended(0, low), prepended(0, high), prepended(0, interior)}, x);
    }
    // A different value around each: pad a mask too, and choose.
    Array inside = with_mapped_axis(x[0], mapped[0], n);
    Pad wide{prepended(0, low), prepended(0, high), prepended(0, interior)};
    Array padded = make(wide, {inside, Array(0.0, inside.dtype())});
    Array is_inside = make(wide, {full(1, {DType::boolean, inside.shape()}), Array(false)});
    return where(is_inside, padded, broadcast(x[1], padded.shape(), {0}));
  }
};

struct Reverse {
  static constexpr std::string_view name = "reverse", hlo = "reverse";
  Axes axes;
  std::string attributes() const { return mlir_integers("dimensions", axes); }
  ArrayType infer(const Arrays& x) const { return x[0].type(); }
  Array jvp(const Arrays&, const Array&, const Arrays& dx) const { return make(*this, {dx[0]}); }
  Array transpose(const Array& ct, const Arrays&, const Mask&) const { return make(*this, {ct}); }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const {
    return make(Reverse{shifted(axes, 1)}, x);
  }
};

}  // namespace

std::optional<Columns> as_columns(const Array& x) {
  const Array& part = as<Reshape>(x) != nullptr ? x.node()->inputs[0] : x;
  auto* cut = as<Slice>(part);
  if (cut == nullptr || part.rank() != 2) return {};
  const Array& matrix = part.node()->inputs[0];
  bool all_rows = cut->start[0] == 0 && cut->stop[0] == matrix.shape()[0];
  if (!all_rows || cut->step != Axes{1, 1}) return {};
  return Columns{matrix, cut->start[1]};
}

}  // namespace internal

using internal::Axes;
using internal::Blame;
using internal::to_array;

Array reshape(Operand operand, Shape shape) {
  Blame blame(operand.where, "reshape");
  Array x = to_array(operand);
  Shape full = shape;
  if (auto open = std::find(full.begin(), full.end(), -1); open != full.end()) {
    *open = 1;
    std::int64_t rest = internal::product(full);
    *open = rest > 0 ? x.size() / rest : 0;
  }
  bool negative = std::any_of(full.begin(), full.end(), [](std::int64_t n) { return n < 0; });
  if (negative || internal::product(full) != x.size()) {
    std::string count = std::to_string(x.size());
    throw ShapeError(internal::message(
        "reshape",
        x.type().str() + " has " + count + " elements, which do not fill the shape " +
            internal::print_field(shape),
        "The product of the extents must be " + count + "; one of them may be -1, the rest"));
  }
  internal::checked_shape("reshape", full);
  return internal::reshape_to(x, full);
}

Array transpose(Operand operand, std::vector<std::int64_t> permutation) {
  Blame blame(operand.where, "transpose");
  Array x = to_array(operand);
  if (permutation.empty()) {
    permutation = internal::iota_axes(x.rank());
    std::reverse(permutation.begin(), permutation.end());
  }
  for (std::int64_t& axis : permutation) {
    axis = internal::checked_axis("transpose", x.type(), axis);
  }
  Axes sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != internal::iota_axes(x.rank())) {
    throw ShapeError(internal::message("transpose",
                                       internal::print_field(permutation) +
                                           " is not a permutation of the axes of " + x.type().str(),
                                       "Name each axis once"));
  }
  return internal::permute(x, permutation);
}

Array swapaxes(Operand operand, int a, int b) {
  Blame blame(operand.where, "swapaxes");
  Array x = to_array(operand);
  Axes permutation = internal::iota_axes(x.rank());
  auto i = static_cast<std::size_t>(internal::checked_axis("swapaxes", x.type(), a));
  auto j = static_cast<std::size_t>(internal::checked_axis("swapaxes", x.type(), b));
  std::swap(permutation[i], permutation[j]);
  return internal::permute(x, permutation);
}

Array broadcast_to(Operand x, const Shape& shape) {
  Blame blame(x.where, "broadcast_to");
  internal::checked_shape("broadcast_to", shape);
  return internal::broadcast_to_shape("broadcast_to", to_array(x), shape);
}

Array expand_dims(Operand operand, int axis) {
  Blame blame(operand.where, "expand_dims");
  Array x = to_array(operand);
  Shape shape = x.shape();
  std::int64_t last = x.rank(), at = axis < 0 ? axis + last + 1 : axis;
  if (at < 0 || at > last) {
    throw ShapeError(internal::message(
        "expand_dims",
        "there is no position " + std::to_string(axis) + " for a new axis of " + x.type().str(),
        "Name one from " + std::to_string(-last - 1) + " to " + std::to_string(last)));
  }
  shape.insert(shape.begin() + at, 1);
  return internal::reshape_to(x, shape);
}

Array squeeze(Operand operand, std::vector<std::int64_t> axes) {
  Blame blame(operand.where, "squeeze");
  Array x = to_array(operand);
  bool all = axes.empty();
  axes = internal::checked_axes("squeeze", x.type(), axes);
  Shape shape;
  for (std::int64_t i = 0; i < x.rank(); i++) {
    std::int64_t extent = x.shape()[static_cast<std::size_t>(i)];
    bool named = internal::contains(axes, i);
    if (named && extent != 1) {
      throw ShapeError(internal::message("squeeze",
                                         "axis " + std::to_string(i) + " of " + x.type().str() +
                                             " has extent " + std::to_string(extent),
                                         "Name axes of extent 1, or take one position with x[i]"));
    }
    if (named || (all && extent == 1)) continue;
    shape.push_back(extent);
  }
  return internal::reshape_to(x, shape);
}

namespace {

// All in one element type.
Arrays one_dtype(std::string_view function, const Arrays& arrays) {
  if (arrays.empty()) {
    throw ShapeError(internal::message(function, "no arrays were given", "Give at least one"));
  }
  DType dtype = arrays[0].dtype();
  for (const Array& array : arrays) dtype = internal::promoted(dtype, array.dtype());
  Arrays result;
  for (const Array& array : arrays) result.push_back(internal::converted(array, dtype));
  return result;
}

}  // namespace

Array concatenate(const Arrays& arrays, int axis, Where where) {
  Blame blame(where, "concatenate");
  Arrays parts = one_dtype("concatenate", arrays);
  std::int64_t at = internal::checked_axis("concatenate", parts[0].type(), axis);
  return internal::make(internal::Concatenate{at}, parts);
}

Array stack(const Arrays& arrays, int axis, Where where) {
  Blame blame(where, "stack");
  Arrays parts = one_dtype("stack", arrays);
  for (const Array& part : parts) {
    if (part.shape() == parts[0].shape()) continue;
    throw ShapeError(internal::message(
        "stack", parts[0].type().str() + " and " + part.type().str() + " have different shapes",
        "Give all the same shape"));
  }
  ArrayType type{parts[0].dtype(),
                 internal::prepended(static_cast<std::int64_t>(parts.size()), parts[0].shape())};
  auto at = static_cast<int>(internal::checked_axis("stack", type, axis));
  for (Array& part : parts) part = expand_dims(part, at);
  return concatenate(parts, at);
}

Array slice(Operand operand, std::vector<std::int64_t> start, std::vector<std::int64_t> stop,
            std::vector<std::int64_t> step) {
  Blame blame(operand.where, "slice");
  Array x = to_array(operand);
  auto rank = x.shape().size();
  if (step.empty()) step.assign(rank, 1);
  if (start.size() != rank || stop.size() != rank || step.size() != rank) {
    throw ShapeError(internal::message(
        "slice",
        "for " + x.type().str() + " there are " + std::to_string(start.size()) + " starts, " +
            std::to_string(stop.size()) + " stops and " + std::to_string(step.size()) + " steps",
        "Give one of each per axis"));
  }
  internal::Slice op{start, stop, step};
  Shape sizes = op.infer({x}).shape;
  // Outside a trace the start is data: parts of one size share a program wherever they begin.
  bool dense = std::all_of(step.begin(), step.end(), [](std::int64_t s) { return s == 1; });
  if (!dense || !x.concrete() || internal::Trace::open()) return internal::make(op, {x});
  Arrays at;
  for (std::int64_t first : start) at.push_back(Array(first, DType::i64));
  return internal::part_at(x, at, sizes);
}

Array pad(Operand operand, Operand value, std::vector<std::int64_t> low,
          std::vector<std::int64_t> high, std::vector<std::int64_t> interior) {
  Blame blame(operand.where, "pad");
  Array x = to_array(operand);
  Array around = internal::converted(internal::to_array("pad", value, x.dtype()), x.dtype());
  auto rank = x.shape().size();
  if (interior.empty()) interior.assign(rank, 0);
  if (low.size() != rank || high.size() != rank || interior.size() != rank || around.rank() != 0) {
    throw ShapeError(internal::message(
        "pad",
        "for " + x.type().str() + " there are " + std::to_string(low.size()) + " low, " +
            std::to_string(high.size()) + " high and " + std::to_string(interior.size()) +
            " interior numbers, and a value of type " + around.type().str(),
        "Give one of each per axis, and a scalar value"));
  }
  return internal::make(internal::Pad{low, high, interior}, {x, around});
}

Array flip(Operand operand, std::vector<std::int64_t> axes) {
  Blame blame(operand.where, "flip");
  Array x = to_array(operand);
  return internal::make(internal::Reverse{internal::checked_axes("flip", x.type(), axes)}, {x});
}

}  // namespace sturnus
