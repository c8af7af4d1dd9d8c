#include "src/ops/structural.h"

#include <sturnus/ops/arithmetic.h>

#include <algorithm>

namespace sturnus::internal {

std::int64_t checked_axis(std::string_view function, const ArrayType& type, std::int64_t axis) {
  auto rank = static_cast<std::int64_t>(type.shape.size());
  std::int64_t counted = axis < 0 ? axis + rank : axis;
  if (counted >= 0 && counted < rank) return counted;
  std::string fault = "axis " + std::to_string(axis) + " of " + type.str() + ", which has ";
  if (rank == 0) {
    throw ShapeError(message(function, fault + "no axes", "Give it one with expand_dims"));
  }
  throw ShapeError(
      message(function, fault + std::to_string(rank) + (rank == 1 ? " axis" : " axes"),
              "Name one from " + std::to_string(-rank) + " to " + std::to_string(rank - 1)));
}

void require_elements(std::string_view function, const ArrayType& type, const Axes& axes) {
  if (product(picked(type.shape, axes)) > 0) return;
  throw ShapeError(message(
      function,
      type.str() + " has no elements along the axes " + print_field(axes) + " to choose from",
      "Give it some, or treat the empty case apart"));
}

void require_real(std::string_view function, const ArrayType& type) {
  if (!is_complex(type.dtype)) return;
  throw DtypeError(message(function, type.str() + " is complex, but must be real",
                           "Take abs, real or imag of it"));
}

void require_numbers(std::string_view function, const ArrayType& type) {
  if (type.dtype != DType::boolean) return;
  throw DtypeError(message(function, "operands are " + type.str() + ", but must be numbers",
                           "Convert them to i32, or use ^, & and ! for logic"));
}

const Shape& checked_shape(std::string_view function, const Shape& shape) {
  auto refuse = [&](const char* fault, std::string_view remedy) {
    throw ShapeError(message(function, "the shape " + print_field(shape) + fault, remedy));
  };
  // XLA ends the process when an int64 does not count the bytes; the widest element has 16.
  std::int64_t bytes = 16;
  bool overflows = false, too_long = false;
  for (std::int64_t extent : shape) {
    if (extent < 0) refuse(" has a negative extent", "Give extents of 0 or more");
    overflows = __builtin_mul_overflow(bytes, extent, &bytes) || overflows;
    too_long = too_long || extent >= std::int64_t{1} << 59;
  }
  if (too_long || (overflows && !contains(shape, 0))) {
    refuse(" has 2^59 elements or more", "Give smaller extents");
  }
  return shape;
}

Axes checked_axes(std::string_view function, const ArrayType& type, const Axes& axes) {
  Axes result;
  for (std::int64_t axis : axes) {
    std::int64_t counted = checked_axis(function, type, axis);
    if (contains(result, counted)) {
      throw ShapeError(message(
          function, "axis " + std::to_string(axis) + " of " + type.str() + " is named twice",
          "Name each axis once"));
    }
    result.push_back(counted);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// ------------------------------------------------------------------------------------- broadcast

ArrayType Broadcast::infer(const Arrays& x) const {
  for (std::size_t i = 0; i < axes.size(); i++) {
    if (x[0].shape()[i] != shape[static_cast<std::size_t>(axes[i])]) {
      throw ShapeError(
          message("broadcast",
                  x[0].type().str() + " does not fit into " + ArrayType{x[0].dtype(), shape}.str(),
                  "Make the extents of the axes equal"));
    }
  }
  return {x[0].dtype(), checked_shape("broadcast", shape)};
}

Array Broadcast::simplify(const Arrays& x) const {
  const Array& from = x[0];
  if (from.shape() == shape && axes == iota_axes(from.rank())) return from;
  if (auto value = splat(from)) return full(*value, infer(x));
  if (auto* inner = as<Broadcast>(from)) {
    return broadcast(from.node()->inputs[0], shape, picked(axes, inner->axes));
  }
  if (auto* inner = as<Permute>(from)) {
    return broadcast(from.node()->inputs[0], shape, picked(axes, inverse(inner->permutation)));
  }
  return {};
}

Array Broadcast::jvp(const Arrays&, const Array&, const Arrays& dx) const {
  return broadcast(dx[0], shape, axes);
}

Array Broadcast::transpose(const Array& ct, const Arrays&, const Mask&) const {
  Array sum = sum_over(ct, complement(ct.rank(), axes));
  Axes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  Axes order;
  for (std::int64_t axis : axes) order.push_back(position(sorted, axis));
  return permute(sum, order);
}

Array Broadcast::batch(const Arrays& x, const Mask&, std::int64_t n) const {
  return broadcast(x[0], prepended(n, shape), prepended(0, shifted(axes, 1)));
}

Array broadcast(const Array& x, Shape shape, Axes axes) {
  return make(Broadcast{std::move(shape), std::move(axes)}, {x});
}

// --------------------------------------------------------------------------------------- reshape

ArrayType Reshape::infer(const Arrays& x) const {
  ArrayType type{x[0].dtype(), shape};
  if (type.size() != x[0].size()) {
    throw ShapeError(message("reshape",
                             x[0].type().str() + " has " + std::to_string(x[0].size()) +
                                 " elements, " + type.str() + " has " + std::to_string(type.size()),
                             "Give a shape with as many"));
  }
  return type;
}

Array Reshape::simplify(const Arrays& x) const {
  const Array& from = x[0];
  if (from.shape() == shape) return from;
  if (auto value = splat(from)) return full(*value, infer(x));
  if (as<Reshape>(from) != nullptr) return reshape_to(from.node()->inputs[0], shape);
  if (auto* inner = as<Permute>(from)) {
    // A permutation that moves only axes of extent 1 keeps the order of the elements.
    const Array& source = from.node()->inputs[0];
    std::int64_t last = -1;
    for (std::int64_t axis : inner->permutation) {
      if (source.shape()[static_cast<std::size_t>(axis)] == 1) continue;
      if (axis < last) return {};
      last = axis;
    }
    return reshape_to(source, shape);
  }
  return {};
}

Array Reshape::jvp(const Arrays&, const Array&, const Arrays& dx) const {
  return reshape_to(dx[0], shape);
}

Array Reshape::transpose(const Array& ct, const Arrays& x, const Mask&) const {
  return reshape_to(ct, x[0].shape());
}

Array Reshape::batch(const Arrays& x, const Mask&, std::int64_t n) const {
  return reshape_to(x[0], prepended(n, shape));
}

Array reshape_to(const Array& x, Shape shape) { return make(Reshape{std::move(shape)}, {x}); }

// --------------------------------------------------------------------------------------- permute

ArrayType Permute::infer(const Arrays& x) const {
  return {x[0].dtype(), picked(x[0].shape(), permutation)};
}

Array Permute::simplify(const Arrays& x) const {
  const Array& from = x[0];
  if (permutation == iota_axes(from.rank())) return from;
  if (auto value = splat(from)) return full(*value, infer(x));
  if (auto* inner = as<Permute>(from)) {
    return permute(from.node()->inputs[0], picked(inner->permutation, permutation));
  }
  if (auto* inner = as<Broadcast>(from)) {
    return broadcast(from.node()->inputs[0], infer(x).shape,
                     picked(inverse(permutation), inner->axes));
  }
  return {};
}

Array Permute::jvp(const Arrays&, const Array&, const Arrays& dx) const {
  return permute(dx[0], permutation);
}

Array Permute::transpose(const Array& ct, const Arrays&, const Mask&) const {
  return permute(ct, inverse(permutation));
}

Array Permute::batch(const Arrays& x, const Mask&, std::int64_t) const {
  return permute(x[0], prepended(0, shifted(permutation, 1)));
}

Array permute(const Array& x, Axes permutation) {
  return make(Permute{std::move(permutation)}, {x});
}

// ------------------------------------------------------------------------------------- utilities

Array with_mapped_axis(const Array& x, bool mapped, std::int64_t n) {
  if (mapped) return x;
  return broadcast(x, prepended(n, x.shape()), iota_axes(x.rank(), 1));
}

Array product_coefficient(const Series& a, const Series& b, std::size_t k,
                          const std::function<Array(const Array&, const Array&)>& product) {
  Array sum;
  for (std::size_t i = 0; i <= k; i++) {
    if (a[i].empty() || b[k - i].empty()) continue;
    sum = add_tangents(sum, product(a[i], b[k - i]));
  }
  return sum;
}

namespace {

struct Barrier {
  static constexpr std::string_view name = "optimization_barrier", hlo = "optimization_barrier";
  ArrayTypes infer(const Arrays& x) const { return types_of(x); }
  Arrays jvp(const Arrays&, const Arrays&, const Arrays& dx) const { return dx; }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Arrays wide;
    for (std::size_t i = 0; i < x.size(); i++) wide.push_back(with_mapped_axis(x[i], mapped[i], n));
    return barrier(wide);
  }
};

}  // namespace

Arrays barrier(const Arrays& x) { return make_all(Barrier{}, x); }

Array add_tangents(const Array& a, const Array& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return a + b;
}

}  // namespace sturnus::internal
