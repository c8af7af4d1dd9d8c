// Sums of exponentials without overflow. Elements that are -inf count as exp(-inf) = 0, and where
// all are -inf or one is +inf the values are the limits and the derivatives 0, not NaN. Integers
// are converted to f32 first. Functions throw DtypeError for complex numbers, and ShapeError when
// there is no such axis or one is named twice.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/ops/reduce.h>

namespace sturnus {

/// log(exp(a) + exp(b)). Throws ShapeError when the shapes do not fit together.
Array logaddexp(Operand a, Operand b);
/// log(sum(exp(x))); -infinity when there are no elements.
Array logsumexp(Operand x, Over over = {});
/// exp(x) / sum(exp(x)) along an axis.
Array softmax(Operand x, int axis = -1);
/// x - log(sum(exp(x))) along an axis.
Array log_softmax(Operand x, int axis = -1);

}  // namespace sturnus
