#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/gpu_target.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace sturnus {
namespace {

// Every value of a text protobuf by its path, entries of rate tables by their key:
// "gpu_device_info.matrix_unit_description.rate_infos[10].value.ops_per_clock".
std::map<std::string, std::string> read_text_proto(const std::string& text) {
  std::map<std::string, std::string> values;
  std::vector<std::string> path = {""};
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name, value;
    words >> name >> std::ws;
    std::getline(words, value);
    if (name == "}") {
      path.pop_back();
    } else if (value == "{") {
      path.push_back(path.back() + name + '.');
    } else {
      name.pop_back();
      if (name == "key")
        path.back() = path.back().substr(0, path.back().size() - 1) + '[' + value + "].";
      EXPECT_TRUE(values.emplace(path.back() + name, value).second)
          << path.back() + name << " twice";
    }
  }
  EXPECT_EQ(path.size(), 1u) << "braces do not match";
  return values;
}

class Description {
 public:
  explicit Description(const std::string& target)
      : values_(read_text_proto(target_config_text(*find_gpu_target(target)))) {}

  std::string text(const std::string& field) const { return values_.at(field); }
  double device(const std::string& field) const {
    return std::stod(text("gpu_device_info." + field));
  }

  // 10^12 operations per second; a multiply-add is two. 0 when the unit has no such type.
  double tera(const std::string& unit, int primitive_type) const {
    const std::string entry =
        unit + "_unit_description.rate_infos[" + std::to_string(primitive_type) + "].";
    if (values_.count("gpu_device_info." + entry + "key") == 0) return 0;
    return 2 * device("core_count") * device(entry + "value.units_per_core") *
           device(entry + "value.ops_per_clock") * device(entry + "value.clock_rate_ghz") / 1000;
  }

 private:
  std::map<std::string, std::string> values_;
};

// Peak rates without sparsity as NVIDIA's data sheets state them: TFLOPS, TB/s, GB.
struct DataSheet {
  const char* name;
  double fp64, fp32, fp16, bf16;  // scalar units
  double tensor_fp64, tensor_tf32, tensor_fp16, tensor_fp8, tensor_fp4, tensor_int8;
  double bandwidth, memory;
};

constexpr DataSheet sheets[] = {
    {"a100", 9.7, 19.5, 78, 39, 19.5, 156, 312, 0, 0, 624, 2.039, 80},
    {"h100", 33.5, 66.9, 133.8, 133.8, 66.9, 494.7, 989.4, 1978.9, 0, 1978.9, 3.35, 80},
    {"b200", 37, 75, 150, 150, 37, 1125, 2250, 4500, 9000, 4500, 7.7, 180},
};

TEST(GpuTarget, HasTheRatesOfItsDataSheet) {
  for (const DataSheet& sheet : sheets) {
    SCOPED_TRACE(sheet.name);
    const Description target(sheet.name);
    const auto expect = [](double actual, double stated) {
      EXPECT_NEAR(actual, stated, 0.011 * stated);
    };
    expect(target.tera("scalar", 12), sheet.fp64);
    expect(target.tera("scalar", 11), sheet.fp32);
    expect(target.tera("scalar", 10), sheet.fp16);
    expect(target.tera("scalar", 16), sheet.bf16);
    expect(target.tera("matrix", 12), sheet.tensor_fp64);
    expect(target.tera("matrix", 11), sheet.tensor_tf32);
    expect(target.tera("matrix", 10), sheet.tensor_fp16);
    expect(target.tera("matrix", 16), sheet.tensor_fp16);
    expect(target.tera("matrix", 19), sheet.tensor_fp8);
    expect(target.tera("matrix", 20), sheet.tensor_fp8);
    expect(target.tera("matrix", 32), sheet.tensor_fp4);
    expect(target.tera("matrix", 2), sheet.tensor_int8);
    expect(target.device("memory_bandwidth") / 1e12, sheet.bandwidth);
    expect(target.device("device_memory_size") / (1 << 30), sheet.memory);
  }
}

TEST(GpuTarget, HasTheLimitsOfItsComputeCapability) {
  const struct {
    const char* name;
    const char* major;
    const char* extension;
    int shared_per_core, shared_per_block;
  } rows[] = {{"a100", "8", "NONE", 167936, 166912},
              {"h100", "9", "ACCELERATED_FEATURES", 233472, 232448},
              {"b200", "10", "ACCELERATED_FEATURES", 233472, 232448}};
  for (const auto& row : rows) {
    const Description target(row.name);
    EXPECT_EQ(target.text("gpu_device_info.cuda_compute_capability.major"), row.major);
    EXPECT_EQ(target.text("gpu_device_info.cuda_compute_capability.feature_extension"),
              row.extension);
    EXPECT_EQ(target.device("shared_memory_per_core"), row.shared_per_core);
    EXPECT_EQ(target.device("shared_memory_per_block_optin"), row.shared_per_block);
    EXPECT_EQ(target.device("threads_per_warp"), 32);
    EXPECT_EQ(target.text("platform_name"), "\"CUDA\"");
  }
}

TEST(GpuTarget, IsFoundByName) {
  auto names = gpu_target_names();
  EXPECT_EQ(names.size(), std::size(sheets));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (auto name : names) {
    ASSERT_NE(find_gpu_target(name), nullptr);
    EXPECT_EQ(find_gpu_target(name)->name, name);
  }
  EXPECT_EQ(find_gpu_target("h1000"), nullptr);
  EXPECT_EQ(find_gpu_target(""), nullptr);
}

TEST(GpuTarget, IsCheckedForFieldsThatXlaCannotDoWithout) {
  for (auto name : gpu_target_names()) {
    EXPECT_NO_THROW(check_target_config(target_config_text(*find_gpu_target(name))));
  }
  EXPECT_THROW(check_target_config(""), Error);
  for (std::string field :
       {"block_dim_limit_x", "cuda_compute_capability", "shared_memory_per_block",
        "threads_per_block_limit", "threads_per_warp"}) {
    std::string text = target_config_text(*find_gpu_target("h100"));
    text.replace(text.find(field + (field.starts_with("cuda") ? " {" : ":")), field.size(), "x");
    try {
      check_target_config(text);
      ADD_FAILURE() << field;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("'" + field + "'"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace sturnus
