#include <dlfcn.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/plugin_search.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace sturnus {
namespace {

namespace fs = std::filesystem;

// A folder laid out like site-packages, and how a person would name it.
struct Place {
  std::string source;
  fs::path folder;
};

std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : std::string(value);
}

fs::path home_folder(const char* variable, const char* below_home) {
  std::string chosen = environment(variable);
  return (chosen.empty() ? fs::path(environment("HOME")) / below_home : fs::path(chosen)) /
         "sturnus";
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The folders inside `folder`, sorted such that 0.9 comes before 0.10; none when it cannot be read.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) result.push_back(entry->path());
  }
  std::sort(result.begin(), result.end(), [](const fs::path& a, const fs::path& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;
  });
  return result;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Unpacked wheels of a cache: <root>/plugins/<name>/<version>/.
void add_cache(std::vector<Place>& places, const std::string& source, const fs::path& root) {
  places.push_back({source, root / "plugins"});  // holds none itself: shown when nothing is found
  for (const fs::path& name : folders_in(root / "plugins")) {
    std::vector<fs::path> versions = folders_in(name);
    std::reverse(versions.begin(), versions.end());  // the newest first
    for (const fs::path& version : versions) places.push_back({source, version});
  }
}

std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// The folders in which the active Python looks for packages: it alone knows them all.
std::vector<Place> python_places() {
  std::string python = "python3";
  for (const char* variable : {"CONDA_PREFIX", "VIRTUAL_ENV"}) {
    std::string prefix = environment(variable);
    if (!prefix.empty() && is_file(fs::path(prefix) / "bin" / "python3")) {
      python = prefix + "/bin/python3";
    }
  }
  std::vector<Place> result;
  std::string command =
      shell_quoted(python) + " -c 'import sys; print(*sys.path, sep=\"\\n\")' 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string line;
  for (int c; pipe != nullptr && (c = std::getc(pipe.get())) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    std::error_code ignored;
    if (fs::is_directory(line, ignored)) result.push_back({"packages of " + python, line});
    line.clear();
  }
  return result;
}

// Where this code lives: the program, or libsturnus.so.
fs::path own_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_file), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::error_code error;
  fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::canonical("/proc/self/exe", error) : file;
}

// Everywhere but Python's packages, which take a process to find.
std::vector<Place> own_places() {
  std::vector<Place> result;
  // Either a cache, or a folder that the build was pointed to.
  fs::path build = STURNUS_BUILD_CACHE;
  std::string cache = environment("STURNUS_CACHE");
  if (!cache.empty()) {
    add_cache(result, "STURNUS_CACHE", cache);
  } else if (is_file(build / "xla_cpu_pjrt.so")) {
    result.push_back({"the build's plugin", build.parent_path().parent_path()});
  } else {
    add_cache(result, "the build's cache", build);
  }
  add_cache(result, "the user's data folder", user_data_folder());
  for (const char* library : {"lib", "lib64"}) {
    result.push_back(
        {"the installed prefix", own_file().parent_path().parent_path() / library / "sturnus"});
  }
  return result;
}

// What a wheel calls the platform: xla_cpu_pjrt -> cpu, xla_cuda13 -> cuda.
std::string platform_of(const std::string& package) {
  std::string name = package.rfind("xla_", 0) == 0 ? package.substr(4) : package;
  if (auto at = name.rfind("_pjrt"); at != name.npos && at + 5 == name.size()) name.resize(at);
  if (name.rfind("cuda", 0) == 0) return "cuda";
  if (name.rfind("rocm", 0) == 0) return "rocm";
  return name;
}

