#include <sturnus/runtime/error.h>
#include <sturnus/runtime/gpu_target.h>
#include <sturnus/runtime/topology.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "src/runtime/state.h"

namespace sturnus {

using internal::Api;

struct internal::TopologyState {
  Plugin plugin;
  TopologyHandle handle;
};

Topology Topology::create(const Plugin& plugin, std::string_view name, const NamedValues& options) {
  std::vector<PJRT_NamedValue> values = internal::to_pjrt(options);
  auto reply = plugin.api().call<&PJRT_Api::PJRT_TopologyDescription_Create>([&](auto& args) {
    args.topology_name = name.data();
    args.topology_name_size = name.size();
    args.create_options = values.data();
    args.num_options = values.size();
  });
  return Topology(std::make_shared<const internal::TopologyState>(
      internal::TopologyState{plugin, {plugin.api(), reply.topology}}));
}

namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (is_there(std::filesystem::path(folder) / program)) return true;
  }
  return false;
}

// XLA compiles for NVIDIA GPUs with parts of the CUDA toolkit, and crashes without them.
void require_cuda_toolkit(const Plugin& plugin) {
  const char* flags = std::getenv("XLA_FLAGS");
  if (flags != nullptr && std::strstr(flags, "xla_gpu_cuda_data_dir") != nullptr) return;
  // <packages>/jax_plugins/xla_cuda13/xla_cuda_plugin.so, beside which NVIDIA's wheels are
  // unpacked.
  std::filesystem::path packages = plugin.path().parent_path().parent_path().parent_path();
  bool library = false;
  bool assembler = on_path("ptxas");
  std::string searched;
  for (const std::filesystem::path& root :
       {std::filesystem::path("/usr/local/cuda"), std::filesystem::path("/opt/cuda"),
        packages / "nvidia/cu13", packages / "nvidia/cuda_nvcc"}) {
    searched += "\n  " + root.string();
    library = library || is_there(root / "nvvm/libdevice/libdevice.10.bc");
    assembler = assembler || is_there(root / "bin/ptxas") ||
                is_there(root / "lib/libnvJitLink.so.13") ||
                is_there(root / "lib64/libnvJitLink.so.13");
  }
  if (library && assembler) return;
  throw Error("Topology::gpu: compiling for NVIDIA GPUs needs " +
              std::string(library ? "" : "nvvm/libdevice/libdevice.10.bc") +
              (library || assembler ? "" : " and ") +
              (assembler ? "" : "ptxas or libnvJitLink.so.13") +
              " of the CUDA toolkit. Searched:" + searched +
              "\nInstall the toolkit, get it with `sturnus plugins install cuda`, or set "
              "XLA_FLAGS=--xla_gpu_cuda_data_dir=<its folder>.");
}

}  // namespace

Topology Topology::gpu(const Plugin& plugin, std::string_view target, int devices) {
  const GpuTarget* known = find_gpu_target(target);
  if (known == nullptr && target.find('{') == target.npos) {
    std::string names;
    for (std::string_view name : gpu_target_names()) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    throw Error("Topology::gpu: no target named \"" + std::string(target) + "\"; there are " +
                names + ". Give one of them, or the text of a GpuTargetConfigProto");
  }
  if (known == nullptr) check_target_config(target);
  require_cuda_toolkit(plugin);
  std::string description = known == nullptr ? std::string(target) : target_config_text(*known);
  // slices x hosts x devices per host
  return create(plugin, "",
                {{"target_config", description}, {"topology", "1x1x" + std::to_string(devices)}});
}

Topology Topology::tpu(const Plugin& plugin, std::string_view name) { return create(plugin, name); }

std::string Topology::platform_name() const {
  auto reply = state_->plugin.api().call<&PJRT_Api::PJRT_TopologyDescription_PlatformName>(
      [this](auto& args) { args.topology = state_->handle.get(); });
  return {reply.platform_name, reply.platform_name_size};
}

std::string Topology::platform_version() const {
  auto reply = state_->plugin.api().call<&PJRT_Api::PJRT_TopologyDescription_PlatformVersion>(
      [this](auto& args) { args.topology = state_->handle.get(); });
  return {reply.platform_version, reply.platform_version_size};
}

std::vector<DeviceDescription> Topology::devices() const {
  const Api& api = state_->plugin.api();
  auto reply = api.call<&PJRT_Api::PJRT_TopologyDescription_GetDeviceDescriptions>(
      [this](auto& args) { args.topology = state_->handle.get(); });
  std::vector<DeviceDescription> result;
  for (std::size_t i = 0; i < reply.num_descriptions; i++) {
    result.push_back(internal::describe_device(api, reply.descriptions[i]));
  }
  return result;
}

Executable Topology::compile(std::string_view stablehlo, const CompileOptions& options) const {
  const Api& api = state_->plugin.api();
  std::string option_bytes = options.serialize();
  auto wanted =
      static_cast<std::size_t>(options.replicas) * static_cast<std::size_t>(options.partitions);
  if (std::size_t there = devices().size(); wanted > there) {
    throw Error("Topology::compile: the program is for " + std::to_string(wanted) +
                " devices (replicas x partitions), the topology has " + std::to_string(there));
  }
  auto [executable, seconds] = internal::compile_by<&PJRT_Api::PJRT_Compile>(
      api, stablehlo, option_bytes, [&](auto& args) { args.topology = state_->handle.get(); });
  return Executable(internal::describe_executable(state_, api, executable, seconds));
}

}  // namespace sturnus
