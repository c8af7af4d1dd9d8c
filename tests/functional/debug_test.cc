#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/custom.h>
#include <sturnus/functional/debug.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/host_callback.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string here(int line) { return " (debug_test.cc:" + std::to_string(line) + ")"; }

// What debug_print prints while `f` runs; f returns arrays to wait for.
std::vector<std::string> printed_by(const std::function<Array()>& f) {
  std::vector<std::string> lines;
  set_debug_sink([&lines](const std::string& line) { lines.push_back(line); });
  Array result = f();
  result.await();
  set_debug_sink({});
  return lines;
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const Array xs = array({1, 2, 3});

// ----------------------------------------------------------------------------------- debug_print

TEST(DebugPrint, AtOnceAndInAProgram) {
  auto f = [](Array x) { return exp(debug_print("x", x)); };
  std::string line = "x: [1 2 3]" + here(__LINE__ - 1);
  EXPECT_THAT(printed_by([&] { return f(xs); }), ElementsAre(line));
  auto compiled = jit(f);
  // Each run prints.
  EXPECT_THAT(printed_by([&] { return compiled(xs); }), ElementsAre(line));
  EXPECT_THAT(printed_by([&] { return compiled(2.0 * xs); }),
              ElementsAre(StartsWith("x: [2 4 6]")));
}

TEST(DebugPrint, AllElementTypesScalarsAndMatrices) {
  auto show = [](Array x) {
    auto lines = printed_by([&] { return jit([](Array y) { return debug_print("v", y); })(x); });
    return lines.size() == 1 ? lines[0].substr(0, lines[0].rfind(" (")) : "not one line";
  };
  for (int i = 0; i < dtype_count; i++) {
    auto dtype = static_cast<DType>(i);
    Array x = array({{0, 1, 1}, {1, 0, 1}}, dtype);
    EXPECT_EQ(show(x), "v:\n" + to_string(x)) << name_of(dtype);
  }
  EXPECT_EQ(show(Array(2.5)), "v: 2.5");
  EXPECT_EQ(show(array(std::vector<float>(), {0})), "v: []");
}

TEST(DebugPrint, LabelsMayHaveAnyCharacters) {
  std::string label = "\"quoted\" \\ back\nslash \xC3\xA9 %";
  auto lines = printed_by(
      [&] { return jit([&](Array x) { return debug_print(label, x) + 1.0; })(Array(1.0)); });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], StartsWith(label + ": 1 (debug_test.cc:"));
}

TEST(DebugPrint, EachIterationOfLoops) {
  auto steps = jit([](Array x) {
    return fori_loop(
        0, 3, [](Array, Array c) { return 2.0 * debug_print("c", c); }, x);
  });
  auto lines = printed_by([&] { return steps(Array(1.0)); });
  std::string line = here(__LINE__ - 3);
  EXPECT_THAT(lines, ElementsAre("c: 1" + line, "c: 2" + line, "c: 4" + line));
  auto until = jit([](Array x) {
    return while_loop([](Array c) { return c < 5.0; },
                      [](Array c) { return 2.0 * debug_print("w", c); }, x);
  });
  EXPECT_EQ(printed_by([&] { return until(Array(1.0)); }).size(), 3u);
}

TEST(DebugPrint, OnlyTheBranchThatIsTaken) {
  auto f = jit([](Array x) {
    return cond(
        x > 0.0, [](Array y) { return debug_print("positive", y); },
        [](Array y) { return debug_print("negative", -y); }, x);
  });
  auto lines = printed_by([&] { return f(Array(-2.0)); });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], StartsWith("negative: 2"));
}

TEST(DebugPrint, UnderVmapAndGrad) {
  auto f = [](Array x) {
    Array y = debug_print("y", x * x);
    return y * y;
  };
  std::string line = here(__LINE__ - 3);
  EXPECT_THAT(printed_by([&] { return vmap(f)(xs); }), ElementsAre("y: [1 4 9]" + line));
  // Forward mode, then reverse mode; the derivative 4 x^3 is what it is without.
  for (bool compiled : {false, true}) {
    auto slope = grad(f);
    Array result;
    auto lines =
        printed_by([&] { return result = compiled ? jit(slope)(Array(3.0)) : slope(Array(3.0)); });
    EXPECT_THAT(lines, ElementsAre("y: 9" + line));
    EXPECT_EQ(result.item<float>(), 108);
    auto gradient = grad([&](Array x) { return sum(f(x)); });
    lines = printed_by([&] { return result = compiled ? jit(gradient)(xs) : gradient(xs); });
    EXPECT_THAT(lines, ElementsAre("y: [1 4 9]" + line));
    EXPECT_EQ(result.to_vector<float>(), (std::vector<float>{4, 32, 108}));
  }
  EXPECT_EQ(grad(grad(f))(Array(3.0)).item<float>(), 108);
}

// Where only the derivative is needed, the value is printed nevertheless.
TEST(DebugPrint, GradOfSomethingLinear) {
  auto f = jit(grad([](Array x) { return sum(debug_print("x", x)); }));
  EXPECT_THAT(printed_by([&] { return f(xs); }), ElementsAre(StartsWith("x: [1 2 3]")));
}

