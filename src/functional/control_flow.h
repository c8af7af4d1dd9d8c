// Loops and decisions that become part of the program.
#pragma once

#include <sturnus/functional/branch.h>
#include <sturnus/functional/flat.h>
#include <sturnus/functional/loops.h>

#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace sturnus {

namespace internal {

/// The leaves of what a loop's body made of the carry. Throws TreeError unless it is a tree like
/// the one that went in.
template <class Carry>
Arrays carried(std::string_view loop, const Carry& in, const Carry& out, Where where) {
  return leaves_like(loop, "carry in", in, "carry out", out, where);
}

}  // namespace internal

/// Repeats carry = body(carry) while condition(carry), a bool scalar, holds.
/// Forward mode only: the number of iterations is not known. Throws TreeError or ShapeError when
/// the structure or the types of the carry change, ShapeError when the condition is no bool scalar,
/// Error in reverse mode.
template <class Condition, class Body, class Carry>
internal::Argument<Carry> while_loop(const Condition& condition, const Body& body,
                                     const Carry& start, Where where = Where::here()) {
  internal::Argument<Carry> like = start;
  internal::FlatFunction go_on = [&](const Arrays& leaves) {
    return Arrays{condition(internal::with_leaves(like, leaves))};
  };
  internal::FlatFunction step = [&](const Arrays& leaves) {
    internal::Argument<Carry> next = body(internal::with_leaves(like, leaves));
    return internal::carried("while_loop", like, next, where);
  };
  Arrays leaves = internal::leaves_of(like, "while_loop", "the start", where);
  Arrays end = internal::while_loop("while_loop", go_on, step, leaves,
                                    tree_structure(like).leaf_paths(), where);
  return internal::with_leaves(like, end);
}

struct ScanOptions {
  /// From the last x to the first.
  bool reverse = false;
};

namespace internal {

/// scan, for the function `name` that messages speak of, with the length of the xs unless another
/// is given.
template <class F, class Carry, class Xs>
auto scan_as(std::string_view name, const F& f, const Carry& start, const Xs& xs,
             std::optional<std::int64_t> length, bool reverse, Where where) {
  using C = Argument<Carry>;
  C like = start;
  using Y = Argument<decltype(f(like, xs).second)>;
  std::optional<Y> y_like;
  Arrays start_leaves = leaves_of(like, name, "the start", where);
  Arrays x_leaves = leaves_of(xs, name, "xs", where);
  FlatFunction body = [&](const Arrays& leaves) {
    auto middle = leaves.begin() + static_cast<std::ptrdiff_t>(start_leaves.size());
    auto [carry, y] = f(with_leaves(like, Arrays(leaves.begin(), middle)),
                        with_leaves(xs, Arrays(middle, leaves.end())));
    y_like.emplace(Y(y));
    Arrays outputs = carried(name, like, C(carry), where);
    for (const Array& leaf : leaves_of(*y_like, name, "y", where)) outputs.push_back(leaf);
    return outputs;
  };
  if (!length) length = common_length(name, x_leaves, where);
  ScanResult result = scan(name, body, start_leaves, x_leaves, *length, reverse,
                           tree_structure(like).leaf_paths(), where);
  return std::pair(with_leaves(like, result.carry), with_leaves(*y_like, result.stacked));
}

}  // namespace internal

/// (carry, y) = f(carry, x) for each x along axis 0 of the trees `xs`; gives the last carry and the
/// ys, stacked; a y that is a number is stacked as an array. All derivatives. Throws TreeError or
/// ShapeError when the structure or the types of the carry change, ShapeError when xs has no arrays
/// or their lengths differ.
template <class F, class Carry, class Xs>
auto scan(const F& f, const Carry& start, const Xs& xs, ScanOptions options = {},
          Where where = Where::here()) {
  return internal::scan_as("scan", f, start, xs, {}, options.reverse, where);
}

struct ScanLength {
  /// How many steps there are.
  std::int64_t length = 0;
};

