#include <sturnus/runtime/host_product.h>

#include <algorithm>

#include "src/runtime/number_list.h"
#include "src/runtime/threads.h"

namespace sturnus::internal {

template <class Real>
void host_product(const Threads* threads, ProductLayout layout, const ProductExtents& extents,
                  const Real* left, const Real* right, Real* result) {
  constexpr std::int64_t worth_a_thread = std::int64_t{1} << 17;  // about 2 microseconds
  std::int64_t each = extents.m * extents.k * extents.n;
  in_parallel(threads, extents.batch, worth_a_thread / std::max<std::int64_t>(each, 1) + 1,
              [&](std::int64_t first, std::int64_t last) {
                ProductExtents part = extents;
                part.batch = last - first;
                multiply_here(layout, part, left + first * extents.m * extents.k,
                              right + first * extents.k * extents.n,
                              result + first * extents.m * extents.n);
              });
}

template void host_product(const Threads*, ProductLayout, const ProductExtents&, const float*,
                           const float*, float*);
template void host_product(const Threads*, ProductLayout, const ProductExtents&, const double*,
                           const double*, double*);

std::string host_product_parameter(ProductLayout layout, const ProductExtents& extents) {
  return numbers_text({static_cast<int>(layout), extents.batch, extents.m, extents.k, extents.n});
}

void host_product_callback(const HostCall& call) {
  std::vector<std::int64_t> numbers = numbers_of(call.parameter);
  auto layout = static_cast<ProductLayout>(numbers[0]);
  ProductExtents extents{numbers[1], numbers[2], numbers[3], numbers[4]};
  auto multiply = [&]<class Real>(Real) {
    host_product(call.threads, layout, extents, static_cast<const Real*>(call.arguments[0].data),
                 static_cast<const Real*>(call.arguments[1].data),
                 static_cast<Real*>(call.results[0].data));
  };
  if (call.results[0].type.dtype == DType::f64) {
    multiply(double());
  } else {
    multiply(float());
  }
}

}  // namespace sturnus::internal
