// Sorting and ranks against the standard library, for each lowering.
#include <gtest/gtest.h>
#include <sturnus/functional/emitter.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace sturnus::testing {
namespace {

using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
constexpr double inf = std::numeric_limits<double>::infinity();

// Numbers of many magnitudes and signs (but normal ones: the CPU takes smaller ones for 0), with
// repetitions, zeros, infinities and NaN.
template <class T>
std::vector<T> wild_numbers(std::size_t count, bool with_nan, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> exponent(-34, 37), kind(0, 19);
  std::vector<T> values(count);
  for (T& value : values) {
    value = static_cast<T>(normal(generator) * std::pow(10.0, exponent(generator)));
    int special = kind(generator);
    if (special == 0) value = static_cast<T>(inf);
    if (special == 1) value = static_cast<T>(-inf);
    if (special == 2) value = T(0);
    if (special == 3) value = T(1.5);
    if (special == 4 && with_nan) value = std::copysign(std::numeric_limits<T>::quiet_NaN(), T(-1));
  }
  return values;
}

template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);
}

// Equal, where NaN equals itself.
template <class T>
void expect_same(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); i++) {
    EXPECT_TRUE(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]))
        << i << ": " << a[i] << ", " << b[i];
  }
}

template <class T>
class OrderOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OrderOf, Reals);

TYPED_TEST(OrderOf, SortIsStableSort) {
  using T = TypeParam;
  for (std::size_t count : {0, 1, 2, 37, 400}) {
    auto values = wild_numbers<T>(count, true, static_cast<unsigned>(count));
    Array x = array(values);
    auto up = values, down = values;
    std::stable_sort(up.begin(), up.end(), before<T>);
    std::stable_sort(down.begin(), down.end(),
                     [](T a, T b) { return a > b || (b != b && a == a); });
    expect_same(sort(x).template to_vector<T>(), up);
    expect_same(sort(x, 0, true).template to_vector<T>(), down);
    Ints positions(count);
    std::iota(positions.begin(), positions.end(), 0);
    std::stable_sort(positions.begin(), positions.end(), [&](int a, int b) {
      return before(values[static_cast<std::size_t>(a)], values[static_cast<std::size_t>(b)]);
    });
    EXPECT_EQ(argsort(x).template to_vector<std::int32_t>(), positions);
  }
}

TYPED_TEST(OrderOf, EveryRankIsThatOfASort) {
  using T = TypeParam;
  for (bool with_nan : {false, true}) {
    auto values = wild_numbers<T>(23 * 3, with_nan, 5);
    Array x = array(values, {23, 3});
    auto sorted = sort(x, 0).template to_vector<T>();
    for (std::int64_t k = 0; k < 23; k++) {
      auto row = sorted.begin() + static_cast<std::ptrdiff_t>(3 * k);
      std::vector<T> expected(row, row + 3);
      expect_same(order_statistic(x, k, 0).template to_vector<T>(), expected);
      expect_same(order_statistic(transpose(x), k).template to_vector<T>(), expected);
    }
  }
}

TYPED_TEST(OrderOf, EveryRowHasARankOfItsOwn) {
  using T = TypeParam;
  for (bool with_nan : {false, true}) {
    auto values = wild_numbers<T>(4 * 9, with_nan, 6);
    Array x = array(values, {4, 9});
    auto sorted = sort(x, 1).template to_vector<T>();
    for (int shift = 0; shift < 9; shift++) {
      Ints ranks;
      std::vector<T> expected;
      for (int row = 0; row < 4; row++) {
        ranks.push_back((shift + 2 * row) % 9);
        expected.push_back(sorted[static_cast<std::size_t>(9 * row + ranks.back())]);
      }
      expect_same(order_statistic(x, array(ranks)).template to_vector<T>(), expected);
      expect_same(order_statistic(transpose(x), array(ranks), 0).template to_vector<T>(), expected);
    }
  }
}

TEST(Order, RanksOfRowsBeyondTheEndsAreTheEnds) {
  for (DType dtype : {DType::f32, DType::i32}) {
    Array x = convert(array({{3, 1, 2}, {6, 5, 4}}), dtype);
    Array found = convert(order_statistic(x, array(Ints{-1, 7})), DType::i32);
    EXPECT_EQ(found.to_vector<std::int32_t>(), (Ints{1, 6}));
  }
  EXPECT_THROW(order_statistic(array({{3, 1, 2}}), array(Ints{0, 1})), ShapeError);
  EXPECT_THROW(order_statistic(array({{3, 1, 2}}), array({0})), ShapeError);
  EXPECT_THROW(order_statistic(zeros({1, 0}), array(Ints{0})), ShapeError);
}