TEST(DebugPrint, WhatIsNotUsedIsNotPrinted) {
  auto f = jit([](Array x) {
    (void)debug_print("unused", x);
    return x + 1.0;
  });
  EXPECT_TRUE(printed_by([&] { return f(xs); }).empty());
}

// -------------------------------------------------------------------------------- host callbacks

TEST(HostCallback, AnExceptionIsAnErrorOfTheRun) {
  set_debug_sink([](const std::string&) { throw Error("the sink is full"); });
  auto f = jit([](Array x) { return debug_print("x", x); });
  EXPECT_THAT(error_of([&] { f(xs).await(); }), HasSubstr("the sink is full"));
  set_debug_sink([](const std::string&) { throw 3; });
  EXPECT_THAT(error_of([&] { f(xs).await(); }), HasSubstr("no std::exception"));
  set_debug_sink({});
  EXPECT_EQ(f(xs).to_vector<float>()[0], 1);  // the program can still run
}

std::string calling(const std::string& callback) {
  return R"(module @m {
func.func public @main(%0: tensor<2x3xf32>) -> tensor<3xf64> {
  %1 = "stablehlo.custom_call"(%0) {call_target_name = "sturnus_host_callback",
    api_version = 4 : i32, has_side_effect = true,
    backend_config = {callback = ")" +
         callback + R"(", parameter = "p"},
    operand_layouts = [dense<[1, 0]> : tensor<2xindex>],
    result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2x3xf32>) -> tensor<3xf64>
  "func.return"(%1) : (tensor<3xf64>) -> ()
}
})";
}

TEST(HostCallback, GetsArgumentsAndFillsResults) {
  add_host_callback("column sums", [](const HostCall& call) {
    EXPECT_EQ(call.parameter, "p");
    ASSERT_EQ(call.arguments.size(), 1u);
    EXPECT_EQ(call.arguments[0].type.str(), "f32[2,3]");
    auto x = call.arguments[0].elements<const float>();
    auto y = call.results[0].elements<double>();
    for (std::size_t i = 0; i < 3; i++) y[i] = x[i] + x[i + 3];
  });
  Client client = default_device().owner();
  LoadedExecutable program = client.compile(calling("column sums"));
  Array x = array({{1, 2, 3}, {10, 20, 30}});
  EXPECT_EQ(program.run({&x.buffer()})[0].to_vector<double>(), (std::vector<double>{11, 22, 33}));
  LoadedExecutable stranger = client.compile(calling("nobody"));
  EXPECT_THAT(error_of([&] { stranger.run({&x.buffer()})[0].await(); }),
              HasSubstr("host callback: the program calls \"nobody\", which this process does not "
                        "have. Add it with add_host_callback"));
}

// ------------------------------------------------------------------------------------- DebugNans

const std::string remedy =
    ". Keep its inputs where it is defined, for instance with where or maximum, or look at them "
    "with debug_print";

TEST(DebugNans, NamesTheOperationAtOnceAndInPrograms) {
  auto f = [](Array x) {
    Array y = x - 2.0;
    Array z = log(y);
    return sum(z * 2.0);
  };
  std::string log_line = here(__LINE__ - 3);
  DebugNans guard;
  std::string message = "DebugNans: log gives nan of -1 at [0] in f32[3]" + log_line + remedy;
  EXPECT_EQ(error_of([&] { f(xs); }), message);
  EXPECT_EQ(error_of([&] { jit(f)(xs); }), message);
  EXPECT_EQ(error_of([&] { grad(f)(xs); }), message);
  EXPECT_EQ(error_of([&] {
              vmap([&](Array row) { return f(row); })(array({{4, 5, 6}, {7, 8, 1}}));
            }),
            "DebugNans: log gives nan of -1 at [1,2] in f32[2,3]" + log_line + remedy);
}

TEST(DebugNans, IsSilentWithoutNansAndWithoutTheGuard) {
  auto f = jit([](Array x) { return log(x); });
  EXPECT_EQ(error_of([&] { f(-xs); }), "no error");
  {
    DebugNans guard;
    EXPECT_EQ(error_of([&] { f(xs); }), "no error");
    // The program was traced before; now its graph is known.
    EXPECT_THAT(error_of([&] { f(-xs); }), StartsWith("DebugNans: log gives nan of -1 at [0]"));
    EXPECT_EQ(error_of([&] { f(0.0 * xs); }), "no error");  // -inf is no NaN
  }
  EXPECT_EQ(error_of([&] { f(-xs); }), "no error");
}

TEST(DebugNans, FindsInfinitiesWhenAsked) {
  auto f = jit([](Array x) { return exp(1.0 / x); });
  DebugNans guard(DebugNans::NonFinite::infinity);
  EXPECT_THAT(error_of([&] {
                f(array({1, 2, 0}));
              }),
              StartsWith("DebugNans: divide gives inf of 1, 0 at [2] in f32[3] (debug_test.cc:"));
}

