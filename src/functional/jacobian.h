// Whole Jacobians and second derivatives.
//
// A Jacobian has the axes of the result before those of the argument. For a function from one Array
// to another it is an Array. When the argument is a tree, it is a tree of that type; when the
// result is one, of that; when both are, a std::vector of the argument's type with one entry per
// array of the result. By several arguments it is the tuple of what it is by each:
//
//   auto [by_a, by_b] = jacrev<0, 1>(f)(a, b);
#pragma once

#include <sturnus/functional/grad.h>

#include <tuple>
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

/// The tuple of f(tree, number of its first leaf among all) for each tree of a tuple; of one tree
/// that alone.
template <class F, class Trees>
auto for_each_tree(const Trees& trees, const F& f) {
  std::size_t next = 0;
  auto call = [&](const auto& tree) {
    std::size_t first = next;
    next += tree_structure(tree).leaf_count();
    return f(tree, first);
  };
  return std::apply(
      [&](const auto&... tree) {
        // In braces they are called from left to right.
        return unwrapped(std::tuple<decltype(call(tree))...>{call(tree)...});
      },
      trees);
}

/// The derivatives of each of the tuple of trees `ys` by each of the tuple `xs`.
template <class Xs, class Ys>
auto blocks(const std::vector<Arrays>& table, const Xs& xs, const Ys& ys) {
  return for_each_tree(ys, [&](const auto& y, std::size_t first_row) {
    return for_each_tree(xs, [&](const auto& x, std::size_t first_column) {
      auto place = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
      std::size_t columns = tree_structure(x).leaf_count();
      std::vector<Arrays> block;
      for (std::size_t i = 0; i < tree_structure(y).leaf_count(); i++) {
        auto row = table[first_row + i].begin() + place(first_column);
        block.emplace_back(row, row + place(columns));
      }
      return assembled(block, x, y);
    });
  });
}

/// `method` of f by the arguments `wrt`; `as_trees` makes a tuple of trees of f's result and them.
template <class F, class Arguments, class Wrt, class Method, class AsTrees>
auto jacobian(const F& f, const Arguments& arguments, Wrt wrt, Method method,
              const AsTrees& as_trees, std::string_view name, Where where) {
  require_arguments<Arguments>(wrt);
  auto chosen = selected(arguments, wrt);
  Caller who = caller(name, where, arguments, wrt);
  Apart apart(f, arguments, who);
  auto g = fixing_others(apart, arguments, wrt);
  Flat flat(g, chosen, who);
  std::vector<Arrays> table = method(flat.function(), flat.leaves(), apart.aux(), who);
  return apart.with_aux(blocks(table, chosen, as_trees(flat.like(), chosen)));
}

/// The same as a typed function.
template <std::size_t... Wrt, class F, class Method>
auto jacobian(F f, Method method, std::string_view name, Where where) {
  return [f = std::move(f), method, name, where](const auto&... args) {
    auto one = [](const auto& result, const auto&) { return std::make_tuple(result); };
    return jacobian(f, to_arguments(args...), WrtOr0<Wrt...>(), method, one, name, where);
  };
}

/// The gradient of f, marked with has_aux when f returns more than its value.
template <class Arguments, std::size_t... Wrt, class F>
auto gradient_of(const F& f, std::index_sequence<Wrt...>, const char* name, Where where) {
  auto gradient = grad_as<Wrt...>(name, f, where);
  if constexpr (is_pair<typename ReturnedBy<F, Arguments>::type>) {
    return has_aux(std::move(gradient));
  } else {
    return gradient;
  }
}

}  // namespace internal

/// The Jacobian of f by the arguments Wrt (default: the first), df_i / dx_j, column by column: for
/// more results than arguments. This and all that follow throw DtypeError when an argument is not
/// real or complex, and take functions that are marked with has_aux.
template <std::size_t... Wrt, class F>
auto jacfwd(F f, Where where = Where::here()) {
  return internal::jacobian<Wrt...>(std::move(f), internal::forward_jacobian, "jacfwd", where);
}

/// The same row by row: for more arguments than results.
template <std::size_t... Wrt, class F>
auto jacrev(F f, Where where = Where::here()) {
  return internal::jacobian<Wrt...>(std::move(f), internal::reverse_jacobian, "jacrev", where);
}

