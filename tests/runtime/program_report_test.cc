#include <gtest/gtest.h>
#include <sturnus/runtime/program_report.h>

#include <limits>
#include <random>

namespace sturnus {
namespace {

using Ids = std::vector<std::int64_t>;

HloInstruction instruction(std::string opcode, Ids called = {},
                           std::optional<std::int64_t> trip_count = {}) {
  HloInstruction made;
  made.opcode = std::move(opcode);
  made.called_ids = std::move(called);
  made.trip_count = trip_count;
  return made;
}

HloInstruction array(std::string opcode, std::int64_t id, std::vector<Shape> shapes,
                     Ids operands = {}) {
  HloInstruction made = instruction(std::move(opcode));
  made.id = id;
  made.operand_ids = std::move(operands);
  for (Shape& shape : shapes) made.results.push_back(ArrayType{DType::f32, std::move(shape)});
  return made;
}

// Computation i has the id i and the name "ci"; the last one is the entry.
HloProgram program(std::vector<std::vector<HloInstruction>> bodies) {
  HloProgram made;
  made.name = "program";
  for (auto& body : bodies) {
    auto id = static_cast<std::int64_t>(made.computations.size());
    made.computations.push_back({id, "c" + std::to_string(id), std::move(body)});
    made.entry_id = id;
  }
  return made;
}

Work run(std::vector<std::vector<HloInstruction>> bodies) {
  return make_report(program(std::move(bodies))).run;
}

TEST(ProgramReport, CountsKernelsAndLeavesOutWhatIsFree) {
  auto work = run({{instruction("parameter"), instruction("constant"), instruction("dot"),
                    instruction("tuple"), instruction("bitcast"), instruction("dot"),
                    instruction("get-tuple-element"), instruction("sort")}});
  EXPECT_EQ(work.kernels, (Counts{{"dot", 2}, {"sort", 1}}));
  EXPECT_EQ(work.free, 5);
  EXPECT_TRUE(work.collectives.empty());
  EXPECT_FALSE(work.has_open_loops);
}

TEST(ProgramReport, CountsAFusionOnce) {
  const auto fused = std::vector{instruction("multiply"), instruction("add")};
  auto report = make_report(program({fused, {instruction("fusion", {0})}}));
  EXPECT_EQ(report.run.kernels, (Counts{{"fusion", 1}}));
  EXPECT_EQ(report.instructions, (Counts{{"add", 1}, {"fusion", 1}, {"multiply", 1}}));
}

TEST(ProgramReport, DoesNotCountWhatAReductionApplies) {
  EXPECT_EQ(run({{instruction("add")}, {instruction("reduce", {0})}}).kernels,
            (Counts{{"reduce", 1}}));
}

TEST(ProgramReport, TellsCustomCallsByTarget) {
  auto gemm = instruction("custom-call"), allocate = instruction("custom-call");
  gemm.custom_call_target = "__cublas$gemm";
  allocate.custom_call_target = "AllocateBuffer";
  auto work = run({{gemm, allocate}});
  EXPECT_EQ(work.kernels, (Counts{{"custom-call __cublas$gemm", 1}}));
  EXPECT_EQ(work.free, 1);
}

TEST(ProgramReport, TakesTheLargestBranchOfAConditional) {
  const std::vector large = {instruction("dot"), instruction("sort")};
  const std::vector small = {instruction("add")};
  for (const auto& bodies : {std::vector{large, small, {instruction("conditional", {0, 1})}},
                             std::vector{small, large, {instruction("conditional", {0, 1})}}}) {
    EXPECT_EQ(run(bodies).kernels, (Counts{{"dot", 1}, {"sort", 1}}));
  }
}

TEST(ProgramReport, RepeatsALoopOfKnownLengthWithoutItsCondition) {
  auto report = make_report(program({{instruction("dot"), instruction("parameter")},
                                     {instruction("compare")},
                                     {instruction("copy"), instruction("while", {0, 1}, 31)}}));
  EXPECT_EQ(report.run.kernels, (Counts{{"copy", 1}, {"dot", 31}}));
  EXPECT_EQ(report.run.free, 31);
  EXPECT_FALSE(report.run.has_open_loops);
  ASSERT_EQ(report.loops.size(), 1u);
  EXPECT_EQ(report.loops[0].body, "c0");
  EXPECT_EQ(report.loops[0].trip_count, 31);
  EXPECT_EQ(report.loops[0].iteration.kernels, (Counts{{"dot", 1}}));
}

TEST(ProgramReport, CountsALoopOfUnknownLengthOnceAndSaysSo) {
  auto report = make_report(
      program({{instruction("dot")}, {instruction("compare")}, {instruction("while", {0, 1})}}));
  EXPECT_EQ(report.run.kernels, (Counts{{"compare", 1}, {"dot", 1}}));
  EXPECT_TRUE(report.run.has_open_loops);
  EXPECT_EQ(report.loops.at(0).trip_count, std::nullopt);
  EXPECT_FALSE(report.loops.at(0).iteration.has_open_loops);
}

TEST(ProgramReport, ListsOuterLoopsFirst) {
  auto report = make_report(program({{instruction("dot")},
                                     {instruction("compare")},
                                     {instruction("sort"), instruction("while", {0, 1}, 3)},
                                     {instruction("while", {2, 1}, 5)}}));
  EXPECT_EQ(report.run.kernels, (Counts{{"dot", 15}, {"sort", 5}}));
  ASSERT_EQ(report.loops.size(), 2u);
  EXPECT_EQ(report.loops[0].body, "c2");
  EXPECT_EQ(report.loops[0].iteration.kernels, (Counts{{"dot", 3}, {"sort", 1}}));
  EXPECT_EQ(report.loops[1].body, "c0");
}

TEST(ProgramReport, SumsTheBytesOfCollectives) {
  // Two devices, f32: an all-gather ends with twice its input, a reduce-scatter with half.
  auto work = run({{array("parameter", 1, {{4}}), array("all-gather", 2, {{8}}, {1}),
                    array("all-reduce", 3, {{8}, {2}}, {2, 1}),
                    array("reduce-scatter", 4, {{4}}, {2}), array("all-gather", 5, {{100}}, {1})}});
  EXPECT_EQ(work.collectives.at("all-gather"), (CollectiveUse{2, 432}));
  EXPECT_EQ(work.collectives.at("all-reduce"), (CollectiveUse{1, 40}));
  EXPECT_EQ(work.collectives.at("reduce-scatter"), (CollectiveUse{1, 32}));
  EXPECT_EQ(work.kernels, (Counts{{"all-gather", 2}, {"all-reduce", 1}, {"reduce-scatter", 1}}));
}

// An all-gather from 4 to 16 floats, in every form that XLA gives it.
TEST(ProgramReport, CountsACollectiveOnceInEveryForm) {
  const auto input = array("parameter", 1, {{4}});
  const auto gather = array("all-gather", 2, {{16}}, {1});
  const std::pair<std::vector<std::vector<HloInstruction>>, std::string> forms[] = {
      {{{input, gather}}, "all-gather"},
      {{{input, array("all-gather-start", 2, {{4}, {16}}, {1}),
         array("all-gather-done", 3, {{16}}, {2})}},
       "all-gather"},
      {{{input, gather},
        {instruction("async-start", {0}), instruction("async-update"), instruction("async-done")}},
       "all-gather"},
      {{{input, gather}, {instruction("call", {0})}}, "all-gather"},
      {{{input, gather}, {instruction("fusion", {0})}}, "fusion"},
      {{{input, gather}, {instruction("fusion", {0})}, {instruction("async-start", {1})}},
       "fusion"}};
  for (const auto& [bodies, kernel] : forms) {
    auto work = run(bodies);
    EXPECT_EQ(work.kernels, (Counts{{kernel, 1}}));
    ASSERT_EQ(work.collectives.size(), 1u);
    EXPECT_EQ(work.collectives.at("all-gather"), (CollectiveUse{1, 64}));
  }
}

TEST(ProgramReport, RepeatsCollectivesWithTheirLoop) {
  auto report = make_report(program({{array("all-reduce", 1, {{25}})},
                                     {instruction("compare")},
                                     {instruction("while", {0, 1}, 1000)}}));
  EXPECT_EQ(report.run.collectives.at("all-reduce"), (CollectiveUse{1000, 100000}));
  EXPECT_EQ(report.loops.at(0).iteration.collectives.at("all-reduce"), (CollectiveUse{1, 100}));
}

TEST(ProgramReport, StaysAtTheLargestNumber) {
  std::vector<std::vector<HloInstruction>> bodies = {{instruction("dot")}};
  for (std::int64_t i = 0; i < 100; i++) bodies.push_back({instruction("call", {i, i})});
  EXPECT_EQ(total_count(run(bodies).kernels), std::numeric_limits<std::int64_t>::max());
}

// The law: what is counted is what an interpreter would launch, one kernel at a time.
class Interpreter {
 public:
  explicit Interpreter(const HloProgram& program) : program_(program) {}

