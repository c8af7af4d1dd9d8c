#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/executable.h>
#include <sturnus/runtime/log.h>

#include <cstdlib>

#include "src/runtime/state.h"

namespace sturnus {

using internal::Api;
using internal::ClientState;

// ------------------------------------------------------------------------------------- memories

int Memory::id() const {
  return client_->api()
      .call<&PJRT_Api::PJRT_Memory_Id>([this](auto& args) { args.memory = handle_; })
      .id;
}

std::string Memory::kind() const {
  auto reply = client_->api().call<&PJRT_Api::PJRT_Memory_Kind>(
      [this](auto& args) { args.memory = handle_; });
  return {reply.kind, reply.kind_size};
}

std::string Memory::str() const {
  auto reply = client_->api().call<&PJRT_Api::PJRT_Memory_ToString>(
      [this](auto& args) { args.memory = handle_; });
  return {reply.to_string, reply.to_string_size};
}

// -------------------------------------------------------------------------------------- devices

DeviceDescription internal::describe_device(const Api& api, PJRT_DeviceDescription* description) {
  auto self = [description](auto& args) { args.device_description = description; };
  DeviceDescription result;
  result.id = api.call<&PJRT_Api::PJRT_DeviceDescription_Id>(self).id;
  result.process_index =
      api.call<&PJRT_Api::PJRT_DeviceDescription_ProcessIndex>(self).process_index;
  auto kind = api.call<&PJRT_Api::PJRT_DeviceDescription_Kind>(self);
  result.kind = {kind.device_kind, kind.device_kind_size};
  auto text = api.call<&PJRT_Api::PJRT_DeviceDescription_ToString>(self);
  result.text = {text.to_string, text.to_string_size};
  if (api.has<&PJRT_Api::PJRT_DeviceDescription_Attributes>()) {
    auto reply = api.call<&PJRT_Api::PJRT_DeviceDescription_Attributes>(self);
    result.attributes = from_pjrt(reply.attributes, reply.num_attributes);
  }
  return result;
}

DeviceDescription Device::description() const {
  auto reply = client_->api().call<&PJRT_Api::PJRT_Device_GetDescription>(
      [this](auto& args) { args.device = handle_; });
  return internal::describe_device(client_->api(), reply.device_description);
}

Client Device::owner() const { return Client(client_); }
int Device::id() const { return description().id; }
std::string Device::kind() const { return description().kind; }

bool Device::addressable() const {
  return client_->api()
      .call<&PJRT_Api::PJRT_Device_IsAddressable>([this](auto& args) { args.device = handle_; })
      .is_addressable;
}

int Device::local_hardware_id() const {
  return client_->api()
      .call<&PJRT_Api::PJRT_Device_LocalHardwareId>([this](auto& args) { args.device = handle_; })
      .local_hardware_id;
}

std::vector<Memory> Device::memories() const {
  auto reply = client_->api().call<&PJRT_Api::PJRT_Device_AddressableMemories>(
      [this](auto& args) { args.device = handle_; });
  std::vector<Memory> result;
  for (std::size_t i = 0; i < reply.num_memories; i++) {
    result.push_back(Memory(client_, reply.memories[i]));
  }
  return result;
}

Memory Device::default_memory() const {
  auto reply = client_->api().call<&PJRT_Api::PJRT_Device_DefaultMemory>(
      [this](auto& args) { args.device = handle_; });
  return Memory(client_, reply.memory);
}

std::optional<MemoryUse> Device::memory_use() const {
  const Api& api = client_->api();
  if (!api.has<&PJRT_Api::PJRT_Device_MemoryStats>()) return std::nullopt;
  try {
    auto reply =
        api.call<&PJRT_Api::PJRT_Device_MemoryStats>([this](auto& args) { args.device = handle_; });
    MemoryUse use{reply.bytes_in_use, {}, {}};
    if (reply.peak_bytes_in_use_is_set) use.peak_bytes_in_use = reply.peak_bytes_in_use;
    if (reply.bytes_limit_is_set) use.bytes_limit = reply.bytes_limit;
    return use;
  } catch (const RuntimeError& error) {
    if (error.code() == ErrorCode::unimplemented) return std::nullopt;
    throw;
  }
}

// --------------------------------------------------------------------------------------- client

namespace {

// Everything that makes a compiled program unfit for another plugin or machine.
std::string cache_identity(const Plugin& plugin, const Client& client) {
  std::error_code ignored;
  std::string text = "sturnus compile cache 1\nplugin " + client.platform_name() + " " +
                     client.platform_version() + " of " +
                     std::to_string(std::filesystem::file_size(plugin.path(), ignored)) +
                     " bytes, PJRT " + std::to_string(plugin.api_version().minor) + "\n";
  for (const auto& [name, value] : plugin.attributes())
    text += name + " " + to_string(value) + "\n";
  const char* flags = std::getenv("XLA_FLAGS");  // plugins read them as if they were options
  return text + "devices " + std::to_string(client.devices().size()) + "\ncpu " + cpu_features() +
         "\nflags " + (flags == nullptr ? "" : flags) + "\n";
}

}  // namespace

Client Client::create(std::string_view platform, const ClientOptions& options) {
  ClientOptions own = options;
  // XLA has at least a thread for each device. The CPU plugin's 4 devices would have more threads
  // than small machines have cores, which costs a training a sixth of its speed.
  if (platform == "cpu") own.create_options.emplace("cpu_device_count", std::int64_t{1});
  return create(Plugin::find(platform), own);
}

Client Client::cpu(int devices) {
  return create("cpu", {.create_options = {{"cpu_device_count", std::int64_t{devices}}}});
}

Client Client::create(const Plugin& plugin, const ClientOptions& options) {
  const Api& api = plugin.api();
  std::vector<PJRT_NamedValue> values = internal::to_pjrt(options.create_options);
  auto reply = api.call<&PJRT_Api::PJRT_Client_Create>([&](auto& args) {
    args.create_options = values.data();
    args.num_options = values.size();
  });
  std::filesystem::path folder = options.compile_cache;
  if (const char* chosen = std::getenv("STURNUS_COMPILE_CACHE");
      folder.empty() && chosen != nullptr) {
    folder = chosen;
  }
  auto state = std::make_shared<ClientState>(plugin, internal::ClientHandle(api, reply.client));
  Client client(state);
  if (!folder.empty()) {
    state->cache.emplace(folder);
    state->cache_identity = cache_identity(plugin, client);
  }
  return client;
}

std::string Client::platform_name() const {
  auto reply = state_->api().call<&PJRT_Api::PJRT_Client_PlatformName>(
      [this](auto& args) { args.client = state_->handle.get(); });
  return {reply.platform_name, reply.platform_name_size};
}

std::string Client::platform_version() const {
  auto reply = state_->api().call<&PJRT_Api::PJRT_Client_PlatformVersion>(
      [this](auto& args) { args.client = state_->handle.get(); });
  return {reply.platform_version, reply.platform_version_size};
}

int Client::process_index() const {
  return state_->api()
      .call<&PJRT_Api::PJRT_Client_ProcessIndex>(
          [this](auto& args) { args.client = state_->handle.get(); })
      .process_index;
}

const Plugin& Client::plugin() const { return state_->plugin; }

std::vector<Device> Client::devices() const {
  auto reply = state_->api().call<&PJRT_Api::PJRT_Client_Devices>(
      [this](auto& args) { args.client = state_->handle.get(); });
  std::vector<Device> result;
  for (std::size_t i = 0; i < reply.num_devices; i++) {
    result.push_back(Device(state_, reply.devices[i]));
  }
  return result;
}

std::vector<Device> Client::addressable_devices() const {
  auto reply = state_->api().call<&PJRT_Api::PJRT_Client_AddressableDevices>(
      [this](auto& args) { args.client = state_->handle.get(); });
  std::vector<Device> result;
  for (std::size_t i = 0; i < reply.num_addressable_devices; i++) {
    result.push_back(Device(state_, reply.addressable_devices[i]));
  }
  return result;
}

Device Client::device(int index) const {
  std::vector<Device> all = addressable_devices();
  if (index >= 0 && static_cast<std::size_t>(index) < all.size()) {
    return all[static_cast<std::size_t>(index)];
  }
  throw Error("Client::device: there is no device " + std::to_string(index) + "; " +
              platform_name() + " has " + std::to_string(all.size()) +
              ", counted from 0. `sturnus devices` lists them");
}

std::vector<Memory> Client::memories() const {
  auto reply = state_->api().call<&PJRT_Api::PJRT_Client_AddressableMemories>(
      [this](auto& args) { args.client = state_->handle.get(); });
  std::vector<Memory> result;
  for (std::size_t i = 0; i < reply.num_addressable_memories; i++) {
    result.push_back(Memory(state_, reply.addressable_memories[i]));
  }
  return result;
}

CacheUse Client::cache_use() const {
  std::lock_guard lock(state_->mutex);
  return state_->cache_use;
}

LoadedExecutable Client::compile(std::string_view stablehlo, const CompileOptions& options) const {
  const ClientState& state = *state_;
  std::string option_bytes = options.serialize();
  auto count = [&state](int CacheUse::*what) {
    std::lock_guard lock(state.mutex);
    state.cache_use.*what += 1;
  };
  auto complain = [&state, &count](const std::string& why) {
    count(&CacheUse::rejected);
    log(LogLevel::warning, "compile cache: " + why + "; compiling again");
    std::lock_guard lock(state.mutex);
    state.cache_use.last_rejection = why;
  };
  std::string key;
  if (state.cache) {
    key = state.cache_identity + "options " + std::to_string(option_bytes.size()) + "\n" +
          option_bytes + std::string(stablehlo);
    std::string problem;
    if (auto entry = state.cache->load(key, problem)) {
      try {
        LoadedExecutable loaded = load(*entry);
        count(&CacheUse::hits);
        return loaded;
      } catch (const RuntimeError& error) {
        state.cache->remove(key);
        problem = std::string("the plugin refuses to load its own program: ") + error.what();
      }
    }
    if (!problem.empty()) complain(problem);
    count(&CacheUse::misses);
  }

  auto [executable, seconds] = internal::compile_by<&PJRT_Api::PJRT_Client_Compile>(
      state.api(), stablehlo, option_bytes, [&](auto& args) { args.client = state.handle.get(); });
  LoadedExecutable result = adopt(executable, seconds);
  if (state.cache) {
    std::string problem;
    try {
      problem = state.cache->store(key, result.serialize());
    } catch (const RuntimeError& error) {
      problem = std::string("the program cannot be kept: ") + error.what();
    }
    if (!problem.empty()) log(LogLevel::warning, "compile cache: " + problem);
  }
  return result;
}

LoadedExecutable Client::adopt(PJRT_LoadedExecutable* executable, double compile_seconds,
                               std::string serialized) const {
  const Api& api = state_->api();
  auto loaded = std::make_shared<internal::LoadedState>();
  loaded->client = state_;
  loaded->handle = {api, executable};
  auto reply = api.call<&PJRT_Api::PJRT_LoadedExecutable_GetExecutable>(
      [executable](auto& args) { args.loaded_executable = executable; });
  auto program = internal::describe_executable(loaded, api, reply.executable, compile_seconds);
  program->serialized = std::move(serialized);
  loaded->prepare(*program);
  return LoadedExecutable(std::move(program), std::move(loaded));
}

LoadedExecutable Client::load(std::string_view serialized) const {
  auto reply = state_->api().call<&PJRT_Api::PJRT_Executable_DeserializeAndLoad>([&](auto& args) {
    args.client = state_->handle.get();
    args.serialized_executable = serialized.data();
    args.serialized_executable_size = serialized.size();
  });
  return adopt(reply.loaded_executable, 0, std::string(serialized));
}

}  // namespace sturnus
