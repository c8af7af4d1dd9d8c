#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/gpu_target.h>
#include <sturnus/runtime/topology.h>

#include <optional>

#include "tests/runtime/fake.h"

namespace sturnus {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// ------------------------------------------------------------------------------ the fake plugin

TEST(Topology, IsDescribedByItsPlugin) {
  Part platform("PLATFORM", "nest");
  Topology topology = Topology::create(fake().load(), "v5e:2x4");
  EXPECT_EQ(topology.platform_name(), "nest");
  EXPECT_EQ(topology.platform_version(), "fake plugin");
  std::vector<DeviceDescription> devices = topology.devices();
  ASSERT_EQ(devices.size(), 8u);
  for (int i = 0; i < 8; i++) {
    const DeviceDescription& device = devices[static_cast<std::size_t>(i)];
    EXPECT_EQ(device.id, i);
    EXPECT_EQ(device.process_index, 0);
    EXPECT_EQ(device.kind, "Fake device");
    EXPECT_EQ(device.text, "FakeDevice(id=" + std::to_string(i) + ")");
    EXPECT_EQ(to_string(device.attributes.at("coords")), std::to_string(i) + ".0.0");
  }
}

TEST(Topology, PassesOptionsOn) {
  Plugin plugin = fake().load();
  Topology::create(plugin, "",
                   {{"flag", true},
                    {"list", std::vector<std::int64_t>{1, 2}},
                    {"number", std::int64_t{-3}},
                    {"text", std::string("a b")}});
  EXPECT_EQ(fake().last("topology_options"), "flag=true\nlist=1,2\nnumber=-3\ntext=a b\n");
  EXPECT_EQ(Topology::create(plugin, "", {{"topology", "1x1x5"}}).devices().size(), 5u);
  EXPECT_EQ(Topology::tpu(plugin, "v6e:4x4").devices().size(), 16u);
  EXPECT_EQ(fake().last("topology_options"), "");
}

TEST(Topology, OfAnUnknownNameIsRefused) {
  Plugin plugin = fake().load();
  for (const char* name : {"v5e:big", "v5e:2x", ":"}) {
    EXPECT_EQ(error_of<RuntimeError>([&] { Topology::tpu(plugin, name); }),
              std::string("PJRT_TopologyDescription_Create: Unknown topology '") + name +
                  "' [INVALID_ARGUMENT]");
  }
  EXPECT_EQ(fake().live(), 0);
}

TEST(Topology, CompilesWithTheOptionsGiven) {
  std::optional<Executable> program;
  CompileOptions options{.replicas = 2, .partitions = 2, .spmd = true};
  {
    Topology topology = Topology::create(fake().load(), "v5e:2x2");
    program = topology.compile(programs::fake_negate, options);
  }
  EXPECT_EQ(fake().last("program"), programs::fake_negate);
  EXPECT_EQ(fake().last("compile_options"), options.serialize());
  EXPECT_EQ(program->name(), "negate") << "outlives the topology";
  EXPECT_EQ(program->replicas(), 2);
  EXPECT_EQ(program->partitions(), 2);
  ASSERT_EQ(program->parameter_types().size(), 2u);
  EXPECT_EQ(program->parameter_types()[0]->str(), "f32[2,2]");
  EXPECT_EQ(program->result_types()[1]->str(), "f32[2]");
  EXPECT_EQ(program->result_count(), 2);
  EXPECT_EQ(program->report().argument_bytes, 24);
  // A client on such devices can load it.
  Client client = Client::create(fake().load());
  Executable alone = Topology::create(client.plugin(), "v5e:1x1").compile(programs::fake_negate);
  scenario::run_program(client.load(alone.serialize()));
}

TEST(Topology, RefusesAProgramForMoreDevicesThanThereAre) {
  Topology topology = Topology::create(fake().load(), "v5e:2x2");
  EXPECT_NO_THROW(topology.compile(programs::fake_negate, {.partitions = 4}));
  for (auto [replicas, partitions] : {std::pair{1, 5}, {5, 1}, {3, 2}, {1 << 16, 1 << 16}}) {
    long before = fake().calls("PJRT_Compile");
    auto wanted = static_cast<std::int64_t>(replicas) * partitions;
    EXPECT_EQ(error_of([&, r = replicas, p = partitions] {
                topology.compile(programs::fake_negate, {.replicas = r, .partitions = p});
              }),
              "Topology::compile: the program is for " + std::to_string(wanted) +
                  " devices (replicas x partitions), the topology has 4");
    EXPECT_EQ(fake().calls("PJRT_Compile"), before);
  }
}

// --------------------------------------------------------------------------- GPUs by description

// As if the CUDA toolkit were where the user says, so that its absence is no obstacle here.
constexpr const char* toolkit_elsewhere = "--xla_gpu_cuda_data_dir=/elsewhere";

std::string h100() { return target_config_text(*find_gpu_target("h100")); }

TEST(GpuTopology, IsAskedForByTargetAndCount) {
  Variable flags("XLA_FLAGS", toolkit_elsewhere);
  Plugin plugin = fake().load();
  for (std::string_view name : gpu_target_names()) {
    for (int devices : {1, 8}) {
      Topology topology = Topology::gpu(plugin, name, devices);
      EXPECT_EQ(fake().last("topology_options"),
                "target_config=" + target_config_text(*find_gpu_target(name)) + "\ntopology=1x1x" +
                    std::to_string(devices) + "\n");
      EXPECT_EQ(topology.devices().size(), static_cast<std::size_t>(devices));
    }
  }
  std::string own = h100();
  own.replace(own.find("H100"), 4, "X100");
  Topology::gpu(plugin, own, 3);
  EXPECT_EQ(fake().last("topology_options"), "target_config=" + own + "\ntopology=1x1x3\n");
}

TEST(GpuTopology, RefusesWhatXlaWouldCrashOn) {
  Variable flags("XLA_FLAGS", toolkit_elsewhere);
  Plugin plugin = fake().load();
  const auto message = [&](const std::string& target) {
    return error_of([&] { Topology::gpu(plugin, target); });
  };
  for (const char* unknown : {"h1000", "", "H100", "tpu"}) {
    EXPECT_EQ(message(unknown), std::string("Topology::gpu: no target named \"") + unknown +
                                    "\"; there are a100, b200, h100. Give one of them, or the text "
                                    "of a GpuTargetConfigProto");
  }
  EXPECT_THAT(message("gpu_device_info { threads_per_warp: 32 }"),
              HasSubstr("the target description has no field 'block_dim_limit_x'"));
  for (auto [capability, refused] : {std::pair{"major: 7\n    minor: 0", true},
                                     {"major: 6\n    minor: 9", true},
                                     {"major: 7\n    minor: 5", false},
                                     {"major: 12\n    minor: 0", false}}) {
    std::string text = h100();
    const std::string there = "major: 9\n    minor: 0";
    ASSERT_NE(text.find(there), text.npos);
    text.replace(text.find(there), there.size(), capability);
    if (refused) {
      EXPECT_THAT(message(text), HasSubstr("compiles for 7.5 and above, and crashes below"));
    } else {
      EXPECT_NO_THROW(Topology::gpu(plugin, text));
    }
  }
}

TEST(GpuTopology, NeedsTheToolkit) {
  std::error_code ignored;
  for (const char* folder : {"/usr/local/cuda", "/opt/cuda"}) {
    if (std::filesystem::exists(folder, ignored)) GTEST_SKIP() << "the toolkit is in " << folder;
  }
  Variable flags("XLA_FLAGS", std::nullopt);
  Variable path("PATH", "/nowhere");
  Plugin plugin = fake().load();
  EXPECT_THAT(error_of([&] { Topology::gpu(plugin, "h100"); }),
              AllOf(HasSubstr("needs nvvm/libdevice/libdevice.10.bc and ptxas"),
                    HasSubstr("\n  /usr/local/cuda\n"), HasSubstr("plugins install cuda")));
}

// ----------------------------------------------------------------------------- the real plugins

// The plugin, or nothing where it, or what it needs, is not installed.
std::optional<Plugin> installed(const char* platform) {
  try {
    Plugin plugin = Plugin::find(platform);
    if (std::string_view(platform) == "cuda") Topology::gpu(plugin, "h100");
    return plugin;
  } catch (const PluginError&) {
    return std::nullopt;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("of the CUDA toolkit"));
    return std::nullopt;
  }
}

