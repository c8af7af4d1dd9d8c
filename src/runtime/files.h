// Whole files: read at once, and written so that what was there before survives a failure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sturnus {

/// The file's contents. Throws Error when it cannot be read.
std::string read_file(const std::filesystem::path& path);
/// The same, or nothing when it cannot be read.
std::optional<std::string> read_file_if_there(const std::filesystem::path& path);

/// Writes the file through a temporary one beside it, which then takes its name. Makes the folder.
/// Throws Error, naming the cause, when there is no room or no right; the old file is then still
/// there.
void write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace sturnus
