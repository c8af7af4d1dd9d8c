// A checksum for files: it names them and notices damage, and does not stand against an adversary.
#pragma once

#include <cstdint>
#include <string_view>

namespace sturnus {

/// FNV-1a, 64 bits. Another `start` gives another hash.
constexpr std::uint64_t checksum(std::string_view bytes, std::uint64_t start = 0xcbf29ce484222325) {
  for (char c : bytes) start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return start;
}

}  // namespace sturnus