std::vector<PluginLocation> plugins_in(const Place& place) {
  std::vector<PluginLocation> result;
  for (const char* group : {"xla_plugins", "jax_plugins"}) {
    for (const fs::path& package : folders_in(place.folder / group)) {
      std::string name = package.filename().string();
      std::string platform = platform_of(name);
      for (const std::string& file :
           {name + ".so", "xla_" + platform + "_plugin.so", "pjrt_plugin_" + platform + ".so"}) {
        if (!is_file(package / file)) continue;
        result.push_back({platform, package / file, place.source});
        break;
      }
    }
  }
  fs::path tpu = place.folder / "libtpu" / "libtpu.so";
  if (is_file(tpu)) result.push_back({"tpu", tpu, place.source});
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// The plugins that the environment names outright; a name without its file is a mistake to report.
std::vector<PluginLocation> named_by_environment() {
  std::vector<PluginLocation> result;
  for (const std::string& pair : split(environment("PJRT_NAMES_AND_LIBRARY_PATHS"), ',')) {
    std::size_t colon = pair.find(':');
    if (colon == pair.npos) {
      throw PluginError("find_plugin: PJRT_NAMES_AND_LIBRARY_PATHS has the entry \"" + pair +
                        "\", which is not name:file. Write name:file,name:file");
    }
    result.push_back(
        {pair.substr(0, colon), pair.substr(colon + 1), "PJRT_NAMES_AND_LIBRARY_PATHS"});
  }
  return result;
}

void require_file(const PluginLocation& location) {
  if (is_file(location.file)) return;
  throw PluginError("find_plugin: " + location.source + " names " + location.file.string() +
                    ", which is not a file. `sturnus plugins` lists the plugins that are there");
}

}  // namespace

fs::path user_data_folder() { return home_folder("XDG_DATA_HOME", ".local/share"); }

PluginLocation find_plugin(std::string_view name) {
  std::string wanted(name);
  if (wanted.find('/') != wanted.npos || fs::path(wanted).extension() == ".so") {
    PluginLocation location{wanted, wanted, "the path given"};
    require_file(location);
    return location;
  }
  std::string variable = "STURNUS_PLUGIN_" + upper(wanted);
  std::string searched = "\n  $" + variable + " (not set)";
  if (std::string file = environment(variable); !file.empty()) {
    PluginLocation location{wanted, file, variable};
    require_file(location);
    return location;
  }
  searched += "\n  $PJRT_NAMES_AND_LIBRARY_PATHS";
  for (const PluginLocation& location : named_by_environment()) {
    if (location.name != wanted) continue;
    require_file(location);
    return location;
  }
  std::string others;
  for (auto places : {own_places, python_places}) {
    for (const Place& place : places()) {
      searched += "\n  " + place.folder.string() + " (" + place.source + ")";
      for (const PluginLocation& location : plugins_in(place)) {
        if (location.name == wanted) return location;
        others += (others.empty() ? "" : ", ") + location.name;
      }
    }
  }
  bool pinned = wanted == "cpu" || wanted == "cuda" || wanted == "tpu";
  throw PluginError(
      "find_plugin: there is no PJRT plugin for \"" + wanted + "\"" +
      (others.empty() ? "" : " (there is one for " + others + ")") + ". Searched:" + searched +
      "\n" +
      (pinned ? "Install it with `sturnus plugins install " + wanted + "`, or set " : "Set ") +
      variable + " to its file.");
}

std::vector<PluginLocation> list_plugins() {
  std::vector<PluginLocation> result;
  auto add = [&result](const PluginLocation& location) {
    std::error_code ignored;
    for (const PluginLocation& known : result) {
      if (fs::equivalent(known.file, location.file, ignored)) return;
    }
    result.push_back(location);
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++) {
    std::string pair = *entry;
    std::string prefix = "STURNUS_PLUGIN_";
    std::size_t equals = pair.find('=');
    if (pair.rfind(prefix, 0) != 0 || equals + 1 == pair.size()) continue;
    std::string name = pair.substr(prefix.size(), equals - prefix.size());
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    add({name, pair.substr(equals + 1), pair.substr(0, equals)});
  }
  for (const PluginLocation& location : named_by_environment()) add(location);
  for (auto places : {own_places, python_places}) {
    for (const Place& place : places()) {
      for (const PluginLocation& location : plugins_in(place)) add(location);
    }
  }
  return result;
}

}  // namespace sturnus
