// The page that `sturnus posterior` writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sturnus::app {

/// Markdown of a result: what each method says of every run, and how far they agree.
std::string posterior_page(const nlohmann::json& result);

}  // namespace sturnus::app
