#include <sturnus/functional/op.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/linalg.h>
#include <sturnus/ops/reduce.h>

#include "src/ops/elementwise.h"
#include "src/ops/limits.h"
#include "src/ops/matrices.h"

namespace sturnus {
namespace internal {
namespace {

struct Pinv {
  static constexpr std::string_view name = "pinv";
  double rcond;
  ArrayType infer(const Arrays& x) const {
    return {x[0].dtype(), joined(stack_of(x[0]), {columns_of(x[0]), rows_of(x[0])})};
  }
  // For a change that keeps the rank, with p of a:
  // dp = -p da p + p p^T da^T (1 - a p) + (1 - p a) da^T p^T p
  // (G. Golub and V. Pereyra, SIAM J. Numer. Anal. 10, 1973). Unlike the rules of svd it is finite
  // for equal singular values.
  Array jvp(const Arrays& x, const Array& p, const Arrays& dx) const {
    const Array &a = x[0], &da = dx[0];
    Array pt = transposed(p), dat = transposed(da);
    Array inside = matmul(p, matmul(da, p));
    Array ppt = matmul(p, pt), ptp = matmul(pt, p);
    Array left = matmul(ppt, dat);
    Array beside = left - matmul(matmul(left, a), p);
    Array right = matmul(dat, ptp);
    Array below = right - matmul(p, matmul(a, right));
    return beside + below - inside;
  }
  Array batch(const Arrays& x, const Mask&, std::int64_t) const { return make(*this, x); }
  void lower(Emitter& emitter, const Node& node) const {
    if (lowered_as_empty(emitter, node)) return;
    auto [u, s, vt] = svd(node.inputs[0]);
    Array large = s > rcond * max(s, {{-1}, true});
    Array inverted = where(large, 1.0 / where(large, s, 1.0), 0.0);
    emitter.expand(node, {matmul(transposed(vt) * as_row(inverted), transposed(u))});
  }
};

}  // namespace
}  // namespace internal

Array pinv(Operand a, std::optional<double> rcond) {
  internal::Blame blame(a.where, "pinv");
  Array x = internal::to_matrices("pinv", a);
  auto longest = static_cast<double>(std::max(internal::rows_of(x), internal::columns_of(x)));
  double precision = 10 * longest * internal::limits_of(x.dtype()).epsilon;
  return internal::make(internal::Pinv{rcond.value_or(precision)}, {x});
}

}  // namespace sturnus
