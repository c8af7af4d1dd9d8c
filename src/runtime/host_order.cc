#include <sturnus/runtime/host_order.h>
#include <sturnus/runtime/order_kernels.h>

#include <cmath>
#include <functional>
#include <vector>

#include "src/runtime/number_list.h"
#include "src/runtime/threads.h"

namespace sturnus::internal {
namespace {

void for_each_row(const Threads* threads, std::int64_t rows, std::int64_t length,
                  const std::function<void(std::int64_t row)>& use) {
  constexpr std::int64_t worth_a_thread = 1000;  // elements, of 31 or more passes each
  in_parallel(threads, rows, worth_a_thread / length + 1,
              [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t row = first; row < last; row++) use(row);
              });
}

// Calls use(row, elements) for every row along the last axis of the first argument, whose elements
// are `Real`.
template <class Real, class Use>
void for_each_row(const HostCall& call, const Use& use) {
  std::span<const Real> all = call.arguments[0].elements<Real>();
  auto length = static_cast<std::size_t>(call.arguments[0].type.shape.back());
  for_each_row(call.threads, call.arguments[0].type.size() / call.arguments[0].type.shape.back(),
               call.arguments[0].type.shape.back(), [&](std::int64_t row) {
                 use(row, all.subspan(static_cast<std::size_t>(row) * length, length));
               });
}

template <class Real>
void order_statistics(const HostCall& call, const std::vector<std::int64_t>& ranks) {
  Real* result = call.results[0].elements<Real>().data();
  for_each_row<Real>(call, [&](std::int64_t row, std::span<const Real> elements) {
    if (!ranks.empty()) {
      order_statistics_here<Real>(elements, ranks, result + row * std::ssize(ranks));
    } else {
      std::int64_t rank = call.arguments[1].elements<std::int32_t>()[static_cast<std::size_t>(row)];
      order_statistics_here<Real>(elements, {&rank, 1}, result + row);
    }
  });
}

template <class Real>
void pair_order_statistics(const HostCall& call) {
  std::span<const std::int32_t> ranks = call.arguments[1].elements<std::int32_t>();
  std::span<Real> result = call.results[0].elements<Real>();
  for_each_row<Real>(call, [&](std::int64_t row, std::span<const Real> elements) {
    auto at = static_cast<std::size_t>(row);
    result[at] = pair_order_statistic_here<Real>(elements, ranks[at]);
  });
}

template <class Real>
void pair_medians(const HostCall& call, std::int64_t length, std::int64_t stride) {
  std::span<const Real> all = call.arguments[0].elements<Real>();
  std::span<Real> distance = call.results[0].elements<Real>();
  std::span<std::int32_t> count = call.results[1].elements<std::int32_t>();
  for_each_row(call.threads, std::ssize(distance), length, [&](std::int64_t row) {
    static thread_local std::vector<Real> finite;
    finite.clear();
    std::int64_t first = stride == 1 ? row * length : row;
    for (std::int64_t i = 0; i < length; i++) {
      Real x = all[static_cast<std::size_t>(first + i * stride)];
      if (std::isfinite(x)) finite.push_back(x);
    }
    auto at = static_cast<std::size_t>(row);
    std::int64_t n = std::ssize(finite), pairs = n * (n - 1) / 2;
    distance[at] = pairs == 0 ? 0 : pair_order_statistic_here<Real>(finite, (pairs - 1) / 2);
    count[at] = static_cast<std::int32_t>(n);
  });
}

}  // namespace

std::string host_order_parameter(const std::vector<std::int64_t>& ranks) {
  return numbers_text(ranks);
}

void host_order_callback(const HostCall& call) {
  std::vector<std::int64_t> ranks = numbers_of(call.parameter);
  if (call.results[0].type.dtype == DType::f64) {
    order_statistics<double>(call, ranks);
  } else {
    order_statistics<float>(call, ranks);
  }
}

void host_pair_order_callback(const HostCall& call) {
  if (call.results[0].type.dtype == DType::f64) {
    pair_order_statistics<double>(call);
  } else {
    pair_order_statistics<float>(call);
  }
}

std::string host_pair_median_parameter(std::int64_t length, std::int64_t stride) {
  return numbers_text({length, stride});
}

void host_pair_median_callback(const HostCall& call) {
  std::vector<std::int64_t> numbers = numbers_of(call.parameter);
  if (call.results[0].type.dtype == DType::f64) {
    pair_medians<double>(call, numbers[0], numbers[1]);
  } else {
    pair_medians<float>(call, numbers[0], numbers[1]);
  }
}

}  // namespace sturnus::internal
