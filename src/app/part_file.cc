#include "src/app/part_file.h"

#include <sturnus/inference/checkpoint.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>

namespace sturnus::app {
namespace {

using nlohmann::json;

constexpr std::string_view magic = "sturnus training 1\n";

// Where two settings differ first, as a JSON path.
std::string first_difference(const json& one, const json& other) {
  json changes = json::diff(one, other);
  return changes.empty() ? "" : changes[0].value("path", "");
}

}  // namespace

void save_part(const std::filesystem::path& path, const json& settings, const json& log,
               const Arrays& arrays) {
  std::string header = json{{"settings", settings}, {"log", log}}.dump();
  std::string bytes(magic);
  bytes += std::to_string(header.size()) + "\n" + header;
  bytes += arrays_to_bytes(arrays);
  try {
    write_file(path, bytes);
  } catch (const Error& error) {
    sturnus::log(LogLevel::warning,
                 std::string("the training goes on but could not be kept: ") + error.what());
  }
}

void load_part(const std::filesystem::path& path, const json& settings,
               const std::function<void(const json& log, std::string_view arrays)>& read) {
  std::string bytes = read_file(path);
  std::string name = path.string();
  if (bytes.compare(0, magic.size(), magic) != 0) {
    throw Error(name + " is not a training that Sturnus kept. Choose another --out, or remove it");
  }
  try {
    std::size_t line = bytes.find('\n', magic.size());
    std::size_t size = std::stoull(bytes.substr(magic.size(), line - magic.size()));
    if (line + 1 + size > bytes.size()) throw Error("it ends too early");
    json header = json::parse(bytes.substr(line + 1, size));
    if (header.at("settings") != settings) {
      throw Error("it belongs to other settings: " +
                  first_difference(header.at("settings"), settings) + " differs");
    }
    read(header.at("log"), std::string_view(bytes).substr(line + 1 + size));
  } catch (const std::exception& error) {
    throw Error(name + " cannot be continued: " + error.what() +
                ". Choose another --out, or remove the file to begin anew");
  }
}

bool goes_on(const char* command, const std::filesystem::path& path, bool resume) {
  if (path.empty() || !std::filesystem::exists(path)) return false;
  if (!resume) {
    throw Error(std::string(command) + ": " + path.string() +
                " holds an unfinished training. Add --resume to go on with it, or choose another "
                "--out");
  }
  return true;
}

}  // namespace sturnus::app
