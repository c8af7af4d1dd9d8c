// Programs as bytes, loaded in this process and in another.
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/executable.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/runtime/sample_programs.h"

namespace sturnus {
namespace {

TEST(Load, GivesAProgramThatRunsTheSame) {
  for (const Case& one : cases()) {
    LoadedExecutable program = cpu().compile(one.text);
    LoadedExecutable loaded = cpu().load(program.serialize());
    check(loaded, one, cpu().device());
    EXPECT_EQ(loaded.name(), program.name());
    EXPECT_EQ(loaded.fingerprint(), program.fingerprint());
    EXPECT_EQ(loaded.parameter_types(), program.parameter_types());
    EXPECT_EQ(loaded.result_types(), program.result_types());
    EXPECT_EQ(loaded.compile_seconds(), 0);
    check(cpu().load(loaded.serialize()), one, cpu().device());  // and once more
  }
}

TEST(Load, KeepsDevicesDonationAndPortability) {
  LoadedExecutable assigned = cpu().compile(programs::twice, {.device_assignment = {{3}}});
  EXPECT_EQ(cpu().load(assigned.serialize()).devices(), std::vector{cpu().device(3)});
  LoadedExecutable sharded_program = cpu().compile(shardy_product(by_rows, by_columns, by_rows),
                                                   {.partitions = 4, .spmd = true, .shardy = true});
  EXPECT_EQ(cpu().load(sharded_program.serialize()).devices(), cpu().devices());

  LoadedExecutable portable = cpu().compile(programs::twice, {.portable = true});
  Buffer there = vector_of({1, 2, 3, 4}, cpu().device(1));
  EXPECT_EQ(cpu()
                .load(portable.serialize())
                .run({&there}, {.device = cpu().device(1)})[0]
                .to_vector<float>(),
            (Floats{2, 4, 6, 8}));

  LoadedExecutable donating = cpu().load(marked("tf.aliasing_output = 0 : i32").serialize());
  Pair p;
  EXPECT_EQ(donating.run({&p.a, &p.b}, {.donate = {0}})[0].to_vector<float>(), Floats(1024, 3));
  EXPECT_TRUE(p.a.released());
}

TEST(Load, RefusesWhatIsNoProgram) {
  std::string bytes = compiled(programs::twice).serialize();
  for (std::string_view wrong : {std::string_view("hello"), std::string_view(""),
                                 std::string_view(bytes).substr(0, bytes.size() / 2)}) {
    EXPECT_THROW(cpu().load(wrong), RuntimeError);
  }
}

TEST(Load, WorksInAnotherProcess) {
  TemporaryFolder folder;
  auto write = [&](const std::string& name, const LoadedExecutable& program) {
    std::ofstream(folder.path() / name, std::ios::binary) << program.serialize();
  };
  for (const Case& one : cases()) write(one.name, cpu().compile(one.text));
  write("loop", compiled(programs::loop));
  EXPECT_EQ(exit_code(start_self({"--load", folder.path().string()})), 0);
}

// The other process: 0 when every program loads and gives what it should.
int load_from(const std::filesystem::path& folder) {
  auto load = [&](const std::string& name) {
    std::ifstream stream(folder / name, std::ios::binary);
    std::ostringstream bytes;
    bytes << stream.rdbuf();
    return cpu().load(bytes.str());
  };
  try {
    for (const Case& one : cases()) check(load(one.name), one, cpu().device());
    check_loop(load("loop"), cpu().device());
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
}

}  // namespace
}  // namespace sturnus

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && std::string_view(argv[1]) == "--load") return sturnus::load_from(argv[2]);
  return RUN_ALL_TESTS();
}
