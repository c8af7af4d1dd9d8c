#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/gather.h>
#include <sturnus/ops/shape.h>

#include <algorithm>

#include "src/ops/elementwise.h"

namespace sturnus {
namespace internal {
namespace {

// Axes of x along which slices extend, in the order of the offset axes.
Axes window_axes(std::int64_t rank, const Axes& collapsed, const Axes& x_batch) {
  return complement(rank, joined(collapsed, x_batch));
}

// The largest start at which a slice is still inside, for each coordinate, as an array of the type
// of `indices`.
Array last_starts(const Array& x, const Array& indices, const Axes& start_map, const Shape& sizes) {
  Arrays parts;
  Shape shape = indices.shape();
  shape.back() = 1;
  for (std::int64_t axis : start_map) {
    auto at = static_cast<std::size_t>(axis);
    double last = static_cast<double>(x.shape()[at] - sizes[at]);
    parts.push_back(full(last, {indices.dtype(), shape}));
  }
  bool one_number = std::all_of(parts.begin(), parts.end(),
                                [&](const Array& part) { return splat(part) == splat(parts[0]); });
  if (one_number && !parts.empty()) return full(*splat(parts[0]), indices.type());
  return concatenate(parts, -1);
}

// Moves the starts so that slices are inside.
Array clamped(const Array& x, const Array& indices, const Axes& start_map, const Shape& sizes) {
  if (start_map.empty()) return indices;
  Array raised = maximum(indices, zeros_of(indices.type()));
  return minimum(raised, last_starts(x, indices, start_map, sizes));
}

// Whether a slice is inside, for each position: bool[indices without the last axis].
Array is_inside(const Array& x, const Array& indices, const Axes& start_map, const Shape& sizes) {
  Array low = indices < zeros_of(indices.type());
  Array high = indices > last_starts(x, indices, start_map, sizes);
  Array outside = sum_over(converted(low | high, DType::i32), {indices.rank() - 1});
  return outside == zeros_of(outside.type());
}

void check_indices(std::string_view function, const Array& indices, const Axes& start_map) {
  if (!is_integer(indices.dtype())) {
    throw DtypeError(message(function,
                             "the indices are " + indices.type().str() + ", but must be integers",
                             "Convert them"));
  }
  auto coordinates = static_cast<std::int64_t>(start_map.size());
  if (indices.rank() > 0 && indices.shape().back() == coordinates) return;
  throw ShapeError(message(function,
                           "the indices are " + indices.type().str() + " for " +
                               std::to_string(coordinates) + " indexed axes",
                           "Give their last axis one entry for each of these"));
}

std::string axis_lists(const std::vector<std::pair<std::string_view, Axes>>& lists,
                       const Array& indices) {
  std::string text;
  for (const auto& [key, axes] : lists) {
    if (axes.empty()) continue;
    text += std::string(key) + " = [";
    for (std::size_t i = 0; i < axes.size(); i++) {
      text += (i == 0 ? "" : ", ") + std::to_string(axes[i]);
    }
    text += "], ";
  }
  return text + "index_vector_dim = " + std::to_string(indices.rank() - 1) + ">";
}

// Inputs: x, indices.
struct Gather {
  static constexpr std::string_view name = "gather";
  Axes offset, collapsed, x_batch, indices_batch, start_map;
  Shape sizes;
  bool inside;

  ArrayType infer(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0].empty() ? Array() : make(*this, {dx[0], x[1]});
  }
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const;
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
  void lower(Emitter& emitter, const Node& node) const {
    std::string lists = axis_lists({{"offset_dims", offset},
                                    {"collapsed_slice_dims", collapsed},
                                    {"operand_batching_dims", x_batch},
                                    {"start_indices_batching_dims", indices_batch},
                                    {"start_index_map", start_map}},
                                   node.inputs[1]);
    emitter.line(node, "gather",
                 "dimension_numbers = #stablehlo.gather<" + lists +
                     ", indices_are_sorted = false, " + mlir_integers("slice_sizes", sizes));
  }
};

// Inputs: x, indices, updates.
struct Scatter {
  static constexpr std::string_view name = "scatter";
  Combine combine;
  Axes offset, collapsed, x_batch, indices_batch, start_map;
  bool inside, unique;

