// vmap: one program for many.
#include <sturnus/functional/collective.h>
#include <sturnus/functional/transform.h>
#include <sturnus/ops/creation.h>

#include <unordered_set>

#include "src/functional/lists.h"
#include "src/functional/recharge.h"
#include "src/ops/structural.h"

namespace sturnus::internal {

Arrays spread(const Arrays& outputs, const Arrays& roots, const Arrays& values, std::int64_t n,
              Mask& mapped_out) {
  Image image;
  for (std::size_t i = 0; i < roots.size(); i++) image.set(roots[i], values[i]);
  std::unordered_set<const Node*> shared;  // images without the extra axis: of collectives
  auto is_mapped = [&](const Array& x) { return image.has(x) && !shared.contains(x.node().get()); };
  for (const Node* node : dependents(outputs, roots)) {
    Recharge recharge(node->where);
    Mask mapped;
    for (const Array& input : node->inputs) mapped.push_back(is_mapped(input));
    Arrays x = image(node->inputs);
    if (!any(mapped) || node->op->is_shared(mapped)) shared.insert(node);
    image.set(*node, any(mapped) ? node->op->batch(x, mapped, n) : node->op->apply(x));
  }
  mapped_out.clear();
  for (const Array& output : outputs) mapped_out.push_back(is_mapped(output));
  return image(outputs);
}

Arrays spread_call(const FlatFunction& f, const Arrays& x, const Mask& mapped, std::int64_t n,
                   Mask& mapped_out) {
  Arrays arguments, roots, values;
  for (std::size_t i = 0; i < x.size(); i++) {
    if (!mapped[i]) {
      arguments.push_back(x[i]);
      continue;
    }
    ArrayType type = x[i].type();
    type.shape.erase(type.shape.begin());
    arguments.push_back(placeholder(type, "vmap"));
    roots.push_back(arguments.back());
    values.push_back(x[i]);
  }
  return spread(f(arguments), roots, values, n, mapped_out);
}

Array move_axis(const Array& x, std::int64_t from, std::int64_t to) {
  Axes order = complement(x.rank(), {from});
  order.insert(order.begin() + to, from);
  return permute(x, order);
}

Arrays vmap(const FlatFunction& f, const Arrays& x, const std::vector<std::int64_t>& in_axes,
            const std::function<std::vector<std::int64_t>()>& out_axes,
            const std::string& axis_name, std::optional<std::int64_t> axis_size,
            const Caller& caller) {
  std::optional<std::int64_t> n;
  std::size_t first = 0;  // of the mapped leaves
  Arrays results;
  {
    Trace trace;
    Arrays arguments, roots, values;
    std::optional<Blame> blame(caller.where);
    for (std::size_t i = 0; i < x.size(); i++) {
      if (in_axes[i] == unmapped) {
        arguments.push_back(x[i]);
        continue;
      }
      bool there = in_axes[i] >= -x[i].rank() && in_axes[i] < x[i].rank();
      std::int64_t axis = checked_axis(there ? "vmap" : "vmap, in_axes of " + caller.leaf_name(i),
                                       x[i].type(), in_axes[i]);
      ArrayType type = x[i].type();
      std::int64_t extent = type.shape[static_cast<std::size_t>(axis)];
      if (n && *n != extent) {
        throw ShapeError(message("vmap",
                                 "the mapped axis of " + caller.leaf_name(i) + ", " + type.str() +
                                     ", has extent " + std::to_string(extent) + ", that of " +
                                     caller.leaf_name(first) + ", " + x[first].type().str() +
                                     ", has extent " + std::to_string(*n),
                                 "Map axes of one extent, or pass an argument whole with none"));
      }
      if (!n) first = i;
      n = extent;
      type.shape.erase(type.shape.begin() + axis);
      arguments.push_back(placeholder(type, "vmap", caller.where));
      roots.push_back(arguments.back());
      values.push_back(move_axis(x[i], axis, 0));
    }
    if (n && axis_size && *n != *axis_size) {
      throw ShapeError(message("vmap",
                               "the mapped axis of " + caller.leaf_name(first) + ", " +
                                   x[first].type().str() + ", has extent " + std::to_string(*n) +
                                   ", axis_size is " + std::to_string(*axis_size),
                               "Leave axis_size out, or map axes of that extent"));
    }
    if (!n) n = axis_size;
    if (!n) {
      throw ShapeError(
          x.empty()
              ? message("vmap", "the arguments have no arrays", "Give one to map, or axis_size")
              : message("vmap", "no argument is mapped: in_axes is none for all arrays",
                        "Give at least one of in_axes an axis, or axis_size"));
    }
    if (*n < 0) {
      throw ShapeError(message("vmap", "axis_size is " + std::to_string(*n), "Give 0 or more"));
    }
    blame.reset();  // what f does is charged to its own lines
    Arrays outputs;
    if (axis_name.empty()) {
      outputs = f(arguments);
    } else {
      NamedAxis axis(axis_name, *n);
      outputs = f(arguments);
      roots.push_back(axis.index());
      values.push_back(iota({*n}, 0));
    }
    Mask mapped;
    results = spread(outputs, roots, values, *n, mapped);
    blame.emplace(caller.where);
    std::vector<std::int64_t> to = out_axes();
    for (std::size_t i = 0; i < results.size(); i++) {
      if (to[i] == unmapped) {
        if (!mapped[i]) continue;
        throw ShapeError(message("vmap",
                                 "out_axes passes a result of type " + outputs[i].type().str() +
                                     " whole, but it differs along the mapped axis",
                                 "Give it an axis"));
      }
      results[i] = with_mapped_axis(results[i], mapped[i], *n);
      results[i] =
          move_axis(results[i], 0, checked_axis("vmap, out_axes", results[i].type(), to[i]));
    }
  }
  return settle(std::move(results));
}

}  // namespace sturnus::internal
