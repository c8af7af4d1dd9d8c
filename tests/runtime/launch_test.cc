// Programs that run on several devices.
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/executable.h>

#include <set>

#include "tests/runtime/sample_programs.h"

namespace sturnus {
namespace {

// One argument list per device.
struct Lists {
  std::vector<std::vector<Buffer>> buffers;
  std::vector<std::vector<const Buffer*>> all() const {
    std::vector<std::vector<const Buffer*>> lists;
    for (const auto& list : buffers) {
      lists.emplace_back();
      for (const Buffer& buffer : list) lists.back().push_back(&buffer);
    }
    return lists;
  }
};

TEST(Launch, ReplicasReduceOverAllDevices) {
  LoadedExecutable program = cpu().compile(R"(module @reduced {
    func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.all_reduce"(%a) ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}
          : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  })",
                                           {.replicas = 4});
  EXPECT_EQ(program.replicas(), 4);
  EXPECT_EQ(program.partitions(), 1);
  ASSERT_EQ(program.devices(), cpu().devices());
  EXPECT_EQ(program.report().run.collectives.at("all-reduce").count, 1);

  Lists lists;
  Floats sum(4);
  for (std::size_t d = 0; d < 4; d++) {
    Floats values = sines(4, static_cast<float>(d + 1));
    for (std::size_t i = 0; i < 4; i++) sum[i] += values[i];
    lists.buffers.emplace_back();
    lists.buffers[d].push_back(vector_of(values, program.devices()[d]));
  }
  for (int times = 0; times < 3; times++) {
    Launch launch = program.launch(lists.all());
    ASSERT_EQ(launch.results.size(), 4u);
    ASSERT_EQ(launch.done.size(), 4u);
    for (std::size_t d = 0; d < 4; d++) {
      launch.done[d].await();
      EXPECT_EQ(launch.results[d][0].device(), program.devices()[d]);
      expect_near(launch.results[d][0].to_vector<float>(), sum, "device " + std::to_string(d));
    }
  }
}

struct Sharded {
  const char* how;
  const char* collective;
  CompileOptions options;
  std::string text;
  // What of the 8 x 8 arrays each device holds: its rows, its columns, or all.
  enum Part { rows, columns, all } a, b, result;
};

const Sharded sharded[] = {
    {"Shardy: each device needs all columns of b",
     "all-gather",
     {.partitions = 4, .spmd = true, .shardy = true},
     shardy_product(by_rows, by_columns, by_rows),
     Sharded::rows,
     Sharded::columns,
     Sharded::rows},
    {"Shardy: each device has a part of every sum",
     "all-reduce",
     {.partitions = 4, .spmd = true, .shardy = true},
     shardy_product(by_columns, by_rows, whole),
     Sharded::columns,
     Sharded::rows,
     Sharded::all},
    {"GSPMD: each device has a part of every sum",
     "all-reduce",
     {.partitions = 4, .spmd = true},
     R"(module @sharded {
       func.func public @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[1,4]<=[4]}"},
                              %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"})
           -> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
         %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
             : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
         return %0 : tensor<8x8xf32>
       }
     })",
     Sharded::columns,
     Sharded::rows,
     Sharded::all},
};

Shape shape_of(Sharded::Part part) {
  if (part == Sharded::rows) return {2, 8};
  if (part == Sharded::columns) return {8, 2};
  return {8, 8};
}

Floats piece(const Floats& matrix, Sharded::Part part, std::size_t device) {
  Floats values;
  for (std::size_t i = 0; i < 8; i++) {
    for (std::size_t j = 0; j < 8; j++) {
      std::size_t owner = part == Sharded::rows ? i / 2 : part == Sharded::columns ? j / 2 : device;
      if (owner == device) values.push_back(matrix[8 * i + j]);
    }
  }
  return values;
}

TEST(Launch, PartitionsOfOneProgramWorkTogether) {
  Floats a = sines(64, 0.7f), b = sines(64, 1.3f), c = product(a, b, 8, 8, 8);
  for (const Sharded& one : sharded) {
    SCOPED_TRACE(one.how);
    LoadedExecutable program = cpu().compile(one.text, one.options);
    EXPECT_EQ(program.partitions(), 4);
    EXPECT_EQ(program.parameter_types(), (HloTypes{ArrayType{DType::f32, shape_of(one.a)},
                                                   ArrayType{DType::f32, shape_of(one.b)}}));
    EXPECT_EQ(program.result_types(), (HloTypes{ArrayType{DType::f32, shape_of(one.result)}}));
    EXPECT_TRUE(program.report().run.collectives.contains(one.collective));
    ASSERT_EQ(program.devices().size(), 4u);
    Lists lists;
    for (std::size_t d = 0; d < 4; d++) {
      Device device = program.devices()[d];
      lists.buffers.emplace_back();
      lists.buffers[d].push_back(
          Buffer::from_host<float>(device, piece(a, one.a, d), shape_of(one.a)));
      lists.buffers[d].push_back(
          Buffer::from_host<float>(device, piece(b, one.b, d), shape_of(one.b)));
    }
    Launch launch = program.launch(lists.all());
    for (std::size_t d = 0; d < 4; d++) {
      expect_near(launch.results[d][0].to_vector<float>(), piece(c, one.result, d),
                  "device " + std::to_string(d));
    }
  }
}

