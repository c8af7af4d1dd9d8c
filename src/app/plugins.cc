#include <sturnus/runtime/error.h>
#include <sturnus/runtime/plugin.h>
#include <sturnus/runtime/plugin_search.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ostream>

#include "src/app/commands.h"
#include "src/app/table.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;

// The script lies in the source tree above a built program, or in share/ beside an installed one.
fs::path fetch_script() {
  std::error_code ignored;
  fs::path program = fs::canonical("/proc/self/exe", ignored);
  for (fs::path folder = program.parent_path();; folder = folder.parent_path()) {
    for (const char* place : {"share/sturnus/fetch_plugin.py", "src/runtime/fetch_plugin.py"}) {
      if (fs::exists(folder / place, ignored)) return folder / place;
    }
    if (folder == folder.root_path()) break;
  }
  throw Error(
      "plugins install: fetch_plugin.py is neither in the source tree nor in share/sturnus of "
      "the prefix that holds " +
      program.string() + ". Install Sturnus again");
}

// Runs a program with this one's standard streams and returns its exit code.
int run(const std::vector<std::string>& command) {
  pid_t child = fork();
  if (child < 0) throw Error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

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
  int code = run({"python3", fetch_script().string(), name, "--into", user_data_folder().string()});
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
