// Compiling: flags, and messages about what does not compile.
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/executable.h>

#include <map>

#include "tests/runtime/sample_programs.h"

namespace sturnus {
namespace {

TEST(Compile, TakesXlaFlagsOfEveryType) {
  auto kernels = [](const std::map<std::string, XlaFlag>& flags) {
    return total_count(cpu().compile(fused, {.xla_flags = flags}).report().run.kernels);
  };
  EXPECT_GT(kernels({{"xla_disable_hlo_passes", "fusion"},  // one kernel for each operation
                     {"xla_cpu_enable_fast_math", false},
                     {"xla_backend_optimization_level", 1}}),
            kernels({}));
}

TEST(Compile, RefusesUnknownFlagsAndWrongValues) {
  auto complaint = [](const std::map<std::string, XlaFlag>& flags) {
    return error_of<RuntimeError>([&] { cpu().compile(programs::twice, {.xla_flags = flags}); });
  };
  EXPECT_EQ(complaint({{"xla_no_such_flag", true}}),
            "PJRT_Client_Compile: No such compile option: 'xla_no_such_flag' [INVALID_ARGUMENT]");
  EXPECT_EQ(complaint({{"xla_cpu_enable_fast_math", "maybe"}}),
            "PJRT_Client_Compile: While setting option xla_cpu_enable_fast_math, 'maybe' is not a "
            "valid bool value. [INVALID_ARGUMENT]");
}

TEST(Compile, ShowsTheLineThatDoesNotParse) {
  struct {
    std::string text, diagnostic, line;
  } const rows[] = {
      {"module @m {\n  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
       "    %0 = stablehlo.add %a, %z : tensor<4xf32>\n    return %0 : tensor<4xf32>\n  }\n}\n",
       "3:28: error: use of undeclared SSA value name",
       "line 3 of the program:     %0 = stablehlo.add %a, %z : tensor<4xf32>"},
      {"module @m {\n  func.func public @main(%a: tensor<4xf32>, %b: tensor<f32>) -> tensor<4xf32> "
       "{\n"
       "    %0 = stablehlo.add %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n"
       "    return %0 : tensor<4xf32>\n  }\n}\n",
       "'stablehlo.add' op requires the same shape for all operands and results",
       "line 3 of the program:     %0 = stablehlo.add %a, %b : (tensor<4xf32>, tensor<f32>)"},
      {"module @m {\n  func.func public @main(%a: tensor<4xf32>) -> tensor<f32> {\n"
       "    return %a : tensor<4xf32>\n  }\n}\n",
       "type of return operand 0", "line 3 of the program:     return %a : tensor<4xf32>"},
      {"hello", "custom op 'hello' is unknown", "line 1 of the program: hello"},
      {"module @m {\n\n  stablehlo.frobnicate\n}", "stablehlo.frobnicate",
       "line 3 of the program:   stablehlo.frobnicate"},
      {"module @m {\n  func.func public @main(", "error: ", "line 2 of the program: "},
  };
  for (const auto& row : rows) {
    try {
      cpu().compile(row.text);
      ADD_FAILURE() << "no exception for " << row.text;
    } catch (const RuntimeError& error) {
      EXPECT_EQ(error.call(), "PJRT_Client_Compile");
      EXPECT_NE(error.detail().find(row.diagnostic), std::string::npos) << error.what();
      EXPECT_NE(error.detail().find(row.line), std::string::npos) << error.what();
    }
  }
}

TEST(Compile, RefusesWhatIsNoProgram) {
  for (std::string_view text :
       {"", " ", "\n\n", "module {}", "\0", "module @m { func.func @f() { return } }"}) {
    EXPECT_THROW(cpu().compile(text), RuntimeError) << text;
  }
}

}  // namespace
}  // namespace sturnus
