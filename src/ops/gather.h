// Elements at positions that are given by integer arrays: reading (gather), writing (scatter).
//
// Positions outside of the array: reads move them to the nearest position inside, writes there are
// left out. The derivatives follow. Negative positions do not count from the end. These are the
// general forms; take.h and subscript.h have those for daily use.
#pragma once

#include <sturnus/functional/array.h>

#include <vector>

namespace sturnus {

/// How the axes of x, of the indices, and of the slices that are read or written belong together.
/// The last axis of the indices holds the coordinates of a slice's first element.
struct GatherAxes {
  /// Axes of the result (of the updates, when writing) that run within a slice.
  std::vector<std::int64_t> offset = {};
  /// Axes of x along which a slice has extent 1, and that the result has not.
  std::vector<std::int64_t> collapsed = {};
  /// Axes of x and of the indices that run together; the result has those of the indices.
  std::vector<std::int64_t> x_batch = {}, indices_batch = {};
  /// Coordinate i is along axis start_map[i] of x.
  std::vector<std::int64_t> start_map = {};
  bool operator==(const GatherAxes&) const = default;
};

/// What is known of the indices beforehand; the program may fail to make sense when it is wrong.
struct IndexFacts {
  bool inside = false;  // no slice reaches over the end
  bool unique = false;  // no two slices overlap
};

/// The slices of x with extents `sizes` that begin at the given positions. StableHLO: gather.
/// Throws ShapeError when shapes and axes do not fit, DtypeError when indices are not integers.
Array gather(Operand x, const Array& indices, const GatherAxes& axes, const Shape& sizes,
             IndexFacts facts = {});

/// What happens when an update meets the value that is there.
enum class Combine { set, add, multiply, max, min };

/// x with `updates` combined into the slices that begin at the given positions. Where slices
/// overlap all are combined, except that of several `set` one stays. StableHLO: scatter. Throws
/// what gather throws, and ShapeError for updates of another shape than gather's result.
Array scatter(Operand x, const Array& indices, Operand updates, const GatherAxes& axes,
              Combine combine, IndexFacts facts = {});
/// The same with Combine::add.
Array scatter_add(Operand x, const Array& indices, Operand updates, const GatherAxes& axes,
                  IndexFacts facts = {});

}  // namespace sturnus
