// Functions with derivatives of your own.
#pragma once

#include <sturnus/functional/grad.h>

namespace sturnus {
namespace internal {

Arrays custom_jvp(const FlatFunction& f, const FlatFunction& rule, const Arrays& x, Where where);
Arrays custom_vjp(const FlatFunction& f, const FlatFunction& forward, const FlatFunction& backward,
                  const Arrays& x, Where where);

}  // namespace internal

/// f with a derivative that you write: rule(x..., dx...) gives the pair of f's value at x and its
/// derivative along dx. All transforms apply to the rule, reverse mode too as long as it is linear
/// in dx. Throws TreeError or ShapeError when the rule does not give two of what f gives.
///
///   auto safe_sqrt = custom_jvp([](Array x) { return sqrt(x); }, [](Array x, Array dx) {
///     return std::pair(sqrt(x), dx / (2.0 * sqrt(x) + 1e-12));
///   });
template <class F, class Rule>
auto custom_jvp(F f, Rule rule, Where where = Where::here()) {
  return [f = std::move(f), rule = std::move(rule), where](const auto&... args) {
    auto arguments = internal::to_arguments(args...);
    auto twice = std::tuple_cat(arguments, arguments);
    internal::Flat flat(f, arguments, internal::caller("custom_jvp", where, arguments));
    internal::FlatFunction run_rule = [&](const Arrays& leaves) {
      auto both = std::apply(rule, internal::with_leaves(twice, leaves));
      static_assert(internal::is_pair<decltype(both)>,
                    "custom_jvp: the rule must return a std::pair, of the value and its "
                    "derivative");
      auto as = [&](const char* what, const auto& tree) {
        return internal::leaves_as("custom_jvp", "the result of the function", flat.like(), what,
                                   tree, where);
      };
      Arrays all = as("the rule's value", both.first);
      for (const Array& leaf : as("the rule's derivative", both.second)) all.push_back(leaf);
      return all;
    };
    Arrays results = internal::custom_jvp(flat.function(), run_rule, flat.leaves(), where);
    return flat.result(results);
  };
}

/// f with a backward pass that you write: forward(x...) gives the pair of f's value and whatever
/// backward needs; backward(residuals, cotangent of f's value) gives the cotangent of x, or a tuple
/// for several arguments. Forward mode works too where backward is linear in the cotangent.
/// Throws TreeError or ShapeError when they do not give the trees and types of f's result and of x.
template <class F, class Forward, class Backward>
auto custom_vjp(F f, Forward forward, Backward backward, Where where = Where::here()) {
  return [f = std::move(f), forward = std::move(forward), backward = std::move(backward),
          where](const auto&... args) {
    auto arguments = internal::to_arguments(args...);
    internal::Caller caller = internal::caller("custom_vjp", where, arguments);
    internal::Flat flat(f, arguments, caller);
    internal::Flat flat_forward(forward, arguments, caller);
    internal::FlatFunction run_forward = [&](const Arrays& leaves) {
      Arrays all = flat_forward.function()(leaves);
      using Both = typename decltype(flat_forward)::Result;
      static_assert(internal::is_pair<Both>,
                    "custom_vjp: the forward pass must return a std::pair, of the value and what "
                    "the backward pass needs");
      internal::leaves_as("custom_vjp", "the result of the function", flat.like(),
                          "the forward pass's value", flat_forward.like().first, where);
      return all;
    };
    internal::FlatFunction run_backward = [&](const Arrays& leaves) {
      const auto& residuals = flat_forward.like().second;
      std::size_t kept = tree_structure(residuals).leaf_count();
      auto middle = leaves.begin() + static_cast<std::ptrdiff_t>(kept);
      return internal::leaves_as(
          "custom_vjp", "the arguments", internal::unwrapped(arguments),
          "the result of the backward pass",
          backward(internal::with_leaves(residuals, Arrays(leaves.begin(), middle)),
                   internal::with_leaves(flat_forward.like().first, Arrays(middle, leaves.end()))),
          where);
    };
    Arrays results =
        internal::custom_vjp(flat.function(), run_forward, run_backward, flat.leaves(), where);
    return flat.result(results);
  };
}

}  // namespace sturnus
