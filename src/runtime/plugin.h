// A PJRT plugin: a shared library, opened at run time, that compiles and runs programs on one
// kind of device.
#pragma once

#include <sturnus/runtime/named_value.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace sturnus {
namespace internal {
class Api;
}

struct ApiVersion {
  int major = 0;
  int minor = 0;
  bool operator==(const ApiVersion&) const = default;
};

/// A cheap handle on a loaded plugin. A plugin stays loaded until the process ends, because its
/// threads and statics cannot be unloaded safely.
class Plugin {
 public:
  /// Opens the plugin for a platform ("cpu", "cuda", "tpu", any name, or a path to a file), found
  /// as plugin_search.h says. Throws PluginError with every place searched.
  static Plugin find(std::string_view name);

  /// Opens a plugin file; the same file is opened once. Throws PluginError when it is not a plugin,
  /// fails to initialise or speaks another major version of the PJRT API.
  static Plugin load(const std::filesystem::path& file);

  /// The version of the PJRT C API that this library was compiled against.
  static ApiVersion header_version();

  const std::filesystem::path& path() const;
  ApiVersion api_version() const;
  /// The newest StableHLO that the plugin reads, for instance "1.13.0"; empty when it does not say.
  std::string stablehlo_version() const;
  /// What the plugin says of itself; may be empty.
  const NamedValues& attributes() const;
  /// Why its programs cannot call functions of the host; empty when they can.
  const std::string& no_host_callbacks() const;

  const internal::Api& api() const;

 private:
  struct State;
  explicit Plugin(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace sturnus
