// Functions of one thing made into functions of many.
#pragma once

#include <sturnus/functional/flat.h>
#include <sturnus/functional/transform.h>

#include <optional>
#include <vector>

namespace sturnus {

/// An argument that vmap passes whole to every call.
inline constexpr std::nullopt_t none = std::nullopt;

struct VmapOptions {
  /// For each argument the axis along which it is mapped, or `none`. Empty: axis 0 of all.
  std::vector<std::optional<int>> in_axes = {};
  /// Where the new axis stands in the results.
  int out_axis = 0;
};

/// A function that applies f to each index along an axis of its arguments, in one program.
/// Throws ShapeError when mapped axes differ in length or in_axes does not fit the arguments.
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return [f = std::move(f), options = std::move(options)](const auto&... args) {
    auto arguments = internal::to_arguments(args...);
    using Result = std::decay_t<decltype(std::apply(f, arguments))>;
    std::vector<std::int64_t> axes;
    std::size_t index = 0;
    if (!options.in_axes.empty()) {
      internal::check_argument_count("vmap", options.in_axes.size(), sizeof...(args));
    }
    std::apply(
        [&](const auto&... argument) {
          auto add = [&](const auto& tree) {
            std::optional<int> axis = options.in_axes.empty() ? 0 : options.in_axes[index];
            index++;
            axes.resize(axes.size() + internal::leaves_of(tree).size(),
                        axis ? *axis : internal::unmapped);
          };
          (add(argument), ...);
        },
        arguments);
    std::optional<Result> like;
    internal::FlatFunction flat = [&](const Arrays& leaves) {
      like = std::apply(f, internal::with_leaves(arguments, leaves));
      return internal::leaves_of(*like);
    };
    Arrays results = internal::vmap(flat, internal::leaves_of(arguments), axes,
                                    [&options](std::size_t) { return options.out_axis; });
    return internal::with_leaves(*like, results);
  };
}

}  // namespace sturnus