std::string how_to_install(const char* platform) {
  return std::string("not installed: `./sturnus plugins install ") + platform + "` gets it";
}

// Facts of programs::loop that hold for every device.
void expect_loop(const Executable& program, const std::string& target) {
  SCOPED_TRACE(target);
  ProgramReport report = program.report();
  EXPECT_EQ(program.result_count(), 1);
  ASSERT_EQ(program.result_types().size(), 1u);
  EXPECT_EQ(program.result_types()[0]->str(), "f32[32,32]");
  ASSERT_EQ(program.parameter_types().size(), 2u);
  EXPECT_EQ(program.parameter_types()[1]->str(), "f32[32,32]");

  bool padded = target.starts_with("v5e");  // to tiles of 8 x 128
  EXPECT_GE(report.argument_bytes, 8 + 4096);
  EXPECT_GE(report.output_bytes, 4096);
  if (!padded) {
    EXPECT_EQ(report.argument_bytes, 8 + 4096);
    EXPECT_EQ(report.output_bytes, 4096);
  }
  EXPECT_LT(report.argument_bytes, 1 << 20);
  EXPECT_EQ(report.code_bytes > 0, padded) << "of these plugins only the TPU's tells";
  EXPECT_GE(report.temporary_bytes, 0);
  EXPECT_LT(report.temporary_bytes, 64 << 20);
  EXPECT_GT(report.compile_seconds, 0);
  EXPECT_LT(report.compile_seconds, 600);

  EXPECT_EQ(report.instructions.count("while"), 1u);
  ASSERT_EQ(report.loops.size(), 1u);
  EXPECT_FALSE(report.loops[0].trip_count) << "it is an argument";
  EXPECT_TRUE(report.run.has_open_loops);
  std::int64_t kernels = total_count(report.loops[0].iteration.kernels);
  EXPECT_GE(kernels, 1);
  EXPECT_LE(kernels, 40);
  EXPECT_TRUE(report.run.collectives.empty());
  EXPECT_THAT(to_string(report), HasSubstr("iteration of loop 1"));
  EXPECT_FALSE(program.serialize().empty());
}

