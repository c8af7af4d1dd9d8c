// Between functions of trees and functions of flat lists of arrays. Details of the transforms'
// headers.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/functional/transform.h>
#include <sturnus/functional/tree.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sturnus {

/// What is not there: the axis of an argument that vmap passes whole, the xs of a scan.
inline constexpr std::nullopt_t none = std::nullopt;

namespace internal {

/// What stands for a value of type T in a tree: for text in quotes a string.
template <class T>
using Stored = std::conditional_t<std::is_same_v<std::decay_t<const T>, const char*>, std::string,
                                  std::decay_t<T>>;

/// What a transformed function gets for an argument: a number stands for a scalar array.
template <class T>
using Argument = std::conditional_t<std::is_arithmetic_v<std::decay_t<T>>, Array, Stored<T>>;

template <class... Args>
std::tuple<Argument<Args>...> to_arguments(const Args&... args) {
  return std::tuple<Argument<Args>...>(args...);
}

/// The leaves of a tree that `function` takes or gives as `what`. Throws TreeError when one is
/// Array().
template <class T>
Arrays leaves_of(const T& tree, std::string_view function, std::string_view what, Where where) {
  Arrays leaves = tree_leaves(tree);
  for (std::size_t i = 0; i < leaves.size(); i++) {
    if (!leaves[i].empty()) continue;
    std::string path = tree_structure(tree).leaf_paths()[i];
    throw_no_value(function, std::string(what) + (path.empty() ? "" : " " + path), where.str());
  }
  return leaves;
}

/// The leaves of `tree`. Throws TreeError in the name of `function` unless its structure is that of
/// `like` and none is Array(); the names are what the two are called.
template <class T>
Arrays leaves_like(std::string_view function, std::string_view like_name, const T& like,
                   std::string_view name, const T& tree, Where where) {
  require_same_structure(function, like_name, tree_structure(like), name, tree_structure(tree),
                         where.str());
  return leaves_of(tree, function, name, where);
}

/// The same for a tree that may be of another type, one that converts to that of `like`.
template <class T, class Other>
Arrays leaves_as(std::string_view function, std::string_view like_name, const T& like,
                 std::string_view name, const Other& tree, Where where) {
  if constexpr (std::is_convertible_v<const Other&, T>) {
    return leaves_like<T>(function, like_name, like, name, tree, where);
  } else {
    require_same_structure(function, like_name, tree_structure(like), name, tree_structure(tree),
                           where.str());
    return leaves_of(tree, function, name, where);
  }
}

/// Who transforms a function by its arguments number `I`, for messages.
template <class Arguments, std::size_t... I>
Caller caller(std::string_view name, Where where, const Arguments& arguments,
              std::index_sequence<I...>) {
  return {name, where, {{I, tree_structure(std::get<I>(arguments))}...}};
}
template <class... T>
Caller caller(std::string_view name, Where where, const std::tuple<T...>& arguments) {
  return caller(name, where, arguments, std::index_sequence_for<T...>());
}

template <class T>
T with_leaves(const T& like, const Arrays& leaves) {
  return tree_unflatten(like, std::span<const Array>(leaves), Where{});
}

/// What a function returns, which must be something.
template <class F, class Arguments>
struct ReturnedBy {
  using type = decltype(std::apply(std::declval<const F&>(), std::declval<Arguments>()));
  static_assert(
      !std::is_void_v<type>,
      "a transformed function must return what it computes: whatever else it does happens "
      "only once, while it is traced");
};

/// f on flat lists, with the structure of the tuple `arguments`, for the transform `caller`;
/// remembers the structure of what f returned. Lives as long as the transform that calls it.
template <class F, class Arguments>
class Flat {
 public:
  using Result = Argument<typename ReturnedBy<F, Arguments>::type>;

  Flat(const F& f, const Arguments& arguments, Caller caller)
      : f_(f), arguments_(arguments), caller_(std::move(caller)) {}

  /// The leaves of the arguments. Throws TreeError when one is Array().
  Arrays leaves() const {
    Arrays leaves = tree_leaves(arguments_);
    for (std::size_t i = 0; i < leaves.size(); i++) {
      if (leaves[i].empty()) {
        throw_no_value(caller_.name, caller_.leaf_name(i), caller_.where.str());
      }
    }
    return leaves;
  }
  FlatFunction function() {
    return [this](const Arrays& leaves) {
      like_.emplace(Result(std::apply(f_, with_leaves(arguments_, leaves))));
      return leaves_of(*like_, caller_.name, "the result", caller_.where);
    };
  }
  /// What f returned, with other leaves.
  Result result(const Arrays& leaves) const { return with_leaves(*like_, leaves); }
  const Result& like() const { return *like_; }
  const Caller& caller() const { return caller_; }

 private:
  const F& f_;
  const Arguments& arguments_;
  Caller caller_;
  std::optional<Result> like_;
};

}  // namespace internal
}  // namespace sturnus
