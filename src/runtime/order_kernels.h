// Elements by their rank, for the CPU. In the same library as the products, and for the same
// reason.
#pragma once

#include <cstdint>
#include <span>

namespace sturnus::internal {

/// The elements of given ascending ranks, of float or double; NaN counts as larger than everything.
template <class Real>
void order_statistics_here(std::span<const Real> elements, std::span<const std::int64_t> ranks,
                           Real* result);

/// The element of a given ascending rank among the distances of all pairs of elements. Elements
/// that are not finite are infinitely far from all others.
template <class Real>
Real pair_order_statistic_here(std::span<const Real> elements, std::int64_t rank);

}  // namespace sturnus::internal