TYPED_TEST(OrderOf, QuantilesAreThoseOfSortedElements) {
  using T = TypeParam;
  std::mt19937 generator(3);
  std::normal_distribution<T> normal;
  for (std::size_t count : {1, 2, 5, 8, 101}) {
    std::vector<T> values(count);
    for (T& value : values) value = normal(generator);
    Array x = array(values);
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (double q : {0.0, 0.1, 0.25, 0.5, 0.77, 1.0}) {
      double position = q * static_cast<double>(count - 1);
      auto low = static_cast<std::size_t>(std::floor(position));
      auto high = static_cast<std::size_t>(std::ceil(position));
      auto nearest = static_cast<std::size_t>(std::nearbyint(position));
      T weight = static_cast<T>(position - std::floor(position));
      T linear = sorted[low] * (1 - weight) + sorted[high] * weight;
      T tolerance =
          8 * std::numeric_limits<T>::epsilon() * std::max<T>(1, static_cast<T>(count) / 8);
      Array q_array = array(Doubles{q});
      auto of = [&](Operand at, Interpolation how) {
        return reshape(quantile(x, at, {}, how), {}).template item<T>();
      };
      EXPECT_NEAR(of(q, Interpolation::linear), linear, tolerance);
      EXPECT_NEAR(of(q_array, Interpolation::linear), linear, tolerance);
      EXPECT_EQ(of(q, Interpolation::lower), sorted[low]);
      EXPECT_EQ(of(q, Interpolation::higher), sorted[high]);
      EXPECT_EQ(of(q, Interpolation::nearest), sorted[nearest]);
    }
    T middle = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    EXPECT_NEAR(median(x).template item<T>(), middle, 4 * std::numeric_limits<T>::epsilon());
  }
}

// Positions are counted in a type that counts so far.
TEST(Order, QuantilesOfManyNumbersOf16Bits) {
  std::int64_t count = 70000;
  Array x = iota({count}, 0, DType::f32) / static_cast<double>(count - 1);
  Doubles places = {0, 0.1, 0.25, 0.5, 0.77, 0.999, 1};
  for (DType dtype : {DType::f16, DType::bf16}) {
    Array numbers = convert(x, dtype);
    double precision = dtype == DType::f16 ? 1e-3 : 8e-3;
    for (DType of_q : {DType::f32, DType::f64}) {
      Array found = quantile(numbers, convert(array(places), of_q));
      EXPECT_EQ(found.dtype(), dtype);
      Doubles values = convert(found, DType::f64).to_vector<double>();
      for (std::size_t i = 0; i < places.size(); i++) {
        Array single = convert(quantile(numbers, places[i]), DType::f64);
        EXPECT_NEAR(values[i], single.item<double>(), precision) << places[i];
        EXPECT_NEAR(values[i], places[i], precision) << places[i];
      }
    }
  }
}

// The program for a platform that sorts gives what the program that searches gives.
TEST(Order, LoweringsForPlatformsAreDifferentPrograms) {
  internal::Trace trace;
  Array x = internal::placeholder({DType::f32, {25, 300}}, "test");
  Array y = order_statistic(x, 7);
  std::string cpu = internal::Emitter::module("main", {x}, {y}, {}, "cpu");
  std::string cuda = internal::Emitter::module("main", {x}, {y}, {}, "cuda");
  EXPECT_NE(cpu.find("stablehlo.while"), std::string::npos);
  EXPECT_EQ(cpu.find("stablehlo.sort"), std::string::npos);
  EXPECT_EQ(cuda.find("stablehlo.while"), std::string::npos);
  EXPECT_NE(cuda.find("stablehlo.sort"), std::string::npos);
}

TEST(Order, IntegersAndBooleans) {
  Array x = array(Ints{5, -3, 2, 5, INT32_MIN, INT32_MAX});
  EXPECT_EQ(sort(x).to_vector<std::int32_t>(), (Ints{INT32_MIN, -3, 2, 5, 5, INT32_MAX}));
  EXPECT_EQ(order_statistic(x, 2).item<std::int32_t>(), 2);
  EXPECT_EQ(argsort(x, 0, true).to_vector<std::int32_t>(), (Ints{5, 0, 3, 2, 1, 4}));
  Array truth = convert(array(Ints{1, 0, 1, 0}), DType::boolean);
  EXPECT_EQ(convert(sort(truth), DType::i32).to_vector<std::int32_t>(), (Ints{0, 0, 1, 1}));
  EXPECT_EQ(argsort(truth).to_vector<std::int32_t>(), (Ints{1, 3, 0, 2}));
  Array half = convert(array(Doubles{0.5, -2, 1, 0.25}), DType::bf16);
  EXPECT_EQ(convert(order_statistic(half, 1), DType::f64).item<double>(), 0.25);
  auto [values, positions] = top_k(x, 2);
  EXPECT_EQ(values.to_vector<std::int32_t>(), (Ints{INT32_MAX, 5}));
  EXPECT_EQ(positions.to_vector<std::int32_t>(), (Ints{5, 0}));
}

