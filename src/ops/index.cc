#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/gather.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/shape.h>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

bool any(const Mask& mask, std::size_t from) {
  for (std::size_t i = from; i < mask.size(); i++) {
    if (mask[i]) return true;
  }
  return false;
}

// Inputs: x, then one index per axis.
struct DynamicSlice {
  static constexpr std::string_view name = "dynamic_slice", hlo = "dynamic_slice";
  Shape sizes;
  std::string attributes() const { return mlir_integers("slice_sizes", sizes); }
  ArrayType infer(const Arrays& x) const {
    bool fits = sizes.size() == x[0].shape().size();
    for (std::size_t i = 0; fits && i < sizes.size(); i++) {
      fits = sizes[i] >= 0 && sizes[i] <= x[0].shape()[i];
    }
    if (fits) return {x[0].dtype(), sizes};
    throw ShapeError(
        message("dynamic_slice",
                ArrayType{x[0].dtype(), sizes}.str() + " is not a part of " + x[0].type().str(),
                "Give one size per axis, no larger than its extent"));
  }
  Array simplify(const Arrays& x) const { return sizes == x[0].shape() ? x[0] : Array(); }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    if (dx[0].empty()) return {};
    Arrays moved = x;
    moved[0] = dx[0];
    return make(*this, moved);
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask&) const {
    Arrays result(x.size());
    result[0] = update_at(zeros_of(x[0].type()), ct, {x.begin() + 1, x.end()});
    return result;
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
};

// Inputs: x, the part, then one index per axis.
struct DynamicUpdateSlice {
  static constexpr std::string_view name = "dynamic_update_slice", hlo = "dynamic_update_slice";
  ArrayType infer(const Arrays& x) const {
    bool fits = x[1].rank() == x[0].rank() && x[1].dtype() == x[0].dtype();
    for (std::size_t i = 0; fits && i < x[0].shape().size(); i++) {
      fits = x[1].shape()[i] <= x[0].shape()[i];
    }
    if (!fits) {
      throw ShapeError(message("dynamic_update_slice",
                               x[1].type().str() + " does not fit into " + x[0].type().str(),
                               "Give a part with as many axes, none longer"));
    }
    return x[0].type();
  }
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    Arrays moved = x;
    moved[0] = dx[0].empty() ? zeros_of(x[0].type()) : dx[0];
    moved[1] = dx[1].empty() ? zeros_of(x[1].type()) : dx[1];
    return make(*this, moved);
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const {
    Arrays start(x.begin() + 2, x.end());
    Arrays result(x.size());
    if (linear[0]) result[0] = update_at(ct, zeros_of(x[1].type()), start);
    if (linear[1]) result[1] = part_at(ct, start, x[1].shape());
    return result;
  }
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
};

// Starts that differ between the problems, [n, axes], for gather and scatter.
Array stacked_starts(const Arrays& x, const Mask& mapped, std::size_t from, std::int64_t n) {
  Arrays starts;
  for (std::size_t i = from; i < x.size(); i++) {
    starts.push_back(with_mapped_axis(x[i], mapped[i], n));
  }
  return stack(starts, -1);
}

Array DynamicSlice::batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
  if (!any(mapped, 1)) {
    Arrays inputs = {x[0], Array(0.0, x[1].dtype())};
    inputs.insert(inputs.end(), x.begin() + 1, x.end());
    return make(DynamicSlice{prepended(n, sizes)}, inputs);
  }
  auto rank = static_cast<std::int64_t>(sizes.size());
  Array starts = stacked_starts(x, mapped, 1, n);
  GatherAxes axes{.offset = iota_axes(rank, 1), .start_map = iota_axes(rank)};
  if (!mapped[0]) return gather(x[0], starts, axes, sizes);
  if (n == 0) return zeros_of({x[0].dtype(), prepended(0, sizes)});
  axes.x_batch = axes.indices_batch = {0};
  axes.start_map = iota_axes(rank, 1);
  return gather(x[0], starts, axes, prepended(1, sizes));
}

