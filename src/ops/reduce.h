// Reductions. `axes` are counted from 0, from the end when negative; without axes all are reduced.
// All functions throw ShapeError for an axis that x does not have, or that is named twice.
// Numbers of 16 bits are added up in f32, and the result is rounded once.
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
/// The largest and the smallest element; the derivative is shared between equal ones. Throw
/// ShapeError when there is none, DtypeError for complex numbers.
Array max(Operand x, Over over = {});
Array min(Operand x, Over over = {});
/// sum / count: NaN when there are no elements, as the variance.
Array mean(Operand x, Over over = {});
/// The product of the elements, with exact derivatives also where elements are zero. StableHLO:
/// reduce with multiply.
Array prod(Operand x, Over over = {});
/// sum(|x - mean|^2) / (count - correction): correction 1 for the unbiased estimate. Real for
/// complex x.
Array var(Operand x, Over over = {}, double correction = 0);
/// sqrt(var); where that is 0, so is the derivative.
Array stddev(Operand x, Over over = {}, double correction = 0);
/// Whether any element, or every one, is true (or is not 0).
Array any(Operand x, Over over = {});
Array all(Operand x, Over over = {});
/// The position of the first largest or smallest element, i32; of the first NaN if there is one.
/// Without an axis the elements are counted in row-major order. Throws ShapeError when there are no
/// elements to choose from, DtypeError for complex numbers.
Array argmax(Operand x);
Array argmax(Operand x, int axis, bool keep = false);
Array argmin(Operand x);
Array argmin(Operand x, int axis, bool keep = false);
/// The norm of the elements as one vector: order 2 is sqrt(sum(|x|^2)), 1 is sum(|x|), infinity is
/// max(|x|). Real for complex x. Where the norm is 0, so is the derivative. Throws Error for
/// another order, ShapeError when there is no element for order infinity.
Array norm(Operand x, Over over = {}, double order = 2);

}  // namespace sturnus
