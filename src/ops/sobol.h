// Points that fill the unit cube more evenly than random ones.
#pragma once

#include <sturnus/ops/random.h>

namespace sturnus {

struct SobolOptions {
  std::int64_t first = 0;  ///< The index of the first point: to continue a sequence.
  DType dtype = DType::f32;
};

/// Points of Sobol's sequence in up to 256 dimensions: [count, dimensions], in [0, 1), in Gray-code
/// order. The first point is 0. Throws ShapeError for more dimensions or more than 2^32 points.
Array sobol(std::int64_t count, std::int64_t dimensions, const SobolOptions& options = {},
            Where where = Where::here());
/// The same points scrambled by a random matrix and a random shift for each dimension, as SciPy
/// does (J. Matousek, On the L2-discrepancy for anchored boxes, J. Complexity 14, 1998): each point
/// is uniform, means over them are unbiased, and they are as even as before.
Array sobol(const Key& key, std::int64_t count, std::int64_t dimensions,
            const SobolOptions& options = {}, Where where = Where::here());

}  // namespace sturnus
