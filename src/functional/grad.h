// Derivatives of functions of trees.
#pragma once

#include <sturnus/functional/flat.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace sturnus {

template <class F, std::size_t... Static>
class Jitted;

namespace internal {

template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

/// One thing as that thing, two as a pair, more as a tuple.
template <class First, class... Rest>
auto together(First first, Rest... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return first;
  } else if constexpr (sizeof...(Rest) == 1) {
    return std::pair<First, Rest...>(std::move(first), std::move(rest)...);
  } else {
    return std::tuple<First, Rest...>(std::move(first), std::move(rest)...);
  }
}

/// The mark of has_aux on a function.
template <class F>
struct HasAux {
  F f;
  template <class... Args>
  auto operator()(const Args&... args) const {
    return f(args...);
  }
};
template <class F>
inline constexpr bool is_marked = false;
template <class F>
inline constexpr bool is_marked<HasAux<F>> = true;
template <class F, std::size_t... Static>
inline constexpr bool is_marked<Jitted<HasAux<F>, Static...>> = true;

/// f without what it returns beside its value when it is marked with has_aux. That is kept here,
/// until the transform gives its leaves their values at the arguments.
template <class F, class Arguments>
class Apart {
  using Returned = typename ReturnedBy<F, Arguments>::type;
  static constexpr bool marked = is_marked<F>;
  static_assert(!marked || is_pair<Returned>,
                "has_aux: the function must return a std::pair, of its value and what is to come "
                "out beside it");

 public:
  Apart(const F& f, const Arguments&, const Caller& caller) : f_(f), caller_(caller) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (marked) {
      both_.emplace(f_(args...));
      aux_ = leaves_of(both_->second, caller_.name, "what stands beside the value", caller_.where);
      return both_->first;
    } else {
      return f_(args...);
    }
  }
  /// The leaves of what stands beside the value.
  Arrays& aux() const { return aux_; }
  /// Results of the transform, with what stands beside the value as the last.
  template <class... Results>
  auto with_aux(Results... results) const {
    if constexpr (marked) {
      return together(std::move(results)..., with_leaves(both_->second, aux_));
    } else {
      return together(std::move(results)...);
    }
  }

 private:
  const F& f_;
  const Caller& caller_;
  mutable std::optional<Returned> both_;
  mutable Arrays aux_;
};

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
    // By address, since trees with const members cannot be assigned to.
    auto all = std::apply([](const auto&... each) { return std::tuple(&each...); }, arguments);
    ((std::get<Wrt>(all) = &chosen), ...);
    return std::apply([&f](const auto*... each) { return f(*each...); }, all);
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
    return std::apply([](const auto&... args) { return to_arguments(args...); }, x);
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
  Flat flat(g, chosen, caller(name, where, arguments, wrt));
  ValueAndGrad result = value_and_grad(flat.function(), flat.leaves(), flat.caller());
  return std::pair(flat.result(result.outputs), unwrapped(with_leaves(chosen, result.gradient)));
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

/// The gradient of f alone, or with what f returned beside its value as a pair. Throws as
/// value_and_grad does.
template <std::size_t... Wrt, class F>
auto grad(F f, Where where = Where::here()) {
  return internal::grad_as<Wrt...>("grad", std::move(f), where);
}

/// The mark of a function that returns a pair, of which transforms are to differentiate only the
/// first: the second, any tree, comes out beside the others of their results, as the last. So
/// jvp(has_aux(f), x, dx) is the tuple (value, derivative, aux), jacrev(has_aux(f))(x) the pair
/// (Jacobian, aux). Without it both of the pair are results, and have derivatives; only grad and
/// its kin (value_and_grad, hessian, hvp), whose value is one number, know a pair without the mark.
template <class F>
auto has_aux(F f) {
  return internal::HasAux<F>{std::move(f)};
}

