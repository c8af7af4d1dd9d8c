#include <sturnus/runtime/checksum.h>
#include <sturnus/runtime/compile_cache.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace sturnus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "STURNUS1";

std::string to_bytes(std::uint64_t number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

// Removes a number from the front of `bytes`; the caller has checked that it is there.
std::uint64_t take_number(std::string_view& bytes) {
  std::uint64_t number;
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  return number;
}

std::string last_error() { return std::strerror(errno); }

}  // namespace

fs::path CompileCache::file_of(std::string_view key) const {
  char name[40];
  std::snprintf(name, sizeof(name), "%016llx%016llx.xla",
                static_cast<unsigned long long>(checksum(key)),
                static_cast<unsigned long long>(checksum(key, 0x9ae16a3b2f90404f)));
  return folder_ / name;
}

// An entry: magic, checksum of the rest, length of the key, key, value.
std::optional<std::string> CompileCache::load(std::string_view key, std::string& problem) const {
  fs::path file = file_of(key);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream copy;
  copy << stream.rdbuf();  // what cannot be read counts as damaged
  std::string contents = std::move(copy).str();
  std::string_view rest = contents;
  auto damaged = [&] {
    problem = "the entry " + file.string() + " is damaged and was removed";
    remove(key);
    return std::nullopt;
  };
  if (rest.size() < magic.size() + 16 || rest.substr(0, magic.size()) != magic) return damaged();
  rest.remove_prefix(magic.size());
  if (take_number(rest) != checksum(rest)) return damaged();
  std::uint64_t key_size = take_number(rest);
  if (key_size > rest.size()) return damaged();
  if (rest.substr(0, key_size) != key) return std::nullopt;  // another key with the same hash
  return std::string(rest.substr(key_size));
}

std::string CompileCache::store(std::string_view key, std::string_view value) const {
  static std::atomic<unsigned> serial = 0;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return "cannot make the folder " + folder_.string() + ": " + error.message();

  std::string body = to_bytes(key.size());
  body.append(key).append(value);
  fs::path file = file_of(key);
  fs::path draft = file;
  draft += "." + std::to_string(getpid()) + "." + std::to_string(serial++) + ".tmp";
  std::ofstream stream(draft, std::ios::binary);
  stream << magic << to_bytes(checksum(body)) << body;
  stream.close();
  std::string problem;
  if (!stream) {
    problem = "cannot write " + draft.string() + ": " + last_error();
  } else if (fs::rename(draft, file, error); error) {
    problem = "cannot write " + file.string() + ": " + error.message();
  }
  if (!problem.empty()) fs::remove(draft, error);
  return problem;
}

void CompileCache::remove(std::string_view key) const {
  std::error_code ignored;
  fs::remove(file_of(key), ignored);
}

std::string cpu_features() {
  std::ifstream stream("/proc/cpuinfo");
  std::string line;
  std::string result;
  while (std::getline(stream, line) && !line.empty()) {  // the first processor
    for (std::string_view wanted : {"model name", "CPU part", "flags", "Features"}) {
      if (line.compare(0, wanted.size(), wanted) == 0) result += line + ";";
    }
  }
  return result;
}

}  // namespace sturnus
