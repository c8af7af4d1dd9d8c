// Reductions. `axes` are counted from 0, from the end when negative; without axes all are reduced.
#pragma once

#include <sturnus/functional/array.h>

#include <optional>
#include <vector>

namespace sturnus {

/// Which axes to reduce, and whether they stay, with extent 1.
struct Over {
  Over() = default;
  Over(int axis) : axes(std::vector<std::int64_t>{axis}) {}
  Over(std::vector<std::int64_t> axes, bool keep = false) : axes(std::move(axes)), keep(keep) {}
  std::optional<std::vector<std::int64_t>> axes;
  bool keep = false;
};

/// The sum of the elements. StableHLO: reduce with add.
Array sum(Operand x, Over over = {});
/// The largest and the smallest element; the derivative is shared between equal ones.
Array max(Operand x, Over over = {});
Array min(Operand x, Over over = {});
/// sum / count.
Array mean(Operand x, Over over = {});

}  // namespace sturnus
