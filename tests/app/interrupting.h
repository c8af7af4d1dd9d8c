// Ctrl-C at a chosen moment.
#pragma once

#include <csignal>
#include <sstream>
#include <string>
#include <utility>

namespace sturnus::app {

/// A stream's buffer that presses Ctrl-C when a text is written to it for the first time.
class Interrupting : public std::stringbuf {
 public:
  explicit Interrupting(std::string text) : text_(std::move(text)) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    std::streamsize written = std::stringbuf::xsputn(text, count);
    if (!done_ && str().find(text_) != std::string::npos) {
      done_ = true;
      std::raise(SIGINT);
    }
    return written;
  }

 private:
  std::string text_;
  bool done_ = false;
};

}  // namespace sturnus::app