// Each device says which replica it is, and holds the element of its partition of 0, 1, 2, ...
std::string who_am_i(std::size_t partitions) {
  std::string n = std::to_string(partitions);
  return R"(module @who {
    func.func public @main() -> (tensor<ui32>, tensor<)" +
         n + R"(xui32> {mhlo.sharding = "{devices=[)" + n + "]<=[" + n + R"(]}"}) {
      %0 = stablehlo.replica_id : tensor<ui32>
      %1 = stablehlo.iota dim = 0 : tensor<)" +
         n + R"(xui32>
      return %0, %1 : tensor<ui32>, tensor<)" +
         n + R"(xui32>
    }
  })";
}

TEST(Launch, FollowsTheDeviceAssignment) {
  for (const auto& assignment : std::vector<std::vector<std::vector<int>>>{
           {{0, 1}, {2, 3}}, {{3, 1}, {0, 2}}, {{2}, {1}, {3}}, {{1, 3}}, {{2}}}) {
    CompileOptions options{.replicas = static_cast<int>(assignment.size()),
                           .partitions = static_cast<int>(assignment[0].size()),
                           .device_assignment = assignment,
                           .spmd = true};
    LoadedExecutable program = cpu().compile(who_am_i(assignment[0].size()), options);
    std::size_t count = assignment.size() * assignment[0].size();
    ASSERT_EQ(program.devices().size(), count);
    std::set<int> ids;
    std::vector<std::vector<const Buffer*>> nothing(count);
    Launch launch = program.launch(nothing);
    for (std::size_t d = 0; d < count; d++) {
      auto replica = launch.results[d][0].item<std::uint32_t>();
      auto partition = launch.results[d][1].item<std::uint32_t>();
      int id = program.devices()[d].id();
      EXPECT_EQ(assignment.at(replica).at(partition), id);
      EXPECT_EQ(launch.results[d][0].device().id(), id);
      ids.insert(id);
    }
    EXPECT_EQ(ids.size(), count);
  }
}

TEST(Launch, DonatesOnEveryDevice) {
  LoadedExecutable program = cpu().compile(R"(module @next {
    func.func public @main(%a: tensor<64xf32> {tf.aliasing_output = 0 : i32}) -> tensor<64xf32> {
      %0 = stablehlo.add %a, %a : tensor<64xf32>
      return %0 : tensor<64xf32>
    }
  })",
                                           {.replicas = 4});
  Lists lists;
  for (const Device& device : program.devices()) {
    lists.buffers.emplace_back();
    lists.buffers.back().push_back(vector_of(Floats(64, 1), device));
  }
  Launch launch = program.launch(lists.all(), {.donate = {0}});
  for (std::size_t d = 0; d < 4; d++) {
    EXPECT_TRUE(lists.buffers[d][0].released());
    EXPECT_EQ(launch.results[d][0].to_vector<float>(), Floats(64, 2));
  }
  EXPECT_EQ(error_of([&] { program.launch(lists.all()); }),
            "next: argument 0 (f32[64]) was released, or donated to an earlier run, and has no "
            "contents. Use the result of that run instead, or do not donate it");
}

TEST(Launch, SaysWhatIsWrong) {
  LoadedExecutable program = cpu().compile(programs::twice, {.replicas = 2});
  Buffer a = vector_of({1, 2, 3, 4}), b = vector_of({1, 2, 3, 4}, cpu().device(1));
  Buffer scalar = Buffer::scalar(cpu().device(1), 1.0f);
  Buffer released = vector_of({1, 2, 3, 4}, cpu().device(1));
  released.release();
  using Arguments = std::vector<std::vector<const Buffer*>>;
  auto complaint = [&](const Arguments& arguments, const RunOptions& options = {}) {
    return error_of([&] { program.launch(arguments, options); });
  };
  EXPECT_EQ(complaint({{&a}}), "twice: the program runs on 2 devices, 1 argument lists were given");
  EXPECT_EQ(complaint({}), "twice: the program runs on 2 devices, 0 argument lists were given");
  EXPECT_EQ(complaint({{&a}, {}}), "twice: the program takes 1 arguments (f32[4]), 0 were given");
  EXPECT_EQ(complaint({{&a}, {&scalar}}), "twice: argument 0 is f32[], the program takes f32[4]");
  EXPECT_EQ(complaint({{&a}, {&b}}, {.device = cpu().device()}),
            "twice: RunOptions::device and portable programs are for run; launch uses the devices "
            "that the program was compiled for");
  EXPECT_EQ(complaint({{&a}, {&a}}),
            "twice: argument 0 (f32[4]) is on device 0, the program runs on device 1. Copy it with "
            "Buffer::copy_to");
  EXPECT_EQ(complaint({{&a}, {&released}}),
            "twice: argument 0 (f32[4]) was released, or donated to an earlier run, and has no "
            "contents. Use the result of that run instead, or do not donate it");
  for (const RunOptions& options : {RunOptions{}, RunOptions{.device = cpu().device()}}) {
    EXPECT_EQ(error_of([&] { program.run({&a}, options); }),
              "twice: the program runs on 2 devices. Use launch with one argument list per device");
  }
  // None of this disturbs a launch that is right.
  EXPECT_EQ(program.launch(Arguments{{&a}, {&b}}).results[1][0].to_vector<float>(),
            (Floats{2, 4, 6, 8}));
}

}  // namespace
}  // namespace sturnus
