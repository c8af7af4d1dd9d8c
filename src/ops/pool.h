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

/// The largest element in each window, for x[batch, features, space...]. Meant for small windows:
/// the program grows with their size. Throws ShapeError when shapes and options do not fit.
Array max_pool(Operand x, const std::vector<std::int64_t>& window, const PoolOptions& options = {});
/// The mean of the elements in each window. Throws as max_pool does.
Array avg_pool(Operand x, const std::vector<std::int64_t>& window, const PoolOptions& options = {});

}  // namespace sturnus
