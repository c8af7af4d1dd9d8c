// Arrays put into the order of other arrays.
#pragma once

#include <sturnus/functional/array.h>

#include <cstdint>

namespace sturnus::internal {

/// x in the order that sorts `keys` along an axis; equal keys keep their order. The shapes are the
/// same. Linear in x.
Array reordered(const Array& keys, const Array& x, std::int64_t axis);

}  // namespace sturnus::internal
