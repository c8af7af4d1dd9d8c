// Numbers of C++ beside arrays: exact, refused where the type cannot hold them, and the same at
// once and in a program.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/complex.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/subscript.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
const std::vector<DType> integers = {DType::i8, DType::i16, DType::i32, DType::i64,
                                     DType::u8, DType::u16, DType::u32, DType::u64};

template <class N>
void expect_compared(N number) {
  const std::vector<int> elements = {1, 100};
  for (DType dtype : integers) {
    auto f = [&](Array x) {
      return std::vector<Array>{x < number, x >= number, x == number, number <= x, number != x};
    };
    Array x = array({1, 100}, dtype);
    std::vector<Array> at_once = f(x), compiled = jit(f)(x);
    for (std::size_t i = 0; i < elements.size(); i++) {
      int e = elements[i];
      const std::vector<bool> expected = {
          std::cmp_less(e, number), std::cmp_greater_equal(e, number), std::cmp_equal(e, number),
          std::cmp_less_equal(number, e), std::cmp_not_equal(number, e)};
      for (std::size_t k = 0; k < expected.size(); k++) {
        EXPECT_EQ(at_once[k].to_vector<bool>()[i], expected[k])
            << name_of(dtype) << " " << number << " " << k;
        EXPECT_EQ(compiled[k].to_vector<bool>()[i], expected[k])
            << name_of(dtype) << " " << number << " " << k << " in a program";
      }
    }
  }
}

TEST(Numbers, AreComparedAsTheyAre) {
  expect_compared(-1);
  expect_compared(100);
  expect_compared(300);
  expect_compared(10000000000);
  expect_compared(lowest);
  expect_compared(end);
}

// What a number beside the array [1 100] gives, as text, or the message that refuses it.
template <class N>
std::string combined(N number, DType dtype, bool in_a_program) {
  auto f = [&](Array x) { return x + number; };
  Array x = array({1, 100}, dtype);
  try {
    Array y = in_a_program ? jit(f)(x) : f(x);
    return y.type().str() + to_string(y);
  } catch (const DtypeError&) {
    return "refused";
  }
}

template <class N>
void expect_same_in_programs(N number) {
  std::vector<DType> types = integers;
  types.push_back(DType::boolean);
  for (DType dtype : types) {
    std::string at_once = combined(number, dtype, false);
    EXPECT_EQ(at_once, combined(number, dtype, true)) << name_of(dtype) << " " << number;
    bool fits = Number(number).fits(dtype == DType::boolean ? DType::i32 : dtype);
    EXPECT_EQ(at_once == "refused", !fits) << name_of(dtype) << " " << number;
  }
}

TEST(Numbers, AreTheSameAtOnceAndInPrograms) {
  expect_same_in_programs(-1);
  expect_same_in_programs(27);
  expect_same_in_programs(300);
  expect_same_in_programs(3000000000);
  expect_same_in_programs(lowest + 100);
  expect_same_in_programs(end - 100);
}

// Reals are rounded to the type where they are made, not where they are used.
TEST(Numbers, OfRealsAreTheSameAtOnceAndInPrograms) {
  const std::vector<DType> types = {DType::f16, DType::bf16, DType::f32, DType::f64};
  // None that is subnormal in f32 or f64: XLA takes those for 0, but not everywhere.
  const std::vector<double> numbers = {0.1,   1.0 / 3, -2.7,    65519.0, 65520.0,
                                       1e-7,  6.1e-5,  3e-8,    1e39,    3.3895313892e+38,
                                       1e300, -0.0,    16777217};
  for (DType narrow : types) {
    for (DType wide : types) {
      for (double x : numbers) {
        auto f = [=] { return convert(convert(Array(x, narrow), wide), DType::f64); };
        double at_once = f().item<double>();
        double compiled =
            jit([&](Array zero) { return f() + zero; })(Array(-0.0, DType::f64)).item<double>();
        EXPECT_EQ(at_once, compiled) << x << " as " << name_of(narrow) << " as " << name_of(wide);
      }
    }
  }
  auto in_a_program = [](Array one) { return Array(0.1) * one; };
  Array one(1.0, DType::f64);
  EXPECT_EQ(in_a_program(one).item<double>(), 0.1f);
  EXPECT_EQ(jit(in_a_program)(one).item<double>(), 0.1f);
  auto parts = [](Array x) { return Array(std::complex<double>(0.1, 0.3)) * x; };
  Array complex_one(1.0, DType::c128);
  EXPECT_EQ(jit(parts)(complex_one).item<std::complex<double>>(),
            parts(complex_one).item<std::complex<double>>());
  // To the nearest, and of two that are as near to the even one: once, not by way of f32.
  EXPECT_EQ(convert(Array(1 + 0x1p-11, DType::f16), DType::f64).item<double>(), 1);
  EXPECT_EQ(convert(Array(1 + 0x3p-11, DType::f16), DType::f64).item<double>(), 1 + 0x1p-9);
  EXPECT_EQ(convert(Array(1 + 0x1p-11 + 0x1p-40, DType::f16), DType::f64).item<double>(),
            1 + 0x1p-10);
}

