#include "src/app/plotly_script.h"

#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>
#include <sturnus/runtime/plugin_search.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "src/app/fetch.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The newest version below a folder in which fetch_plugin.py unpacks.
std::optional<std::string> unpacked_in(const fs::path& root) {
  fs::path newest;
  std::error_code error;
  for (fs::directory_iterator entry(root / "scripts" / "plotly", error), end;
       !error && entry != end; entry.increment(error)) {
    fs::path script = entry->path() / "plotly" / "package_data" / "plotly.min.js";
    if (fs::exists(script) && strverscmp(script.c_str(), newest.c_str()) > 0) newest = script;
  }
  return newest.empty() ? std::nullopt : read_file_if_there(newest);
}

}  // namespace

std::optional<std::string> find_plotly_script() {
  if (std::string chosen = environment("STURNUS_PLOTLY"); !chosen.empty()) {
    if (auto script = read_file_if_there(chosen)) return script;
    log(LogLevel::warning, "STURNUS_PLOTLY names " + chosen +
                               ", which cannot be read; looking for plotly.min.js elsewhere");
  }
  if (auto script = unpacked_in(user_data_folder())) return script;
  std::string cache = environment("STURNUS_CACHE");
  return unpacked_in(cache.empty() ? STURNUS_BUILD_CACHE : cache);
}

std::string plotly_script() {
  if (auto script = find_plotly_script()) return *script;
  try {
    // Who waits for a report is not to wait for a network that is not there.
    fetch_pinned("plotly", {"PIP_RETRIES=0", "PIP_TIMEOUT=10"});
  } catch (const Error& error) {
    log(LogLevel::warning, error.what());
  }
  if (auto script = find_plotly_script()) return *script;
  log(LogLevel::warning,
      "the report has no figures: plotly.min.js could not be fetched. `sturnus plugins install "
      "plotly` tries again; or set STURNUS_PLOTLY to the file");
  return "";
}

}  // namespace sturnus::app
