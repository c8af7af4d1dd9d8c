#include "src/inference/chains/flags.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>

namespace sturnus::internal {

Arrays decided(const Array& flags) {
  auto count = static_cast<int>(flags.size());
  Array bits = shift_left(convert(flags, DType::i32), arange(count)), code = sum(bits);
  Arrays result;
  for (int i = 0; i < count; i++) result.push_back((shift_right(code, i) & 1) == 1);
  return result;
}

}  // namespace sturnus::internal
