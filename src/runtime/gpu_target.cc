#include <sturnus/runtime/error.h>
#include <sturnus/runtime/gpu_target.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <locale>
#include <set>
#include <sstream>

namespace sturnus {
namespace {

// Sources: NVIDIA's architecture papers and data sheets of the A100, H100 and HGX B200, and the
// tables of compute capabilities in the CUDA programming guide.
const std::array<GpuTarget, 3>& targets() {
  static const std::array<GpuTarget, 3> all = {{
      {.name = "a100",
       .device_name = "NVIDIA A100-SXM4-80GB",
       .compute_major = 8,
       .multiprocessors = 108,
       .clock_ghz = 1.41,
       .tensor_clock_ghz = 1.41,
       .fp64_lanes = 32,
       .fp32_lanes = 64,
       .fp16_lanes = 256,
       .bf16_lanes = 128,
       .tensor_fp16 = 256,
       .tensor_fp64 = 16,
       .memory_gib = 80,
       .memory_bus_bits = 5120,
       .memory_clock_ghz = 1.593,
       .l2_mib = 40,
       .shared_memory_kib = 164,
       .nvlinks = 12,
       .pcie_gigatransfers = 16},
      {.name = "b200",
       .device_name = "NVIDIA B200",
       .compute_major = 10,
       .architecture_specific = true,
       .multiprocessors = 148,
       .clock_ghz = 1.965,
       .tensor_clock_ghz = 1.856,
       .fp64_lanes = 64,
       .fp32_lanes = 128,
       .fp16_lanes = 256,
       .bf16_lanes = 256,
       .tensor_fp16 = 1024,
       .tensor_fp64 = 16,
       .tensor_fp8 = true,
       .tensor_fp4 = true,
       .memory_gib = 180,
       .memory_bus_bits = 7680,
       .memory_clock_ghz = 3.996,
       .l2_mib = 126,
       .shared_memory_kib = 228,
       .nvlinks = 18,
       .pcie_gigatransfers = 32},
      {.name = "h100",
       .device_name = "NVIDIA H100 80GB HBM3",
       .compute_major = 9,
       .architecture_specific = true,
       .multiprocessors = 132,
       .clock_ghz = 1.98,
       .tensor_clock_ghz = 1.83,
       .fp64_lanes = 64,
       .fp32_lanes = 128,
       .fp16_lanes = 256,
       .bf16_lanes = 256,
       .tensor_fp16 = 512,
       .tensor_fp64 = 32,
       .tensor_fp8 = true,
       .memory_gib = 80,
       .memory_bus_bits = 5120,
       .memory_clock_ghz = 2.619,
       .l2_mib = 50,
       .shared_memory_kib = 228,
       .nvlinks = 18,
       .pcie_gigatransfers = 32},
  }};
  return all;
}

// xla::PrimitiveType, by which XLA lists rates.
enum Primitive {
  s8 = 2,
  s32 = 4,
  u8 = 6,
  u32 = 8,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  bf16 = 16,
  f8e5m2 = 19,
  f8e4m3fn = 20,
  f4e2m1fn = 32,
};

// Prints fields of a text protobuf, indented by message.
class TextProto {
 public:
  TextProto() {
    out_.imbue(std::locale::classic());
  }  // a decimal point, whatever the user's locale
  template <class T>
  void field(std::string_view name, const T& value) {
    line() << name << ": " << value << '\n';
  }
  void text(std::string_view name, std::string_view value) {
    line() << name << ": \"" << value << "\"\n";
  }
  template <class Body>
  void message(std::string_view name, Body&& body) {
    line() << name << " {\n";
    depth_++;
    body();
    depth_--;
    line() << "}\n";
  }
  std::string str() const { return out_.str(); }

 private:
  std::ostream& line() { return out_ << std::string(2 * depth_, ' '); }