  ArrayType infer(const Arrays& x) const;
  Array jvp(const Arrays& x, const Array& y, const Arrays& dx) const;
  Arrays transpose(const Array& ct, const Arrays& x, const Mask& linear) const;
  Array batch(const Arrays& x, const Mask& mapped, std::int64_t n) const;
  void lower(Emitter& emitter, const Node& node) const;

  // Extents of a slice, for each axis of x.
  Shape sizes(const Array& x, const Array& updates) const {
    Shape result(x.shape().size(), 1);
    Axes window = window_axes(x.rank(), collapsed, x_batch);
    for (std::size_t i = 0; i < std::min(window.size(), offset.size()); i++) {
      result[static_cast<std::size_t>(window[i])] =
          updates.shape()[static_cast<std::size_t>(offset[i])];
    }
    return result;
  }
  // The values at the positions of the updates.
  Array read(const Array& from, const Arrays& x) const {
    return make(
        Gather{offset, collapsed, x_batch, indices_batch, start_map, sizes(x[0], x[2]), inside},
        {from, x[1]});
  }
  Array write(Combine how, const Array& into, const Array& indices, const Array& values) const {
    Scatter other = *this;
    other.combine = how;
    return make(other, {into, indices, values});
  }
  Array tangent_of_set(const Arrays& x, const Array& dx, const Array& du) const;
  Array tangent_of_product(const Arrays& x, const Arrays& dx) const;
  Array tangent_of_extreme(const Arrays& x, const Array& y, const Arrays& dx) const;
};

// ---------------------------------------------------------------------------------------- gather

ArrayType Gather::infer(const Arrays& x) const {
  check_indices(name, x[1], start_map);
  auto fail = [&](const std::string& what) {
    throw ShapeError(message(
        "gather", x[0].type().str() + " at " + x[1].type().str() + ", slices " + print_field(sizes),
        what));
  };
  if (sizes.size() != x[0].shape().size()) fail("Give one slice extent per axis");
  for (std::size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] < 0 || sizes[i] > x[0].shape()[i]) fail("Make slices no larger than the array");
  }
  Axes window = window_axes(x[0].rank(), collapsed, x_batch);
  if (window.size() != offset.size()) fail("one offset axis per axis of a slice is needed");
  Axes positions = x[1].shape();
  positions.pop_back();
  Shape shape(positions.size() + window.size(), -1);
  for (std::size_t i = 0; i < window.size(); i++) {
    if (offset[i] < 0 || offset[i] >= static_cast<std::int64_t>(shape.size())) {
      fail("an offset axis is outside of the result");
    }
    shape[static_cast<std::size_t>(offset[i])] = sizes[static_cast<std::size_t>(window[i])];
  }
  auto next = positions.begin();
  for (std::int64_t& extent : shape) {
    if (extent == -1) extent = *next++;
  }
  return {x[0].dtype(), shape};
}

Arrays Gather::transpose(const Array& ct, const Arrays& x, const Mask&) const {
  Array starts = inside ? x[1] : clamped(x[0], x[1], start_map, sizes);
  Scatter add{Combine::add, offset, collapsed, x_batch, indices_batch, start_map, true, false};
  return {make(add, {zeros_of(x[0].type()), starts, ct}), {}};
}

Array Gather::batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
  if (!mapped[0]) {
    return make(Gather{shifted(offset, 1), collapsed, x_batch, shifted(indices_batch, 1), start_map,
                       sizes, inside},
                x);
  }
  Gather wide{shifted(offset, 1),
              shifted(collapsed, 1),
              shifted(x_batch, 1),
              indices_batch,
              shifted(start_map, 1),
              prepended(1, sizes),
              inside};
  if (!mapped[1]) {
    wide.offset = prepended(0, wide.offset);
    wide.sizes[0] = n;
    return make(wide, x);
  }
  wide.x_batch = prepended(0, wide.x_batch);
  wide.indices_batch = prepended(0, shifted(indices_batch, 1));
  if (n > 0) return make(wide, x);
  wide.sizes[0] = 0;
  return zeros_of(wide.infer(x));
}

