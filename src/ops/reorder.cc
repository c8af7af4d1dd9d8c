#include "src/ops/reorder.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>

#include "src/ops/structural.h"

namespace sturnus::internal {
namespace {

// Inputs: keys, x. Results: the keys sorted, and x in their order. StableHLO: sort.
struct Reorder {
  static constexpr std::string_view name = "reorder";
  std::int64_t axis;
  ArrayTypes infer(const Arrays& x) const {
    if (x[0].shape() != x[1].shape()) {
      throw ShapeError("reorder: keys are " + x[0].type().str() + ", values are " +
                       x[1].type().str() + where_text());
    }
    return types_of(x);
  }
  Arrays jvp(const Arrays& x, const Arrays&, const Arrays& dx) const {
    Arrays result(2);
    if (!dx[0].empty()) result[0] = reordered(x[0], dx[0], axis);
    if (!dx[1].empty()) result[1] = reordered(x[0], dx[1], axis);
    return result;
  }
  // Element i of the result is element order[i] of x: back in the order of `order`.
  Arrays transpose(const Arrays& ct, const Arrays& x, const Mask&) const {
    Array order = reordered(x[0], iota(x[0].shape(), static_cast<int>(axis)), axis);
    return {{}, reordered(order, ct[1], axis)};
  }
  Arrays batch(const Arrays& x, const Mask& mapped, std::int64_t n) const {
    Array keys = with_mapped_axis(x[0], mapped[0], n);
    Array values = with_mapped_axis(x[1], mapped[1], n);
    return make_all(Reorder{axis + 1}, {keys, values});
  }
  void lower(Emitter& emitter, const Node& node) const {
    ArrayTypes scalars;
    for (const ArrayType& type : node.types) {
      scalars.push_back({type.dtype, {}});
      scalars.push_back({type.dtype, {}});
    }
    Arrays pairs = placeholders(scalars, "reorder");
    std::string before = emitter.region(pairs, {pairs[0] < pairs[1]});
    emitter.line(node, "sort", emitter.names_of(node.inputs), types_of(node.inputs), before,
                 mlir_integer("dimension", axis) + ", is_stable = true");
  }
};

}  // namespace

Array reordered(const Array& keys, const Array& x, std::int64_t axis) {
  return make_all(Reorder{axis}, {keys, x})[1];
}

}  // namespace sturnus::internal
