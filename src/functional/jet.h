// Taylor mode: derivatives of high order at the cost of its square.
#pragma once

#include <sturnus/functional/grad.h>

#include <vector>

namespace sturnus {

/// The pair of f's result at `x` and its derivatives of order 1, 2, ... along a curve through x
/// whose derivatives of these orders are `derivatives`. Several arguments are tuples, as for jvp.
/// A function that is marked with has_aux gives a tuple with what stands beside its value. Throws
/// TreeError or ShapeError when a derivative is not of x's structure and types, DtypeError when an
/// argument has nothing that is real or complex.
template <class F, class X>
auto jet(const F& f, const X& x, const std::vector<X>& derivatives, Where where = Where::here()) {
  auto arguments = internal::as_arguments(x);
  internal::Caller caller = internal::caller("jet", where, arguments);
  internal::Apart apart(f, arguments, caller);
  internal::Flat flat(apart, arguments, caller);
  std::vector<Arrays> given, found;
  for (const X& derivative : derivatives) {
    auto given_tree = internal::unwrapped(internal::as_arguments(derivative));
    given.push_back(internal::leaves_like("jet", "x", internal::unwrapped(arguments),
                                          "a derivative", given_tree, where));
  }
  auto value = internal::jet(flat.function(), flat.leaves(), given, found, apart.aux(), caller);
  std::vector<std::decay_t<decltype(flat.result(value))>> results;
  for (const Arrays& leaves : found) results.push_back(flat.result(leaves));
  return apart.with_aux(flat.result(value), std::move(results));
}

/// f(x), f'(x), ..., the derivative of order `order`, for a function of one number.
/// Throws ShapeError when x is not a real scalar, Error for a negative order.
template <class F>
auto derivatives(const F& f, const Array& x, int order, Where where = Where::here()) {
  static_assert(!internal::is_marked<F>,
                "derivatives: has_aux is for jet, which gives what stands beside the value too");
  std::vector<Array> line = internal::straight_line(x, order, where);
  auto [value, higher] = jet(f, x, line, where);
  higher.insert(higher.begin(), std::move(value));
  return higher;
}

}  // namespace sturnus