TEST(AheadOfTime, CompilesOneProgramForEveryDeviceInOneProcess) {
  expect_loop(cpu().compile(programs::loop), "cpu");
  std::optional<Plugin> cuda = installed("cuda"), tpu = installed("tpu");
  if (cuda) {
    for (const char* target : {"h100", "a100", "b200"}) {
      Topology topology = Topology::gpu(*cuda, target);
      ASSERT_EQ(topology.devices().size(), 1u);
      EXPECT_EQ(topology.platform_name(), "cuda");
      expect_loop(topology.compile(programs::loop), target);
    }
  }
  if (tpu) {
    Topology topology = Topology::tpu(*tpu, "v5e:2x2");
    ASSERT_EQ(topology.devices().size(), 4u);
    EXPECT_EQ(topology.platform_name(), "tpu");
    EXPECT_EQ(topology.devices()[3].kind, "TPU v5 lite");
    expect_loop(topology.compile(programs::loop), "v5e:2x2");
  }
  // The CPU still works beside them.
  Buffer four = vector_of({1, 2, 3, 4});
  EXPECT_EQ(compiled(programs::twice).run({&four})[0].to_vector<float>()[3], 8);
  if (!cuda) GTEST_SKIP() << "cuda: " << how_to_install("cuda");
  if (!tpu) GTEST_SKIP() << "tpu: " << how_to_install("tpu");
}

// f32[1024] spread over four devices -> its sum on each: Shardy makes an all-reduce of it.
constexpr std::string_view sharded = R"(module @sharded attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%v: tensor<1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
    return %sum : tensor<f32>
  }
})";

void expect_sharded(const Executable& program) {
  EXPECT_EQ(program.partitions(), 4);
  EXPECT_EQ(program.parameter_types().at(0)->str(), "f32[256]") << "a quarter for each";
  ProgramReport report = program.report();
  ASSERT_EQ(report.run.collectives.count("all-reduce"), 1u) << to_string(report);
  EXPECT_EQ(report.run.collectives.at("all-reduce").count, 1);
  EXPECT_GE(report.run.collectives.at("all-reduce").bytes, 4);
  EXPECT_LE(report.run.collectives.at("all-reduce").bytes, 4096);
  EXPECT_GE(report.argument_bytes, 1024);
  EXPECT_LE(report.argument_bytes, 4096);
}

const CompileOptions over_four = {.partitions = 4, .spmd = true, .shardy = true};

TEST(AheadOfTime, SplitsAProgramOverTheCpu) { expect_sharded(cpu().compile(sharded, over_four)); }

TEST(AheadOfTime, SplitsAProgramOverGpus) {
  std::optional<Plugin> cuda = installed("cuda");
  if (!cuda) GTEST_SKIP() << how_to_install("cuda");
  expect_sharded(Topology::gpu(*cuda, "h100", 4).compile(sharded, over_four));
}

TEST(AheadOfTime, SplitsAProgramOverTpus) {
  std::optional<Plugin> tpu = installed("tpu");
  if (!tpu) GTEST_SKIP() << how_to_install("tpu");
  Topology slice = Topology::tpu(*tpu, "v5e:2x2");
  expect_sharded(slice.compile(sharded, over_four));
  EXPECT_THROW(Topology::tpu(*tpu, "v5e:banana"), RuntimeError);
  EXPECT_THROW(slice.compile("not a program"), RuntimeError);
  EXPECT_THROW(slice.compile(sharded, {.partitions = 8, .spmd = true, .shardy = true}), Error);
}

TEST(AheadOfTime, TakesAUsersOwnGpu) {
  std::optional<Plugin> cuda = installed("cuda");
  if (!cuda) GTEST_SKIP() << how_to_install("cuda");
  GpuTarget h200 = *find_gpu_target("h100");
  h200.device_name = "NVIDIA H200";
  h200.memory_gib = 141;
  h200.memory_bus_bits = 6144;
  h200.memory_clock_ghz = 3.125;
  Topology topology = Topology::gpu(*cuda, target_config_text(h200), 2);
  ASSERT_EQ(topology.devices().size(), 2u);
  EXPECT_EQ(topology.devices()[0].kind, "NVIDIA H200");
  expect_loop(topology.compile(programs::loop), "h200");
  EXPECT_THROW(topology.compile("not a program"), RuntimeError);
}

}  // namespace
}  // namespace sturnus
