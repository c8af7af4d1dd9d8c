#include <gtest/gtest.h>
#include <sturnus/runtime/compile_options.h>
#include <sturnus/runtime/error.h>

#include <cstdio>
#include <string>

namespace sturnus {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof(digits), text.empty() ? "%02x" : " %02x", byte);
    text += digits;
  }
  return text;
}

// The bytes below are written by hand from the message definitions. A field starts with
// number * 8 + type, type 0 for a varint and 2 for bytes with their length before them:
//   CompileOptionsProto          3 executable_build_options (1a), 4 compile_portable_executable
//   (20),
//                                7 env_option_overrides (3a), a map: 1 key (0a), 2 value (12)
//   ExecutableBuildOptionsProto  1 device_ordinal (08), 4 num_replicas (20), 5 num_partitions (28),
//                                6 use_spmd_partitioning (30), 9 device_assignment (4a),
//                                19 use_shardy_partitioner (98 01)
//   DeviceAssignmentProto        1 replica_count (08), 2 computation_count (10),
//                                3 computation_devices (1a): 1 replica_device_ids (0a), packed
//   OptionOverrideProto          1 string (0a), 2 bool (10), 3 int64 (18), 4 double (21)
// -1 as a varint is nine times ff, then 01.
#define DEVICE_ORDINAL_ANY "08 ff ff ff ff ff ff ff ff ff 01 "

struct Row {
  CompileOptions options;
  std::string bytes;
};

const Row rows[] = {
    {{}, "1a 14 " DEVICE_ORDINAL_ANY "20 01 28 01 30 00 98 01 00 20 00"},
    {{.replicas = 4}, "1a 14 " DEVICE_ORDINAL_ANY "20 04 28 01 30 00 98 01 00 20 00"},
    {{.partitions = 2, .spmd = true},
     "1a 14 " DEVICE_ORDINAL_ANY "20 01 28 02 30 01 98 01 00 20 00"},
    {{.partitions = 4, .spmd = true, .shardy = true},
     "1a 14 " DEVICE_ORDINAL_ANY "20 01 28 04 30 01 98 01 01 20 00"},
    {{.portable = true}, "1a 14 " DEVICE_ORDINAL_ANY "20 01 28 01 30 00 98 01 00 20 01"},
    // 300 is 2 * 128 + 44.
    {{.replicas = 300}, "1a 15 " DEVICE_ORDINAL_ANY "20 ac 02 28 01 30 00 98 01 00 20 00"},
    {{.device_assignment = {{2}}},
     "1a 1f " DEVICE_ORDINAL_ANY
     "20 01 28 01 30 00 98 01 00 4a 09 08 01 10 01 1a 03 0a 01 02 20 00"},
    // Replica 0 on devices 5, 6, 7 and replica 1 on 1, 2, 300; one list for each partition.
    {{.replicas = 2, .partitions = 3, .device_assignment = {{5, 6, 7}, {1, 2, 300}}},
     "1a 2d " DEVICE_ORDINAL_ANY "20 02 28 03 30 00 98 01 00 "
     "4a 17 08 02 10 03 1a 04 0a 02 05 01 1a 04 0a 02 06 02 1a 05 0a 03 07 ac 02 20 00"},
    {{.xla_flags = {{"s", "on"}}},
     "1a 14 " DEVICE_ORDINAL_ANY
     "20 01 28 01 30 00 98 01 00 20 00 3a 09 0a 01 73 12 04 0a 02 6f 6e"},
    {{.xla_flags = {{"t", true}, {"f", false}}},  // in the order of their names
     "1a 14 " DEVICE_ORDINAL_ANY
     "20 01 28 01 30 00 98 01 00 20 00 3a 07 0a 01 66 12 02 10 00 3a 07 0a 01 74 12 02 10 01"},
    {{.xla_flags = {{"i", std::int64_t{300}}}},
     "1a 14 " DEVICE_ORDINAL_ANY "20 01 28 01 30 00 98 01 00 20 00 3a 08 0a 01 69 12 03 18 ac 02"},
    {{.xla_flags = {{"n", std::int64_t{-1}}}},
     "1a 14 " DEVICE_ORDINAL_ANY
     "20 01 28 01 30 00 98 01 00 20 00 3a 10 0a 01 6e 12 0b 18 ff ff ff ff ff ff ff ff ff 01"},
    // 0.5 is 3fe0000000000000, its least byte first.
    {{.xla_flags = {{"d", 0.5}}},
     "1a 14 " DEVICE_ORDINAL_ANY
     "20 01 28 01 30 00 98 01 00 20 00 3a 0e 0a 01 64 12 09 21 00 00 00 00 00 00 e0 3f"},
};

TEST(CompileOptions, AreWrittenAsTheirProto) {
  for (const Row& row : rows) EXPECT_EQ(hex(row.options.serialize()), row.bytes);
}

TEST(CompileOptions, TakePlainLiteralsAsFlags) {
  CompileOptions options;
  options.xla_flags = {{"text", "a"}, {"truth", true}, {"number", 3}, {"real", 0.5}};
  EXPECT_TRUE(std::holds_alternative<std::string>(options.xla_flags["text"]));
  EXPECT_TRUE(std::holds_alternative<bool>(options.xla_flags["truth"]));
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(options.xla_flags["number"]));
  EXPECT_TRUE(std::holds_alternative<double>(options.xla_flags["real"]));
}

std::string complaint(const CompileOptions& options) {
  try {
    options.serialize();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(CompileOptions, SayWhatIsWrong) {
  EXPECT_EQ(complaint({.replicas = 0}),
            "CompileOptions: replicas x partitions is 0 x 1; both must be at least 1");
  EXPECT_EQ(complaint({.partitions = -2}),
            "CompileOptions: replicas x partitions is 1 x -2; both must be at least 1");
  for (const auto& assignment : std::vector<std::vector<std::vector<int>>>{
           {{0}}, {{0}, {1}}, {{0, 1}}, {{0, 1, 2}, {3, 4, 5}}, {{0, 1}, {2}}, {{}, {}}}) {
    EXPECT_EQ(
        complaint({.replicas = 2, .partitions = 2, .device_assignment = assignment}),
        "CompileOptions: device_assignment must be replicas x partitions, here 2 x 2 device ids");
  }
}

}  // namespace
}  // namespace sturnus
