// What the tests on the fake plugin share: its settings, loading it anew, and a scenario that calls
// all that the runtime ever calls.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/executable.h>
#include <sturnus/runtime/topology.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/runtime/cpu.h"

namespace sturnus {

/// An environment variable that has another value, or none, as long as this lives.
class Variable {
 public:
  Variable(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) {
    value ? setenv(name_.c_str(), value->c_str(), 1) : unsetenv(name_.c_str());
  }
  std::string name_;
  std::optional<std::string> before_;
};

/// A part that the fake plugin plays: Part("FAIL", ...) is STURNUS_FAKE_FAIL.
class Part : public Variable {
 public:
  Part(const std::string& name, std::string value)
      : Variable("STURNUS_FAKE_" + name, std::move(value)) {}
};

/// A copy of the fake plugin, with state of its own.
class FakePlugin {
 public:
  FakePlugin() : file_(new_file()) {
    const char* original = std::getenv("STURNUS_FAKE_PLUGIN");
    if (original == nullptr) throw Error("FakePlugin: set STURNUS_FAKE_PLUGIN to its file");
    std::filesystem::copy_file(original, file_);
    library_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw Error(std::string("FakePlugin: ") + dlerror());
  }

  /// A path by which the plugin was not loaded yet. It is the same library.
  std::filesystem::path fresh_file() const {
    std::filesystem::path link = new_file();
    std::filesystem::create_hard_link(file_, link);
    return link;
  }
  /// Loads the plugin in the part that the environment has now.
  Plugin load() const { return Plugin::load(fresh_file()); }

  /// Objects of a kind, or of all, that were not destroyed yet.
  long live(const char* kind = nullptr) const {
    return function<long(const char*)>("fake_plugin_live")(kind);
  }
  /// How often a function of the C API was called.
  long calls(std::string_view name) const {
    return function<long(const char*)>("fake_plugin_calls")(std::string(name).c_str());
  }
  /// What it was given last: program, compile_options, client_options or topology_options.
  std::string last(const char* what) const {
    std::size_t size = 0;
    const char* bytes =
        function<const char*(const char*, std::size_t*)>("fake_plugin_last")(what, &size);
    return {bytes, size};
  }

 private:
  // Files stay until the end: were one removed, the next could get its inode, by which the loader
  // tells libraries apart.
  static std::filesystem::path new_file() {
    static const TemporaryFolder folder;
    static int count = 0;
    return folder.path() / ("fake" + std::to_string(count++) + ".so");
  }
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  std::filesystem::path file_;
  void* library_ = nullptr;
};

/// The copy that most tests share.
inline const FakePlugin& fake() {
  static const FakePlugin plugin;
  return plugin;
}

namespace programs {

/// f32[2,2], f32[2] -> f32[2,2], f32[2] for the fake plugin: both negated.
inline constexpr std::string_view fake_negate = R"(module @negate {
  func.func @main(%arg0: tensor<2x2xf32>, %arg1: tensor<2xf32>) { fake.negate_f32 fake.donate:1 }
})";

}  // namespace programs

