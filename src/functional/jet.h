// Taylor mode: derivatives of high order at the cost of its square.
#pragma once

#include <sturnus/functional/grad.h>

#include <vector>

namespace sturnus {

/// The pair of f's result at `x` and its derivatives of order 1, 2, ... along a curve through x
/// whose derivatives of these orders are `derivatives`. Several arguments are tuples, as for jvp.
/// Throws TreeError or ShapeError when a derivative is not of x's structure and types.
template <class F, class X>
auto jet(const F& f, const X& x, const std::vector<X>& derivatives, Where where = Where::here()) {
  auto arguments = internal::as_arguments(x);
  internal::Flat flat(f, arguments, internal::caller("jet", where, arguments));
  std::vector<Arrays> given, found;
  for (const X& derivative : derivatives) {
    auto given_tree = internal::unwrapped(internal::as_arguments(derivative));
    given.push_back(internal::leaves_like("jet", "x", internal::unwrapped(arguments),
                                          "a derivative", given_tree, where));
  }
  auto value = internal::jet(flat.function(), flat.leaves(), given, found, flat.caller());
  std::vector<std::decay_t<decltype(flat.result(value))>> results;
  for (const Arrays& leaves : found) results.push_back(flat.result(leaves));
  return std::pair(flat.result(value), std::move(results));
}

/// f(x), f'(x), ..., the derivative of order `order`, for a function of one number.
/// Throws ShapeError when x is not a real scalar, Error for a negative order.
template <class F>
auto derivatives(const F& f, const Array& x, int order, Where where = Where::here()) {
  std::vector<Array> line = internal::straight_line(x, order, where);
  auto [value, higher] = jet(f, x, line, where);
  higher.insert(higher.begin(), std::move(value));
  return higher;
}

}  // namespace sturnus