/// (carry, y) = f(carry) so many times, for a scan without xs: scan(f, start, none, {.length =
/// 10}). All derivatives. Throws as with xs, and Error when the length is negative.
template <class F, class Carry>
auto scan(const F& f, const Carry& start, std::nullopt_t, ScanLength steps,
          Where where = Where::here()) {
  internal::check_length("scan", steps.length, where);
  auto step = [&f](const internal::Argument<Carry>& carry, std::tuple<>) { return f(carry); };
  return internal::scan_as("scan", step, start, std::tuple<>(), steps.length, false, where);
}

/// carry = body(i, carry) for i = lower, ..., upper - 1, which is i32, or i64 where it must be. All
/// derivatives, since the bounds are fixed. Throws Error for 2^31 steps or more, TreeError or
/// ShapeError when the structure or the types of the carry change.
template <class Body, class Carry>
internal::Argument<Carry> fori_loop(std::int64_t lower, std::int64_t upper, const Body& body,
                                    const Carry& start, Where where = Where::here()) {
  internal::Argument<Carry> like = start;
  internal::FlatFunction step = [&](const Arrays& leaves) {
    Array i = internal::counted(leaves.back(), lower);
    internal::Argument<Carry> next =
        body(i, internal::with_leaves(like, Arrays(leaves.begin(), leaves.end() - 1)));
    return internal::carried("fori_loop", like, next, where);
  };
  Arrays leaves = internal::leaves_of(like, "fori_loop", "the start", where);
  Arrays indices = {internal::counting(lower, upper, where)};
  internal::ScanResult result =
      internal::scan("fori_loop", step, leaves, indices, std::max<std::int64_t>(upper - lower, 0),
                     false, tree_structure(like).leaf_paths(), where);
  return internal::with_leaves(like, result.carry);
}

/// The same with bounds that the program computes: forward mode only. Throws Error in reverse mode,
/// DtypeError unless the bounds are integer scalars.
template <class Body, class Carry>
internal::Argument<Carry> fori_loop(const Array& lower, const Array& upper, const Body& body,
                                    const Carry& start, Where where = Where::here()) {
  internal::Argument<Carry> like = start;
  auto [first, last] = internal::loop_bounds(lower, upper, where);
  internal::FlatFunction go_on = [&, &last = last](const Arrays& leaves) {
    return Arrays{internal::is_below(leaves.back(), last)};
  };
  internal::FlatFunction step = [&](const Arrays& leaves) {
    Array i = leaves.back();
    internal::Argument<Carry> next =
        body(i, internal::with_leaves(like, Arrays(leaves.begin(), leaves.end() - 1)));
    Arrays results = internal::carried("fori_loop", like, next, where);
    results.push_back(internal::next_index(i));
    return results;
  };
  Arrays leaves = internal::leaves_of(like, "fori_loop", "the start", where);
  leaves.push_back(first);
  Arrays end = internal::while_loop("fori_loop", go_on, step, leaves,
                                    tree_structure(like).leaf_paths(), where);
  end.pop_back();
  return internal::with_leaves(like, end);
}

namespace internal {

template <class Branch, class... Args>
using BranchResult = Argument<typename ReturnedBy<Branch, std::tuple<const Args&...>>::type>;

/// The leaves of a branch's result. Throws TreeError unless it is a tree like that of the branches
/// before, `like`.
template <class Result>
Arrays branch_leaves(std::string_view function, std::optional<Result>& like, Result result,
                     Where where) {
  Arrays leaves =
      leaves_like(function, "one branch", like ? *like : result, "another", result, where);
  like.emplace(std::move(result));
  return leaves;
}

/// Branches of switch_, and what comes of them.
template <class Result>
class Switch {
 public:
  explicit Switch(const Operand& index) : index_(index) {}
  template <class Branch>
  void add(Branch branch) {
    calls_.push_back(
        [this, branch] { return branch_leaves("switch_", like_, Result(branch()), index_.where); });
  }
  Result result() const {
    Arrays results =
        branch("switch_", index_, calls_, [this] { return tree_structure(*like_).leaf_paths(); });
    return with_leaves(*like_, results);
  }