// --------------------------------------------------------------------------------------- scatter

ArrayType Scatter::infer(const Arrays& x) const {
  check_indices(name, x[1], start_map);
  Gather same{offset, collapsed, x_batch, indices_batch, start_map, sizes(x[0], x[2]), inside};
  if (x[2].type() != same.infer({x[0], x[1]})) {
    throw ShapeError(message("scatter",
                             "the updates are " + x[2].type().str() + " for " + x[0].type().str() +
                                 " at " + x[1].type().str(),
                             "Make them " + same.infer({x[0], x[1]}).str()));
  }
  return x[0].type();
}

Array Scatter::jvp(const Arrays& x, const Array& y, const Arrays& dx) const {
  auto some = [&](std::size_t i) { return dx[i].empty() ? zeros_of(x[i].type()) : dx[i]; };
  switch (combine) {
    case Combine::add:
      return dx[2].empty() ? dx[0] : make(*this, {some(0), x[1], dx[2]});
    case Combine::set:
      return tangent_of_set(x, some(0), some(2));
    case Combine::multiply:
      return tangent_of_product(x, dx);
    default:
      return tangent_of_extreme(x, y, {some(0), some(2)});
  }
}

// When positions repeat, the update that stays has the tangent: each update writes a number of its
// own, and those that read it back have stayed.
Array Scatter::tangent_of_set(const Arrays& x, const Array& dx, const Array& du) const {
  if (unique) return make(*this, {dx, x[1], du});
  Array numbers = reshape_to(iota({x[2].size()}, 0), x[2].shape()) + 1;
  Array written = write(Combine::set, zeros_of({DType::i32, x[0].shape()}), x[1], numbers);
  Array stayed = read(written, x) == numbers;
  Array kept = select(written == zeros_of(written.type()), dx, zeros_of(dx.type()));
  Array moved = select(stayed, du, zeros_of(du.type()));
  return write(Combine::add, kept, x[1], moved);
}

// y = x u1 u2 ...: the factor of du1 is x u2 ..., by division; where u1 = 0 it is the product of
// the factors that are not 0, unless another one is.
Array Scatter::tangent_of_product(const Arrays& x, const Arrays& dx) const {
  Array one = ones_of(x[0].type());
  Array from_x, from_u;
  if (!dx[0].empty()) from_x = dx[0] * write(Combine::multiply, one, x[1], x[2]);
  if (!dx[2].empty()) {
    Array factor;
    if (unique) {
      factor = read(x[0], x);
    } else {
      Array is_zero = x[2] == zeros_of(x[2].type());
      Array nonzero = select(is_zero, ones_of(x[2].type()), x[2]);
      Array count = converted(is_zero, DType::i32);
      Array zeros = write(Combine::add, zeros_of({DType::i32, x[0].shape()}), x[1], count);
      Array product = write(Combine::multiply, x[0], x[1], nonzero);
      Array others = read(product, x) / nonzero;
      factor = select(read(zeros, x) == count, others, zeros_of(others.type()));
    }
    from_u = write(Combine::add, zeros_of(x[0].type()), x[1], dx[2] * factor);
  }
  return add_tangents(from_x, from_u);
}

// Shared between all that are equal to the result.
Array Scatter::tangent_of_extreme(const Arrays& x, const Array& y, const Arrays& dx) const {
  Array x_is = converted(x[0] == y, y.dtype());
  Array u_is = converted(x[2] == read(y, x), y.dtype());
  Array count = write(Combine::add, x_is, x[1], u_is);
  Array kept = dx[0] * x_is, moved = dx[1] * u_is;
  return write(Combine::add, kept, x[1], moved) / count;
}

