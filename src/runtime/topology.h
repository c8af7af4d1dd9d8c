// Devices that are described but not present: programs are compiled for them ahead of time.
#pragma once

#include <sturnus/runtime/client.h>
#include <sturnus/runtime/compile_options.h>
#include <sturnus/runtime/executable.h>
#include <sturnus/runtime/plugin.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus {
namespace internal {
struct TopologyState;
}

/// A cheap, copyable handle.
class Topology {
 public:
  /// The topology that the plugin knows by `name` and `options`.
  static Topology create(const Plugin& plugin, std::string_view name,
                         const NamedValues& options = {});
  /// `devices` NVIDIA GPUs of one host. `target` is a name from gpu_target.h ("h100") or the text
  /// of a GpuTargetConfigProto.
  static Topology gpu(const Plugin& plugin, std::string_view target, int devices = 1);
  /// A TPU slice by name, for instance "v5e:2x2".
  static Topology tpu(const Plugin& plugin, std::string_view name);

  std::string platform_name() const;
  std::string platform_version() const;
  std::vector<DeviceDescription> devices() const;

  /// Compiles StableHLO for these devices. Throws RuntimeError with the plugin's diagnostics.
  Executable compile(std::string_view stablehlo, const CompileOptions& options = {}) const;

 private:
  explicit Topology(std::shared_ptr<const internal::TopologyState> state)
      : state_(std::move(state)) {}
  std::shared_ptr<const internal::TopologyState> state_;
};

}  // namespace sturnus
