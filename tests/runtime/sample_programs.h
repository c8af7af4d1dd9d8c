// Programs whose results plain loops give too, for the tests of compiling, running and loading.
#pragma once

#include <gtest/gtest.h>
#include <sturnus/runtime/executable.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "tests/runtime/cpu.h"

namespace sturnus {

using Floats = std::vector<float>;

inline Floats sines(std::size_t count, float frequency) {
  Floats values(count);
  for (std::size_t i = 0; i < count; i++) {
    values[i] = std::sin(frequency * static_cast<float>(i + 1));
  }
  return values;
}

inline void expect_near(const Floats& got, const Floats& expected, const std::string& where) {
  ASSERT_EQ(got.size(), expected.size()) << where;
  for (std::size_t i = 0; i < got.size(); i++) {
    ASSERT_NEAR(got[i], expected[i], 1e-5f * (1 + std::abs(expected[i])))
        << where << " [" << i << "]";
  }
}

// The plain matrix product of n x k and k x m.
inline Floats product(const Floats& a, const Floats& b, std::size_t n, std::size_t k,
                      std::size_t m) {
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
inline constexpr std::string_view fused = R"(module @fused {
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

inline constexpr std::string_view dot = R"(module @dot {
  func.func public @main(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>) -> tensor<5x3xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
    return %0 : tensor<5x3xf32>
  }
})";

inline constexpr std::string_view sorted = R"(module @sorted {
  func.func public @main(%a: tensor<50xf32>) -> tensor<50xf32> {
    %0 = "stablehlo.sort"(%a) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) {dimension = 0 : i64} : (tensor<50xf32>) -> tensor<50xf32>
    return %0 : tensor<50xf32>
  }
})";

inline constexpr std::string_view no_arguments = R"(module @no_arguments {
  func.func public @main() -> tensor<3xf32> {
    %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
})";

inline constexpr std::string_view no_results = R"(module @no_results {
  func.func public @main(%a: tensor<4xf32>) {
    return
  }
})";

inline constexpr int many = 40;

// f32[2] x 40 -> f32[2] x 40: the running sums.
inline std::string many_arguments() {
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

inline std::vector<Case> make_cases() {
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

inline const std::vector<Case>& cases() {
  static const std::vector<Case> all = make_cases();
  return all;
}

inline void check(const LoadedExecutable& program, const Case& expected, const Device& device) {
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
inline Floats looped(Floats x, int steps) {
  Floats m = x;
  for (int n = 0; n < steps; n++) {
    Floats d = product(m, x, 32, 32, 32);
    for (std::size_t i = 0; i < m.size(); i++) m[i] = std::tanh(d[i]) + m[i] / 2;
  }
  return m;
}

inline void check_loop(const LoadedExecutable& program, const Device& device) {
  Floats x = sines(32 * 32, 0.1f);
  for (int steps : {0, 1, 7}) {
    Buffer n = Buffer::scalar(device, std::int64_t{steps});
    Buffer m = Buffer::from_host<float>(device, x, {32, 32});
    expect_near(program.run({&n, &m})[0].to_vector<float>(), looped(x, steps),
                std::to_string(steps) + " steps");
  }
}

inline constexpr std::string_view donated = R"(module @donated {
  func.func public @main(%a: tensor<1024xf32> {MARK}, %b: tensor<1024xf32>) -> tensor<1024xf32> {
    %0 = stablehlo.add %a, %b : tensor<1024xf32>
    return %0 : tensor<1024xf32>
  }
})";

inline LoadedExecutable marked(std::string_view mark) {
  std::string text(donated);
  text.replace(text.find("MARK"), 4, mark);
  return cpu().compile(text);
}

struct Pair {
  Buffer a = vector_of(Floats(1024, 1));
  Buffer b = vector_of(Floats(1024, 2));
};

// 8 x 8 times 8 x 8 on four devices.
inline std::string shardy_product(const char* a, const char* b, const char* result) {
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

inline constexpr const char* by_rows = R"([{"x"}, {}])";
inline constexpr const char* by_columns = R"([{}, {"x"}])";
inline constexpr const char* whole = "[{}, {}]";

}  // namespace sturnus
