#include "src/ops/associative.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>

#include "src/ops/structural.h"

namespace sturnus::internal {
namespace {

std::int64_t extent_of(const Array& x, std::int64_t axis) {
  return x.shape()[static_cast<std::size_t>(axis)];
}

// Elements start, start + step, ... below stop along one axis.
Arrays part(const Arrays& x, std::int64_t axis, std::int64_t start, std::int64_t stop,
            std::int64_t step = 1) {
  Arrays result;
  for (const Array& array : x) {
    Axes from(array.shape().size()), to = array.shape(), by(array.shape().size(), 1);
    auto at = static_cast<std::size_t>(axis);
    from[at] = start;
    to[at] = stop;
    by[at] = step;
    result.push_back(slice(array, from, to, by));
  }
  return result;
}

Arrays joined(const Arrays& a, const Arrays& b, std::int64_t axis) {
  Arrays result;
  for (std::size_t i = 0; i < a.size(); i++) {
    result.push_back(concatenate({a[i], b[i]}, static_cast<int>(axis)));
  }
  return result;
}

// even[0], odd[0], even[1], odd[1], ...
Arrays interleaved(const Arrays& even, const Arrays& odd, std::int64_t axis) {
  Arrays result;
  std::int64_t evens = extent_of(even[0], axis), odds = extent_of(odd[0], axis);
  auto at = static_cast<std::size_t>(axis);
  for (std::size_t i = 0; i < even.size(); i++) {
    Axes none(even[i].shape().size()), one = none, behind_even = none, behind_odd = none;
    one[at] = 1;
    behind_even[at] = odds - evens + 1;
    behind_odd[at] = evens - odds;
    Array zero(0.0, even[i].dtype());
    Array spread_even = pad(even[i], zero, none, behind_even, one);
    Array spread_odd = pad(odd[i], zero, one, behind_odd, one);
    Array position = iota({evens + odds}, 0);
    Array is_odd = broadcast((position & 1) == 1, spread_even.shape(), {axis});
    result.push_back(where(is_odd, spread_odd, spread_even));
  }
  return result;
}

}  // namespace

Arrays tree_reduce(Arrays x, std::int64_t axis, const Combine& combine) {
  for (std::int64_t n = extent_of(x[0], axis); n > 1; n = (n + 1) / 2) {
    Arrays left = part(x, axis, 0, n - n % 2, 2);
    Arrays right = part(x, axis, 1, n, 2);
    Arrays pairs = combine(left, right);
    x = n % 2 == 0 ? pairs : joined(pairs, part(x, axis, n - 1, n), axis);
  }
  return x;
}

Arrays prefix_scan(const Arrays& x, std::int64_t axis, const Combine& combine) {
  std::int64_t n = extent_of(x[0], axis);
  if (n < 2) return x;
  Arrays left = part(x, axis, 0, n - n % 2, 2);
  Arrays right = part(x, axis, 1, n, 2);
  Arrays odd = prefix_scan(combine(left, right), axis, combine);
  Arrays even = part(x, axis, 0, 1);
  if (n > 2) {
    Arrays before = part(odd, axis, 0, (n - 1) / 2);
    Arrays rest = combine(before, part(x, axis, 2, n, 2));
    even = joined(even, rest, axis);
  }
  return interleaved(even, odd, axis);
}

}  // namespace sturnus::internal
