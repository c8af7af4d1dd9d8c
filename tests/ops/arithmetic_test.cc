// Arithmetic where it is easily wrong: quotients, element types of powers, rewrites of programs.
#include <gtest/gtest.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace sturnus {
namespace {

using Doubles = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Quotient {
  double a, b, quotient;
};

// Python's a // b, in f64.
const std::vector<Quotient> quotients = {
    {1, 0.1, 9},           {-1, 0.1, -10},   {1, -0.1, -10},    {-1, -0.1, 9}, {7, 2, 3},
    {-7, 2, -4},           {7, -2, -4},      {-7, -2, 3},       {6, 2, 3},     {-6, 2, -3},
    {0.5, 1, 0},           {-0.5, 1, -1},    {-1e-20, 3, -1},   {1e-20, 3, 0}, {0.3, 0.1, 2},
    {1e15, 0.1, 1e16 - 1}, {5, infinity, 0}, {-5, infinity, -1}};

TEST(FloorDivide, IsWhatModLeaves) {
  for (const Quotient& row : quotients) {
    Array a(row.a, DType::f64), b(row.b, DType::f64);
    EXPECT_EQ(to_doubles(floor_divide(a, b)), Doubles{row.quotient}) << row.a << " // " << row.b;
  }
  for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    for (const Quotient& row : quotients) {
      if (std::isinf(row.b) || std::abs(row.quotient) > 100) continue;
      Array a(row.a, dtype), b(row.b, dtype);
      double quotient = to_doubles(floor_divide(a, b))[0], rest = to_doubles(mod(a, b))[0];
      double left = to_doubles(a)[0], right = to_doubles(b)[0];
      double precision = dtype == DType::f64 ? 1e-15 : dtype == DType::f32 ? 1e-6 : 1e-2;
      EXPECT_NEAR(quotient * right + rest, left,
                  precision * std::max(std::abs(left), std::abs(right)))
          << name_of(dtype) << " " << row.a << " // " << row.b;
      EXPECT_EQ(quotient, std::floor(quotient));
    }
  }
  EXPECT_TRUE(std::isnan(to_doubles(floor_divide(1.0, 0.0))[0]));
}

TEST(FloorDivide, OfIntegersIsExact) {
  Array a = array({7, -7, 7, -7, 2147483647}, DType::i32), b = array({2, 2, -2, -2, 1}, DType::i32);
  Array quotient = floor_divide(a, b);
  EXPECT_EQ(quotient.dtype(), DType::i32);
  EXPECT_EQ(to_doubles(quotient), (Doubles{3, -4, -4, 3, 2147483647}));
  EXPECT_EQ(to_doubles(floor_divide(array({200}, DType::u8), 7)), Doubles{28});
  EXPECT_THROW(floor_divide(Array(true), Array(true)), DtypeError);
}

TEST(Pow, HasTheTypeThatPromotionGives) {
  Array whole = array({-3, 5}, DType::i32), truth = whole > 0, half = array({2, 4}, DType::f16);
  const std::vector<std::pair<Array, std::string>> table = {
      {pow(whole, 2), "i32[2][ 9 25]"},
      {pow(whole, 2.0), "f32[2][ 9 25]"},
      {pow(whole, 0), "i32[2][1 1]"},
      {pow(whole, -1), "f32[2][-0.33333334         0.2]"},
      {pow(array({1, -1}, DType::i32), 101), "i32[2][ 1 -1]"},
      {pow(array({10}, DType::i8), -10), "f32[1][1e-10]"},
      {pow(truth, 2.0), "f32[2][0 1]"},
      {pow(truth, 2), "i32[2][0 1]"},
      {pow(truth, 0.5), "f32[2][0 1]"},
      {pow(half, 2.0), "f16[2][ 4 16]"},
      {pow(2.0, half), "f16[2][ 4 16]"},
      {pow(whole, half), "f16[2][  9 625]"},
      {pow(half, array({1, 5}, DType::i32)), "f16[2][   2 1024]"},
      {pow(2, Array(3)), "f32[]8"},
      {pow(2, 3), "i32[]8"},
      {pow(2.0, 3), "f32[]8"},
  };
  for (std::size_t i = 0; i < table.size(); i++) {
    EXPECT_EQ(table[i].first.type().str() + to_string(table[i].first), table[i].second) << i;
  }
}

// x^n and its first and second derivatives by x.
struct Powers {
  double x, n, value, slope, curvature;
};

