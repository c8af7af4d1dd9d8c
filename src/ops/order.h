// Sorting, and elements by their rank. NaN counts as larger than everything, except in descending
// sorts, where it is last too. Derivatives flow to the element that was chosen. Numbers below the
// smallest normal one may count as equal to 0. All functions throw ShapeError for an axis that x
// does not have, DtypeError for complex numbers.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/ops/reduce.h>

#include <utility>

namespace sturnus {

/// The elements along an axis in ascending order, or in descending order; NaN last in both.
/// Equal elements keep their order. StableHLO: sort.
Array sort(Operand x, int axis = -1, bool descending = false);
/// The positions from which sort takes its elements, as i32.
Array argsort(Operand x, int axis = -1, bool descending = false);
/// The keys sorted along an axis, and then the values, all of the shape of the keys, in the order
/// of their keys. Throws ShapeError when one has another shape.
Arrays sort_by_key(Operand keys, const Arrays& values, int axis = -1, bool descending = false);
/// The k largest elements along the last axis, the largest first and NaN before it, and their
/// positions. Of equal elements the first comes first. Throws ShapeError when there are fewer
/// than k.
std::pair<Array, Array> top_k(Operand x, std::int64_t k);
/// The element of rank k along an axis, which disappears: 0 is the smallest. Found without sorting
/// where that is faster. Where several are equal to it the derivative is shared. Throws
/// ShapeError when there is no such rank.
Array order_statistic(Operand x, std::int64_t k, int axis = -1);
/// The same with a rank for each row: integers of the shape of the result. Ranks beyond the ends
/// count as the ends. Throws ShapeError for another shape, or when there is no element.
Array order_statistic(Operand x, const Array& k, int axis = -1);

/// Between two elements: their weighted mean, the lower, the higher, or the nearer one (the one of
/// even rank when both are equally near).
enum class Interpolation { linear, lower, higher, nearest };
/// The middle element, or the mean of the two in the middle. NaN if any element is. Throws
/// ShapeError when there is no element.
Array median(Operand x, Over over = {});
/// The element of rank q (n - 1) out of n, interpolated. q is a number from 0 to 1, or an array of
/// them, whose axes then come first in the result; those outside count as 0 and 1. NaN if any
/// element is. Throws Error for a number q outside, ShapeError when there is no element.
Array quantile(Operand x, Operand q, Over over = {},
               Interpolation interpolation = Interpolation::linear);

}  // namespace sturnus