/// Calls every function of the C API that the runtime has a use for, also those that only come into
/// play when a plugin does not tell its programs. In parts, of which each throws what goes wrong.
namespace scenario {

inline void use_devices(const Client& client) {
  client.platform_name();
  client.platform_version();
  client.process_index();
  for (const Memory& memory : client.memories()) memory.id();
  for (const Device& device : client.devices()) {
    device.description();
    device.addressable();
    device.local_hardware_id();
    device.memory_use();
    device.default_memory().kind();
    for (const Memory& memory : device.memories()) memory.str();
  }
}

inline Buffer matrix(const Device& device) {
  return Buffer::from_host<float>(device, std::vector<float>{1, 2, 3, 4}, {2, 2});
}

inline void use_buffers(const Client& client) {
  Buffer buffer = matrix(client.device(0));
  std::vector<float> values(4);
  auto [sent, done] = Buffer::from_host_async(client.device(1), buffer.type(), values.data());
  done.await();
  auto lent = std::make_shared<std::vector<float>>(4);
  Buffer alias = Buffer::alias_host(client.device(0), buffer.type(), lent->data(), [lent] {});
  alias.memory();
  alias.device_bytes();
  buffer.ready_event().ready();
  buffer.host_view();
  EXPECT_EQ(buffer.copy_to(client.device(1)).to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  Buffer same = buffer.copy_to(client.device(0));
  same.to_host(values.data(), 16);
  same.release();
  EXPECT_TRUE(same.released());
}

inline void run_program(const LoadedExecutable& program) {
  Device device = program.devices().at(0);
  Buffer a = matrix(device);
  Buffer b = Buffer::from_host<float>(device, std::vector<float>{5, 6}, {2});
  std::vector<Buffer> results = program.run({&a, &b}, {.donate = {1}});
  EXPECT_EQ(results.at(0).to_vector<float>(), (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(results.at(1).to_vector<float>(), (std::vector<float>{-5, -6}));
}

inline void launch_program(const LoadedExecutable& program) {
  std::vector<Buffer> arguments;
  for (const Device& device : program.devices()) {
    arguments.push_back(matrix(device));
    arguments.push_back(Buffer::from_host<float>(device, std::vector<float>{5, 6}, {2}));
  }
  std::vector<std::vector<const Buffer*>> lists = {{&arguments.at(0), &arguments.at(1)},
                                                   {&arguments.at(2), &arguments.at(3)}};
  Launch launch = program.launch(lists);
  for (const Event& event : launch.done) event.await();
  EXPECT_EQ(launch.results.at(1).at(1).to_vector<float>(), (std::vector<float>{-5, -6}));
}

inline void use_programs(const Client& client) {
  LoadedExecutable program = client.compile(programs::fake_negate);
  run_program(program);
  EXPECT_EQ(program.name(), "negate");
  program.replicas();
  program.partitions();
  program.fingerprint();
  program.cost_analysis();
  program.memory_stats();
  program.code_bytes();
  program.optimized_program();
  program.report();
  run_program(client.load(program.serialize()));
  launch_program(client.compile(programs::fake_negate, {.partitions = 2}));
}

/// Of a plugin that does not tell what its programs take and give.
inline void use_secret_programs(const Client& client) {
  Part hlo("HLO_FILE", "/dev/null");
  run_program(client.compile(programs::fake_negate));
  launch_program(client.compile(programs::fake_negate, {.partitions = 2}));
}

inline void use_topology(const Plugin& plugin) {
  Topology topology = Topology::create(plugin, "v5e:2x2", {{"option", true}});
  topology.platform_name();
  topology.platform_version();
  EXPECT_EQ(topology.devices().size(), 4u);
  EXPECT_EQ(topology.compile(programs::fake_negate).name(), "negate");
}

inline constexpr void (*client_parts[])(const Client&) = {use_devices, use_buffers, use_programs,
                                                          use_secret_programs};

/// All of it.
inline void use_everything(const Plugin& plugin) {
  use_topology(plugin);
  Client client = Client::create(plugin, {.create_options = {{"option", std::int64_t{1}}}});
  for (auto part : client_parts) part(client);
}

}  // namespace scenario

/// Every function that the runtime calls, in the order of the table.
inline constexpr std::string_view used_functions[] = {
    "PJRT_Error_Destroy",
    "PJRT_Error_Message",
    "PJRT_Error_GetCode",
    "PJRT_Plugin_Initialize",
    "PJRT_Plugin_Attributes",
    "PJRT_Event_Destroy",
    "PJRT_Event_IsReady",
    "PJRT_Event_Await",
    "PJRT_Event_OnReady",
    "PJRT_Client_Create",
    "PJRT_Client_Destroy",
    "PJRT_Client_PlatformName",
    "PJRT_Client_ProcessIndex",
    "PJRT_Client_PlatformVersion",
    "PJRT_Client_Devices",
    "PJRT_Client_AddressableDevices",
    "PJRT_Client_AddressableMemories",
    "PJRT_Client_Compile",
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_DeviceDescription_Id",
    "PJRT_DeviceDescription_ProcessIndex",
    "PJRT_DeviceDescription_Attributes",
    "PJRT_DeviceDescription_Kind",
    "PJRT_DeviceDescription_ToString",
    "PJRT_Device_GetDescription",
    "PJRT_Device_IsAddressable",
    "PJRT_Device_LocalHardwareId",
    "PJRT_Device_AddressableMemories",
    "PJRT_Device_DefaultMemory",
    "PJRT_Device_MemoryStats",
    "PJRT_Memory_Id",
    "PJRT_Memory_Kind",
    "PJRT_Memory_ToString",
    "PJRT_Executable_Destroy",
    "PJRT_Executable_Name",
    "PJRT_Executable_NumReplicas",
    "PJRT_Executable_NumPartitions",
    "PJRT_Executable_NumOutputs",
    "PJRT_Executable_SizeOfGeneratedCodeInBytes",
    "PJRT_Executable_GetCostAnalysis",
    "PJRT_Executable_OptimizedProgram",
    "PJRT_Executable_Serialize",
    "PJRT_LoadedExecutable_Destroy",
    "PJRT_LoadedExecutable_GetExecutable",
    "PJRT_LoadedExecutable_AddressableDevices",
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Executable_DeserializeAndLoad",
    "PJRT_Buffer_Destroy",
    "PJRT_Buffer_ElementType",
    "PJRT_Buffer_Dimensions",
    "PJRT_Buffer_GetMemoryLayout",
    "PJRT_Buffer_OnDeviceSizeInBytes",
    "PJRT_Buffer_Device",
    "PJRT_Buffer_Memory",
    "PJRT_Buffer_Delete",
    "PJRT_Buffer_IsDeleted",
    "PJRT_Buffer_CopyToDevice",
    "PJRT_Buffer_ToHostBuffer",
    "PJRT_Buffer_IsOnCpu",
    "PJRT_Buffer_ReadyEvent",
    "PJRT_Buffer_UnsafePointer",
    "PJRT_Buffer_IncreaseExternalReferenceCount",
    "PJRT_Buffer_DecreaseExternalReferenceCount",
    "PJRT_TopologyDescription_Create",
    "PJRT_TopologyDescription_Destroy",
    "PJRT_TopologyDescription_PlatformName",
    "PJRT_TopologyDescription_PlatformVersion",
    "PJRT_TopologyDescription_GetDeviceDescriptions",
    "PJRT_Compile",
    "PJRT_Buffer_CopyToMemory",
    "PJRT_Executable_Fingerprint",
    "PJRT_Executable_GetCompiledMemoryStats",
};

inline bool is_destructor(std::string_view function) {
  return function.ends_with("_Destroy") || function.ends_with("DecreaseExternalReferenceCount");
}

}  // namespace sturnus