TEST(Pow, HasDerivativesAtZero) {
  const std::vector<Powers> table = {
      {0, 0, 1, 0, 0}, {0, 1, 0, 1, 0}, {0, 2, 0, 0, 2},      {0, 3, 0, 0, 0},
      {2, 0, 1, 0, 0}, {2, 1, 2, 1, 0}, {-2, 3, -8, 12, -12}, {2, -1, 0.5, -0.25, 0.25}};
  for (const Powers& row : table) {
    for (DType dtype : {DType::f64, DType::i32}) {
      Array n(row.n, dtype);
      auto f = [&](Array x) { return pow(x, n); };
      // With an exponent that the program does not know, forward and reverse.
      auto of_both = [](Array x, Array n) { return pow(x, n); };
      Array x(row.x, DType::f64), real_n(row.n, DType::f64);
      SCOPED_TRACE(std::to_string(row.x) + "^" + std::to_string(row.n));
      EXPECT_EQ(to_doubles(f(x))[0], row.value);
      EXPECT_EQ(to_doubles(grad(f)(x))[0], row.slope);
      EXPECT_EQ(to_doubles(grad(grad(f))(x))[0], row.curvature);
      EXPECT_EQ(to_doubles(grad(of_both)(x, real_n))[0], row.slope);
      EXPECT_EQ(to_doubles(grad(grad(of_both))(x, real_n))[0], row.curvature);
    }
  }
  // d/dn of n x^(n - 1) at n = 0 is 1 / x: the exception at x = 0 is for that x alone.
  auto slope = grad([](Array x, Array n) { return pow(x, n); });
  Array mixed = grad<1>(slope)(Array(4.0, DType::f64), Array(0.0, DType::f64));
  EXPECT_EQ(to_doubles(mixed)[0], 0.25);
}

// What is computed at once, and as a program that may be rewritten.
void expect_same_in_a_program(const char* name, const std::function<Array(Array)>& f, double x,
                              DType dtype) {
  Array at(x, dtype);
  double at_once = to_doubles(f(at))[0], compiled = to_doubles(jit(f)(at))[0];
  bool same = at_once == compiled || (std::isnan(at_once) && std::isnan(compiled));
  EXPECT_TRUE(same) << name << ": " << at_once << " at once, " << compiled << " in a program";
  EXPECT_FALSE(std::isnan(at_once)) << name;
}

TEST(Arithmetic, IsTheSameInAProgram) {
  // Not 300 (300 x) in f16: XLA itself makes that inf x.
  expect_same_in_a_program(
      "x / 2^15", [](Array x) { return x / 0x1p15; }, 3, DType::f16);
  expect_same_in_a_program(
      "x / 2^-127", [](Array x) { return x / 0x1p-127; }, 0, DType::f64);
  expect_same_in_a_program(
      "x / 4", [](Array x) { return x / 4.0; }, 3, DType::f16);
  for (DType dtype : {DType::f16, DType::f32, DType::f64}) {
    expect_same_in_a_program(
        "1 / (0 - x)", [](Array x) { return 1.0 / (0.0 - x); }, 0, dtype);
    expect_same_in_a_program(
        "0 (2 x)", [](Array x) { return 0.0 * (2.0 * x); }, 3, dtype);
    expect_same_in_a_program(
        "2 (3 x)", [](Array x) { return 2.0 * (3.0 * x); }, 5, dtype);
  }
}

// Which of them the graph itself does.
TEST(Arithmetic, IsRewrittenOnlyWhereThatIsExact) {
  internal::Trace trace;
  auto count = [](DType dtype, const std::function<Array(Array)>& f, std::string_view op) {
    Array x = internal::placeholder({dtype, {2}}, "test"), y = f(x);
    int found = 0;
    for (const internal::Node* node : internal::reachable({y})) found += node->op->name() == op;
    return found;
  };
  auto thirds = [](Array x) { return 300.0 * (300.0 * x); };
  EXPECT_EQ(count(DType::f16, thirds, "multiply"), 2);
  EXPECT_EQ(count(DType::f32, thirds, "multiply"), 1);
  auto small = [](Array x) { return 1e-30 * (1e-30 * x); };
  EXPECT_EQ(count(DType::f32, small, "multiply"), 2);
  EXPECT_EQ(count(DType::c64, small, "multiply"), 2);
  EXPECT_EQ(count(DType::f64, small, "multiply"), 1);
  EXPECT_EQ(count(DType::c128, small, "multiply"), 1);
  EXPECT_EQ(count(
                DType::f32, [](Array x) { return 0.0 * (1e-30 * x); }, "multiply"),
            1);
  auto half = [](Array x) { return x / 0x1p-16; };
  EXPECT_EQ(count(DType::f16, half, "divide"), 1);
  EXPECT_EQ(count(DType::f32, half, "divide"), 0);
  EXPECT_EQ(count(
                DType::f16, [](Array x) { return x / 0x1p15; }, "divide"),
            1);
  EXPECT_EQ(count(
                DType::f32, [](Array x) { return 0.0 - x; }, "subtract"),
            1);
  EXPECT_EQ(count(
                DType::f32, [](Array x) { return x - 0.0; }, "subtract"),
            0);
  EXPECT_EQ(count(
                DType::f32, [](Array x) { return x + 0.0; }, "add"),
            0);
}

}  // namespace
}  // namespace sturnus
