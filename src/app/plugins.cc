#include <sturnus/runtime/error.h>
#include <sturnus/runtime/plugin.h>
#include <sturnus/runtime/plugin_search.h>

#include <ostream>

#include "src/app/commands.h"
#include "src/app/fetch.h"
#include "src/app/table.h"

namespace sturnus::app {
namespace {

std::string version_text(ApiVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

}  // namespace

void show_plugins(std::ostream& out) {
  Table table({"PLATFORM", "PJRT API", "STABLEHLO", "FROM", "FILE"});
  std::vector<PluginLocation> found = list_plugins();
  std::string problems;
  for (const PluginLocation& location : found) {
    std::string api = "does not load", stablehlo = "-";
    try {
      Plugin plugin = Plugin::load(location.file);
      api = version_text(plugin.api_version());
      stablehlo = plugin.stablehlo_version();
    } catch (const PluginError& error) {
      problems += std::string(error.what()) + "\n";
    }
    table.add({location.name, api, stablehlo.empty() ? "not told" : stablehlo, location.source,
               location.file.string()});
  }
  if (found.empty()) {
    out << "No plugins found. `sturnus plugins install cpu` gets one.\n";
    return;
  }
  table.print(out);
  out << "Sturnus speaks PJRT API " << version_text(Plugin::header_version())
      << "; plugins of other minor versions work.\n"
      << problems;
}

void install_plugin(std::ostream& out, const std::string& name) {
  out << "Fetching the plugin for " << name << " ..." << std::endl;
  int code = fetch_pinned(name);
  if (code == 127) {
    throw Error(
        "plugins install: python3 is not installed. Install python3 and pip, or set "
        "STURNUS_PLUGIN_<NAME> to a plugin file that you have");
  }
  if (code != 0) {
    throw Error("plugins install: the plugin for " + name + " was not installed (see above)");
  }
}

}  // namespace sturnus::app
