// What PJRT's handles point to in the fake plugin.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/runtime/fake_plugin_parts.h"
#include "tests/runtime/fake_plugin_program.h"

namespace fake {

// Base of all that is handed out: the set of live handles tells a destroyed one without reading it.
template <class T>
class Live {
 public:
  Live() {
    edit([this](auto& handles) { handles.insert(this); });
  }
  ~Live() {
    edit([this](auto& handles) { handles.erase(this); });
  }
  Live(const Live&) = delete;

  static long count() {
    return edit([](auto& handles) { return static_cast<long>(handles.size()); });
  }
  static bool contains(const Live* handle) {
    return edit([&](auto& handles) { return handles.count(handle) > 0; });
  }

 private:
  struct Handles {
    std::mutex mutex;
    std::unordered_set<const Live*> set;
  };
  static Handles& all() {
    static auto& handles = *new Handles;
    return handles;
  }
  static auto edit(auto action) {
    std::scoped_lock lock(all().mutex);
    return action(all().set);
  }
};

template <class T>
T& use(T* handle) {
  if (!handle) die(std::string("null handle of type ") + typeid(T).name());
  if (!T::contains(handle)) die(std::string("use of a destroyed ") + typeid(T).name());
  return *handle;
}

template <class T>
void destroy(T* handle) {
  if (handle) delete &use(handle);
}

// Counts what a client must outlive.
struct Dependent {
  explicit Dependent(std::atomic<long>& count) : count(count) { ++count; }
  ~Dependent() { --count; }
  std::atomic<long>& count;
};

}  // namespace fake

struct PJRT_Error : fake::Live<PJRT_Error> {
  explicit PJRT_Error(fake::Failure failure) : failure(std::move(failure)) {}
  const fake::Failure failure;
};

struct PJRT_Event : fake::Live<PJRT_Event> {
  explicit PJRT_Event(fake::SignalPtr signal) : signal(std::move(signal)) {}
  const fake::SignalPtr signal;
};

struct PJRT_DeviceDescription : fake::Live<PJRT_DeviceDescription> {
  PJRT_DeviceDescription(int id, int process) : id(id), process(process) {}
  const int id, process;
  const std::string kind = "Fake device", text = "FakeDevice(id=" + std::to_string(id) + ")";
  const fake::Dims coords = {id, 0, 0};
  const std::vector<PJRT_NamedValue> attributes = {fake::named("coords", coords),
                                                   fake::named("core", "fake")};
};

struct PJRT_TopologyDescription : fake::Live<PJRT_TopologyDescription> {
  explicit PJRT_TopologyDescription(std::string name_in) : name(std::move(name_in)) {
    long count = name.empty() ? fake::number("DEVICES", 2) : 1;
    for (const std::string& size : fake::split(name.substr(name.rfind(':') + 1), 'x')) {
      if (name.empty()) break;
      if (size.empty() || size.find_first_not_of("0123456789") != std::string::npos) {
        fake::invalid("Unknown topology '" + name + "'");
      }
      count *= std::stol(size);
    }
    for (long id = 0; id < count; ++id) descriptions.push_back(&storage.emplace_back(id, 0));
  }
  const std::string name, platform = fake::setting("PLATFORM", "fake"), version = "fake plugin";
  std::deque<PJRT_DeviceDescription> storage;
  std::vector<PJRT_DeviceDescription*> descriptions;
};

struct PJRT_Memory : fake::Live<PJRT_Memory> {
  explicit PJRT_Memory(PJRT_Device& device, int id) : device(device), id(id) {}
  PJRT_Device& device;
  const int id;
  const std::string kind = "device", text = "FakeMemory(id=" + std::to_string(id) + ")";
};

struct PJRT_Device : fake::Live<PJRT_Device> {
  PJRT_Device(PJRT_Client& client, int id, bool addressable)
      : client(client), addressable(addressable), description(id, addressable ? 0 : 1) {}
  PJRT_Client& client;
  const bool addressable;
  PJRT_DeviceDescription description;
  PJRT_Memory memory{*this, description.id};
  const std::vector<PJRT_Memory*> memories{&memory};
};

struct PJRT_Client : fake::Live<PJRT_Client> {
  PJRT_Client() {
    const long local = fake::number("DEVICES", 2);
    for (long id = 0; id < local + fake::number("REMOTE_DEVICES"); ++id) {
      devices.push_back(&storage.emplace_back(*this, id, id < local));
      if (id >= local) continue;
      addressable.push_back(devices.back());
      memories.push_back(&devices.back()->memory);
    }
  }
  const std::string platform = fake::setting("PLATFORM", "fake"), version = "fake plugin";
  const int process = 0;
  std::deque<PJRT_Device> storage;
  std::vector<PJRT_Device*> devices, addressable;
  std::vector<PJRT_Memory*> memories;
  std::atomic<long> dependents = 0;
};

struct PJRT_Buffer : fake::Live<PJRT_Buffer> {
  PJRT_Buffer(PJRT_Device& device, fake::Type type, fake::Dims layout, fake::StoragePtr storage)
      : device(device), type(std::move(type)), layout(std::move(layout)), storage_(storage) {}

  // Its memory, or null once it is deleted or donated.
  fake::StoragePtr share() {
    std::scoped_lock lock(mutex_);
    return storage_;
  }
  fake::StoragePtr take() {
    std::scoped_lock lock(mutex_);
    return std::exchange(storage_, nullptr);
  }
  fake::StoragePtr need() {
    if (auto storage = share()) return storage;
    throw deleted();
  }
  static fake::Failure deleted() {
    return {PJRT_Error_Code_INVALID_ARGUMENT,
            "Invalid buffer passed: buffer has been deleted or donated."};
  }

  PJRT_Device& device;
  const fake::Dependent dependent{device.client.dependents};
  const fake::Type type;
  const fake::Dims layout;
  const bool on_cpu = fake::number("ON_CPU", 1);
  std::atomic<long> references = 0;

 private:
  std::mutex mutex_;
  fake::StoragePtr storage_;
};

struct PJRT_Executable : fake::Live<PJRT_Executable> {
  explicit PJRT_Executable(std::shared_ptr<fake::Program> program) : program(std::move(program)) {}
  const std::shared_ptr<fake::Program> program;
};

struct PJRT_LoadedExecutable : fake::Live<PJRT_LoadedExecutable> {
  PJRT_LoadedExecutable(PJRT_Client& client, std::shared_ptr<fake::Program> program_in)
      : dependent(client.dependents), program(std::move(program_in)) {
    for (size_t i = 0; i < program->devices(); ++i) {
      const size_t replica = i / program->partitions, partition = i % program->partitions;
      const size_t id =
          program->assignment.empty() ? i : program->assignment.at(partition).at(replica);
      if (id >= client.addressable.size()) {
        fake::invalid("There is no device " + std::to_string(id));
      }
      devices.push_back(client.addressable[id]);
    }
  }
  const fake::Dependent dependent;
  const std::shared_ptr<fake::Program> program;
  std::vector<PJRT_Device*> devices;
  std::atomic<bool> deleted = false;
};

struct PJRT_SerializedExecutable : fake::Live<PJRT_SerializedExecutable> {
  std::string bytes;
};
struct PJRT_SerializedTopology : fake::Live<PJRT_SerializedTopology> {
  std::string bytes;
};
