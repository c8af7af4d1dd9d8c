#include <sturnus/runtime/host_order.h>
#include <sturnus/runtime/order_kernels.h>

#include "src/runtime/number_list.h"
#include "src/runtime/threads.h"

namespace sturnus::internal {
namespace {

// Calls use(row, elements) for every row along the last axis of the first argument, whose elements
// are `Real`.
template <class Real, class Use>
void for_each_row(const HostCall& call, const Use& use) {
  std::span<const Real> all = call.arguments[0].elements<Real>();
  std::int64_t length = call.arguments[0].type.shape.back();
  constexpr std::int64_t worth_a_thread = 1000;  // elements, of 31 or more passes each
  in_parallel(call.threads, std::ssize(all) / length, worth_a_thread / length + 1,
              [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t row = first; row < last; row++) {
                  use(row, all.subspan(static_cast<std::size_t>(row * length),
                                       static_cast<std::size_t>(length)));
                }
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

}  // namespace sturnus::internal
