// Unfinished work in a file: arrays, a log of how it went, and the settings that both belong to.
#pragma once

#include <sturnus/functional/array.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

namespace sturnus::app {

/// Warns of what cannot be written: it must not end work that goes well.
void save_part(const std::filesystem::path& path, const nlohmann::json& settings,
               const nlohmann::json& log, const Arrays& arrays);

/// Hands log and arrays, as bytes, to `read`. Throws Error when the file is damaged or no such
/// file, when `read` refuses it, or when it belongs to other settings: the message then names the
/// first that differs.
void load_part(const std::filesystem::path& path, const nlohmann::json& settings,
               const std::function<void(const nlohmann::json& log, std::string_view arrays)>& read);

/// Whether there is such a file to go on with. Throws Error, in the name of `command`, when there
/// is one but nobody asked to resume: it must not be lost.
bool goes_on(const char* command, const std::filesystem::path& path, bool resume);

}  // namespace sturnus::app
