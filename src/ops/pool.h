// Pooling: each window of the spatial axes becomes one number.
#pragma once

#include <sturnus/functional/array.h>

#include <utility>
#include <vector>

namespace sturnus {

/// One entry per spatial axis.
struct PoolOptions {
  /// By how much the window moves; its own extent unless given.
  std::vector<std::int64_t> strides = {};
  /// Elements before and behind x that do not count; none unless given.
  std::vector<std::pair<std::int64_t, std::int64_t>> padding = {};
};

/// The largest element in each window, for x[batch, features, space...]; integers stay integers.
/// The smallest number of the type for a window without any element. The derivative is shared
/// between equal ones. Meant for small windows: the program grows with their size. Throws
/// ShapeError when shapes and options do not fit, DtypeError for complex numbers.
Array max_pool(Operand x, const std::vector<std::int64_t>& window, const PoolOptions& options = {});
/// The mean of the elements in each window, without the padding; NaN for a window that is all
/// padding. Throws ShapeError as max_pool does.
Array avg_pool(Operand x, const std::vector<std::int64_t>& window, const PoolOptions& options = {});

}  // namespace sturnus