Array DynamicUpdateSlice::batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
  Array whole = with_mapped_axis(x[0], mapped[0], n);
  Array part = with_mapped_axis(x[1], mapped[1], n);
  if (!any(mapped, 2)) {
    Arrays inputs = {whole, part};
    inputs.push_back(Array(0.0, x.size() > 2 ? x[2].dtype() : DType::i32));
    inputs.insert(inputs.end(), x.begin() + 2, x.end());
    return make(*this, inputs);
  }
  if (n == 0) return whole;
  // A scatter leaves out what this op moves back.
  Arrays moved = x;
  for (std::size_t i = 2; i < x.size(); i++) {
    std::int64_t last = whole.shape()[i - 1] - part.shape()[i - 1];
    moved[i] = clamp(0, x[i], last);
  }
  std::int64_t rank = whole.rank() - 1;
  Array starts = stacked_starts(moved, mapped, 2, n);
  return scatter(whole, starts, part,
                 {.offset = iota_axes(rank, 1),
                  .x_batch = {0},
                  .indices_batch = {0},
                  .start_map = iota_axes(rank, 1)},
                 Combine::set, {.inside = true, .unique = true});
}

}  // namespace

Array part_at(const Array& x, const Arrays& start, const Shape& sizes) {
  Arrays inputs = {x};
  inputs.insert(inputs.end(), start.begin(), start.end());
  return make(DynamicSlice{sizes}, inputs);
}

Array update_at(const Array& x, const Array& part, const Arrays& start) {
  Arrays inputs = {x, part};
  inputs.insert(inputs.end(), start.begin(), start.end());
  return make(DynamicUpdateSlice{}, inputs);
}

Array row_at(const Array& x, const Array& i) {
  Arrays start(x.shape().size(), zeros_of({i.dtype(), {}}));
  start[0] = i;
  Shape sizes = x.shape(), kept(x.shape().begin() + 1, x.shape().end());
  sizes[0] = 1;
  return reshape_to(part_at(x, start, sizes), kept);
}

}  // namespace internal

using internal::Blame;

namespace {

// Starts of one type, counted from the beginning of their axes.
Arrays checked_indices(std::string_view function, const Array& x, const Arrays& start) {
  if (start.size() != x.shape().size()) {
    throw ShapeError(internal::message(function,
                                       x.type().str() + " needs one index per axis, " +
                                           std::to_string(start.size()) + " were given",
                                       "Give " + std::to_string(x.rank())));
  }
  DType dtype = DType::i32;
  for (const Array& index : start) {
    if (!is_integer(index.dtype()) || index.rank() != 0) {
      throw DtypeError(internal::message(
          function, "an index is " + index.type().str() + ", but must be an integer scalar",
          "Convert it, or use take for several positions"));
    }
    bool wide = size_of(index.dtype()) > size_of(dtype) || index.dtype() == DType::u32;
    if (wide) dtype = DType::i64;
  }
  Arrays result;
  for (std::size_t i = 0; i < start.size(); i++) {
    Array index = internal::wrapped_index(start[i], x.shape()[i]);
    result.push_back(internal::converted(index, dtype));
  }
  return result;
}

}  // namespace

Array dynamic_slice(Operand operand, const Arrays& start, const Shape& sizes) {
  Blame blame(operand.where, "dynamic_slice");
  Array x = internal::to_array(operand);
  return internal::part_at(x, checked_indices("dynamic_slice", x, start), sizes);
}

Array dynamic_update_slice(Operand operand, Operand part, const Arrays& start) {
  Blame blame(operand.where, "dynamic_update_slice");
  Array x = internal::to_array(operand);
  Array update =
      internal::converted(internal::to_array("dynamic_update_slice", part, x.dtype()), x.dtype());
  return internal::update_at(x, update, checked_indices("dynamic_update_slice", x, start));
}

Array dynamic_index(Operand operand, Operand i, int axis) {
  Blame blame(operand.where, "dynamic_index");
  Array x = internal::to_array(operand);
  std::int64_t at = internal::checked_axis("dynamic_index", x.type(), axis);
  Array index = internal::to_array(i);
  Arrays start(x.shape().size(), Array(0, DType::i32));
  start[static_cast<std::size_t>(at)] = index;
  Shape sizes = x.shape(), kept = x.shape();
  sizes[static_cast<std::size_t>(at)] = 1;
  kept.erase(kept.begin() + at);
  Array part = internal::part_at(x, checked_indices("dynamic_index", x, start), sizes);
  return internal::reshape_to(part, kept);
}

}  // namespace sturnus
