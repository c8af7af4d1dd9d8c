// Derivatives of functions of trees.
#pragma once

#include <sturnus/functional/flat.h>
#include <sturnus/functional/transform.h>

#include <optional>
#include <tuple>
#include <utility>

namespace sturnus {
namespace internal {

template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class F, class Arguments, std::size_t... Wrt, std::size_t... I>
auto value_and_grad(const F& f, const Arguments& arguments, std::string_view name,
                    std::index_sequence<Wrt...>, std::index_sequence<I...>) {
  using Result = std::decay_t<decltype(std::apply(f, arguments))>;
  auto chosen = std::make_tuple(std::get<Wrt>(arguments)...);
  std::optional<Result> like;
  FlatFunction flat = [&](const Arrays& leaves) {
    auto traced = with_leaves(chosen, leaves);
    Arguments all = arguments;
    ((std::get<Wrt>(all) = std::get<I>(traced)), ...);
    like = std::apply(f, all);
    return leaves_of(*like);
  };
  ValueAndGrad result = value_and_grad(flat, leaves_of(chosen), name);
  auto gradient = with_leaves(chosen, result.gradient);
  Result value = with_leaves(*like, result.outputs);
  if constexpr (sizeof...(Wrt) == 1) {
    return std::pair(std::move(value), std::get<0>(std::move(gradient)));
  } else {
    return std::pair(std::move(value), std::move(gradient));
  }
}

template <class F, class Arguments, std::size_t... Wrt>
auto value_and_grad(const F& f, const Arguments& arguments, std::string_view name,
                    std::index_sequence<Wrt...> wrt) {
  return value_and_grad(f, arguments, name, wrt, std::make_index_sequence<sizeof...(Wrt)>());
}

/// The arguments to differentiate by: the first, unless others are named.
template <std::size_t... Wrt>
using WrtOr0 =
    std::conditional_t<sizeof...(Wrt) == 0, std::index_sequence<0>, std::index_sequence<Wrt...>>;

}  // namespace internal

/// A function that gives f's value and its gradient by the arguments `Wrt` (default: the first).
/// The gradient has the type of the argument; for several it is a tuple. f returns a real scalar,
/// or a pair of one and anything else, which is passed on beside the value. Throws ShapeError when
/// f's value is no scalar, DtypeError for arguments that are not real.
template <std::size_t... Wrt, class F>
auto value_and_grad(F f) {
  return [f = std::move(f)](const auto&... args) {
    return internal::value_and_grad(f, internal::to_arguments(args...), "value_and_grad",
                                    internal::WrtOr0<Wrt...>());
  };
}

/// The gradient of f alone, or with what f returned beside its value as a pair.
template <std::size_t... Wrt, class F>
auto grad(F f) {
  return [f = std::move(f)](const auto&... args) {
    auto [value, gradient] = internal::value_and_grad(f, internal::to_arguments(args...), "grad",
                                                      internal::WrtOr0<Wrt...>());
    if constexpr (internal::is_pair<decltype(value)>) {
      return std::pair(std::move(gradient), std::move(value.second));
    } else {
      return std::move(gradient);
    }
  };
}

/// f's result at `x` and its directional derivative along `tangents`, both with the type of the
/// result.
template <class F, class X>
auto jvp(const F& f, const X& x, const X& tangents) {
  using Result = std::decay_t<decltype(std::apply(f, x))>;
  std::optional<Result> like;
  internal::FlatFunction flat = [&](const Arrays& leaves) {
    like = std::apply(f, internal::with_leaves(x, leaves));
    return internal::leaves_of(*like);
  };
  internal::Duals duals =
      internal::jvp(flat, internal::leaves_of(x), internal::leaves_of(tangents));
  return std::pair(internal::with_leaves(*like, duals.values),
                   internal::with_leaves(*like, duals.tangents));
}

}  // namespace sturnus
