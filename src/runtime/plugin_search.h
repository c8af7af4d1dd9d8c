// Where plugins are looked for. In this order:
//   1. the name itself, when it is a path;
//   2. STURNUS_PLUGIN_<NAME>, a file;
//   3. PJRT_NAMES_AND_LIBRARY_PATHS=name:file,name:file (as JAX reads it);
//   4. $STURNUS_CACHE, or without it the cache of the build that made this library;
//   5. the user's data folder, where `sturnus plugins install` puts them;
//   6. <prefix>/lib/sturnus beside an installed library or program;
//   7. site-packages of the active Python: $VIRTUAL_ENV, $CONDA_PREFIX, PYTHONPATH, python3 on
//   PATH.
// The places 4 to 7 all have the layout of a site-packages folder: xla_plugins/, jax_plugins/,
// libtpu/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus {

struct PluginLocation {
  std::string name;            // "cpu", "cuda", "tpu", ...
  std::filesystem::path file;  // the shared library
  std::string source;          // which of the places above
};

/// The first place that has a plugin for `name`. Throws PluginError that lists every place searched
/// and the command that installs the plugin; also when an explicit setting names no file.
PluginLocation find_plugin(std::string_view name);

/// Every plugin that the places hold, in search order, each file once.
std::vector<PluginLocation> list_plugins();

/// The folder into which plugins are installed for this user: $XDG_DATA_HOME/sturnus.
std::filesystem::path user_data_folder();

}  // namespace sturnus
