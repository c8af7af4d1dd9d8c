// Running programs on one device, and what they say of themselves.
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/executable.h>

#include <complex>

#include "tests/runtime/sample_programs.h"

namespace sturnus {
namespace {

// -------------------------------------------------------------------------------------------- run

TEST(Run, GivesWhatPlainLoopsGive) {
  for (const Case& one : cases()) check(cpu().compile(one.text), one, cpu().device());
  check_loop(compiled(programs::loop), cpu().device());
}

// Every element type goes in and comes out: x + x.
TEST(Run, TakesEveryElementType) {
  const char* names[] = {"i1",   "i8",  "i16",  "i32", "i64", "ui8",          "ui16",        "ui32",
                         "ui64", "f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"};
  std::string parameters, types, values, body;
  for (std::size_t i = 0; i < std::size(names); i++) {
    std::string n = std::to_string(i), comma = i == 0 ? "" : ", ";
    std::string type = "tensor<3x" + std::string(names[i]) + ">";
    parameters += comma + "%a" + n + ": " + type;
    types += comma + type;
    values += comma + "%r" + n;
    body += "    %r" + n + " = stablehlo.add %a" + n + ", %a" + n + " : " + type + "\n";
  }
  LoadedExecutable program =
      cpu().compile("module @every { func.func public @main(" + parameters + ") -> (" + types +
                    ") {\n" + body + "    return " + values + " : " + types + "\n} }");

  // One, in each type, three times; and two, except that true or true is true.
  auto filled = [](DType dtype, int number) {
    auto bytes = [](auto value) {
      return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    auto x = static_cast<float>(number);
    const std::string elements[] = {bytes(true),
                                    bytes(static_cast<std::int8_t>(number)),
                                    bytes(static_cast<std::int16_t>(number)),
                                    bytes(static_cast<std::int32_t>(number)),
                                    bytes(static_cast<std::int64_t>(number)),
                                    bytes(static_cast<std::uint8_t>(number)),
                                    bytes(static_cast<std::uint16_t>(number)),
                                    bytes(static_cast<std::uint32_t>(number)),
                                    bytes(static_cast<std::uint64_t>(number)),
                                    bytes(f16(x)),
                                    bytes(bf16(x)),
                                    bytes(x),
                                    bytes(static_cast<double>(number)),
                                    bytes(std::complex<float>(x, -x)),
                                    bytes(std::complex<double>(number, -number))};
    const std::string& element = elements[static_cast<std::size_t>(dtype)];
    return element + element + element;
  };
  std::vector<Buffer> buffers;
  std::vector<const Buffer*> arguments;
  for (int i = 0; i < dtype_count; i++) {
    auto dtype = static_cast<DType>(i);
    buffers.push_back(Buffer::from_host(cpu().device(), {dtype, {3}}, filled(dtype, 1).data()));
  }
  for (const Buffer& buffer : buffers) arguments.push_back(&buffer);
  std::vector<Buffer> results = program.run(arguments);
  ASSERT_EQ(results.size(), static_cast<std::size_t>(dtype_count));
  for (int i = 0; i < dtype_count; i++) {
    auto dtype = static_cast<DType>(i);
    Buffer& result = results[static_cast<std::size_t>(i)];
    ASSERT_EQ(result.type(), (ArrayType{dtype, {3}}));
    std::string bytes(result.type().bytes(), '\0');
    result.to_host(bytes.data(), bytes.size());
    EXPECT_EQ(bytes, filled(dtype, 2)) << name_of(dtype);
  }
}

TEST(Run, PassesResultsOnBeforeTheyAreReady) {
  const LoadedExecutable& twice = compiled(programs::twice);
  std::vector<Buffer> x;
  x.push_back(vector_of({1, 2, 3, 4}));
  for (int i = 0; i < 10; i++) x = twice.run({&x[0]});
  EXPECT_EQ(x[0].to_vector<float>(), (Floats{1024, 2048, 3072, 4096}));
}

TEST(Run, OutlivesItsArgumentsAndProgram) {
  Buffer result = slow_result(cpu().compile(programs::loop));  // where both end
  EXPECT_FALSE(result.ready_event().ready());
  EXPECT_EQ(result.to_vector<float>(), slow_result().to_vector<float>());
}

// ---------------------------------------------------------------------------- errors of arguments

TEST(Run, SaysWhatIsWrongWithItsArguments) {
  LoadedExecutable program = cpu().compile(dot);
  Buffer a = Buffer::from_host<float>(cpu().device(), Floats(35), {5, 7});
  Buffer b = Buffer::from_host<float>(cpu().device(), Floats(21), {7, 3});
  Buffer flipped = Buffer::from_host<float>(cpu().device(), Floats(21), {3, 7});
  Buffer doubles = Buffer::from_host<double>(cpu().device(), std::vector<double>(35), {5, 7});
  Buffer scalar = Buffer::scalar(cpu().device(), 1.0f);
  Buffer empty;
  Buffer released = Buffer::from_host<float>(cpu().device(), Floats(21), {7, 3});
  released.release();
  Client other = Client::create("cpu");
  Buffer foreign = Buffer::from_host<float>(other.device(), Floats(21), {7, 3});
  Buffer elsewhere = b.copy_to(cpu().device(1));

  struct {
    std::vector<const Buffer*> arguments;
    std::string complaint;
  } const rows[] = {
      {{}, "dot: the program takes 2 arguments (f32[5,7], f32[7,3]), 0 were given"},
      {{&a}, "dot: the program takes 2 arguments (f32[5,7], f32[7,3]), 1 were given"},
      {{&a, &b, &b}, "dot: the program takes 2 arguments (f32[5,7], f32[7,3]), 3 were given"},
      {{&a, &flipped}, "dot: argument 1 is f32[3,7], the program takes f32[7,3]"},
      {{&a, &scalar}, "dot: argument 1 is f32[], the program takes f32[7,3]"},
      {{&doubles, &b}, "dot: argument 0 is f64[5,7], the program takes f32[5,7]"},
      {{&a, &empty}, "dot: argument 1 is an empty buffer. Fill it with Buffer::from_host"},
      {{nullptr, &b}, "dot: argument 0 is an empty buffer. Fill it with Buffer::from_host"},
      {{&a, &foreign},
       "dot: argument 1 (f32[7,3]) belongs to another client. Copy it through the host"},
      {{&a, &released},
       "dot: argument 1 (f32[7,3]) was released, or donated to an earlier run, and has no "
       "contents. Use the result of that run instead, or do not donate it"},
      {{&a, &elsewhere},
       "dot: argument 1 (f32[7,3]) is on device 1, the program runs on device 0. Copy it with "
       "Buffer::copy_to"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(error_of([&] { program.run(row.arguments); }), row.complaint);
  }
  program.run({&a, &b})[0].await();  // and it still works
}

TEST(Run, RefusesArgumentsOfAProgramThatTakesNone) {
  Buffer a = vector_of({1});
  EXPECT_EQ(error_of([&] { cpu().compile(no_arguments).run({&a}); }),
            "no_arguments: the program takes 0 arguments (), 1 were given");
}

// --------------------------------------------------------------------------------------- donation

TEST(Donate, ReusesTheMemoryOfMarkedArguments) {
  for (const char* mark : {"tf.aliasing_output = 0 : i32", "jax.buffer_donor = true"}) {
    SCOPED_TRACE(mark);
    LoadedExecutable program = marked(mark);
    EXPECT_EQ(program.memory_stats().aliased, 4096);
    Pair p;
    const void* memory = p.a.host_view().data();
    Buffer sum = std::move(program.run({&p.a, &p.b}, {.donate = {0}})[0]);
    EXPECT_TRUE(p.a.released());
    EXPECT_FALSE(p.b.released());
    EXPECT_EQ(sum.to_vector<float>(), Floats(1024, 3));
    EXPECT_EQ(sum.host_view().data(), memory);
    EXPECT_THROW(p.a.to_vector<float>(), Error);
    EXPECT_EQ(error_of([&] {
                program.run({&p.a, &p.b});
              }),
              "donated: argument 0 (f32[1024]) was released, or donated to an earlier run, and has "
              "no contents. Use the result of that run instead, or do not donate it");
    Buffer again = std::move(program.run({&sum, &p.b}, {.donate = {0}})[0]);  // a training loop
    EXPECT_EQ(again.to_vector<float>(), Floats(1024, 5));
    EXPECT_EQ(again.host_view().data(), memory);
  }
}

TEST(Donate, HappensOnlyWhenAskedFor) {
  LoadedExecutable program = marked("tf.aliasing_output = 0 : i32");
  Pair p;
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(program.run({&p.a, &p.b})[0].to_vector<float>(), Floats(1024, 3));
    EXPECT_EQ(program.run({&p.a, &p.b}, {.donate = {1}})[0].to_vector<float>(), Floats(1024, 3));
    EXPECT_FALSE(p.a.released());
    EXPECT_FALSE(p.b.released()) << "the program does not mark it";
  }
  EXPECT_EQ(p.a.to_vector<float>(), Floats(1024, 1));
}

TEST(Donate, WaitsForViews) {
  LoadedExecutable program = marked("tf.aliasing_output = 0 : i32");
  Pair p;
  HostView view = p.a.host_view();
  EXPECT_EQ(program.run({&p.a, &p.b}, {.donate = {0}})[0].to_vector<float>(), Floats(1024, 3));
  EXPECT_EQ(view.as<float>()[1023], 1);
}

TEST(Donate, SaysWhatIsWrong) {
  LoadedExecutable program = marked("tf.aliasing_output = 0 : i32");
  Pair p;
  for (int index : {-1, 2, 100}) {
    EXPECT_EQ(error_of([&] {
                program.run({&p.a, &p.b}, {.donate = {0, index}});
              }),
              "donated: RunOptions::donate names argument " + std::to_string(index) +
                  ", the program takes 2");
  }
  EXPECT_EQ(error_of([&] {
              program.run({&p.a, &p.a}, {.donate = {0}});
            }),
            "donated: argument 0 (f32[1024]) is donated, and also another argument. Pass a copy");
  EXPECT_FALSE(p.a.released());
}

// ------------------------------------------------------------------------------- choice of device

TEST(Device, OfAPortableProgramIsChosenAtEachRun) {
  LoadedExecutable program = cpu().compile(programs::twice, {.portable = true});
  EXPECT_TRUE(program.devices().empty());
  for (const Device& device : cpu().devices()) {
    Buffer a = vector_of({1, 2, 3, 4}, device);
    std::vector<Buffer> result = program.run({&a}, {.device = device});
    EXPECT_EQ(result[0].device(), device);
    EXPECT_EQ(result[0].to_vector<float>(), (Floats{2, 4, 6, 8}));
  }
  Client other = Client::create("cpu");
  Buffer a = vector_of({1, 2, 3, 4});
  EXPECT_EQ(error_of([&] { program.run({&a}); }),
            "twice: the program is portable. Choose where it runs with RunOptions::device");
  EXPECT_EQ(error_of([&] { program.run({&a}, {.device = other.device()}); }),
            "twice: RunOptions::device belongs to another client");
  EXPECT_EQ(error_of([&] { program.launch({}); }),
            "twice: RunOptions::device and portable programs are for run; launch uses the devices "
            "that the program was compiled for");
}

TEST(Device, OfAnyOtherProgramIsFixed) {
  LoadedExecutable program = cpu().compile(programs::twice, {.device_assignment = {{2}}});
  ASSERT_EQ(program.devices(), std::vector{cpu().device(2)});
  Buffer here = vector_of({1, 2, 3, 4}, cpu().device(2));
  EXPECT_EQ(program.run({&here})[0].device(), cpu().device(2));
  EXPECT_EQ(program.run({&here}, {.device = cpu().device(2)})[0].device(), cpu().device(2));
  EXPECT_EQ(error_of([&] { program.run({&here}, {.device = cpu().device(1)}); }),
            "twice: the program was compiled for device 2, RunOptions::device is 1. Compile it "
            "with CompileOptions::portable to choose");
}

TEST(Device, ThatIsNotThereIsRefused) {
  for (const CompileOptions& options :
       {CompileOptions{.device_assignment = {{9}}}, CompileOptions{.replicas = 10}}) {
    std::string message = error_of<RuntimeError>([&] { cpu().compile(programs::twice, options); });
    EXPECT_NE(message.find("No matching device found for device_id"), message.npos) << message;
  }
}

// ---------------------------------------------------------------------------- what a program says

TEST(Executable, KnowsItsTypes) {
  for (const Case& one : cases()) {
    LoadedExecutable program = cpu().compile(one.text);
    EXPECT_EQ(program.name(), one.name);
    EXPECT_EQ(program.replicas(), 1);
    EXPECT_EQ(program.partitions(), 1);
    EXPECT_EQ(program.parameter_types(), HloTypes(one.parameters.begin(), one.parameters.end()));
    ASSERT_EQ(program.result_count(), static_cast<int>(one.results.size()));
    ASSERT_EQ(program.result_types().size(), one.results.size());
    for (std::size_t i = 0; i < one.results.size(); i++) {
      EXPECT_EQ(program.result_types()[i]->size(),
                static_cast<std::int64_t>(one.results[i].size()));
    }
    EXPECT_GT(program.compile_seconds(), 0);

    OptimizedProgram optimized = program.optimized_program();
    HloProgram parsed = parse_hlo(optimized.bytes, optimized.format);
    EXPECT_EQ(parsed.signature.parameters, program.parameter_types());
    EXPECT_EQ(parsed.signature.results, program.result_types());
  }
}

TEST(Executable, CountsItsMemoryAndWork) {
  LoadedExecutable program = cpu().compile(dot);
  EXPECT_EQ(program.cost_analysis().at("flops"), 2 * 5 * 7 * 3);
  EXPECT_EQ(program.cost_analysis().at("bytes accessed"), 4 * (5 * 7 + 7 * 3 + 5 * 3));
  MemoryStats memory = program.memory_stats();
  EXPECT_EQ(memory.arguments, 4 * (5 * 7 + 7 * 3));
  EXPECT_EQ(memory.outputs, 4 * 5 * 3);
  EXPECT_EQ(memory.aliased, 0);
  EXPECT_GE(memory.peak, memory.arguments + memory.outputs);
  EXPECT_GE(program.code_bytes(), 0);
  ProgramReport report = program.report();
  EXPECT_EQ(report.run.kernels.at("dot"), 1);
  EXPECT_EQ(report.argument_bytes, memory.arguments);
}

TEST(Executable, HasTheSameFingerprintForTheSameProgramAndOptions) {
  std::string fingerprint = compiled(programs::twice).fingerprint();
  EXPECT_FALSE(fingerprint.empty());
  EXPECT_EQ(cpu().compile(programs::twice).fingerprint(), fingerprint);
  EXPECT_EQ(Client::create("cpu").compile(programs::twice).fingerprint(), fingerprint);
  EXPECT_NE(cpu().compile(dot).fingerprint(), fingerprint);
  EXPECT_NE(cpu().compile(programs::twice, {.replicas = 2}).fingerprint(), fingerprint);
}

TEST(Executable, IsACheapHandle) {
  LoadedExecutable program = compiled(programs::twice);
  LoadedExecutable copy = program;
  Executable base = copy;
  EXPECT_EQ(base.name(), "twice");
  Buffer a = vector_of({1, 2, 3, 4});
  EXPECT_EQ(copy.run({&a})[0].to_vector<float>(), program.run({&a})[0].to_vector<float>());
}

}  // namespace
}  // namespace sturnus
