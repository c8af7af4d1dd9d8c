// Unfinished work in a file, so that a process may end at any moment and another go on.
#pragma once

#include <sturnus/functional/array.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sturnus::app {

struct RunPlaces {
  /// Holds what is unfinished while it goes on, then the results. Empty: nothing is written.
  std::filesystem::path folder;
  bool resume = false;
};

/// Makes the folder of an option ("--out") and proves that files can be written there, before work
/// begins that would be lost. Throws Error, in the name of `command`. Nothing is done for no
/// folder.
void make_folder(const std::string& command, const std::string& option,
                 const std::filesystem::path& folder);

/// The same for the place of a result, which `kind`.part holds while it is unfinished. Throws Error
/// when a finished result is there: it may have taken hours, and none is overwritten. Warns when
/// there is nothing to resume.
void check_places(const std::string& command, const std::string& kind, const RunPlaces& places);

/// The file <folder>/<kind>.part: arrays, notes on them, and the settings that both belong to.
class KeptWork {
 public:
  /// `command` begins messages; `kind` is a noun: "training".
  KeptWork(const RunPlaces& places, std::string command, std::string kind, nlohmann::json settings);

  /// Hands notes and arrays (as arrays_to_bytes writes them) to `read`, if there is such a file.
  /// Throws Error, and leaves the file as it is, when `resume` is not asked for, when the file is
  /// damaged or another, when it belongs to other settings (the message names the first that
  /// differs), or when `read` throws.
  void load(
      const std::function<void(const nlohmann::json& notes, std::string_view arrays)>& read) const;
  /// Takes the place of what was kept before, and returns whether it did. What cannot be kept is
  /// warned of: it must not end what goes well.
  bool save(const nlohmann::json& notes, const Arrays& arrays) const;
  void remove() const;
  /// The file's.
  std::string name() const { return path_.string(); }

 private:
  std::string magic() const { return "sturnus " + kind_ + " 1\n"; }

  std::filesystem::path path_;
  bool resume_;
  std::string command_, kind_;
  nlohmann::json settings_;
};

/// Where two settings differ first, as a JSON path; empty where they are equal.
std::string first_difference(const nlohmann::json& one, const nlohmann::json& other);

/// What `read` makes of a file of JSON that was written before. Throws Error, with the file, what
/// is wrong and `remedy`, when it is cut off or damaged, or when `read` throws.
nlohmann::json read_kept(const std::filesystem::path& file, const std::string& remedy,
                         const std::function<nlohmann::json(const nlohmann::json& contents)>& read);

/// What a file has, if it is of these settings; what `work` gives otherwise, which is then kept
/// there, unless the file's name is empty. What cannot be kept is warned of. Throws Error as
/// read_kept does.
nlohmann::json kept_result(const std::filesystem::path& file, const nlohmann::json& settings,
                           const std::function<nlohmann::json()>& work);

}  // namespace sturnus::app
