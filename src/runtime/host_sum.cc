#include <sturnus/runtime/host_sum.h>
#include <sturnus/runtime/product_kernels.h>

#include <algorithm>
#include <vector>

#include "src/runtime/number_list.h"
#include "src/runtime/threads.h"

namespace sturnus::internal {
namespace {

constexpr std::int64_t part = 512;  // as many terms are added up one after the other

// Up to `part` terms: a product with ones.
template <class Real>
void sum_part(const SumExtents& e, const Real* x, Real* result) {
  static const std::vector<Real> ones(part, Real{1});
  if (e.inner == 1) {
    return multiply_here(ProductLayout::mk_nk, {1, e.outer, e.terms, 1}, x, ones.data(), result);
  }
  for (std::int64_t o = 0; o < e.outer; o++) {
    multiply_here(ProductLayout::mk_kn, {1, 1, e.terms, e.inner}, ones.data(),
                  x + o * e.terms * e.inner, result + o * e.inner);
  }
}

}  // namespace

template <class Real>
void host_sum(const Threads* threads, const SumExtents& e, const Real* x, Real* result) {
  constexpr std::int64_t worth_a_thread = 32768;  // terms, about 2 microseconds
  std::int64_t each = e.terms * e.inner;
  if (e.terms <= part) {
    return in_parallel(
        threads, e.outer, worth_a_thread / std::max<std::int64_t>(each, 1) + 1,
        [&](std::int64_t first, std::int64_t last) {
          sum_part({last - first, e.terms, e.inner}, x + first * each, result + first * e.inner);
        });
  }
  std::int64_t parts = e.terms / part, rest = e.terms % part;
  std::vector<Real> sums(static_cast<std::size_t>((parts + 1) * e.inner));
  for (std::int64_t o = 0; o < e.outer; o++, x += each, result += e.inner) {
    host_sum(threads, {parts, part, e.inner}, x, sums.data());
    sum_part({1, rest, e.inner}, x + (each - rest * e.inner), sums.data() + parts * e.inner);
    host_sum(threads, {1, parts + 1, e.inner}, sums.data(), result);
  }
}

template void host_sum(const Threads*, const SumExtents&, const float*, float*);
template void host_sum(const Threads*, const SumExtents&, const double*, double*);

std::string host_sum_parameter(const SumExtents& extents) {
  return numbers_text({extents.outer, extents.terms, extents.inner});
}

void host_sum_callback(const HostCall& call) {
  std::vector<std::int64_t> numbers = numbers_of(call.parameter);
  SumExtents extents{numbers[0], numbers[1], numbers[2]};
  auto add_up = [&]<class Real>(Real) {
    host_sum(call.threads, extents, static_cast<const Real*>(call.arguments[0].data),
             static_cast<Real*>(call.results[0].data));
  };
  if (call.results[0].type.dtype == DType::f64) {
    add_up(double());
  } else {
    add_up(float());
  }
}

}  // namespace sturnus::internal
