// vmap: one program for many.
#include <sturnus/functional/transform.h>

#include "src/ops/structural.h"

namespace sturnus::internal {

Arrays spread(const Arrays& outputs, const Arrays& roots, const Arrays& values, std::int64_t n,
              Mask& mapped_out) {
  Image image;
  for (std::size_t i = 0; i < roots.size(); i++) image.set(roots[i], values[i]);
  for (const Node* node : dependents(outputs, roots)) {
    Blame blame(node->where);
    Mask mapped;
    for (const Array& input : node->inputs) mapped.push_back(image.has(input));
    image.set(*node, node->op->batch(image(node->inputs), mapped, n));
  }
  mapped_out.clear();
  for (const Array& output : outputs) mapped_out.push_back(image.has(output));
  return image(outputs);
}

namespace {

// `x` with axis `from` moved to position `to`.
Array move_axis(const Array& x, std::int64_t from, std::int64_t to) {
  Axes order = complement(x.rank(), {from});
  order.insert(order.begin() + to, from);
  return permute(x, order);
}

}  // namespace

void check_argument_count(std::string_view transform, std::size_t axes, std::size_t arguments) {
  if (axes == arguments) return;
  throw ShapeError(std::string(transform) + ": in_axes has " + std::to_string(axes) +
                   " entries, the function is called with " + std::to_string(arguments) +
                   " arguments. Give one entry per argument");
}

Arrays vmap(const FlatFunction& f, const Arrays& x, const std::vector<std::int64_t>& in_axes,
            const std::function<std::int64_t(std::size_t)>& out_axis) {
  std::optional<std::int64_t> n;
  Arrays results;
  {
    Trace trace;
    Arrays arguments, roots, values;
    for (std::size_t i = 0; i < x.size(); i++) {
      if (in_axes[i] == unmapped) {
        arguments.push_back(x[i]);
        continue;
      }
      std::int64_t axis = checked_axis("vmap", x[i].type(), in_axes[i]);
      ArrayType type = x[i].type();
      std::int64_t extent = type.shape[static_cast<std::size_t>(axis)];
      if (n && *n != extent) {
        throw ShapeError("vmap: axis " + std::to_string(axis) + " of " + type.str() +
                         " has extent " + std::to_string(extent) + ", another mapped axis has " +
                         std::to_string(*n) + ". All mapped axes must be equally long");
      }
      n = extent;
      type.shape.erase(type.shape.begin() + axis);
      arguments.push_back(placeholder(type, "vmap"));
      roots.push_back(arguments.back());
      values.push_back(move_axis(x[i], axis, 0));
    }
    if (!n) {
      throw ShapeError("vmap: no argument is mapped. Give at least one of in_axes an axis");
    }
    Arrays outputs = f(arguments);
    Mask mapped;
    results = spread(outputs, roots, values, *n, mapped);
    for (std::size_t i = 0; i < results.size(); i++) {
      results[i] = with_mapped_axis(results[i], mapped[i], *n);
      std::int64_t to = checked_axis("vmap", results[i].type(), out_axis(i));
      results[i] = move_axis(results[i], 0, to);
    }
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
