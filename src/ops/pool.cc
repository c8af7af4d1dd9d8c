#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/pool.h>
#include <sturnus/ops/shape.h>

#include <functional>
#include <limits>

#include "src/ops/promotion.h"
#include "src/ops/structural.h"

namespace sturnus {
namespace internal {
namespace {

// What windows are, for all axes of x.
struct Windows {
  Axes extents, strides, low, high;
};

Windows resolve(std::string_view function, const Array& x, const Axes& window,
                const PoolOptions& options) {
  auto space = x.rank() - 2;
  auto fits = [&](std::size_t entries) { return static_cast<std::int64_t>(entries) == space; };
  bool right = space >= 0 && fits(window.size()) &&
               (options.strides.empty() || fits(options.strides.size())) &&
               (options.padding.empty() || fits(options.padding.size()));
  if (!right) {
    throw ShapeError(message(function,
                             "a window of " + print_field(window) + " for " + x.type().str(),
                             "x needs a batch and a feature axis, the window and each option one "
                             "entry for each other axis"));
  }
  Windows all{{1, 1}, {1, 1}, {0, 0}, {0, 0}};
  for (std::size_t i = 0; i < window.size(); i++) {
    all.extents.push_back(window[i]);
    all.strides.push_back(options.strides.empty() ? window[i] : options.strides[i]);
    all.low.push_back(options.padding.empty() ? 0 : options.padding[i].first);
    all.high.push_back(options.padding.empty() ? 0 : options.padding[i].second);
    std::int64_t room = x.shape()[i + 2] + all.low.back() + all.high.back();
    if (window[i] >= 1 && window[i] <= room && all.strides.back() >= 1) continue;
    throw ShapeError(message(function,
                             "axis " + std::to_string(i + 2) + " of " + x.type().str() +
                                 " has no room for a window of " + std::to_string(window[i]) +
                                 " that moves by " + std::to_string(all.strides.back()),
                             "Give a window from 1 to the extent, and a stride of 1 or more"));
  }
  return all;
}

// The smallest number of a type.
Number lowest(DType dtype) {
  if (is_inexact(dtype)) return -std::numeric_limits<double>::infinity();
  if (dtype == DType::boolean || dtype > DType::i64) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - 8 * size_of(dtype));
}

// Element k of every window is a slice with strides; these are combined one by one, which the
// compiler makes one loop of.
Array pooled(const Array& x, const Windows& windows, const Number& around,
             const std::function<Array(const Array&, const Array&)>& combine) {
  Array padded = pad(x, Array(around, x.dtype()), windows.low, windows.high);
  Axes offset(windows.extents.size(), 0), count;
  for (std::size_t i = 0; i < offset.size(); i++) {
    count.push_back((padded.shape()[i] - windows.extents[i]) / windows.strides[i]);
  }
  Array result;
  for (std::int64_t k = 0; k < product(windows.extents); k++) {
    Axes stop;
    for (std::size_t i = 0; i < offset.size(); i++) {
      stop.push_back(offset[i] + count[i] * windows.strides[i] + 1);
    }
    Array part = slice(padded, offset, stop, windows.strides);
    result = result.empty() ? part : combine(result, part);
    for (std::size_t i = offset.size(); i-- > 0;) {
      if (++offset[i] < windows.extents[i]) break;
      offset[i] = 0;
    }
  }
  return result;
}

}  // namespace
}  // namespace internal

using internal::Blame;

Array max_pool(Operand operand, const std::vector<std::int64_t>& window,
               const PoolOptions& options) {
  Blame blame(operand.where, "max_pool");
  Array x = internal::to_array(operand);
  internal::Windows windows = internal::resolve("max_pool", x, window, options);
  return internal::pooled(x, windows, internal::lowest(x.dtype()),
                          [](const Array& a, const Array& b) { return maximum(a, b); });
}

Array avg_pool(Operand operand, const std::vector<std::int64_t>& window,
               const PoolOptions& options) {
  Blame blame(operand.where, "avg_pool");
  Array x = internal::to_floating(operand);
  internal::Windows windows = internal::resolve("avg_pool", x, window, options);
  auto add = [](const Array& a, const Array& b) { return a + b; };
  Array total = internal::pooled(x, windows, 0, add);
  if (options.padding.empty()) return total / static_cast<double>(internal::product(window));
  Array count = internal::pooled(internal::ones_of(x.type()), windows, 0, add);
  return total / count;
}

}  // namespace sturnus
