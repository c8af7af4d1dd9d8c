#include "src/inference/chains/draw_rows.h"

#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/shape.h>

#include <algorithm>

namespace sturnus::internal {

std::int64_t draw_row_length(const Target& target) {
  constexpr std::int64_t stats = 7;
  return target.size + stats;
}

std::int64_t draw_row_capacity(const Target& target, const SamplingOptions& options) {
  std::int64_t bytes =
      options.chains * draw_row_length(target) * static_cast<std::int64_t>(sizeof(double));
  return std::clamp<std::int64_t>((std::int64_t{1} << 26) / bytes, 1,
                                  std::max<std::int64_t>(options.draws, 100));
}

Draws draws_of_rows(const Target& target, const Array& rows) {
  std::int64_t chains = rows.shape()[0], count = rows.shape()[1];
  auto columns = [&](std::int64_t from, std::int64_t to) {
    return slice(rows, {0, 0, from}, {chains, count, to});
  };
  auto stat = [&](std::int64_t i) {
    return reshape(columns(target.size + i, target.size + i + 1), {chains, count});
  };
  Draws draws;
  draws.names = target.names;
  draws.values = vmap(vmap(target.parameters))(columns(0, target.size));
  draws.stats = {
      stat(0),        stat(1), stat(2), convert(stat(3), DType::i32), convert(stat(4), DType::i32),
      stat(5) != 0.0, stat(6)};
  return draws;
}

Draws draws_like(const Target& target, const SamplingOptions& options) {
  Array rows = abstract_array(options.dtype, {options.chains, 1, draw_row_length(target)});
  return eval_shape([&](const Array& r) { return draws_of_rows(target, r); }, rows);
}

}  // namespace sturnus::internal
