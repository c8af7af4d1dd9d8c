// Looking into reports.
#pragma once

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/runtime/fake.h"

namespace sturnus::app {

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t result = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) result++;
  return result;
}

inline std::string between(const std::string& text, const std::string& begin,
                           const std::string& end) {
  std::size_t from = text.find(begin);
  if (from == text.npos) return "";
  from += begin.size();
  return text.substr(from, text.find(end, from) - from);
}

inline nlohmann::json embedded_json(const std::string& page) {
  return nlohmann::json::parse(between(page, "id=\"result\">", "</script>"));
}

inline std::string output_of(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string result;
  for (int c; pipe != nullptr && (c = std::getc(pipe.get())) != EOF;) {
    result += static_cast<char>(c);
  }
  return result;
}

/// Opens the page in Chromium and returns its elements when all scripts ran; empty without
/// Chromium.
inline std::string opened(const std::string& page) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "report.html") << page;
  return output_of("timeout 100 chromium --headless --no-sandbox --disable-gpu --user-data-dir=" +
                   (folder.path() / "profile").string() +
                   " --virtual-time-budget=5000 --dump-dom file://" +
                   (folder.path() / "report.html").string() + " 2>/dev/null");
}

}  // namespace sturnus::app