/// The matrix of second derivatives of f, a real scalar, by argument Wrt (default: the first),
/// d^2 f / dx_i dx_j: forward over reverse. By several arguments it is a tuple of tuples, of which
/// number j of number i is jacfwd<j>(grad<i>(f)). f may return a pair as for grad, and the result
/// is then a pair too. Throws as grad does.
template <std::size_t... Wrt, class F>
auto hessian(F f, Where where = Where::here()) {
  return [f = std::move(f), where](const auto&... args) {
    internal::WrtOr0<Wrt...> wrt;
    auto arguments = internal::to_arguments(args...);
    auto gradient = internal::gradient_of<decltype(arguments)>(f, wrt, "hessian", where);
    auto like_arguments = [](const auto&, const auto& chosen) { return chosen; };
    return internal::jacobian(gradient, arguments, wrt, internal::forward_jacobian, like_arguments,
                              "hessian", where);
  };
}

/// The Hessian of f by the arguments Wrt (default: the first) at x times v, without the Hessian, at
/// the cost of a few gradients: d/dt grad f(x + t v) at t = 0. Several arguments are a tuple x, of
/// which v is a direction of the one or, as a tuple, of those that Wrt names:
/// hvp<0, 2>(f, std::tuple(a, b, c), std::tuple(va, vc)). The result has the type of v. f may
/// return a pair as for grad. Throws as grad does, and TreeError or ShapeError when v is not of the
/// structure and types of the arguments.
template <std::size_t... Wrt, class F, class X, class V>
auto hvp(const F& f, const X& x, const V& v, Where where = Where::here()) {
  internal::WrtOr0<Wrt...> wrt;
  auto arguments = internal::as_arguments(x);
  internal::require_arguments<decltype(arguments)>(wrt);
  auto chosen = internal::selected(arguments, wrt);
  static_assert(std::is_constructible_v<decltype(chosen), const V&>,
                "hvp: v must have the type of the argument by which is differentiated, or be a "
                "tuple with one for each of them");
  decltype(chosen) along(v);
  Arrays directions = internal::leaves_like("hvp", "x", internal::unwrapped(chosen), "v",
                                            internal::unwrapped(along), where);
  internal::Caller caller = internal::caller("hvp", where, arguments, wrt);
  auto gradient = internal::gradient_of<decltype(arguments)>(f, wrt, "hvp", where);
  internal::Apart apart(gradient, arguments, caller);
  auto g = internal::fixing_others(apart, arguments, wrt);
  internal::Flat flat(g, chosen, caller);
  internal::Duals duals =
      internal::jvp(flat.function(), flat.leaves(), directions, apart.aux(), caller);
  return apart.with_aux(flat.result(duals.tangents));
}

/// The second derivatives of f by each element of the arguments Wrt (default: the first), without
/// the mixed ones, d^2 f / dx_i^2: for a real scalar f the diagonal of its Hessian, with the
/// argument's type. Taylor mode, one element each.
template <std::size_t... Wrt, class F>
auto hessian_diagonal(F f, Where where = Where::here()) {
  return internal::jacobian<Wrt...>(std::move(f), internal::hessian_diagonal, "hessian_diagonal",
                                    where);
}

/// The sum of the second derivatives of f by all elements of the arguments Wrt (default: the
/// first), with the type of f's result: d^2 f / dx_1^2 + d^2 f / dx_2^2 + ...
template <std::size_t... Wrt, class F>
auto laplacian(F f, Where where = Where::here()) {
  return [f = std::move(f), where](const auto&... args) {
    internal::WrtOr0<Wrt...> wrt;
    auto arguments = internal::to_arguments(args...);
    internal::require_arguments<decltype(arguments)>(wrt);
    auto chosen = internal::selected(arguments, wrt);
    internal::Caller caller = internal::caller("laplacian", where, arguments, wrt);
    internal::Apart apart(f, arguments, caller);
    auto g = internal::fixing_others(apart, arguments, wrt);
    internal::Flat flat(g, chosen, caller);
    return apart.with_aux(
        flat.result(internal::laplacian(flat.function(), flat.leaves(), apart.aux(), caller)));
  };
}

}  // namespace sturnus
