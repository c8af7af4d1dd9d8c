// Less memory for reverse mode.
#pragma once

#include <sturnus/functional/flat.h>

namespace sturnus {
namespace internal {
Arrays checkpoint(const FlatFunction& f, const Arrays& x);
}

/// f, of which reverse mode keeps only the arguments and computes the rest again when it needs it.
/// Values and derivatives are those of f.
template <class F>
auto checkpoint(F f) {
  return [f = std::move(f)](const auto&... args) {
    auto arguments = internal::to_arguments(args...);
    internal::Flat flat(f, arguments);
    return flat.result(internal::checkpoint(flat.function(), flat.leaves()));
  };
}

}  // namespace sturnus
