#include "src/app/kept_work.h"

#include <sturnus/inference/results/checkpoint.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>

#include <charconv>
#include <utility>

#include "src/app/json_reader.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string said_by(const std::exception& error) {
  if (auto* parsing = dynamic_cast<const json::parse_error*>(&error)) {
    return "it is cut off or damaged at byte " + std::to_string(parsing->byte);
  }
  return without_class(error.what());
}

}  // namespace

void make_folder(const std::string& command, const std::string& option, const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code problem;
  fs::create_directories(folder, problem);
  std::string cause = problem ? problem.message() : "";
  if (!problem && !fs::is_directory(folder)) cause = "it is a file";
  if (cause.empty()) {
    fs::path probe = folder / ".sturnus";
    try {
      write_file(probe, "");
      fs::remove(probe);
      return;
    } catch (const Error& error) {
      cause = error.what();
    }
  }
  throw Error(command + ": nothing can be written to the folder " + folder.string() + ": " + cause +
              ". Choose another " + option);
}

void check_places(const std::string& command, const std::string& kind, const RunPlaces& places) {
  if (places.folder.empty()) return;
  fs::path file = places.folder / "result.json";
  bool unfinished = fs::exists(places.folder / (kind + ".part"));
  if (!unfinished && fs::exists(file)) {
    const std::string remedy = "Choose another --out, or remove it";
    bool finished = read_kept(
        file, remedy, [](const json& result) -> json { return result.at("finished").get<bool>(); });
    if (finished) {
      throw Error(command + ": " + file.string() + " holds a finished result. " + remedy);
    }
  }
  make_folder(command, "--out", places.folder);
  if (places.resume && !unfinished) {
    log(LogLevel::warning, command + ": " + places.folder.string() + " holds no unfinished " +
                               kind + " to resume; a new one begins");
  }
}

KeptWork::KeptWork(const RunPlaces& places, std::string command, std::string kind, json settings)
    : path_(places.folder.empty() ? fs::path() : places.folder / (kind + ".part")),
      resume_(places.resume),
      command_(std::move(command)),
      kind_(std::move(kind)),
      settings_(std::move(settings)) {}

void KeptWork::load(const std::function<void(const json&, std::string_view)>& read) const {
  if (path_.empty() || !fs::exists(path_)) return;
  std::string name = path_.string();
  if (!resume_) {
    throw Error(command_ + ": " + name + " holds an unfinished " + kind_ +
                ". Add --resume to go on with it, or choose another --out");
  }
  std::string bytes = read_file(path_), first = magic();
  if (bytes.compare(0, first.size(), first) != 0) {
    throw Error(name + " is not a " + kind_ +
                " that Sturnus kept. Choose another --out, or remove it");
  }
  try {
    std::size_t line = bytes.find('\n', first.size()), size = 0;
    if (line == bytes.npos) throw Error("it ends too early");
    const char* end = bytes.data() + line;
    auto [stopped, problem] = std::from_chars(bytes.data() + first.size(), end, size);
    if (problem != std::errc() || stopped != end) {
      throw Error("its second line does not say how long the settings are");
    }
    if (size > bytes.size() - (line + 1)) throw Error("it ends too early");
    json header = json::parse(bytes.substr(line + 1, size));
    if (header.at("settings") != settings_) {
      throw Error("it belongs to other settings: " +
                  first_difference(header.at("settings"), settings_) + " differs");
    }
    read(header.at("notes"), std::string_view(bytes).substr(line + 1 + size));
  } catch (const std::exception& error) {
    throw Error(name + " cannot be continued: " + said_by(error) +
                ". Choose another --out, or remove the file to begin anew");
  }
}

bool KeptWork::save(const json& notes, const Arrays& arrays) const {
  if (path_.empty()) return false;
  std::string header = json{{"settings", settings_}, {"notes", notes}}.dump();
  try {
    write_file(path_,
               magic() + std::to_string(header.size()) + "\n" + header + arrays_to_bytes(arrays));
    return true;
  } catch (const Error& error) {
    log(LogLevel::warning, "the " + kind_ + " could not be kept: " + std::string(error.what()));
    return false;
  }
}

void KeptWork::remove() const {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

std::string first_difference(const json& one, const json& other) {
  json changes = json::diff(one, other);
  return changes.empty() ? "" : changes[0].value("path", "");
}

json read_kept(const fs::path& file, const std::string& remedy,
               const std::function<json(const json&)>& read) {
  try {
    return read(json::parse(read_file(file)));
  } catch (const std::exception& error) {
    throw Error(file.string() + " cannot be used: " + said_by(error) + ". " + remedy);
  }
}

json kept_result(const fs::path& file, const json& settings, const std::function<json()>& work) {
  if (fs::exists(file)) {
    json found = read_kept(file, "Remove it, and it is made anew", [&](const json& kept) {
      return kept.at("settings") == settings ? kept.at("result") : json();
    });
    if (!found.is_null()) return found;
  }
  json result = work();
  if (file.empty()) return result;
  try {
    write_file(file, json{{"settings", settings}, {"result", result}}.dump() + "\n");
  } catch (const Error& error) {
    log(LogLevel::warning, "the work goes on but could not be kept: " + std::string(error.what()));
  }
  return result;
}

}  // namespace sturnus::app
