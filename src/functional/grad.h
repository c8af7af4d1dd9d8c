// Derivatives of functions of trees.
#pragma once

#include <sturnus/functional/flat.h>

#include <memory>
#include <tuple>
#include <utility>

namespace sturnus {
namespace internal {

template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

/// The arguments to differentiate by: the first, unless others are named.
template <std::size_t... Wrt>
using WrtOr0 =
    std::conditional_t<sizeof...(Wrt) == 0, std::index_sequence<0>, std::index_sequence<Wrt...>>;

template <class Arguments, std::size_t... Wrt>
auto selected(const Arguments& arguments, std::index_sequence<Wrt...>) {
  return std::make_tuple(std::get<Wrt>(arguments)...);
}

/// f as a function of the arguments `Wrt`, with the others fixed.
template <class F, class Arguments, std::size_t... Wrt>
auto fixing_others(const F& f, const Arguments& arguments, std::index_sequence<Wrt...>) {
  return [&f, &arguments](const std::tuple_element_t<Wrt, Arguments>&... chosen) {
    Arguments all = arguments;
    ((std::get<Wrt>(all) = chosen), ...);
    return std::apply(f, all);
  };
}

/// A tuple of one thing as that thing.
template <class Tuple>
auto unwrapped(Tuple tuple) {
  if constexpr (std::tuple_size_v<Tuple> == 1) {
    return std::get<0>(std::move(tuple));
  } else {
    return tuple;
  }
}

/// The arguments of a function, given as a tuple or, for a function of one, as that one.
template <class X>
auto as_arguments(const X& x) {
  if constexpr (is_tuple<X>) {
    return x;
  } else {
    return to_arguments(x);
  }
}

/// The arguments number `Wrt`, which must be there.
template <class Arguments, std::size_t... Wrt>
constexpr void require_arguments(std::index_sequence<Wrt...>) {
  static_assert(((Wrt < std::tuple_size_v<Arguments>)&&...),
                "there is no argument of the number to differentiate by: the function is called "
                "with fewer, numbered from 0");
}

template <class F, class Arguments, class Wrt>
auto value_and_grad(const F& f, const Arguments& arguments, std::string_view name, Where where,
                    Wrt wrt) {
  require_arguments<Arguments>(wrt);
  auto chosen = selected(arguments, wrt);
  auto g = fixing_others(f, arguments, wrt);
  Flat flat(g, chosen);
  ValueAndGrad result =
      value_and_grad(flat.function(), flat.leaves(), caller(name, where, arguments, wrt));
  return std::pair(flat.result(result.outputs), unwrapped(with_leaves(chosen, result.gradient)));
}

template <class F, class X>
auto jvp(std::string_view name, const F& f, const X& x, const X& tangents, Where where) {
  auto arguments = as_arguments(x);
  Arrays directions = leaves_like(name, "x", unwrapped(arguments), "the tangents",
                                  unwrapped(as_arguments(tangents)), where);
  Flat flat(f, arguments);
  Duals duals = jvp(flat.function(), flat.leaves(), directions, caller(name, where, arguments));
  return std::pair(flat.result(duals.values), flat.result(duals.tangents));
}

}  // namespace internal

/// A function that gives f's value and its gradient by the arguments `Wrt` (default: the first).
/// The gradient has the type of the argument; for several it is a tuple. f returns a real scalar,
/// or a pair of one and anything else, which is passed on beside the value. Throws ShapeError when
/// f's value is no scalar, DtypeError when it or an argument is not real.
template <std::size_t... Wrt, class F>
auto value_and_grad(F f, Where where = Where::here()) {
  return [f = std::move(f), where](const auto&... args) {
    return internal::value_and_grad(f, internal::to_arguments(args...), "value_and_grad", where,
                                    internal::WrtOr0<Wrt...>());
  };
}

namespace internal {

/// grad, for the function `name` that messages speak of.
template <std::size_t... Wrt, class F>
auto grad_as(const char* name, F f, Where where) {
  return [name, f = std::move(f), where](const auto&... args) {
    auto [value, gradient] =
        value_and_grad(f, to_arguments(args...), name, where, WrtOr0<Wrt...>());
    if constexpr (is_pair<decltype(value)>) {
      return std::pair(std::move(gradient), std::move(value.second));
    } else {
      return std::move(gradient);
    }
  };
}

}  // namespace internal

/// The gradient of f alone, or with what f returned beside its value as a pair.
template <std::size_t... Wrt, class F>
auto grad(F f, Where where = Where::here()) {
  return internal::grad_as<Wrt...>("grad", std::move(f), where);
}

/// The pair of f's result at `x` and its directional derivative along `tangents`. Several arguments
/// are tuples: jvp(f, std::tuple(a, b), std::tuple(da, db)). Throws TreeError or ShapeError when
/// the tangents are not of x's structure and types.
template <class F, class X>
auto jvp(const F& f, const X& x, const X& tangents, Where where = Where::here()) {
  return internal::jvp("jvp", f, x, tangents, where);
}

/// The pair of f's result and its derivative at `args`, a function of tangents of all arguments.
/// f itself is computed once, however often that function is called. It throws TreeError or
/// ShapeError for tangents that are not of the arguments' structures and types.
template <class F, class... Args>
auto linearize(const F& f, const Args&... args) {
  auto arguments = internal::to_arguments(args...);
  internal::Flat flat(f, arguments);
  internal::LinearMap map(flat.function(), flat.leaves(), "linearize");
  auto value = flat.result(map.outputs());
  auto derivative = [map, value, arguments](const internal::Argument<Args>&... tangents,
                                            Where where = Where::here()) {
    auto given = internal::unwrapped(std::tuple(tangents...));
    Arrays leaves = internal::leaves_like("linearize", "x", internal::unwrapped(arguments),
                                          "the tangents", given, where);
    Arrays results = map.forward(leaves, tree_structure(given).leaf_paths(), where);
    return internal::with_leaves(value, results);
  };
  return std::pair(std::move(value), std::move(derivative));
}

/// The pair of f's result and the function that takes a cotangent of it back to the arguments: to
/// one of the argument's type, or a tuple for several. That throws TreeError or ShapeError for a
/// cotangent that is not of the result's structure and types.
template <class F, class... Args>
auto vjp(const F& f, const Args&... args) {
  auto arguments = internal::to_arguments(args...);
  internal::Flat flat(f, arguments);
  internal::LinearMap map(flat.function(), flat.leaves(), "vjp");
  auto value = flat.result(map.outputs());
  auto pullback = [map, arguments, value](const std::decay_t<decltype(value)>& cotangent,
                                          Where where = Where::here()) {
    Arrays leaves =
        internal::leaves_like("vjp", "the value", value, "the cotangent", cotangent, where);
    Arrays back = map.backward(leaves, tree_structure(cotangent).leaf_paths(), where);
    return internal::unwrapped(internal::with_leaves(arguments, back));
  };
  return std::pair(std::move(value), std::move(pullback));
}

}  // namespace sturnus
