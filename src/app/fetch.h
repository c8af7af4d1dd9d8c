// What is not part of Sturnus and is fetched when it is wanted.
#pragma once

#include <string>
#include <vector>

namespace sturnus::app {

/// Lets fetch_plugin.py bring what it pins under this name into the user's data folder; it speaks
/// on this program's streams. `settings` are NAME=value words for its environment. Returns its exit
/// code, 127 without python3. Throws Error when the script is not there.
int fetch_pinned(const std::string& name, const std::vector<std::string>& settings = {});

}  // namespace sturnus::app
