// Compiled programs kept in a folder between runs.
//
// An entry is one file, named by a hash of its key, that holds the whole key, so that two keys with
// one hash are never confused, and a checksum, so that a damaged file is noticed. It is written
// beside its place and renamed into it: readers see a whole entry or none, whoever else writes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sturnus {

class CompileCache {
 public:
  /// Uses `folder`, made when the first entry is stored.
  explicit CompileCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The entry stored under `key`, or nothing. A damaged entry is removed, and `problem` says why.
  std::optional<std::string> load(std::string_view key, std::string& problem) const;
  /// Stores an entry; returns what went wrong (a full disk, a read-only folder), empty when
  /// nothing.
  std::string store(std::string_view key, std::string_view value) const;
  /// Forgets an entry, for instance one that the plugin refuses to load.
  void remove(std::string_view key) const;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file_of(std::string_view key) const;

 private:
  std::filesystem::path folder_;
};

/// What a compiled program depends on besides its text and options: the CPU's instruction sets.
std::string cpu_features();

}  // namespace sturnus
