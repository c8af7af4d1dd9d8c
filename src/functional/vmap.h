// Functions of one thing made into functions of many.
#pragma once

#include <sturnus/functional/collective.h>
#include <sturnus/functional/flat.h>

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sturnus {

/// Along which axis a tree is mapped: one axis for all its leaves, `none`, or axes of parts of it
/// by their paths, of which the longest counts: by_path({{".net", 0}, {".net[2].b", none}}).
class MapAxis {
 public:
  MapAxis(int axis) : axis_(axis) {}
  MapAxis(std::nullopt_t) {}
  friend MapAxis by_path(std::initializer_list<std::pair<std::string, std::optional<int>>> axes);

  /// One axis per leaf of the tree. Throws TreeError when a path leads to no leaf; `what` names the
  /// axes in messages.
  std::vector<std::int64_t> of_leaves(const std::string& what, const TreeDef& tree) const;

 private:
  std::optional<int> axis_;
  std::vector<std::pair<std::string, std::optional<int>>> by_path_;
};

/// Axes of parts of a tree; parts that are not named are `none`.
MapAxis by_path(std::initializer_list<std::pair<std::string, std::optional<int>>> axes);

/// Along which axes the arguments are mapped: an entry for each in braces, {0, none}, or one for
/// all of them. By default axis 0 of all.
class InAxes {
 public:
  InAxes() = default;
  InAxes(int axis) : all_(axis) {}
  InAxes(std::nullopt_t) : all_(none) {}
  InAxes(MapAxis axis) : all_(std::move(axis)) {}
  InAxes(std::initializer_list<MapAxis> axes) : each_(axes) {}
  InAxes(std::vector<MapAxis> axes) : each_(std::move(axes)) {}

  /// How many entries there are, unless one is for all.
  std::size_t size() const { return each_.size(); }
  const MapAxis& operator[](std::size_t i) const { return each_.empty() ? all_ : each_[i]; }
  MapAxis& operator[](std::size_t i) { return each_.empty() ? all_ : each_[i]; }

 private:
  MapAxis all_ = 0;
  std::vector<MapAxis> each_;
};

struct VmapOptions {
  /// For each argument the axis along which it is mapped, or `none`; or one for all.
  InAxes in_axes = {};
  /// Where the new axis stands in the results.
  MapAxis out_axes = 0;
  /// What collectives inside the function call the axis: psum(x, "members").
  std::string axis_name = {};
  /// How often f is applied, which mapped arguments tell by themselves: needed when none is mapped.
  std::optional<std::int64_t> axis_size = {};
};

namespace internal {

/// `f` for each index along axes of the arguments' leaves `x`; `result` gives the tree of what f
/// returned.
Arrays vmap(const FlatFunction& f, const Arrays& x, const VmapOptions& options,
            const std::function<TreeDef()>& result, const Caller& caller);

}  // namespace internal

/// A function that applies f to each index along an axis of its arguments, in one program.
/// Throws ShapeError when mapped axes differ in length, from each other or from axis_size, when
/// none is mapped and axis_size is not given, or when in_axes does not fit the arguments, TreeError
/// when a path in in_axes or out_axes leads to no array.
template <class F>
auto vmap(F f, VmapOptions options = {}, Where where = Where::here()) {
  return [f = std::move(f), options = std::move(options), where](const auto&... args) {
    auto arguments = internal::to_arguments(args...);
    internal::Flat flat(f, arguments, internal::caller("vmap", where, arguments));
    Arrays results = internal::vmap(
        flat.function(), flat.leaves(), options, [&] { return tree_structure(flat.like()); },
        flat.caller());
    return flat.result(results);
  };
}

}  // namespace sturnus