TEST(DebugNans, NamesTheIterationOfLoops) {
  auto f = jit([](Array x) {
    auto step = [](Array c, Array push) {
      Array next = c - push;
      return std::pair(next, sqrt(next));
    };
    return scan(step, x, array({1, 1, 1, 1})).second;
  });
  DebugNans guard;
  EXPECT_EQ(error_of([&] { f(Array(2.5)); }), "DebugNans: sqrt gives nan of -0.5 in f32[]" +
                                                  here(__LINE__ - 6) + "; in iteration 2 of scan" +
                                                  here(__LINE__ - 5) + remedy);
  auto g = jit([](Array x) {
    return while_loop([](Array c) { return c < 10.0; },
                      [](Array c) { return c + 1.0 + 1e-9 * sqrt(2.5 - c); }, x);
  });
  EXPECT_THAT(error_of([&] { g(Array(1.0)); }), HasSubstr("sqrt gives nan of -0.5"));
  EXPECT_THAT(error_of([&] { g(Array(1.0)); }), HasSubstr("; in iteration 2 of while_loop"));
}

TEST(DebugNans, LooksIntoBranchesCheckpointsAndCustomRules) {
  auto branch = jit([](Array x) {
    return cond(
        x > 0.0, [](Array y) { return y; }, [](Array y) { return log(y); }, x);
  });
  DebugNans guard;
  EXPECT_THAT(error_of([&] { branch(Array(-1.0)); }),
              ::testing::AllOf(StartsWith("DebugNans: log gives nan of -1 in f32[]"),
                               HasSubstr("; in branch 0")));
  auto again = jit(checkpoint([](Array x) { return sum(sqrt(x)); }));
  EXPECT_THAT(error_of([&] { again(-xs); }),
              ::testing::AllOf(StartsWith("DebugNans: sqrt gives nan of -1 at [0] in f32[3]"),
                               HasSubstr("; in checkpoint")));
}

// The derivative of sqrt at 0 is infinite, and 0 times that is a NaN: in the derivative, not in f.
TEST(DebugNans, InDerivatives) {
  auto f = [](Array x) { return sum(sqrt(x) * array({0, 1, 2})); };
  std::string line = here(__LINE__ - 1);
  DebugNans guard;
  EXPECT_EQ(error_of([&] { jit(f)(array({0, 1, 2})); }), "no error");
  std::string message = error_of([&] { jit(grad(f))(array({0, 1, 2})); });
  EXPECT_THAT(message, ::testing::AllOf(StartsWith("DebugNans: "), HasSubstr("gives nan of "),
                                        HasSubstr(" at [0] in f32[3]" + line)));
}

TEST(DebugNans, InProgramsCompiledAheadOfTime) {
  auto f = [](Array x) { return sum(log(x - 2.0)); };
  std::string message =
      "DebugNans: log gives nan of -1 at [0] in f32[3]" + here(__LINE__ - 2) + remedy;
  Program program = lower(f, xs).compile();  // without the guard
  auto typed = jit(f).compile(xs);
  std::string path = ::testing::TempDir() + "debug_nans_program";
  program.save(path);
  Program loaded = Program::load(path);
  EXPECT_EQ(error_of([&] { program.run({xs}); }), "no error");
  DebugNans guard;
  EXPECT_EQ(error_of([&] { program.run({xs}); }), message);
  EXPECT_EQ(error_of([&] { typed(xs); }), message);
  EXPECT_EQ(error_of([&] { program.run({xs + 2.0}); }), "no error");
  // A file has no graph: only the result is known, and what it was called with.
  EXPECT_EQ(error_of([&] { loaded.run({xs}); }),
            "DebugNans: result 0, f32[], is nan, and which operation made it is not known of a "
            "program from a file. Run the function that it was made of");
  EXPECT_EQ(error_of([&] { loaded.run({xs + 2.0}); }), "no error");
}

// What is donated is kept, since the search for the culprit needs it.
TEST(DebugNans, KeepsWhatIsDonated) {
  auto f = jit([](Array x) { return sqrt(x); }, {.donate = {0}});
  Array x = array({4, -1, 9});
  Program program = f.lower(x).compile();
  DebugNans guard;
  for (int i = 0; i < 2; i++) {
    EXPECT_THAT(error_of([&] { program.run({x}); }),
                StartsWith("DebugNans: sqrt gives nan of -1 at [1] in f32[3]"));
    EXPECT_THAT(error_of([&] { f(x); }), StartsWith("DebugNans: sqrt gives nan of -1"));
  }
  EXPECT_EQ(x.to_vector<float>()[2], 9);
}

TEST(DebugNans, ArgumentsAndCapturedArrays) {
  Array bad = log(-xs);
  DebugNans guard;
  auto f = jit([](Array x, Array y) { return x + y; });
  const int line = __LINE__ - 1;
  EXPECT_EQ(error_of([&] { f(xs, bad); }), "DebugNans: the function" + here(line) +
                                               " is called with nan at [0] of argument 1, "
                                               "f32[3]. Look at what made that argument");
  EXPECT_THAT(error_of([&] { jit([&](Array x) { return x * bad; })(xs); }),
              StartsWith("DebugNans: result 0, f32[3], is nan at [0], and no operation makes it"));
}

}  // namespace
}  // namespace sturnus
