#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/executable.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>
#include <set>
#include <sstream>

#include "tests/runtime/cpu.h"

namespace sturnus {
namespace {

using Floats = std::vector<float>;

Floats sines(std::size_t count, float frequency) {
  Floats values(count);
  for (std::size_t i = 0; i < count; i++) {
    values[i] = std::sin(frequency * static_cast<float>(i + 1));
  }
  return values;
}

void expect_near(const Floats& got, const Floats& expected, const std::string& where) {
  ASSERT_EQ(got.size(), expected.size()) << where;
  for (std::size_t i = 0; i < got.size(); i++) {
    ASSERT_NEAR(got[i], expected[i], 1e-5f * (1 + std::abs(expected[i])))
        << where << " [" << i << "]";
  }
}

// The plain matrix product of n x k and k x m.
Floats product(const Floats& a, const Floats& b, std::size_t n, std::size_t k, std::size_t m) {
  Floats c(n * m);
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < m; j++) {
      for (std::size_t l = 0; l < k; l++) c[i * m + j] += a[i * k + l] * b[l * m + j];
    }
  }
  return c;
}

// ---------------------------------------------------- programs, and what they give by plain loops

// f32[1000], f32[1000] -> f32[1000], f32[]: c = tanh(a b) + a, and the sum of c.
constexpr std::string_view fused = R"(module @fused {
  func.func public @main(%a: tensor<1000xf32>, %b: tensor<1000xf32>)
      -> (tensor<1000xf32>, tensor<f32>) {
    %0 = stablehlo.multiply %a, %b : tensor<1000xf32>
    %1 = stablehlo.tanh %0 : tensor<1000xf32>
    %2 = stablehlo.add %1, %a : tensor<1000xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3 : tensor<1000xf32>, tensor<f32>
  }
})";

constexpr std::string_view dot = R"(module @dot {
  func.func public @main(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>) -> tensor<5x3xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
    return %0 : tensor<5x3xf32>
  }
})";

constexpr std::string_view sorted = R"(module @sorted {
  func.func public @main(%a: tensor<50xf32>) -> tensor<50xf32> {
    %0 = "stablehlo.sort"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) {dimension = 0 : i64} : (tensor<50xf32>) -> tensor<50xf32>
    return %0 : tensor<50xf32>
  }
})";

constexpr std::string_view no_arguments = R"(module @no_arguments {
  func.func public @main() -> tensor<3xf32> {
    %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
})";

constexpr std::string_view no_results = R"(module @no_results {
  func.func public @main(%a: tensor<4xf32>) {
    return
  }
})";

constexpr int many = 40;

// f32[2] x 40 -> f32[2] x 40: the running sums.
std::string many_arguments() {
  std::string parameters, body, values, types;
  for (int i = 0; i < many; i++) {
    std::string n = std::to_string(i);
    std::string comma = i == 0 ? "" : ", ";
    parameters += comma + "%a" + n + ": tensor<2xf32>";
    std::string before = i == 0 ? "%a0" : "%s" + std::to_string(i - 1);
    body += "    %s" + n + " = stablehlo.add " + before + ", %a" + n + " : tensor<2xf32>\n";
    values += comma + "%s" + n;
    types += comma + "tensor<2xf32>";
  }
  return "module @many_arguments {\n  func.func public @main(" + parameters + ") -> (" + types +
         ") {\n" + body + "    return " + values + " : " + types + "\n  }\n}";
}

struct Case {
  std::string name;
  std::string text;
  std::vector<ArrayType> parameters;
  std::vector<Floats> arguments;
  std::vector<Floats> results;
};

std::vector<Case> make_cases() {
  std::vector<Case> cases;
  auto type = [](Shape shape) { return ArrayType{DType::f32, std::move(shape)}; };
  {
    Floats a = sines(1000, 0.7f), b = sines(1000, 1.3f), c(1000);
    for (std::size_t i = 0; i < 1000; i++) c[i] = std::tanh(a[i] * b[i]) + a[i];
    double sum = std::accumulate(c.begin(), c.end(), 0.0);
    cases.push_back({"fused",
                     std::string(fused),
                     {type({1000}), type({1000})},
                     {a, b},
                     {c, {static_cast<float>(sum)}}});
  }
  {
    Floats a = sines(35, 0.7f), b = sines(21, 1.3f);
    cases.push_back(
        {"dot", std::string(dot), {type({5, 7}), type({7, 3})}, {a, b}, {product(a, b, 5, 7, 3)}});
  }
  {
    Floats a = sines(50, 0.7f), b = a;
    std::sort(b.begin(), b.end());
    cases.push_back({"sorted", std::string(sorted), {type({50})}, {a}, {b}});
  }
  cases.push_back({"no_arguments", std::string(no_arguments), {}, {}, {{1, 2, 3}}});
  cases.push_back({"no_results", std::string(no_results), {type({4})}, {{1, 2, 3, 4}}, {}});
  {
    Case all{"many_arguments", many_arguments(), {}, {}, {}};
    Floats sum = {0, 0};
    for (int i = 0; i < many; i++) {
      Floats a = {static_cast<float>(i), 0.5f};
      for (std::size_t k = 0; k < 2; k++) sum[k] += a[k] * (i == 0 ? 2 : 1);  // %s0 is a0 + a0
      all.parameters.push_back(type({2}));
      all.arguments.push_back(a);
      all.results.push_back(sum);
    }
    cases.push_back(all);
  }
  return cases;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = make_cases();
  return all;
}

