// Draws as rows of one array while a program of chains runs: free numbers, then what SampleStats
// has of a draw, in its order.
#pragma once

#include <sturnus/inference/chains/sampling.h>

namespace sturnus::internal {

/// Of a row.
std::int64_t draw_row_length(const Target& target);

/// How many transitions one execution makes at most: the rows of all chains stay within 64 MB.
std::int64_t draw_row_capacity(const Target& target, const SamplingOptions& options);

/// The draws of rows [chains, draws, row length].
Draws draws_of_rows(const Target& target, const Array& rows);

/// One draw of each chain without values.
Draws draws_like(const Target& target, const SamplingOptions& options);

}  // namespace sturnus::internal
