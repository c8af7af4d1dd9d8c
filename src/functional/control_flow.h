// Loops and decisions that become part of the program.
#pragma once

#include <sturnus/functional/flat.h>
#include <sturnus/functional/loops.h>

#include <optional>
#include <utility>

namespace sturnus {

/// Repeats carry = body(carry) while condition(carry), a bool scalar, holds.
/// Forward mode only: the number of iterations is not known. Throws ShapeError when the types of
/// the carry change.
template <class Condition, class Body, class Carry>
internal::Argument<Carry> while_loop(const Condition& condition, const Body& body,
                                     const Carry& start) {
  internal::Argument<Carry> like = start;
  internal::FlatFunction go_on = [&](const Arrays& leaves) {
    return Arrays{condition(internal::with_leaves(like, leaves))};
  };
  internal::FlatFunction step = [&](const Arrays& leaves) {
    internal::Argument<Carry> next = body(internal::with_leaves(like, leaves));
    return internal::leaves_of(next);
  };
  Arrays end = internal::while_loop(go_on, step, internal::leaves_of(like),
                                    tree_structure(like).leaf_paths());
  return internal::with_leaves(like, end);
}

struct ScanOptions {
  /// From the last x to the first.
  bool reverse = false;
};

/// (carry, y) = f(carry, x) for each x along axis 0 of the trees `xs`; gives the last carry and the
/// ys, stacked. All derivatives. Throws ShapeError when the types of the carry change.
template <class F, class Carry, class Xs>
auto scan(const F& f, const Carry& start, const Xs& xs, ScanOptions options = {}) {
  using C = internal::Argument<Carry>;
  C like = start;
  using Y = std::decay_t<decltype(f(like, xs).second)>;
  std::optional<Y> y_like;
  Arrays start_leaves = internal::leaves_of(like), x_leaves = internal::leaves_of(xs);
  internal::FlatFunction body = [&](const Arrays& leaves) {
    auto middle = leaves.begin() + static_cast<std::ptrdiff_t>(start_leaves.size());
    auto [carry, y] = f(internal::with_leaves(like, Arrays(leaves.begin(), middle)),
                        internal::with_leaves(xs, Arrays(middle, leaves.end())));
    y_like = y;
    Arrays outputs = internal::leaves_of(C(carry));
    for (const Array& leaf : internal::leaves_of(*y_like)) outputs.push_back(leaf);
    return outputs;
  };
  std::int64_t length = internal::common_length("scan", x_leaves);
  internal::ScanResult result = internal::scan(body, start_leaves, x_leaves, length,
                                               options.reverse, tree_structure(like).leaf_paths());
  return std::pair(internal::with_leaves(like, result.carry),
                   internal::with_leaves(*y_like, result.stacked));
}

/// carry = body(i, carry) for i = lower, ..., upper - 1. All derivatives, since the bounds are
/// fixed.
template <class Body, class Carry>
internal::Argument<Carry> fori_loop(std::int64_t lower, std::int64_t upper, const Body& body,
                                    const Carry& start) {
  internal::Argument<Carry> like = start;
  internal::FlatFunction step = [&](const Arrays& leaves) {
    Array i = leaves.back();
    internal::Argument<Carry> next =
        body(i, internal::with_leaves(like, Arrays(leaves.begin(), leaves.end() - 1)));
    return internal::leaves_of(next);
  };
  Arrays indices = {internal::counting(lower, upper)};
  internal::ScanResult result = internal::scan(step, internal::leaves_of(like), indices,
                                               std::max<std::int64_t>(upper - lower, 0), false,
                                               tree_structure(like).leaf_paths());
  return internal::with_leaves(like, result.carry);
}

/// The same with bounds that the program computes: forward mode only.
template <class Body, class Carry>
internal::Argument<Carry> fori_loop(const Array& lower, const Array& upper, const Body& body,
                                    const Carry& start) {
  auto state = std::pair(lower, internal::Argument<Carry>(start));
  return while_loop([&](const auto& s) { return internal::is_below(s.first, upper); },
                    [&](const auto& s) {
                      internal::Argument<Carry> next = body(s.first, s.second);
                      return std::pair(internal::next_index(s.first), next);
                    },
                    state)
      .second;
}

}  // namespace sturnus
