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
                multiply_here(layout, part, left + first * extents.left_step,
                              right + first * extents.right_step,
                              result + first * extents.m * extents.n);
              });
}

template void host_product(const Threads*, ProductLayout, const ProductExtents&, const float*,
                           const float*, float*);
template void host_product(const Threads*, ProductLayout, const ProductExtents&, const double*,
                           const double*, double*);

std::string host_product_parameter(const HostProduct& product) {
  const ProductExtents& e = product.extents;
  return numbers_text({static_cast<int>(product.layout), e.batch, e.m, e.k, e.n, e.left_step,
                       e.right_step, product.left_first, product.right_first});
}

void host_product_callback(const HostCall& call) {
  std::vector<std::int64_t> n = numbers_of(call.parameter);
  HostProduct product{
      static_cast<ProductLayout>(n[0]), {n[1], n[2], n[3], n[4], n[5], n[6]}, n[7], n[8]};
  auto multiply = [&]<class Real>(Real) {
    host_product(call.threads, product.layout, product.extents,
                 static_cast<const Real*>(call.arguments[0].data) + product.left_first,
                 static_cast<const Real*>(call.arguments[1].data) + product.right_first,
                 static_cast<Real*>(call.results[0].data));
  };
  if (call.results[0].type.dtype == DType::f64) {
    multiply(double());
  } else {
    multiply(float());
  }
}

}  // namespace sturnus::internal
