// Products of small matrices by the widest vectors that this processor has. A library of its own,
// since these loops need the compiler's optimisations also where others do without.
#pragma once

#include <cstdint>

namespace sturnus::internal {

/// Which of the axes m, k of the left operand and k, n of the right one stands last in memory.
enum class ProductLayout { mk_kn, km_kn, mk_nk, km_nk };

constexpr ProductLayout product_layout(bool mk, bool kn) {
  return kn ? (mk ? ProductLayout::mk_kn : ProductLayout::km_kn)
            : (mk ? ProductLayout::mk_nk : ProductLayout::km_nk);
}

struct ProductExtents {
  std::int64_t batch = 1, m = 1, k = 1, n = 1;
  // From one matrix of the batch to the next; 0 when all are one.
  std::int64_t left_step = m * k, right_step = k * n;
};

/// result[b, m, n] = sum over k of left[b, m, k] right[b, k, n], of float or double, on this
/// thread.
template <class Real>
void multiply_here(ProductLayout layout, const ProductExtents& extents, const Real* left,
                   const Real* right, Real* result);

}  // namespace sturnus::internal
