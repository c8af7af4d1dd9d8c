// Distances between all pairs, by their rank: the scale of a kernel density.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// The distance |x_i - x_j| of rank k among all pairs i < j along the last axis, which disappears;
/// k has a whole number for each row, and ranks beyond the ends count as the ends. An element that
/// is not finite is infinitely far from all others. Needs no memory for the pairs where there are
/// many. Throws ShapeError for another shape, or when there are fewer than 2 elements.
Array pair_order_statistic(Operand x, const Array& k);

/// The lower median of |x_i - x_j| among all pairs of finite elements along the last axis, which
/// disappears; 0 where there are fewer than 2. And i32, how many elements are finite.
struct PairMedian {
  Array distance, count;
};
/// Throws ShapeError when there are fewer than 2 elements.
PairMedian pair_median(Operand x);

}  // namespace sturnus
