// NVIDIA GPUs that are not present: what XLA must know to compile programs for them ahead of time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sturnus {

/// A GPU by the numbers of its data sheet and of the CUDA programming guide. Rates follow from
/// them: a unit that completes n fused multiply-adds per clock does 2 n clock_rate operations a
/// second.
struct GpuTarget {
  std::string name;         // "h100"
  std::string device_name;  // as the driver spells it
  int compute_major = 0;
  int compute_minor = 0;
  bool architecture_specific = false;  // code for this architecture alone: sm_90a rather than sm_90

  int multiprocessors = 0;
  double clock_ghz = 0;         // boost
  double tensor_clock_ghz = 0;  // what the data sheet's tensor rates imply, but for 64 bits

  // Fused multiply-adds per clock: of the scalar units of one multiprocessor,
  int fp64_lanes = 0;
  int fp32_lanes = 0;
  int fp16_lanes = 0;
  int bf16_lanes = 0;
  int int32_lanes = 64;
  // and of one tensor core. Halving the bits doubles the rate; 64-bit floats stand apart.
  int tensor_cores = 4;  // per multiprocessor
  int tensor_fp16 = 0;
  int tensor_fp64 = 0;
  bool tensor_fp8 = false;
  bool tensor_fp4 = false;

  int memory_gib = 0;
  int memory_bus_bits = 0;
  double memory_clock_ghz = 0;  // two transfers per clock
  int l2_mib = 0;
  int shared_memory_kib = 0;  // per multiprocessor; a block can have all but one
  int nvlinks = 0;
  int pcie_gigatransfers = 0;  // per second and lane, of 16 lanes
};

/// "a100", "b200", "h100".
std::vector<std::string_view> gpu_target_names();

/// The target of that name, or null.
const GpuTarget* find_gpu_target(std::string_view name);

/// The target as the text of XLA's GpuTargetConfigProto, which its CUDA plugin takes as the
/// topology option `target_config`.
std::string target_config_text(const GpuTarget& target);

/// Throws Error when a description lacks a field without which the CUDA plugin would crash.
void check_target_config(std::string_view text);

}  // namespace sturnus