Arrays Scatter::transpose(const Array& ct, const Arrays& x, const Mask& linear) const {
  Arrays result(3);
  if (linear[0]) {
    bool covers = combine == Combine::set;
    result[0] = covers ? make(*this, {ct, x[1], zeros_of(x[2].type())}) : ct;
  }
  if (linear[2]) {
    result[2] = read(ct, x);
    if (!inside) {
      Array written = is_inside(x[0], x[1], start_map, sizes(x[0], x[2]));
      Axes positions = complement(result[2].rank(), offset);
      Array mask = broadcast(written, result[2].shape(), positions);
      result[2] = select(mask, result[2], zeros_of(result[2].type()));
    }
  }
  return result;
}

Array Scatter::batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
  Array into = with_mapped_axis(x[0], mapped[0], n);
  if (n == 0) return into;
  Array updates = with_mapped_axis(x[2], mapped[2], n);
  Scatter wide{combine,
               shifted(offset, 1),
               shifted(collapsed, 1),
               shifted(x_batch, 1),
               indices_batch,
               shifted(start_map, 1),
               inside,
               unique};
  if (mapped[1]) {
    wide.x_batch = prepended(0, wide.x_batch);
    wide.indices_batch = prepended(0, shifted(indices_batch, 1));
  } else {
    wide.offset = prepended(0, wide.offset);
  }
  return make(wide, {into, x[1], updates});
}

void Scatter::lower(Emitter& emitter, const Node& node) const {
  std::string lists = axis_lists({{"update_window_dims", offset},
                                  {"inserted_window_dims", collapsed},
                                  {"input_batching_dims", x_batch},
                                  {"scatter_indices_batching_dims", indices_batch},
                                  {"scatter_dims_to_operand_dims", start_map}},
                                 node.inputs[1]);
  ArrayType element{node.types[0].dtype, {}};
  Array old = parameter(0, element), update = parameter(1, element);
  Array combined = update;
  if (combine == Combine::add) combined = old + update;
  if (combine == Combine::multiply) combined = old * update;
  if (combine == Combine::max) combined = maximum(old, update);
  if (combine == Combine::min) combined = minimum(old, update);
  emitter.line(node, "scatter", emitter.names_of(node.inputs), types_of(node.inputs),
               emitter.region({old, update}, {combined}),
               "scatter_dimension_numbers = #stablehlo.scatter<" + lists +
                   ", indices_are_sorted = false, unique_indices = " + (unique ? "true" : "false"));
}

// In a type that counts along every axis.
Array wide_indices(const Array& indices) {
  bool narrow = is_integer(indices.dtype()) && size_of(indices.dtype()) < 4;
  return narrow ? converted(indices, DType::i32) : indices;
}

}  // namespace
}  // namespace internal

using internal::Blame;

Array gather(Operand x, const Array& indices, const GatherAxes& axes, const Shape& sizes,
             IndexFacts facts) {
  Blame blame(x.where, "gather");
  return internal::make(internal::Gather{axes.offset, axes.collapsed, axes.x_batch,
                                         axes.indices_batch, axes.start_map, sizes, facts.inside},
                        {internal::to_array(x), internal::wide_indices(indices)});
}

Array scatter(Operand x, const Array& indices, Operand updates, const GatherAxes& axes,
              Combine combine, IndexFacts facts) {
  Blame blame(x.where, "scatter");
  Array into = internal::to_array(x);
  Array values =
      internal::converted(internal::to_array("scatter", updates, into.dtype()), into.dtype());
  return internal::make(
      internal::Scatter{combine, axes.offset, axes.collapsed, axes.x_batch, axes.indices_batch,
                        axes.start_map, facts.inside, facts.unique},
      {into, internal::wide_indices(indices), values});
}

Array scatter_add(Operand x, const Array& indices, Operand updates, const GatherAxes& axes,
                  IndexFacts facts) {
  Blame blame(x.where, "scatter_add");
  return scatter(x, indices, updates, axes, Combine::add, facts);
}

}  // namespace sturnus