TEST(Numbers, ArePrintedAsTheirTypeHasThem) {
  auto constants = [](Array x) {
    return std::vector<Array>{0.1 * x, convert(x, DType::bf16) * 0.1, convert(x, DType::f64) * 0.1};
  };
  Lowered lowered = lower(constants, Array(1.0));
  std::string graph = lowered.graph(), stablehlo = lowered.stablehlo();
  EXPECT_EQ(graph.find("0.1000"), graph.npos) << graph;
  EXPECT_NE(graph.find(" 0.1 "), graph.npos) << graph;
  EXPECT_NE(stablehlo.find("dense<1.000000015e-01> : tensor<f32>"), stablehlo.npos) << stablehlo;
  EXPECT_NE(stablehlo.find("dense<1.000976562e-01> : tensor<bf16>"), stablehlo.npos) << stablehlo;
}

TEST(Numbers, ThatATypeCannotHoldAreRefusedEverywhere) {
  Array u8 = array({1, 200}, DType::u8), whole = zeros({2}, DType::i32);
  const std::vector<std::pair<std::string, std::function<void()>>> table = {
      {"number -1 does not fit into u8, which holds 0 to 255", [&] { clamp(-1, u8, 300); }},
      {"add: the number 300 does not fit into u8", [&] { u8 + 300; }},
      {"add: the number 3000000000 does not fit into i32", [&] { whole + 3000000000; }},
      {"full: the number -1 does not fit into u8", [&] { full({2}, -1, DType::u8); }},
      {"full_like: the number 300 does not fit into u8", [&] { full_like(u8, 300); }},
      {"Array: the number 300 does not fit into u8", [&] { Array(300, DType::u8); }},
      {"Array: the number 2.5e+09 does not fit into i32", [&] { Array(2.5e9, DType::i32); }},
      {"Array: the number nan does not fit into i64",
       [&] { Array(std::numeric_limits<double>::quiet_NaN(), DType::i64); }},
      {"array: the number 300 does not fit into u8",
       [&] {
         array({1, 300}, DType::u8);
       }},
      {"array: the number 1e+10 does not fit into i32",
       [&] { array(std::vector<double>{1e10}, {1}, DType::i32); }},
      {"subscript: the number 1e+10 does not fit into i32", [&] { (void)whole.at(0).set(1e10); }},
      {"subscript: the number -1 does not fit into u8",
       [&] { jit([](Array x) { return x.at(0).set(-1); })(u8); }},
      {"Array: the number 1+2i does not fit into f32",
       [&] { Array(std::complex<double>(1, 2), DType::f32); }},
      {"randint: the number 300 does not fit into u8",
       [&] { randint(key(1), {3}, 0, 300, DType::u8); }},
      {"randint: the number 3000000000 does not fit into i32",
       [&] { randint(key(1), {3}, 0, 3000000000); }},
      {"Write Array(value, DType::u64)", [&] { Array x = end; }},
  };
  for (const auto& [expected, misuse] : table) {
    try {
      misuse();
      ADD_FAILURE() << "not refused: " << expected;
    } catch (const DtypeError& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
}

TEST(Numbers, OfIntegersAreExact) {
  constexpr std::int64_t odd = 9007199254740993;  // between two doubles
  auto exact = [](auto f, std::int64_t expected) {
    EXPECT_EQ(f().template item<std::int64_t>(), expected);
    EXPECT_EQ(jit([&](Array zero) { return f() + zero; })(Array(0, DType::i64))
                  .template item<std::int64_t>(),
              expected);
  };
  exact([] { return Array(largest, DType::i64); }, largest);
  exact([] { return Array(lowest, DType::i64); }, lowest);
  exact([] { return Array(odd, DType::i64); }, odd);
  exact([] { return Array(1, DType::i64) + odd; }, odd + 1);
  exact([] { return full({}, odd, DType::i64); }, odd);
  exact([] { return sturnus::array({odd, odd}, DType::i64)[0]; }, odd);
  EXPECT_EQ(Array(end, DType::u64).item<std::uint64_t>(), end);
  Array u64 = Array(end, DType::u64);
  EXPECT_TRUE((u64 == end).item<bool>());
  EXPECT_FALSE((u64 == end - 1).item<bool>());
  EXPECT_TRUE(jit([](Array x) { return x == end; })(u64).item<bool>());
  EXPECT_EQ(zeros({2}, DType::i64).at(1).set(odd).to_vector<std::int64_t>()[1], odd);
  // Towards zero, as in C++.
  for (double x : {2.7, -2.7}) {
    EXPECT_EQ(Array(x, DType::i32).item<int>(), static_cast<int>(x));
    EXPECT_EQ(full({}, x, DType::i32).item<int>(), static_cast<int>(x));
  }
}

TEST(Numbers, MayBeComplex) {
  constexpr std::complex<float> i(0, 1);
  Array sum = Array(2.0) + i, product = i * array({1, 2});
  EXPECT_EQ(sum.item<std::complex<float>>(), 2.0f + i);
  EXPECT_EQ(product.to_vector<std::complex<float>>()[1], 2.0f * i);
  EXPECT_EQ((Array(2.0, DType::f64) * i).dtype(), DType::c128);
  EXPECT_EQ(jit([=](Array x) { return x - i; })(sum).item<std::complex<float>>(), 2.0f);
  EXPECT_EQ(Array(i).item<std::complex<float>>(), i);
  EXPECT_EQ(Array(std::complex<double>(i), DType::c128).item<std::complex<double>>().imag(), 1);
  EXPECT_EQ(full({2}, i, DType::c64).to_vector<std::complex<float>>()[1], i);
  EXPECT_TRUE((sum == 2.0f + i).item<bool>());
}

TEST(Numbers, OfKeysAndBoundsCountAllTheirBits) {
  Key k = key(1);
  auto words = [](const Key& key) { return to_doubles(key.data); };
  EXPECT_EQ(words(fold_in(k, -1)), words(fold_in(k, 4294967295)));
  EXPECT_EQ(words(fold_in(k, 4294967296)), words(fold_in(k, 0)));
  EXPECT_EQ(words(fold_in(k, -1)), words(fold_in(k, Array(-1))));
  EXPECT_THROW(fold_in(k, 1.5), DtypeError);

  auto of_all = randint(k, {1000}, lowest, largest, DType::i64).to_vector<std::int64_t>();
  EXPECT_TRUE(std::any_of(of_all.begin(), of_all.end(), [](auto i) { return i > largest / 2; }));
  EXPECT_TRUE(std::any_of(of_all.begin(), of_all.end(), [](auto i) { return i < lowest / 2; }));
  // All of a type: its end is one more than it holds.
  auto bytes = randint(k, {5000}, 0, 256, DType::u8).to_vector<std::uint8_t>();
  EXPECT_EQ(*std::max_element(bytes.begin(), bytes.end()), 255);
  EXPECT_EQ(*std::min_element(bytes.begin(), bytes.end()), 0);
  auto small = randint(k, {5000}, 250, 256, DType::u8).to_vector<std::uint8_t>();
  EXPECT_EQ(*std::max_element(small.begin(), small.end()), 255);
  EXPECT_EQ(*std::min_element(small.begin(), small.end()), 250);
}

TEST(Numbers, OfLoopsMayBeLarge) {
  auto last = [](std::int64_t from, std::int64_t to) {
    return fori_loop(
               from, to, [](Array i, Array) { return convert(i, DType::i64); },
               Array(0, DType::i64))
        .item<std::int64_t>();
  };
  EXPECT_EQ(last(2147483640, 2147483650), 2147483649);
  EXPECT_EQ(last(lowest, lowest + 3), lowest + 2);
  EXPECT_THROW(last(0, 5000000000), Error);
  EXPECT_THROW(last(lowest, largest), Error);
  auto body = [](Array i, Array c) { return c + convert(i, DType::f32); };
  EXPECT_EQ(fori_loop(Array(0), Array(3, DType::i64), body, Array(0.0)).item<float>(), 3);
  EXPECT_THROW(fori_loop(Array(0), Array(2.5), body, Array(0.0)), DtypeError);
  EXPECT_THROW(fori_loop(Array(0), array({1, 2}, DType::i32), body, Array(0.0)), DtypeError);
}

TEST(Assignment, OfResults) {
  Array x = array({1, 2}), old = x;
  x += 1.0;
  x *= array({2, 3});
  x -= 1;
  x /= 2.0;
  EXPECT_EQ(to_doubles(x), (std::vector<double>{1.5, 4}));
  EXPECT_EQ(to_doubles(old), (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace sturnus
