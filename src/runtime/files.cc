#include <fcntl.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace sturnus {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& cause) {
  throw Error("cannot write " + path.string() + ": " + cause);
}

// All bytes to the disk, not only to its cache.
void write_through(const fs::path& path, std::string_view contents) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) refuse(path, std::strerror(errno));
  while (!contents.empty()) {
    ssize_t written = write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      int cause = errno;
      close(file);
      unlink(path.c_str());
      refuse(path, std::strerror(cause));
    }
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  bool safe = fsync(file) == 0;
  int cause = errno;
  if (close(file) != 0 || !safe) refuse(path, std::strerror(cause));
}

}  // namespace

std::string read_file(const fs::path& path) {
  if (auto contents = read_file_if_there(path)) return *contents;
  throw Error("cannot read " + path.string());
}

std::optional<std::string> read_file_if_there(const fs::path& path) {
  std::error_code ignored;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || fs::is_directory(path, ignored)) return {};
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void write_file(const fs::path& path, std::string_view contents) {
  std::error_code failure;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), failure);
  if (failure) refuse(path, failure.message());
  fs::path beside = path;
  beside += ".part";
  write_through(beside, contents);
  fs::rename(beside, path, failure);
  if (failure) refuse(path, failure.message());
}

}  // namespace sturnus
