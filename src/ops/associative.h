// Reductions and running results of an associative function, by combining halves: log2(n) steps
// on whole arrays, O(n) work in all, and every derivative that the function has.
#pragma once

#include <sturnus/functional/graph.h>

#include <cstdint>
#include <functional>

namespace sturnus::internal {

/// Combines two lists of values of equal shapes, element by element.
using Combine = std::function<Arrays(const Arrays& a, const Arrays& b)>;

/// All elements of x along `axis` combined, in order; the axis stays with extent 1. The extent must
/// not be 0.
Arrays tree_reduce(Arrays x, std::int64_t axis, const Combine& combine);
/// Element i of the result is elements 0, ..., i of x combined, along `axis`.
Arrays prefix_scan(const Arrays& x, std::int64_t axis, const Combine& combine);

}  // namespace sturnus::internal