  std::vector<std::string> launches(std::int64_t computation) const {
    std::vector<std::string> all;
    for (const auto& step :
         program_.computations[static_cast<std::size_t>(computation)].instructions) {
      for (auto& launch : launches(step)) all.push_back(std::move(launch));
    }
    return all;
  }

 private:
  std::vector<std::string> launches(const HloInstruction& step) const {
    std::vector<std::string> all;
    const auto run = [&](std::int64_t callee) {
      for (auto& launch : launches(callee)) all.push_back(std::move(launch));
    };
    if (step.opcode == "parameter") return {};
    if (step.opcode == "call") {
      run(step.called_ids[0]);
    } else if (step.opcode == "while" && step.trip_count) {
      for (std::int64_t i = 0; i < *step.trip_count; i++) run(step.called_ids[0]);
    } else if (step.opcode == "while") {
      run(step.called_ids[0]);
      run(step.called_ids[1]);
    } else {
      return {step.opcode};
    }
    return all;
  }

  const HloProgram& program_;
};

TEST(ProgramReport, CountsWhatAnInterpreterWouldLaunch) {
  std::mt19937 random(3);
  const char* leaves[] = {"parameter", "dot", "add", "fusion"};
  for (int round = 0; round < 300; round++) {
    std::vector<std::vector<HloInstruction>> bodies(1 + random() % 5);
    for (std::size_t c = 0; c < bodies.size(); c++) {
      const auto callee = [&] { return static_cast<std::int64_t>(random() % c); };
      bodies[c].push_back(instruction("dot"));
      for (auto left = random() % 4; left > 0; left--) {
        switch (c == 0 ? 0 : random() % 4) {
          case 1:
            bodies[c].push_back(instruction("call", {callee()}));
            break;
          case 2:
            bodies[c].push_back(instruction("while", {callee(), callee()}, 1 + random() % 3));
            break;
          case 3:
            bodies[c].push_back(instruction("while", {callee(), callee()}));
            break;
          default:
            bodies[c].push_back(instruction(leaves[random() % 4]));
        }
      }
    }
    const HloProgram made = program(bodies);
    Counts expected;
    for (const auto& launch : Interpreter(made).launches(made.entry_id)) expected[launch]++;
    ASSERT_EQ(make_report(made).run.kernels, expected) << "round " << round;
  }
}

TEST(ProgramReport, PrintsAnAlignedTable) {
  auto report = make_report(program({{instruction("fusion"), array("all-reduce", 1, {{256}})},
                                     {instruction("compare")},
                                     {instruction("while", {0, 1}, 31), instruction("copy")},
                                     {instruction("while", {2, 1})}}));
  report.compile_seconds = 1.25;
  report.argument_bytes = 1023;
  report.output_bytes = 4096;
  report.alias_bytes = 1024;
  report.temporary_bytes = 5 << 20;
  EXPECT_EQ(
      to_string(report),
      "program\n"
      "compile time                    1.25 s\n"
      "code                                 ?\n"
      "arguments                       1023 B\n"
      "outputs                        4.0 KiB  1.0 KiB of them in arguments\n"
      "temporary                      5.0 MiB\n"
      "instructions                         6  while 2, all-reduce 1, compare 1, copy 1, fusion 1\n"
      "kernels of one run               >= 64  all-reduce 31, fusion 31, compare 1, copy 1\n"
      "iteration of loop 1, ? times        64  all-reduce 31, fusion 31, compare 1, copy 1; c2\n"
      "iteration of loop 2, 31 times        2  all-reduce 1, fusion 1; c0\n"
      "all-reduce in one run            >= 31  31.0 KiB per device\n");
}

// The whole program's size stands in for the code's, under its own name.
TEST(ProgramReport, TellsTheSizeThatIsKnown) {
  auto report = make_report(program({{instruction("fusion")}}));
  report.serialized_bytes = 2048;
  EXPECT_NE(to_string(report).find("serialised program  2.0 KiB  code and what goes with it"),
            std::string::npos)
      << to_string(report);
  report.code_bytes = 1024;
  EXPECT_NE(to_string(report).find("code                1.0 KiB\n"), std::string::npos);
  EXPECT_EQ(to_string(report).find("serialised"), std::string::npos);
}

}  // namespace
}  // namespace sturnus
