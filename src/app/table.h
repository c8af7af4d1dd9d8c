// Aligned columns for a terminal.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace sturnus::app {

class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A number by a format of printf.
std::string formatted(const char* format, double value);

/// 1536 -> "1.5 KiB".
std::string bytes_text(double bytes);

}  // namespace sturnus::app