 private:
  const Operand& index_;
  std::optional<Result> like_;
  std::vector<std::function<Arrays()>> calls_;
};

}  // namespace internal

/// if_true(args...) when `condition`, a bool scalar, holds, else if_false(args...); only that one
/// is computed, except under a vmap that maps the condition. All derivatives. Both return the same
/// tree; throws ShapeError or TreeError when not, ShapeError when the condition is no bool scalar.
template <class True, class False, class... Args>
auto cond(Operand condition, const True& if_true, const False& if_false, const Args&... args) {
  using Result = internal::BranchResult<True, Args...>;
  static_assert(std::is_same_v<Result, internal::BranchResult<False, Args...>>,
                "cond: both branches must return the same type");
  std::optional<Result> like;
  auto call = [&](const auto& branch) {
    return internal::branch_leaves("cond", like, Result(branch(args...)), condition.where);
  };
  // Branch 0 is the one for false.
  std::vector<std::function<Arrays()>> branches = {[&] { return call(if_false); },
                                                   [&] { return call(if_true); }};
  Arrays results = internal::branch("cond", condition, branches,
                                    [&] { return tree_structure(*like).leaf_paths(); });
  return internal::with_leaves(*like, results);
}

/// branches[index](args...); only that one is computed, except under a vmap that maps the index. An
/// index outside takes the nearest branch. All derivatives. All return the same tree; throws
/// ShapeError or TreeError when not, ShapeError when the index is no integer scalar, Error when
/// there are no branches.
template <class Branch, class... Args>
auto switch_(Operand index, const std::vector<Branch>& branches, const Args&... args) {
  internal::Switch<internal::BranchResult<Branch, Args...>> choice(index);
  for (const Branch& branch : branches) choice.add([&] { return branch(args...); });
  return choice.result();
}
/// The same for branches of different types, such as lambdas, in a std::tuple.
template <class First, class... Others, class... Args>
auto switch_(Operand index, const std::tuple<First, Others...>& branches, const Args&... args) {
  using Result = internal::BranchResult<First, Args...>;
  static_assert((std::is_same_v<Result, internal::BranchResult<Others, Args...>> && ...),
                "switch_: all branches must return the same type");
  internal::Switch<Result> choice(index);
  std::apply([&](const auto&... branch) { (choice.add([&] { return branch(args...); }), ...); },
             branches);
  return choice.result();
}

/// f(x) for each x along axis 0 of the tree `xs`, one after another, stacked: vmap with the memory
/// of one call. Throws ShapeError when xs has no arrays or their lengths differ.
template <class F, class Xs>
auto map(const F& f, const Xs& xs, Where where = Where::here()) {
  auto step = [&f](const std::tuple<>&, const Xs& x) {
    return std::pair(std::tuple<>(), internal::Argument<decltype(f(x))>(f(x)));
  };
  return internal::scan_as("map", step, std::tuple<>(), xs, {}, false, where).second;
}

/// The running combinations x_0, x_0 * x_1, ..., of an associative function * of two trees, along
/// axis 0 (from the end when `reverse`), in about log2 of the length steps. `combine` acts on whole
/// stretches of the axis at once, element by element. Throws TreeError or ShapeError when it does
/// not give a tree like the ones it gets, ShapeError when xs has no arrays or their lengths differ.
template <class Combine, class Xs>
Xs associative_scan(const Combine& combine, const Xs& xs, ScanOptions options = {},
                    Where where = Where::here()) {
  internal::FlatFunction flat = [&](const Arrays& both) {
    auto middle = both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
    Xs combined = combine(internal::with_leaves(xs, Arrays(both.begin(), middle)),
                          internal::with_leaves(xs, Arrays(middle, both.end())));
    return internal::leaves_like("associative_scan", "xs", xs, "what combine gives", combined,
                                 where);
  };
  Arrays leaves = internal::leaves_of(xs, "associative_scan", "xs", where);
  return internal::with_leaves(
      xs, internal::associative_scan(flat, leaves, options.reverse, tree_structure(xs).leaf_paths(),
                                     where));
}

}  // namespace sturnus
