#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/plugin_search.h>

#include <algorithm>
#include <ostream>

#include "src/app/commands.h"
#include "src/app/table.h"

namespace sturnus::app {
namespace {

// A client for absent hardware is slow to fail and noisy, so the device files are looked at first.
bool hardware_is_here(const std::string& platform) {
  auto exists = [](const char* path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  if (platform == "cuda") return exists("/dev/nvidia0") || exists("/dev/dxg");
  if (platform == "rocm") return exists("/dev/kfd");
  if (platform == "tpu") return exists("/dev/accel0") || exists("/dev/vfio/0");
  return true;
}

std::string memory_text(const Device& device) {
  std::string text;
  for (const Memory& memory : device.memories()) text += (text.empty() ? "" : ", ") + memory.kind();
  if (auto use = device.memory_use(); use && use->bytes_limit) {
    text += ", " + bytes_text(static_cast<double>(use->bytes_in_use)) + " of " +
            bytes_text(static_cast<double>(*use->bytes_limit)) + " in use";
  }
  return text;
}

void add_devices(Table& table, const std::string& platform) {
  Client client = Client::create(platform);
  for (const Device& device : client.devices()) {
    DeviceDescription description = device.description();
    table.add({client.platform_name(), std::to_string(description.id), description.kind,
               device.addressable() ? memory_text(device) : "of another process",
               std::to_string(description.process_index)});
  }
}

}  // namespace

void show_devices(std::ostream& out, const std::string& platform) {
  std::vector<std::string> platforms;
  std::string absent;
  if (!platform.empty()) {
    platforms = {platform};
  } else {
    for (const PluginLocation& location : list_plugins()) {
      bool known = std::find(platforms.begin(), platforms.end(), location.name) != platforms.end();
      if (known) continue;
      if (hardware_is_here(location.name)) {
        platforms.push_back(location.name);
      } else {
        absent += "There is a plugin for " + location.name + ", but no such device here.\n";
      }
    }
    if (platforms.empty()) platforms = {"cpu"};  // to say where plugins were searched
  }
  Table table({"PLATFORM", "DEVICE", "KIND", "MEMORY", "PROCESS"});
  for (const std::string& name : platforms) {
    try {
      add_devices(table, name);
    } catch (const Error& error) {
      if (platforms.size() == 1) throw;
      absent += "The plugin for " + name + " does not work here: " + error.what() + "\n";
    }
  }
  table.print(out);
  out << absent;
}

}  // namespace sturnus::app
