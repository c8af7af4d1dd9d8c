// Functions of the host that programs call while they run.
//
// A program calls one by a StableHLO custom_call of `host_callback_target` with two strings: the
// name that the function was added under, and a parameter for it. Names rather than numbers, so
// that programs mean the same in every process that loads them from a file or a cache.
#pragma once

#include <sturnus/runtime/dtype.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace sturnus {

class Client;
namespace internal {
class Threads;
}

/// An array in the memory of the host, row-major; valid during the call only.
struct HostArray {
  ArrayType type;
  void* data = nullptr;

  template <class T>
  std::span<T> elements() const {
    return {static_cast<T*>(data), static_cast<std::size_t>(type.size())};
  }
};

struct HostCall {
  std::string_view parameter;
  std::span<const HostArray> arguments;
  /// To be filled by the callback.
  std::span<const HostArray> results;
  /// That may share the work, if any.
  const internal::Threads* threads = nullptr;
};

/// Called on a thread of the plugin. What it throws becomes an error of the program's run. It must
/// not run programs itself: the plugin's threads may all be waiting for it.
using HostCallback = std::function<void(const HostCall&)>;

/// Makes `callback` known to programs under `name`, in place of an earlier one of that name.
void add_host_callback(const std::string& name, HostCallback callback);

namespace internal {

class Api;

inline constexpr std::string_view host_callback_target = "sturnus_host_callback";

/// Registers the handler behind `host_callback_target` with a plugin. Returns why that is not
/// possible, or nothing when it was done.
std::string register_host_callbacks(const Api& api);

/// Throws Error unless programs of this client can call functions of the host.
void check_host_callbacks(const Client& client);

}  // namespace internal
}  // namespace sturnus