/// The pair of f's result at `x` and its directional derivative along `tangents`, f'(x) dx. Several
/// arguments are tuples: jvp(f, std::tuple(a, b), std::tuple(da, db)). Integers in a tree beside
/// reals are constants, whatever their tangents. Throws TreeError or ShapeError when the tangents
/// are not of x's structure and types, DtypeError when an argument has nothing that is real or
/// complex.
template <class F, class X>
auto jvp(const F& f, const X& x, const X& tangents, Where where = Where::here()) {
  auto arguments = internal::as_arguments(x), directions = internal::as_arguments(tangents);
  internal::Caller caller = internal::caller("jvp", where, arguments);
  Arrays along = internal::leaves_like("jvp", "x", internal::unwrapped(arguments), "the tangents",
                                       internal::unwrapped(directions), where);
  internal::Apart apart(f, arguments, caller);
  internal::Flat flat(apart, arguments, caller);
  internal::Duals duals = internal::jvp(flat.function(), flat.leaves(), along, apart.aux(), caller);
  return apart.with_aux(flat.result(duals.values), flat.result(duals.tangents));
}

namespace internal {

template <class F, class... Args>
auto linearize_at(Where at, const F& f, const Args&... args) {
  auto arguments = to_arguments(args...);
  Caller caller = internal::caller("linearize", at, arguments);
  Apart apart(f, arguments, caller);
  Flat flat(apart, arguments, caller);
  LinearMap map(flat.function(), flat.leaves(), apart.aux(), caller);
  auto value = flat.result(map.outputs());
  auto derivative = [map, value, arguments](const Argument<Args>&... tangents,
                                            Where where = Where::here()) {
    auto given = unwrapped(std::tuple(tangents...));
    Arrays leaves =
        leaves_like("linearize", "x", unwrapped(arguments), "the tangents", given, where);
    Arrays results = map.forward(leaves, tree_structure(given).leaf_paths(), where);
    return with_leaves(value, results);
  };
  return apart.with_aux(std::move(value), std::move(derivative));
}

}  // namespace internal

/// The pair of f's result and its derivative at `args`, a function of tangents of all arguments.
/// f itself is computed once, however often that function is called. It throws TreeError or
/// ShapeError for tangents that are not of the arguments' structures and types; linearize throws
/// DtypeError as jvp does.
template <class F, class... Args>
auto linearize(const F& f, const Args&... args) {
  return internal::linearize_at({}, f, args...);
}
/// The same for one argument, with the line that asks in messages.
template <class F, class X>
auto linearize(const F& f, const X& x, Where where = Where::here()) {
  return internal::linearize_at(where, f, x);
}

namespace internal {

template <class F, class... Args>
auto vjp_at(Where at, const F& f, const Args&... args) {
  auto arguments = to_arguments(args...);
  Caller caller = internal::caller("vjp", at, arguments);
  Apart apart(f, arguments, caller);
  Flat flat(apart, arguments, caller);
  LinearMap map(flat.function(), flat.leaves(), apart.aux(), caller);
  auto value = flat.result(map.outputs());
  auto pullback = [map, arguments, value](const std::decay_t<decltype(value)>& cotangent,
                                          Where where = Where::here()) {
    Arrays leaves = leaves_like("vjp", "the value", value, "the cotangent", cotangent, where);
    Arrays back = map.backward(leaves, tree_structure(cotangent).leaf_paths(), where);
    return unwrapped(with_leaves(arguments, back));
  };
  return apart.with_aux(std::move(value), std::move(pullback));
}

}  // namespace internal

/// The pair of f's result and the function that takes a cotangent of it back to the arguments, ct
/// to ct^T f'(x): to one of the argument's type, or a tuple for several. That throws TreeError or
/// ShapeError for a cotangent that is not of the result's structure and types; vjp throws
/// DtypeError as jvp does.
template <class F, class... Args>
auto vjp(const F& f, const Args&... args) {
  return internal::vjp_at({}, f, args...);
}
/// The same for one argument, with the line that asks in messages.
template <class F, class X>
auto vjp(const F& f, const X& x, Where where = Where::here()) {
  return internal::vjp_at(where, f, x);
}

}  // namespace sturnus
