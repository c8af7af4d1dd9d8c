#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/hlo_program.h>
#include <sturnus/runtime/program_report.h>

#include <random>

#include "src/runtime/wire.h"

namespace sturnus {
namespace {

using internal::WireWriter;
using Integers = std::vector<std::int64_t>;

// Numbers of xla::PrimitiveType.
constexpr int pred = 1, s32 = 4, f32 = 11, tuple = 13, token = 17, f8e5m2 = 19;

WireWriter shape(int type, Integers extents = {}) {
  WireWriter layout;
  layout.packed(1, Integers(extents.rbegin(), extents.rend()));
  return WireWriter().varint(2, type).packed(3, extents).message(5, layout);
}

WireWriter tuple_of(const std::vector<WireWriter>& parts) {
  WireWriter writer;
  writer.varint(2, tuple);
  for (const WireWriter& part : parts) writer.message(4, part);
  return writer;
}

WireWriter signature(const std::vector<WireWriter>& parameters, const WireWriter& result) {
  WireWriter writer;
  for (const WireWriter& parameter : parameters) writer.message(1, parameter);
  return writer.message(2, result).bytes(3, "p0");
}

struct Instruction {
  std::int64_t id = 0;
  std::string name;
  std::string opcode;
  WireWriter type = shape(f32);
  Integers operands = {};
  Integers called = {};
  std::string backend_config = "";
};

WireWriter message_of(const Instruction& instruction) {
  return WireWriter()
      .bytes(1, instruction.name)
      .bytes(2, instruction.opcode)
      .message(3, instruction.type)
      .message(7, WireWriter().bytes(2, "jit(f)/add"))
      .bytes(11, instruction.opcode == "fusion" ? "kLoop" : "")
      .bytes(28, instruction.opcode == "custom-call" ? "__cublas$gemm" : "")
      .varint(35, instruction.id)
      .packed(36, instruction.operands)
      .packed(38, instruction.called)
      .bytes(43, instruction.backend_config);
}

WireWriter computation(std::int64_t id, std::string name, std::vector<Instruction> instructions) {
  WireWriter writer;
  writer.bytes(1, name);
  for (const Instruction& instruction : instructions) writer.message(2, message_of(instruction));
  return writer.varint(5, id).varint(6, instructions.back().id);
}

// for i in 0..10: x = fused(x), with a custom-call beside the loop.
WireWriter loop_module() {
  const WireWriter matrix = shape(f32, {64, 32}), index = shape(s32);
  const WireWriter state = tuple_of({index, matrix});
  return WireWriter()
      .bytes(1, "loop")
      .bytes(2, "main")
      .message(3,
               computation(4, "fused",
                           {{41, "p", "parameter", matrix}, {42, "tanh.1", "tanh", matrix, {41}}}))
      .message(3, computation(1, "body",
                              {{11, "state", "parameter", state},
                               {12, "x", "get-tuple-element", matrix, {11}},
                               {13, "step", "fusion", matrix, {12}, {4}},
                               {14, "next", "tuple", state, {11, 13}}}))
      .message(3, computation(2, "condition",
                              {{21, "state.1", "parameter", state},
                               {22, "less", "compare", shape(pred), {21}}}))
      .message(3, computation(3, "main",
                              {{31, "x.1", "parameter", matrix},
                               {32, "gemm", "custom-call", matrix, {31}},
                               {33,
                                "while.1",
                                "while",
                                state,
                                {32},
                                {1, 2},
                                R"({"known_trip_count":{"n":"10"},"other":{"n":"7"}})"}}))
      .message(4, signature({matrix}, tuple_of({matrix, index})))
      .varint(5, 99)
      .varint(6, 3);
}

std::string with_config(const WireWriter& module) {
  return WireWriter().message(1, module).message(2, WireWriter().varint(1, 1)).str();
}

HloTypes types(std::vector<ArrayType> arrays) { return {arrays.begin(), arrays.end()}; }

void expect_loop_program(const HloProgram& program) {
  const ArrayType matrix{DType::f32, {64, 32}}, index{DType::i32, {}};
  EXPECT_EQ(program.name, "loop");
  EXPECT_EQ(program.entry_id, 3);
  EXPECT_EQ(program.signature.parameters, types({matrix}));
  EXPECT_EQ(program.signature.results, types({matrix, index}));
  ASSERT_EQ(program.computations.size(), 4u);
  EXPECT_EQ(program.computations[1].name, "body");
  EXPECT_EQ(program.computations[1].id, 1);
  const HloInstruction& fusion = program.computations[1].instructions.at(2);
  EXPECT_EQ(fusion.name, "step");
  EXPECT_EQ(fusion.opcode, "fusion");
  EXPECT_EQ(fusion.id, 13);
  EXPECT_EQ(fusion.fusion_kind, "kLoop");
  EXPECT_EQ(fusion.results, types({matrix}));
  EXPECT_EQ(fusion.operand_ids, Integers{12});
  EXPECT_EQ(fusion.called_ids, Integers{4});
  EXPECT_EQ(fusion.trip_count, std::nullopt);
  const auto& entry = program.computations[3].instructions;
  EXPECT_EQ(entry.at(1).custom_call_target, "__cublas$gemm");
  EXPECT_EQ(entry.at(2).trip_count, 10);
  EXPECT_EQ(entry.at(2).called_ids, (Integers{1, 2}));
  EXPECT_EQ(entry.at(2).results, types({index, matrix}));
}

TEST(ParseHlo, ReadsAModule) { expect_loop_program(parse_hlo(loop_module().str(), "hlo")); }

TEST(ParseHlo, ReadsAModuleWithItsConfiguration) {
  expect_loop_program(parse_hlo(with_config(loop_module()), "hlo_with_config"));
}

TEST(ParseHlo, RefusesOtherFormats) {
  EXPECT_THROW(parse_hlo("module {}", "mlir"), Error);
  EXPECT_THROW(entry_signature("module {}", "mlir"), Error);
}

TEST(EntrySignature, IsThatOfTheProgram) {
  auto module = loop_module();
  auto program = parse_hlo(module.str(), "hlo");
  for (auto signature : {entry_signature(module.str(), "hlo"),
                         entry_signature(with_config(module), "hlo_with_config")}) {
    EXPECT_EQ(signature.parameters, program.signature.parameters);
    EXPECT_EQ(signature.results, program.signature.results);
  }
}

TEST(EntrySignature, DoesNotLookIntoComputations) {
  auto module = WireWriter().bytes(3, "\xff damaged").message(4, signature({}, shape(f32, {2})));
  EXPECT_EQ(entry_signature(module.str(), "hlo").results, types({{DType::f32, {2}}}));
  EXPECT_THROW(parse_hlo(module.str(), "hlo"), Error);
}

TEST(EntrySignature, MustBeThere) {
  EXPECT_THROW(entry_signature("", "hlo"), Error);
  EXPECT_THROW(entry_signature(WireWriter().bytes(1, "name").str(), "hlo"), Error);
  EXPECT_THROW(entry_signature("", "hlo_with_config"), Error);
}

HloTypes read_type(const WireWriter& type) {
  return entry_signature(WireWriter().message(4, signature({}, type)).str(), "hlo").results;
}

TEST(EntrySignature, KnowsEveryElementType) {
  const std::pair<int, DType> rows[] = {
      {1, DType::boolean}, {2, DType::i8},   {3, DType::i16},  {4, DType::i32},  {5, DType::i64},
      {6, DType::u8},      {7, DType::u16},  {8, DType::u32},  {9, DType::u64},  {10, DType::f16},
      {16, DType::bf16},   {11, DType::f32}, {12, DType::f64}, {15, DType::c64}, {18, DType::c128}};
  EXPECT_EQ(std::size(rows), std::size_t{dtype_count});
  for (auto [primitive, dtype] : rows) {
    EXPECT_EQ(read_type(shape(primitive, {2, 3})), types({{dtype, {2, 3}}})) << primitive;
  }
}

TEST(EntrySignature, LeavesOutTypesThatItDoesNotKnow) {
  const HloTypes unknown = {std::nullopt};
  for (int primitive : {0, 14, token, f8e5m2, 21, 32, 34, 1000, -1}) {
    EXPECT_EQ(read_type(shape(primitive, {2})), unknown) << primitive;
  }
  EXPECT_EQ(read_type(shape(f32, {-1})), unknown);
  EXPECT_EQ(read_type(shape(f32, {std::int64_t{1} << 40, std::int64_t{1} << 40})), unknown);
  EXPECT_EQ(read_type(shape(f32, {0, std::int64_t{1} << 62, 4})), unknown);
  EXPECT_EQ(read_type(shape(f32, {4, 4}).packed(6, Integers{0, 1})), unknown);
  EXPECT_EQ(read_type(shape(f32, {4, 4}).packed(6, Integers{0, 0})), types({{DType::f32, {4, 4}}}));
}

TEST(EntrySignature, FlattensTuples) {
  const auto pair = tuple_of({shape(f32), shape(token)});
  EXPECT_EQ(read_type(tuple_of({pair, tuple_of({}), shape(s32, {0})})),
            (HloTypes{ArrayType{DType::f32, {}}, std::nullopt, ArrayType{DType::i32, {0}}}));
}

TEST(EntrySignature, ReadsExtentsThatAreNotPacked) {
  auto type = WireWriter().varint(3, 5).varint(3, 7).varint(2, f32);
  EXPECT_EQ(read_type(type), types({{DType::f32, {5, 7}}}));
}

TEST(EntrySignature, RefusesBottomlessTuples) {
  auto type = shape(f32);
  for (int depth = 0; depth < 100; depth++) type = tuple_of({type});
  EXPECT_EQ(read_type(type), types({{DType::f32, {}}}));
  for (int depth = 0; depth < 1000; depth++) type = tuple_of({type});
  EXPECT_THROW(read_type(type), Error);
}

TEST(ParseHlo, KnowsTripCountsOnlyWhereXlaTellsThem) {
  const std::pair<const char*, std::optional<std::int64_t>> rows[] = {
      {R"({"known_trip_count":{"n":"31"}})", 31},
      {R"({"known_init_step":{"init":"0"},"known_trip_count":{"n":"0"}})", 0},
      {R"({"known_trip_count":{"n":"9223372036854775807"}})", 9223372036854775807},
      {R"({"known_trip_count":{"n":"9223372036854775808"}})", std::nullopt},
      {R"({"known_trip_count":{"n":"-1"}})", std::nullopt},
      {R"({"known_trip_count":{"n":")", std::nullopt},
      {R"({"known_induction_variable":{"n":"3"}})", std::nullopt},
      {"", std::nullopt}};
  for (const auto& [config, count] : rows) {
    for (std::string opcode : {"while", "fusion"}) {
      auto module =
          WireWriter()
              .message(3, computation(1, "body", {{1, "p", "parameter"}}))
              .message(
                  3, computation(2, "main", {{2, "loop", opcode, shape(f32), {}, {1, 1}, config}}))
              .varint(6, 2);
      auto program = parse_hlo(module.str(), "hlo");
      EXPECT_EQ(program.computations[1].instructions[0].trip_count,
                opcode == "while" ? count : std::nullopt)
          << config;
    }
  }
}

TEST(ParseHlo, RefusesProgramsThatDoNotHoldTogether) {
  const auto leaf = computation(1, "leaf", {{1, "p", "parameter"}});
  const auto caller = computation(2, "caller", {{2, "c", "call", shape(f32), {}, {1}}});
  const auto itself = computation(2, "itself", {{2, "c", "call", shape(f32), {}, {2}}});
  const auto program = [](std::vector<WireWriter> computations, std::int64_t entry) {
    WireWriter module;
    for (const auto& part : computations) module.message(3, part);
    return module.varint(6, entry).str();
  };
  EXPECT_NO_THROW(parse_hlo(program({leaf, caller}, 2), "hlo"));
  EXPECT_THROW(parse_hlo(program({caller, leaf}, 2), "hlo"), Error);
  EXPECT_THROW(parse_hlo(program({leaf, itself}, 2), "hlo"), Error);
  EXPECT_THROW(parse_hlo(program({leaf, leaf, caller}, 2), "hlo"), Error);
  EXPECT_THROW(parse_hlo(program({leaf, caller}, 3), "hlo"), Error);
  EXPECT_THROW(parse_hlo("", "hlo"), Error);
  EXPECT_THROW(parse_hlo("", "hlo_with_config"), Error);
}

// Whatever is read can be reported. Returns whether it was read.
bool read_or_refuse(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());  // no slack for AddressSanitizer
  const std::string_view view(exact.data(), exact.size());
  try {
    entry_signature(view, "hlo_with_config");
  } catch (const Error&) {
  }
  try {
    to_string(make_report(parse_hlo(view, "hlo_with_config")));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(ParseHlo, ReadsOrRefusesEveryTruncation) {
  const std::string bytes = with_config(loop_module());
  ASSERT_TRUE(read_or_refuse(bytes));
  int read = 0;
  for (std::size_t size = 0; size < bytes.size(); size++)
    read += read_or_refuse(bytes.substr(0, size));
  EXPECT_EQ(read, 1);  // the one without the configuration
}

TEST(ParseHlo, ReadsOrRefusesDamagedBytes) {
  const std::string bytes = with_config(loop_module());
  std::mt19937 random(2);
  int read = 0;
  constexpr int rounds = 3000;
  for (int round = 0; round < rounds; round++) {
    std::string damaged = bytes;
    for (auto flips = random() % 4 + 1; flips > 0; flips--) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    read += read_or_refuse(damaged);
  }
  EXPECT_GT(read, rounds / 100);
  EXPECT_LT(read, rounds);
}

}  // namespace
}  // namespace sturnus