void check(const LoadedExecutable& program, const Case& expected, const Device& device) {
  SCOPED_TRACE(expected.name);
  std::vector<Buffer> buffers;
  std::vector<const Buffer*> arguments;
  for (std::size_t i = 0; i < expected.arguments.size(); i++) {
    buffers.push_back(
        Buffer::from_host<float>(device, expected.arguments[i], expected.parameters[i].shape));
  }
  for (const Buffer& buffer : buffers) arguments.push_back(&buffer);
  std::vector<Buffer> results = program.run(arguments);
  ASSERT_EQ(results.size(), expected.results.size());
  for (std::size_t i = 0; i < results.size(); i++) {
    expect_near(results[i].to_vector<float>(), expected.results[i], "result " + std::to_string(i));
  }
}

// The loop of programs::loop by plain loops.
Floats looped(Floats x, int steps) {
  Floats m = x;
  for (int n = 0; n < steps; n++) {
    Floats d = product(m, x, 32, 32, 32);
    for (std::size_t i = 0; i < m.size(); i++) m[i] = std::tanh(d[i]) + m[i] / 2;
  }
  return m;
}

void check_loop(const LoadedExecutable& program, const Device& device) {
  Floats x = sines(32 * 32, 0.1f);
  for (int steps : {0, 1, 7}) {
    Buffer n = Buffer::scalar(device, std::int64_t{steps});
    Buffer m = Buffer::from_host<float>(device, x, {32, 32});
    expect_near(program.run({&n, &m})[0].to_vector<float>(), looped(x, steps),
                std::to_string(steps) + " steps");
  }
}

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

constexpr std::string_view donated = R"(module @donated {
  func.func public @main(%a: tensor<1024xf32> {MARK}, %b: tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = stablehlo.add %a, %b : tensor<1024xf32>
    return %0 : tensor<1024xf32>
  }
})";

LoadedExecutable marked(std::string_view mark) {
  std::string text(donated);
  text.replace(text.find("MARK"), 4, mark);
  return cpu().compile(text);
}

struct Pair {
  Buffer a = vector_of(Floats(1024, 1));
  Buffer b = vector_of(Floats(1024, 2));
};

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
    EXPECT_THROW(p.a.to_vector<float>(), RuntimeError);
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
            "donated: argument 0 (f32[1024]) is donated and also another argument. Pass a copy");
  EXPECT_FALSE(p.a.released());
}

// ----------------------------------------------------------------------------------- many devices

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

// 8 x 8 times 8 x 8 on four devices.
std::string shardy_product(const char* a, const char* b, const char* result) {
  auto sharding = [](const char* part) {
    return "{sdy.sharding = #sdy.sharding<@mesh, " + std::string(part) + ">}";
  };
  return R"(module @sharded {
    sdy.mesh @mesh = <["x"=4]>
    func.func public @main(%a: tensor<8x8xf32> )" +
         sharding(a) + ", %b: tensor<8x8xf32> " + sharding(b) + ") -> (tensor<8x8xf32> " +
         sharding(result) + R"() {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
  })";
}

constexpr const char* by_rows = R"([{"x"}, {}])";
constexpr const char* by_columns = R"([{}, {"x"}])";
constexpr const char* whole = "[{}, {}]";

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

// ---------------------------------------------------------------------------------------- compile

TEST(Compile, TakesXlaFlagsOfEveryType) {
  auto kernels = [](const std::map<std::string, XlaFlag>& flags) {
    return total(cpu().compile(fused, {.xla_flags = flags}).report().run.kernels);
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

// --------------------------------------------------------------------------- serialise and reload

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
  LoadedExecutable sharded_program = cpu().compile(sharded[0].text, sharded[0].options);
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
