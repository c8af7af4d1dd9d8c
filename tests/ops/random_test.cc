// Keys, bits, uniform and normal numbers against those recorded from JAX.
#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>

#include <bit>
#include <cmath>

#include "tests/ops/random_values.h"

namespace sturnus::testing {
namespace {

template <class T>
std::vector<T> values(const Array& array) {
  auto elements = array.to_vector<T>();
  return {elements.begin(), elements.end()};
}

// How many numbers of the type lie between two of one sign.
template <class T, class Bits>
double ulps(T a, T b) {
  auto x = std::bit_cast<Bits>(std::abs(a)), y = std::bit_cast<Bits>(std::abs(b));
  bool one_sign = std::signbit(a) == std::signbit(b);
  auto larger = std::max(x, y), smaller = std::min(x, y);
  return one_sign ? static_cast<double>(larger - smaller) : INFINITY;
}

TEST(Random, KeysAreThoseOfJax) {
  EXPECT_EQ(values<std::uint32_t>(key(0x123456789ABCDEF0).data), recorded::key_large);
  Key k = key(42);
  EXPECT_EQ(values<std::uint32_t>(split(k, 3).data), recorded::split_3);
  EXPECT_EQ(values<std::uint32_t>(fold_in(k, 7).data), recorded::folded_7);
  EXPECT_EQ(values<std::uint32_t>(fold_in(k, Array(7)).data), recorded::folded_7);
  EXPECT_EQ(values<std::uint32_t>(fold_in(k, Array(-1)).data), recorded::folded_minus_1);
  auto [a, b, c] = split<3>(k);
  auto all = recorded::split_3;
  EXPECT_EQ(values<std::uint32_t>(a.data), std::vector(all.begin(), all.begin() + 2));
  EXPECT_EQ(values<std::uint32_t>(c.data), std::vector(all.begin() + 4, all.end()));
}

TEST(Random, BitsAreThoseOfJax) {
  Key k = key(42);
  EXPECT_EQ(values<std::uint8_t>(bits(k, {2, 3}, DType::u8)), recorded::bits_8);
  EXPECT_EQ(values<std::uint16_t>(bits(k, {2, 3}, DType::u16)), recorded::bits_16);
  EXPECT_EQ(values<std::uint32_t>(bits(k, {2, 3})), recorded::bits_32);
  EXPECT_EQ(values<std::uint64_t>(bits(k, {2, 3}, DType::u64)), recorded::bits_64);
}

TEST(Random, UniformNumbersAreThoseOfJax) {
  Key k = key(42);
  EXPECT_EQ(values<float>(uniform(k, {3, 4})), recorded::uniform_f32);
  EXPECT_EQ(values<double>(uniform(k, {3, 4}, 0.0, 1.0, DType::f64)), recorded::uniform_f64);
  // Whether u (high - low) + low is rounded once or twice is the machine's choice.
  auto single = values<float>(uniform(k, {3, 4}, -2.5, 7.25));
  auto precise = values<double>(uniform(k, {3, 4}, -2.5, 7.25, DType::f64));
  for (std::size_t i = 0; i < single.size(); i++) {
    EXPECT_NEAR(single[i], recorded::uniform_range_f32[i], 1e-6);
    EXPECT_NEAR(precise[i], recorded::uniform_range_f64[i], 2e-15);
  }
}

TEST(Random, NormalNumbersAreThoseOfJaxToAFewUlps) {
  auto single = values<float>(normal(key(42), {4, 16}));
  auto precise = values<double>(normal(key(42), {4, 16}, DType::f64));
  for (std::size_t i = 0; i < single.size(); i++) {
    EXPECT_LE((ulps<float, std::uint32_t>(single[i], recorded::normal_f32[i])), 4);
    EXPECT_LE((ulps<double, std::uint64_t>(precise[i], recorded::normal_f64[i])), 4);
  }
}

TEST(Random, IntegersAreThoseOfJax) {
  Key k = key(42);
  EXPECT_EQ(values<std::int32_t>(randint(k, {12}, -3, 1000)), recorded::randint_i32);
  EXPECT_EQ(values<std::int64_t>(randint(k, {12}, -3, 1000000, DType::i64)), recorded::randint_i64);
  EXPECT_EQ(values<std::int32_t>(randint(k, {2}, 5, 5)), (std::vector<std::int32_t>{5, 5}));
}

TEST(Random, SmallFloatsAreInRange) {
  for (DType dtype : {DType::f16, DType::bf16}) {
    Array x = convert(uniform(key(3), {4096}, 0.0, 1.0, dtype), DType::f32);
    EXPECT_GE(min(x).item<float>(), 0);
    EXPECT_LT(max(x).item<float>(), 1);
    EXPECT_NEAR(mean(x).item<float>(), 0.5, 0.02);
    Array z = convert(normal(key(3), {4096}, dtype), DType::f32);
    EXPECT_NEAR(mean(z * z).item<float>(), 1, 0.1);
  }
}

TEST(Random, MappedOverKeysIsALoop) {
  Key keys = split(key(1), 5);
  Array together = vmap([](const Key& k) { return normal(k, {3}); })(keys);
  for (int i = 0; i < 5; i++) {
    EXPECT_EQ(values<float>(slice(together, {i, 0}, {i + 1, 3})),
              values<float>(normal(key_at(keys, i), {3})));
  }
}

TEST(Random, KeysTravelThroughLoopsAndJit) {
  auto step = [](const Array&, const std::pair<Key, Array>& state) {
    auto [next, now] = split(state.first);
    return std::pair(next, state.second ^ bits(now));
  };
  auto walk = jit([&](const Key& start) {
    return fori_loop(0, 3, step, std::pair(start, Array(0, DType::u32))).second;
  });
  std::pair state(key(9), Array(0, DType::u32));
  for (int i = 0; i < 3; i++) state = step(Array(i), state);
  EXPECT_EQ(walk(key(9)).item<std::uint32_t>(), state.second.item<std::uint32_t>());
}

TEST(Random, LimitsMayBeArrays) {
  Array low = array({0, 10, 20});
  Array x = uniform(key(5), {4, 3}, low, low + 1.0);
  EXPECT_EQ(min(convert(floor(x) == low, DType::i32)).item<std::int32_t>(), 1);
}

TEST(Random, EmptyShapes) {
  EXPECT_EQ(normal(key(5), {0, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(split(key(5), 0).data.shape(), (Shape{0, 2}));
}

template <class E>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Random, Errors) {
  std::string text = message_of<ShapeError>([] { normal(split(key(1), 4)); });
  EXPECT_NE(text.find("the key is u32[4,2], but must be u32[2] (random_test.cc:"),
            std::string::npos)
      << text;
  text = message_of<DtypeError>([] { uniform(key(1), {2}, 0, 1, DType::i32); });
  EXPECT_NE(text.find("uniform: numbers of type i32 are not floating point"), std::string::npos)
      << text;
  text = message_of<DtypeError>([] { bits(key(1), {2}, DType::i32); });
  EXPECT_NE(text.find("bits: i32 is not an unsigned integer (random_test.cc:"), std::string::npos)
      << text;
  text = message_of<ShapeError>([] { uniform(key(1), {2}, array({1, 2, 3}), 4.0); });
  EXPECT_NE(text.find("does not fit into f32[2]"), std::string::npos) << text;
}

}  // namespace
}  // namespace sturnus::testing
