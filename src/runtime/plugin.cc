#include <dlfcn.h>
#include <link.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/host_callback.h>
#include <sturnus/runtime/log.h>
#include <sturnus/runtime/plugin.h>
#include <sturnus/runtime/plugin_search.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "src/runtime/pjrt.h"

namespace sturnus {

struct Plugin::State {
  State(std::filesystem::path file, const PJRT_Api* table)
      : path(std::move(file)), api(table, path.string()) {}
  std::filesystem::path path;
  internal::Api api;
  NamedValues attributes;
  std::string no_host_callbacks;
};

namespace {

std::string version_text(ApiVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

// What plugins read from the environment, once, when they are loaded. The user's settings stay.
void prepare_environment() {
  auto prefer = [](const char* name, const char* value) { setenv(name, value, /*overwrite=*/0); };
  // Their own logs would go to standard error.
  prefer("TF_CPP_MIN_LOG_LEVEL", "3");
  prefer("TPU_LOG_DIR", "disabled");
  // Where there is no TPU, libtpu would ask the metadata server of a cloud for minutes, and then
  // complain that it knows neither hosts nor chips.
  std::error_code ignored;
  if (!std::filesystem::exists("/dev/accel0", ignored) &&
      !std::filesystem::exists("/dev/vfio/0", ignored)) {
    prefer("TPU_SKIP_MDS_QUERY", "1");
    prefer("TPU_WORKER_HOSTNAMES", "localhost");
    prefer("TPU_HOST_BOUNDS", "1,1,1");
    prefer("TPU_CHIPS_PER_HOST_BOUNDS", "1,1,1");
  }
}

// Whether a library ends before what its headers speak of, as after an interrupted copy. The
// loader would map it nevertheless, and crash.
bool is_cut_off(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  ElfW(Ehdr) header;
  if (!stream.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return false;  // no library at all, which the loader will say
  }
  std::error_code ignored;
  std::uintmax_t size = std::filesystem::file_size(file, ignored);
  std::uintmax_t end = 0;
  stream.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; i++) {
    ElfW(Phdr) segment;
    if (!stream.read(reinterpret_cast<char*>(&segment), sizeof(segment))) return true;
    end = std::max<std::uintmax_t>(end, segment.p_offset + segment.p_filesz);
  }
  return size < end;
}

const PJRT_Api* open_table(const std::filesystem::path& file) {
  auto refuse = [&file](const std::string& why) -> PluginError {
    return PluginError("Plugin::load: " + file.string() + " " + why);
  };
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw refuse("does not exist. `sturnus plugins` lists the plugins that are there");
  }
  if (is_cut_off(file)) throw refuse("is incomplete: the end of the file is missing. Get it again");
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw refuse(std::string("is not a shared library that loads here: ") +
                 (reason == nullptr ? "no reason given" : reason));
  }
  auto get_table = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get_table == nullptr) {
    throw refuse("is a shared library but not a PJRT plugin: it has no function GetPjrtApi");
  }
  const PJRT_Api* table = get_table();
  if (table == nullptr) throw refuse("gave no PJRT API: GetPjrtApi returned null");
  if (table->struct_size < offsetof(PJRT_Api, PJRT_Error_Destroy)) {
    throw refuse("has an incomplete PJRT API: " + std::to_string(table->struct_size) +
                 " bytes do not hold its version");
  }
  ApiVersion ours = Plugin::header_version();
  ApiVersion theirs{table->pjrt_api_version.major_version, table->pjrt_api_version.minor_version};
  if (theirs.major != ours.major) {
    throw refuse("speaks PJRT API " + version_text(theirs) + ", Sturnus speaks " +
                 version_text(ours) + ", and the first numbers must be equal. Use another plugin");
  }
  // Without these nothing can be said of an error, so nothing can be called.
  if (table->struct_size < offsetof(PJRT_Api, PJRT_Plugin_Initialize) ||
      table->PJRT_Error_Destroy == nullptr || table->PJRT_Error_Message == nullptr ||
      table->PJRT_Error_GetCode == nullptr) {
    throw refuse("has an incomplete PJRT API: its error functions are missing");
  }
  return table;
}

}  // namespace

Plugin Plugin::find(std::string_view name) { return load(find_plugin(name).file); }

Plugin Plugin::load(const std::filesystem::path& file) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::filesystem::path, std::shared_ptr<const State>>;
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::weakly_canonical(file, ignored);
  if (path.empty()) path = file;

  std::lock_guard lock(mutex);
  if (auto found = loaded.find(path); found != loaded.end()) return Plugin(found->second);
  prepare_environment();
  auto state = std::make_shared<State>(path, open_table(path));
  if (state->api.has<&PJRT_Api::PJRT_Plugin_Initialize>()) {
    try {
      state->api.call<&PJRT_Api::PJRT_Plugin_Initialize>([](auto&) {});
    } catch (const RuntimeError& error) {
      throw PluginError("Plugin::load: " + path.string() +
                        " failed to initialise: " + error.what());
    }
  }
  try {
    auto reply = state->api.call<&PJRT_Api::PJRT_Plugin_Attributes>([](auto&) {});
    state->attributes = internal::from_pjrt(reply.attributes, reply.num_attributes);
  } catch (const RuntimeError& error) {  // a plugin that says nothing of itself may still work
    log(LogLevel::info, path.string() + ": " + error.what());
  }
  state->no_host_callbacks = internal::register_host_callbacks(state->api);
  loaded.emplace(path, state);
  return Plugin(state);
}

ApiVersion Plugin::header_version() { return {PJRT_API_MAJOR, PJRT_API_MINOR}; }
const std::filesystem::path& Plugin::path() const { return state_->path; }
ApiVersion Plugin::api_version() const { return {state_->api.major(), state_->api.minor()}; }
const NamedValues& Plugin::attributes() const { return state_->attributes; }
const std::string& Plugin::no_host_callbacks() const { return state_->no_host_callbacks; }
const internal::Api& Plugin::api() const { return state_->api; }

std::string Plugin::stablehlo_version() const {
  auto found = state_->attributes.find("stablehlo_current_version");
  return found == state_->attributes.end() ? std::string() : to_string(found->second);
}

}  // namespace sturnus
