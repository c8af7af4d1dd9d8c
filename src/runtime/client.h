// A client: the devices of one plugin, and what is compiled for and stored on them.
#pragma once

#include <sturnus/runtime/compile_options.h>
#include <sturnus/runtime/named_value.h>
#include <sturnus/runtime/plugin.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct PJRT_Client;
struct PJRT_Device;
struct PJRT_LoadedExecutable;
struct PJRT_Memory;

namespace sturnus {

class Client;
class Device;
class LoadedExecutable;
namespace internal {
struct ClientState;
}

/// A memory that devices can address, for instance "device" or "pinned_host".
class Memory {
 public:
  int id() const;
  std::string kind() const;
  std::string str() const;

  PJRT_Memory* handle() const { return handle_; }

 private:
  friend class Client;
  friend class Device;
  friend class Buffer;
  Memory(std::shared_ptr<const internal::ClientState> client, PJRT_Memory* handle)
      : client_(std::move(client)), handle_(handle) {}
  std::shared_ptr<const internal::ClientState> client_;
  PJRT_Memory* handle_;
};

/// What the device's allocator says; absent numbers are ones that the plugin does not report.
struct MemoryUse {
  std::int64_t bytes_in_use = 0;
  std::optional<std::int64_t> peak_bytes_in_use;
  std::optional<std::int64_t> bytes_limit;
};

/// What is known of a device, whether it is here or only described.
struct DeviceDescription {
  int id = 0;
  int process_index = 0;
  std::string kind;  // "cpu", "NVIDIA H100 80GB HBM3", "TPU v5 lite", ...
  std::string text;  // as the plugin prints it
  NamedValues attributes;
};

/// A device of a client.
class Device {
 public:
  int id() const;
  /// The vendor's name of this kind of device.
  std::string kind() const;
  DeviceDescription description() const;
  /// Whether this process can run programs on it.
  bool addressable() const;
  int local_hardware_id() const;
  std::vector<Memory> memories() const;
  Memory default_memory() const;
  /// Allocator statistics, or nothing when the plugin keeps none.
  std::optional<MemoryUse> memory_use() const;

  /// The client that it is a device of.
  Client owner() const;

  const std::shared_ptr<const internal::ClientState>& client() const { return client_; }
  PJRT_Device* handle() const { return handle_; }
  bool operator==(const Device& other) const { return handle_ == other.handle_; }

 private:
  friend class Client;
  friend class Buffer;
  friend class LoadedExecutable;
  Device(std::shared_ptr<const internal::ClientState> client, PJRT_Device* handle)
      : client_(std::move(client)), handle_(handle) {}
  std::shared_ptr<const internal::ClientState> client_;
  PJRT_Device* handle_;
};

struct ClientOptions {
  /// The plugin's own options, by name.
  NamedValues create_options = {};
  /// Where compiled programs are kept between runs. Empty: $STURNUS_COMPILE_CACHE, else nowhere.
  std::filesystem::path compile_cache = {};
};

/// How the persistent compile cache has served this client.
struct CacheUse {
  int hits = 0;
  int misses = 0;
  int rejected = 0;            // entries that were damaged or that the plugin refused to load
  std::string last_rejection;  // why
};

/// A cheap, copyable handle; the client lives as long as anything made from it. Safe to share
/// between threads.
class Client {
 public:
  /// A client of the plugin that `Plugin::find(platform)` finds. "cpu" is one device unless
  /// its option `cpu_device_count` says otherwise.
  static Client create(std::string_view platform = "cpu", const ClientOptions& options = {});
  static Client create(const Plugin& plugin, const ClientOptions& options = {});
  /// The CPU as several devices, which share its cores.
  static Client cpu(int devices);

  /// "cpu", "cuda", "tpu", ... as the plugin says it.
  std::string platform_name() const;
  std::string platform_version() const;
  int process_index() const;
  const Plugin& plugin() const;

  /// All devices, also those of other processes.
  std::vector<Device> devices() const;
  /// The devices that this process can use.
  std::vector<Device> addressable_devices() const;
  /// The i-th addressable device. Throws Error with the number of devices when there is no such
  /// one.
  Device device(int index = 0) const;
  std::vector<Memory> memories() const;

  /// Compiles StableHLO text (or bytecode). Throws RuntimeError with the plugin's diagnostics and
  /// the line of the program they speak of.
  LoadedExecutable compile(std::string_view stablehlo, const CompileOptions& options = {}) const;
  /// Loads what `Executable::serialize` gave, made by the same plugin on the same kind of machine.
  LoadedExecutable load(std::string_view serialized) const;

  CacheUse cache_use() const;

 private:
  friend class Device;
  explicit Client(std::shared_ptr<const internal::ClientState> state) : state_(std::move(state)) {}
  LoadedExecutable adopt(PJRT_LoadedExecutable* executable, double compile_seconds,
                         std::string serialized = {}) const;
  std::shared_ptr<const internal::ClientState> state_;
};

}  // namespace sturnus
