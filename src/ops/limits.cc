#include "src/ops/limits.h"

#include <limits>

namespace sturnus::internal {
namespace {

template <class T>
constexpr Limits limits{std::numeric_limits<T>::min(), std::numeric_limits<T>::epsilon(),
                        std::numeric_limits<T>::max()};

}  // namespace

Limits limits_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {0x1p-14, 0x1p-10, 65504};
    case DType::bf16:
      return {0x1p-126, 0x1p-7, 0x1.FEp127};
    case DType::f64:
      return limits<double>;
    default:
      return limits<float>;
  }
}

}  // namespace sturnus::internal