  std::ostringstream out_;
  std::size_t depth_ = 0;
};

void print_rate(TextProto& proto, Primitive type, double clock_ghz, int units, int per_clock) {
  proto.message("rate_infos", [&] {
    proto.field("key", static_cast<int>(type));
    proto.message("value", [&] {
      proto.field("clock_rate_ghz", clock_ghz);
      proto.field("units_per_core", units);
      proto.field("ops_per_clock", per_clock);
    });
  });
}

void print_scalar_rates(TextProto& proto, const GpuTarget& target) {
  const auto rate = [&](Primitive type, int lanes) {
    print_rate(proto, type, target.clock_ghz, lanes, 1);
  };
  rate(s32, target.int32_lanes);
  rate(u32, target.int32_lanes);
  rate(f16, target.fp16_lanes);
  rate(f32, target.fp32_lanes);
  rate(f64, target.fp64_lanes);
  rate(bf16, target.bf16_lanes);
}

void print_tensor_rates(TextProto& proto, const GpuTarget& target) {
  const auto rate = [&](Primitive type, int bits) {
    print_rate(proto, type, target.tensor_clock_ghz, target.tensor_cores,
               target.tensor_fp16 * 16 / bits);
  };
  rate(s8, 8);
  rate(u8, 8);
  rate(f16, 16);
  rate(f32, 32);  // as TF32
  print_rate(proto, f64, target.clock_ghz, target.tensor_cores, target.tensor_fp64);
  rate(bf16, 16);
  if (target.tensor_fp8) {
    rate(f8e5m2, 8);
    rate(f8e4m3fn, 8);
  }
  if (target.tensor_fp4) rate(f4e2m1fn, 4);
}

void print_device(TextProto& proto, const GpuTarget& target) {
  constexpr std::int64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
  constexpr double giga = 1e9;

  proto.text("name", target.device_name);
  proto.text("device_vendor", "NVIDIA Corporation");
  proto.message("cuda_compute_capability", [&] {
    proto.field("major", target.compute_major);
    proto.field("minor", target.compute_minor);
    proto.field("feature_extension",
                target.architecture_specific ? "ACCELERATED_FEATURES" : "NONE");
  });

  // The same for every architecture since compute capability 8.0.
  proto.field("threads_per_warp", 32);
  proto.field("threads_per_block_limit", 1024);
  proto.field("threads_per_core_limit", 2048);
  proto.field("thread_dim_limit_x", 1024);
  proto.field("thread_dim_limit_y", 1024);
  proto.field("thread_dim_limit_z", 64);
  proto.field("block_dim_limit_x", 2147483647);
  proto.field("block_dim_limit_y", 65535);
  proto.field("block_dim_limit_z", 65535);
  proto.field("registers_per_core_limit", 64 * kib);
  proto.field("registers_per_block_limit", 64 * kib);
  proto.field("shared_memory_per_block", 48 * kib);

  proto.field("shared_memory_per_block_optin", (target.shared_memory_kib - 1) * kib);
  proto.field("shared_memory_per_core", target.shared_memory_kib * kib);
  proto.field("l2_cache_size", target.l2_mib * mib);
  // The driver keeps about a hundredth of the memory for itself.
  proto.field("device_memory_size", target.memory_gib * gib / 100 * 99);
  proto.field("memory_bandwidth", static_cast<std::int64_t>(2 * target.memory_clock_ghz * giga *
                                                            target.memory_bus_bits / 8));
  // 16 lanes; 128 bits of data in 130.
  proto.field("pcie_bandwidth",
              static_cast<std::int64_t>(target.pcie_gigatransfers * giga * 16 * 128 / 130 / 8));
  proto.message("device_interconnect_info", [&] { proto.field("active_links", target.nvlinks); });

  proto.field("core_count", target.multiprocessors);
  proto.field("fpus_per_core", target.fp32_lanes);
  proto.field("clock_rate_ghz", target.clock_ghz);
  proto.message("scalar_unit_description", [&] { print_scalar_rates(proto, target); });
  proto.message("matrix_unit_description", [&] { print_tensor_rates(proto, target); });
}

std::set<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::set<std::string_view> words;
  for (auto start = text.find_first_of(letters); start != text.npos;) {
    const auto end = std::min(text.find_first_not_of(letters, start), text.size());
    words.insert(text.substr(start, end - start));
    start = text.find_first_of(letters, end);
  }
  return words;
}

}  // namespace

std::vector<std::string_view> gpu_target_names() {
  std::vector<std::string_view> names;
  for (const GpuTarget& target : targets()) names.push_back(target.name);
  return names;
}

const GpuTarget* find_gpu_target(std::string_view name) {
  const auto& all = targets();
  auto found =
      std::find_if(all.begin(), all.end(), [&](auto& target) { return target.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string target_config_text(const GpuTarget& target) {
  TextProto proto;
  proto.message("gpu_device_info", [&] { print_device(proto, target); });
  proto.text("platform_name", "CUDA");
  proto.text("device_description_str", target.device_name);
  return proto.str();
}

namespace {

// The number behind `key` in the text, or `otherwise`.
int number_behind(std::string_view text, std::string_view key, int otherwise) {
  std::size_t at = text.find(key);
  if (at == text.npos) return otherwise;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(" :"), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

}  // namespace

void check_target_config(std::string_view text) {
  const std::set<std::string_view> words = words_of(text);
  for (std::string_view field :
       {"block_dim_limit_x", "cuda_compute_capability", "shared_memory_per_block",
        "threads_per_block_limit", "threads_per_warp"}) {
    if (words.contains(field)) continue;
    throw Error("check_target_config: the target description has no field '" + std::string(field) +
                "', without which XLA's CUDA plugin crashes. Start from what target_config_text "
                "gives for a similar GPU.");
  }
  std::string_view capability = text.substr(text.find("cuda_compute_capability"));
  capability = capability.substr(0, capability.find('}'));
  int major = number_behind(capability, "major", 0), minor = number_behind(capability, "minor", 0);
  if (major > 7 || (major == 7 && minor >= 5)) return;
  throw Error("check_target_config: the GPU has compute capability " + std::to_string(major) + "." +
              std::to_string(minor) +
              "; XLA's CUDA 13 plugin compiles for 7.5 and above, and crashes below.");
}

}  // namespace sturnus
