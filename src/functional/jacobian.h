// Whole Jacobians and second derivatives.
//
// A Jacobian has the axes of the result before those of the argument. For a function from one Array
// to another it is an Array. When the argument is a tree, it is a tree of that type; when the
// result is one, of that; when both are, a std::vector of the argument's type with one entry per
// array of the result.
#pragma once

#include <sturnus/functional/grad.h>

#include <type_traits>
#include <vector>

namespace sturnus {
namespace internal {

template <class X, class Y>
auto assembled(const std::vector<Arrays>& table, const X& x, const Y& y) {
  if constexpr (std::is_same_v<Y, Array>) {
    return with_leaves(x, table[0]);
  } else if constexpr (std::is_same_v<X, Array>) {
    Arrays column;
    for (const Arrays& row : table) column.push_back(row[0]);
    return with_leaves(y, column);
  } else {
    std::vector<X> rows;
    for (const Arrays& row : table) rows.push_back(with_leaves(x, row));
    return rows;
  }
}

/// `method` of f by argument Wrt, as a typed function that messages call `name`.
template <std::size_t Wrt, class F, class Method>
auto jacobian(F f, Method method, std::string_view name, Where where) {
  return [f = std::move(f), method, name, where](const auto&... args) {
    auto arguments = to_arguments(args...);
    std::index_sequence<Wrt> wrt;
    require_arguments<decltype(arguments)>(wrt);
    auto chosen = selected(arguments, wrt);
    auto g = fixing_others(f, arguments, wrt);
    Flat flat(g, chosen);
    std::vector<Arrays> table =
        method(flat.function(), flat.leaves(), caller(name, where, arguments, wrt));
    return assembled(table, std::get<0>(chosen), flat.like());
  };
}

}  // namespace internal

/// The Jacobian of f by argument Wrt, column by column: for more results than arguments. This and
/// all that follow throw DtypeError when the argument is not real or complex.
template <std::size_t Wrt = 0, class F>
auto jacfwd(F f, Where where = Where::here()) {
  return internal::jacobian<Wrt>(std::move(f), internal::forward_jacobian, "jacfwd", where);
}

/// The Jacobian of f by argument Wrt, row by row: for more arguments than results.
template <std::size_t Wrt = 0, class F>
auto jacrev(F f, Where where = Where::here()) {
  return internal::jacobian<Wrt>(std::move(f), internal::reverse_jacobian, "jacrev", where);
}

/// The matrix of second derivatives of f, a real scalar, by argument Wrt: forward over reverse.
template <std::size_t Wrt = 0, class F>
auto hessian(F f, Where where = Where::here()) {
  return internal::jacobian<Wrt>(internal::grad_as<Wrt>("hessian", std::move(f), where),
                                 internal::forward_jacobian, "hessian", where);
}

/// The Hessian of f at x times v, without the Hessian, at the cost of a few gradients.
template <class F, class X>
internal::Argument<X> hvp(const F& f, const X& x, const X& v, Where where = Where::here()) {
  internal::Argument<X> at = x, along = v;
  return internal::jvp("hvp", internal::grad_as("hvp", f, where), std::tuple(at), std::tuple(along),
                       where)
      .second;
}

/// The second derivatives of f by each element of argument Wrt, without the mixed ones: for a real
/// scalar f the diagonal of its Hessian, with the argument's type. Taylor mode, one element each.
template <std::size_t Wrt = 0, class F>
auto hessian_diagonal(F f, Where where = Where::here()) {
  return internal::jacobian<Wrt>(std::move(f), internal::hessian_diagonal, "hessian_diagonal",
                                 where);
}

/// The sum of the second derivatives of f by all elements of argument Wrt, with the type of f's
/// result: d^2 f / dx_1^2 + d^2 f / dx_2^2 + ...
template <std::size_t Wrt = 0, class F>
auto laplacian(F f, Where where = Where::here()) {
  return [f = std::move(f), where](const auto&... args) {
    auto arguments = internal::to_arguments(args...);
    std::index_sequence<Wrt> wrt;
    internal::require_arguments<decltype(arguments)>(wrt);
    auto chosen = internal::selected(arguments, wrt);
    auto g = internal::fixing_others(f, arguments, wrt);
    internal::Flat flat(g, chosen);
    return flat.result(internal::laplacian(flat.function(), flat.leaves(),
                                           internal::caller("laplacian", where, arguments, wrt)));
  };
}

}  // namespace sturnus
