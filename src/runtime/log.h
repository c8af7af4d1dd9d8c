// The library's only way to say something aside: warnings go to the standard error until a sink is
// set.
#pragma once

#include <functional>
#include <string_view>

namespace sturnus {

enum class LogLevel { info, warning };

using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Sends the library's messages to `sink`, from any thread; an empty sink drops them.
void set_log_sink(LogSink sink);

/// Hands `message` to the sink, if there is one. The default prints warnings: "sturnus: warning:
/// ...".
void log(LogLevel level, std::string_view message);

}  // namespace sturnus
