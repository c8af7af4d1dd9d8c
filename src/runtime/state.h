// What stands behind the handles of client.h, event.h, executable.h and topology.h. Each state
// keeps alive the one it was made from: results their program, programs and buffers their client.
#pragma once

#include <sturnus/runtime/client.h>
#include <sturnus/runtime/compile_cache.h>
#include <sturnus/runtime/event.h>
#include <sturnus/runtime/hlo_program.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/runtime/pjrt.h"

namespace sturnus::internal {

struct ClientState {
  ClientState(Plugin plugin, ClientHandle handle)
      : plugin(std::move(plugin)), handle(std::move(handle)) {}

  Plugin plugin;
  ClientHandle handle;
  std::optional<CompileCache> cache;
  std::string cache_identity;  // what of plugin and machine a cached program depends on
  mutable std::mutex mutex;
  mutable CacheUse cache_use;  // guarded by mutex

  const Api& api() const { return handle.api(); }
};

struct EventState {
  std::shared_ptr<const void> owner;
  std::shared_ptr<const EventHandle> handle;

  const Api& api() const { return handle->api(); }
};

Event make_event(std::shared_ptr<const void> owner, const Api& api, PJRT_Event* event);

struct ExecutableState {
  std::shared_ptr<const void> owner;  // the loaded program or the topology that it came from
  ExecutableHandle handle;
  HloSignature signature;  // empty unless known
  bool signature_known = false;
  int result_count = 0;
  double compile_seconds = 0;
  std::string serialized;  // what it was loaded from, empty when it was compiled here
};

/// Reads what an executable says of itself. Takes ownership of `executable`.
std::shared_ptr<ExecutableState> describe_executable(std::shared_ptr<const void> owner,
                                                     const Api& api, PJRT_Executable* executable,
                                                     double compile_seconds);

struct LoadedState {
  std::shared_ptr<const ClientState> client;
  LoadedExecutableHandle handle;
  std::vector<PJRT_Device*> devices;
  std::vector<std::shared_ptr<const ArrayType>> result_types;  // null where unknown
  std::vector<std::int64_t> every_argument;                    // 0, 1, 2, ...
  // As long as this plugin wants its options: most want no more than we know.
  mutable std::atomic<std::size_t> options_size = sizeof(PJRT_ExecuteOptions);

  /// Fills in what calls need, so that they need not ask again.
  void prepare(const ExecutableState& program);
};

DeviceDescription describe_device(const Api& api, PJRT_DeviceDescription* description);

/// Rethrows the plugin's complaint about a program together with the lines it points to.
[[noreturn]] void throw_compile_error(const RuntimeError& error, std::string_view program);

/// A program as the compiler `Member` of the API made it, and how long that took.
template <auto Member, class Fill>
auto compile_by(const Api& api, std::string_view stablehlo, const std::string& options,
                Fill&& fill) {
  auto program = stablehlo_program(stablehlo);
  auto start = std::chrono::steady_clock::now();
  try {
    auto reply = api.call_with<Member>(program, "PJRT_Program", [&](auto& args) {
      fill(args);
      args.program = &program;
      args.compile_options = options.data();
      args.compile_options_size = options.size();
    });
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return std::pair(reply.executable, elapsed.count());
  } catch (const RuntimeError& error) {
    throw_compile_error(error, stablehlo);
  }
}

}  // namespace sturnus::internal
