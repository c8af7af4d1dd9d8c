#include <sturnus/functional/vmap.h>

#include <algorithm>

namespace sturnus {

MapAxis by_path(std::initializer_list<std::pair<std::string, std::optional<int>>> axes) {
  MapAxis result(none);
  result.by_path_ = axes;
  return result;
}

namespace {

// Whether `path` leads into `part`: ".net[2].b" into ".net", but not ".network".
bool leads_into(std::string_view path, std::string_view part) {
  if (path.substr(0, part.size()) != part) return false;
  constexpr std::string_view members = ".[<";
  return path.size() == part.size() || members.find(path[part.size()]) != members.npos;
}

}  // namespace

std::vector<std::int64_t> MapAxis::of_leaves(const std::string& what, const TreeDef& tree) const {
  auto number = [](const std::optional<int>& axis) {
    return axis ? std::int64_t{*axis} : internal::unmapped;
  };
  std::vector<std::string> paths = tree.leaf_paths();
  std::vector<std::int64_t> axes(paths.size(), number(axis_));
  std::vector<std::size_t> best(paths.size(), 0);
  for (const auto& [part, axis] : by_path_) {
    bool found = false;
    for (std::size_t i = 0; i < paths.size(); i++) {
      if (!leads_into(paths[i], part)) continue;
      found = true;
      if (part.size() < best[i]) continue;
      best[i] = part.size();
      axes[i] = number(axis);
    }
    if (found) continue;
    std::string known;
    for (const std::string& path : paths) {
      if (!path.empty()) known += (known.empty() ? "" : ", ") + path;
    }
    throw TreeError(internal::message(
        "vmap", what + " names " + part + ", which leads to no array of the tree " + tree.str(),
        known.empty() ? "Give one axis for the whole tree" : "Name a part of one of " + known));
  }
  return axes;
}

namespace internal {
namespace {

// The axes of all leaves of the arguments.
std::vector<std::int64_t> leaf_axes(const InAxes& in_axes, const Caller& caller) {
  const auto& arguments = caller.arguments;
  if (in_axes.size() > 0 && in_axes.size() != arguments.size()) {
    throw ShapeError(message("vmap",
                             "in_axes has " + std::to_string(in_axes.size()) +
                                 (in_axes.size() == 1 ? " entry" : " entries") +
                                 ", the number of arguments is " + std::to_string(arguments.size()),
                             "Give one entry per argument, or one without braces for all"));
  }
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    std::string what = "in_axes of argument " + std::to_string(i);
    std::vector<std::int64_t> own = in_axes[i].of_leaves(what, arguments[i].second);
    axes.insert(axes.end(), own.begin(), own.end());
  }
  return axes;
}

}  // namespace

Arrays vmap(const FlatFunction& f, const Arrays& x, const VmapOptions& options,
            const std::function<TreeDef()>& result, const Caller& caller) {
  std::vector<std::int64_t> in_axes;
  {
    Blame blame(caller.where);
    in_axes = leaf_axes(options.in_axes, caller);
  }
  auto out_axes = [&] { return options.out_axes.of_leaves("out_axes", result()); };
  return vmap(f, x, in_axes, out_axes, options.axis_name, options.axis_size, caller);
}

}  // namespace internal
}  // namespace sturnus