TEST(Order, NaNIsLastInRanksAndSpreadsInQuantiles) {
  Array x = array(Doubles{NAN, 1, 3, 2});
  EXPECT_EQ(order_statistic(x, 0).item<double>(), 1);
  EXPECT_EQ(order_statistic(x, 2).item<double>(), 3);
  EXPECT_TRUE(std::isnan(order_statistic(x, 3).item<double>()));
  EXPECT_TRUE(std::isnan(median(x).item<double>()));
  EXPECT_TRUE(std::isnan(quantile(x, array(Doubles{0.1}), {}).to_vector<double>()[0]));
  Array y = array(Doubles{inf, inf, 1, inf});
  EXPECT_EQ(median(y).item<double>(), inf);
  EXPECT_EQ(quantile(y, array(Doubles{0.5})).to_vector<double>()[0], inf);
}

TEST(Order, NaNIsTheLargestInTopK) {
  struct Row {
    Doubles x;
    std::int64_t k;
    Doubles values;
    Ints positions;
  };
  const std::vector<Row> rows = {
      {{1, NAN, 2}, 2, {NAN, 2}, {1, 2}},
      {{NAN, inf, -NAN, 3, inf}, 4, {NAN, NAN, inf, inf}, {0, 2, 1, 4}},
      {{NAN, NAN, NAN}, 2, {NAN, NAN}, {0, 1}},
      {{2, -inf, 7, 2, 7}, 4, {7, 7, 2, 2}, {2, 4, 0, 3}},
      {{1, NAN}, 0, {}, {}},
  };
  for (const Row& row : rows) {
    for (DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      auto [values, positions] = top_k(convert(array(row.x), dtype), row.k);
      expect_same(convert(values, DType::f64).to_vector<double>(), row.values);
      EXPECT_EQ(positions.to_vector<std::int32_t>(), row.positions);
    }
  }
  // Of each row its own, also when mapped; the derivative goes to the element that was chosen.
  Array x = array({{1, NAN, 2}, {5, 4, 6}}, DType::f64);
  Array mapped = vmap([](Array row) { return top_k(row, 2).second; })(x);
  EXPECT_EQ(top_k(x, 2).second.to_vector<std::int32_t>(), (Ints{1, 2, 2, 0}));
  EXPECT_EQ(mapped.to_vector<std::int32_t>(), (Ints{1, 2, 2, 0}));
  auto second = [](Array y) { return sum(top_k(y, 2).first(Slice{}, 1)); };
  EXPECT_EQ(grad(second)(x).to_vector<double>(), (Doubles{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(argsort(x, -1, true).to_vector<std::int32_t>(), (Ints{2, 0, 1, 2, 0, 1}));
}

TEST(Order, EqualElementsShareTheDerivative) {
  Array x = array(Doubles{3, 1, 3, 7});
  auto f = [](Array y) { return order_statistic(y, 1); };
  EXPECT_EQ(grad(f)(x).to_vector<double>(), (Doubles{0.5, 0, 0.5, 0}));
  EXPECT_EQ(grad([](Array y) { return median(y); })(x).to_vector<double>(),
            (Doubles{0.5, 0, 0.5, 0}));
  EXPECT_EQ(grad([](Array y) { return sort(y)[1]; })(x).to_vector<double>(), (Doubles{1, 0, 0, 0}));
}

TEST(Order, Errors) {
  Array x = zeros({2, 3});
  EXPECT_THROW(order_statistic(x, 3), ShapeError);
  EXPECT_THROW(order_statistic(x, -1), ShapeError);
  EXPECT_THROW(top_k(x, 4), ShapeError);
  EXPECT_THROW(quantile(x, 1.5), Error);
  EXPECT_THROW(median(zeros({0})), ShapeError);
  EXPECT_THROW(sort_by_key(x, {zeros({2})}), ShapeError);
  EXPECT_THROW(sort(zeros({2}, DType::c64)), DtypeError);
  EXPECT_THROW(sort(Array(1.0)), ShapeError);
}

}  // namespace
}  // namespace sturnus::testing
