// Less memory for reverse mode.
#pragma once

#include <sturnus/functional/flat.h>

namespace sturnus {
namespace internal {
Arrays checkpoint(const FlatFunction& f, const Arrays& x, Where where);
}

/// f, of which reverse mode keeps only the arguments and computes the rest again when it needs it.
/// Values and derivatives are those of f.
template <class F>
auto checkpoint(F f, Where where = Where::here()) {
  return [f = std::move(f), where](const auto&... args) {
    auto arguments = internal::to_arguments(args...);
    internal::Flat flat(f, arguments, internal::caller("checkpoint", where, arguments));
    return flat.result(internal::checkpoint(flat.function(), flat.leaves(), where));
  };
}

}  // namespace sturnus
