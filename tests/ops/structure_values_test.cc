// Functions that move, join or combine elements, against plain loops over positions.
#include <gtest/gtest.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/gather.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/take.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace sturnus {
namespace {

using Int = std::int64_t;
using Ints = std::vector<int>;
using Doubles = std::vector<double>;

// An array, and its elements on the host: x(i, j).
struct Numbers {
  Shape shape;
  Doubles values;
  Array array;

  operator Operand() const { return array; }
  template <class... Position>
  double operator()(Position... at) const {
    Int offset = 0;
    std::size_t axis = 0;
    ((offset = offset * shape.at(axis++) + at), ...);
    return values.at(static_cast<std::size_t>(offset));
  }
};

// first, first + 1, ...: no two are equal.
Numbers numbers(const Shape& shape, double first = 1) {
  Doubles values(static_cast<std::size_t>(ArrayType{DType::f64, shape}.size()));
  std::iota(values.begin(), values.end(), first);
  return {shape, values, array(values, shape)};
}

// f(i, j, ...) of the position {i, j, ...}.
template <class F>
double value_at(const F& f, const Shape& at) {
  if constexpr (std::is_invocable_v<F, Int>) {
    return f(at.at(0));
  } else if constexpr (std::is_invocable_v<F, Int, Int>) {
    return f(at.at(0), at.at(1));
  } else if constexpr (std::is_invocable_v<F, Int, Int, Int>) {
    return f(at.at(0), at.at(1), at.at(2));
  } else {
    return f(at.at(0), at.at(1), at.at(2), at.at(3));
  }
}

// Element (i, j, ...) of the result is expected(i, j, ...), exactly.
template <class F>
void expect_values(const Array& result, const Shape& shape, const F& expected,
                   Where where = Where::here()) {
  SCOPED_TRACE(where.str());
  ASSERT_EQ(result.shape(), shape);
  Shape at(shape.size(), 0);
  for (double value : result.to_vector<double>()) {
    ASSERT_EQ(value, value_at(expected, at)) << "at " << ::testing::PrintToString(at);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

double added(Int count, const std::function<double(Int)>& term) {
  double total = 0;
  for (Int k = 0; k < count; k++) total += term(k);
  return total;
}

TEST(StructureValues, Pad) {
  Numbers x = numbers({3, 4});
  struct Case {
    Shape low, high, interior;
  };
  const std::vector<Case> cases = {{{1, 0}, {0, 2}, {0, 0}},   {{0, 0}, {0, 0}, {1, 2}},
                                   {{2, 1}, {1, 3}, {2, 1}},   {{-1, 1}, {0, -2}, {0, 0}},
                                   {{-2, 1}, {1, -3}, {1, 2}}, {{-1, -1}, {-1, -1}, {0, 1}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.low));
    Shape shape = {3 + c.low[0] + c.high[0] + 2 * c.interior[0],
                   4 + c.low[1] + c.high[1] + 3 * c.interior[1]};
    // Where an element of the result comes from, or -1.
    auto source = [&](std::size_t axis, Int i) -> Int {
      Int from = i - c.low[axis], step = c.interior[axis] + 1;
      return from >= 0 && from % step == 0 && from / step < x.shape[axis] ? from / step : -1;
    };
    expect_values(pad(x, -1.0, c.low, c.high, c.interior), shape, [&](Int i, Int j) {
      Int row = source(0, i), column = source(1, j);
      return row < 0 || column < 0 ? -1.0 : x(row, column);
    });
  }
}

TEST(StructureValues, AxesMove) {
  Numbers x = numbers({2, 3, 4}), thin = numbers({1, 3, 1, 2}), row = numbers({4}),
          column = numbers({3, 1});
  expect_values(flip(x, {0, -1}), {2, 3, 4},
                [&](Int i, Int j, Int k) { return x(1 - i, j, 3 - k); });
  expect_values(squeeze(thin), {3, 2}, [&](Int i, Int j) { return thin(0, i, 0, j); });
  expect_values(squeeze(thin, {-2}), {1, 3, 2},
                [&](Int, Int i, Int j) { return thin(0, i, 0, j); });
  expect_values(expand_dims(x, 1), {2, 1, 3, 4},
                [&](Int i, Int, Int j, Int k) { return x(i, j, k); });
  expect_values(swapaxes(x, 0, -1), {4, 3, 2}, [&](Int i, Int j, Int k) { return x(k, j, i); });
  Shape order = {0, 1, 2};
  do {
    Shape shape;
    for (Int axis : order) shape.push_back(x.shape.at(static_cast<std::size_t>(axis)));
    expect_values(transpose(x, order), shape, [&](Int i, Int j, Int k) {
      std::array<Int, 3> at = {}, given = {i, j, k};
      for (std::size_t n = 0; n < 3; n++) at.at(static_cast<std::size_t>(order[n])) = given.at(n);
      return x(at[0], at[1], at[2]);
    });
  } while (std::next_permutation(order.begin(), order.end()));
  expect_values(broadcast_to(row, {2, 3, 4}), {2, 3, 4}, [&](Int, Int, Int k) { return row(k); });
  expect_values(broadcast_to(column, {2, 3, 4}), {2, 3, 4},
                [&](Int, Int j, Int) { return column(j, 0); });
}

TEST(StructureValues, Joins) {
  Numbers x = numbers({2, 3, 4});
  for (std::size_t axis = 0; axis < 3; axis++) {
    Shape part = x.shape, whole = x.shape;
    part[axis] = static_cast<Int>(axis) + 1;
    whole[axis] += part[axis];
    Numbers y = numbers(part, 100);
    expect_values(concatenate({x.array, y.array}, static_cast<int>(axis)), whole,
                  [&](Int i, Int j, Int k) {
                    std::array<Int, 3> at = {i, j, k};
                    if (at.at(axis) < x.shape[axis]) return x(i, j, k);
                    at.at(axis) -= x.shape[axis];
                    return y(at[0], at[1], at[2]);
                  });
  }
  Numbers a = numbers({3, 4}), b = numbers({3, 4}, 50);
  expect_values(stack({a.array, b.array}, 1), {3, 2, 4},
                [&](Int i, Int n, Int j) { return n == 0 ? a(i, j) : b(i, j); });
  expect_values(stack({a.array, b.array}, -1), {3, 4, 2},
                [&](Int i, Int j, Int n) { return n == 0 ? a(i, j) : b(i, j); });
}

TEST(StructureValues, PartsAndRepetitions) {
  Numbers x = numbers({5, 7});
  expect_values(slice(x, {1, 0}, {5, 7}, {3, 2}), {2, 4},
                [&](Int i, Int j) { return x(1 + 3 * i, 2 * j); });
  for (Int shift : {0, 2, -3, 9, -15}) {
    expect_values(roll(x, shift, 1), {5, 7},
                  [&](Int i, Int j) { return x(i, ((j - shift) % 7 + 7) % 7); });
  }
  expect_values(tile(x, {2, 3}), {10, 21}, [&](Int i, Int j) { return x(i % 5, j % 7); });
  expect_values(tile(x, {2, 1, 2}), {2, 5, 14}, [&](Int, Int i, Int j) { return x(i, j % 7); });
  expect_values(repeat(x, 3, 1), {5, 21}, [&](Int i, Int j) { return x(i, j / 3); });
}

// Sums of small whole numbers are exact in any order.
TEST(StructureValues, Products) {
  Numbers a = numbers({2, 3, 4}), b = numbers({3, 4, 5}, -7), u = numbers({4}, 5);
  expect_values(tensordot(a, b), {2, 5}, [&](Int i, Int j) {
    return added(12, [&](Int k) { return a(i, k / 4, k % 4) * b(k / 4, k % 4, j); });
  });
  Numbers m = numbers({4, 3}, 2), v = numbers({3}, -1);
  expect_values(outer(u, v), {4, 3}, [&](Int i, Int j) { return u(i) * v(j); });
  expect_values(matmul(m, v), {4},
                [&](Int i) { return added(3, [&](Int k) { return m(i, k) * v(k); }); });
  Numbers left = numbers({2, 1, 3, 4}), right = numbers({5, 4, 2}, -9);
  expect_values(matmul(left, right), {2, 5, 3, 2}, [&](Int p, Int q, Int i, Int j) {
    return added(4, [&](Int k) { return left(p, 0, i, k) * right(q, k, j); });
  });
  DotAxes axes{.left_batch = {0}, .right_batch = {2}, .left_sum = {2}, .right_sum = {1}};
  expect_values(dot_general(a, right, axes), {2, 3, 5}, [&](Int n, Int i, Int j) {
    return added(4, [&](Int k) { return a(n, i, k) * right(j, k, n); });
  });
  DotAxes no_sum{.left_batch = {2, 0}, .right_batch = {1, 2}, .left_sum = {}, .right_sum = {}};
  expect_values(dot_general(a, right, no_sum), {4, 2, 3, 5},
                [&](Int p, Int q, Int i, Int j) { return a(q, i, p) * right(j, p, q); });
}

TEST(StructureValues, ReadsAtPositions) {
  Numbers x = numbers({4, 5});
  const Ints positions = {3, 0, -1, -7, 2, 9};
  // Counted from the end when negative, then moved inside.
  auto taken = [&](Int n, Int extent) {
    Int position = positions.at(static_cast<std::size_t>(n));
    return std::clamp<Int>(position < 0 ? position + extent : position, 0, extent - 1);
  };
  expect_values(take(x, array(positions), 1), {4, 6},
                [&](Int i, Int n) { return x(i, taken(n, 5)); });
  expect_values(take(x, array(positions, {2, 3})), {2, 3, 5},
                [&](Int m, Int n, Int j) { return x(taken(3 * m + n, 4), j); });
  // A general read only moves slices inside: rows first, then columns.
  auto start = [&](Int n, Int coordinate, Int last) {
    return std::clamp<Int>(positions.at(static_cast<std::size_t>(2 * n + coordinate)), 0, last);
  };
  Array found =
      gather(x, array(positions, {3, 2}), {.offset = {1, 2}, .start_map = {0, 1}}, {2, 3});
  expect_values(found, {3, 2, 3},
                [&](Int n, Int i, Int j) { return x(start(n, 0, 2) + i, start(n, 1, 2) + j); });
}

TEST(StructureValues, DynamicSlicesAreMovedInside) {
  Numbers x = numbers({4, 5}), part = numbers({2, 3}, 100);
  for (Int start : {-3, 0, 1, 2, 3, 9}) {
    // Negative ones count from the end.
    auto begin = [](Int at, Int extent) {
      return std::clamp<Int>(at < 0 ? at + extent : at, 0, 2);
    };
    Int row = begin(start, 4), column = begin(start - 1, 5);
    Arrays at = {Array(start), Array(start - 1)};
    expect_values(dynamic_slice(x, at, {2, 3}), {2, 3},
                  [&](Int i, Int j) { return x(row + i, column + j); });
    expect_values(dynamic_update_slice(x, part, at), {4, 5}, [&](Int i, Int j) {
      bool written = i >= row && i < row + 2 && j >= column && j < column + 3;
      return written ? part(i - row, j - column) : x(i, j);
    });
  }
  EXPECT_EQ(take(arange(300), array({7, 200}, DType::u8)).to_vector<int>()[1], 200);
  EXPECT_EQ(take(arange(300), Array(-1, DType::i8)).item<int>(), 299);
  for (DType dtype : {DType::i8, DType::i32, DType::i64}) {
    Array last = dynamic_index(x, Array(-1, dtype));
    expect_values(last, {5}, [&](Int j) { return x(3, j); });
    EXPECT_EQ(dynamic_index(arange(300), Array(-1, dtype)).item<int>(), 299);
    auto mapped = vmap([](Array i) { return dynamic_index(arange(300), i); });
    EXPECT_EQ(
        mapped(array({-1, -300, 5}, dtype == DType::i8 ? DType::i32 : dtype)).to_vector<int>(),
        (HostVector<int>{299, 0, 5}));
  }
}

// Unsigned positions of the larger half of their types are beyond the end, not before the start.
TEST(StructureValues, LargeUnsignedPositionsAreBeyondTheEnd) {
  Array x = arange(10), part = array({7, 8}, DType::i32);
  const std::vector<std::pair<DType, std::uint64_t>> table = {{DType::u8, 255},
                                                              {DType::u16, 65535},
                                                              {DType::u32, 1ULL << 31},
                                                              {DType::u32, 4294967295},
                                                              {DType::u64, 1ULL << 31},
                                                              {DType::u64, 1ULL << 63},
                                                              {DType::u64, ~std::uint64_t{0}}};
  for (const auto& [dtype, position] : table) {
    SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(position));
    Array at(position, dtype), both = broadcast_to(at, {2});
    EXPECT_EQ(dynamic_slice(x, {at}, {3}).to_vector<int>(), (HostVector<int>{7, 8, 9}));
    EXPECT_EQ(dynamic_index(x, at).item<int>(), 9);
    EXPECT_EQ(take(x, at).item<int>(), 9);
    EXPECT_EQ(x[at].item<int>(), 9);
    EXPECT_EQ(dynamic_update_slice(x, part, {at}).to_vector<int>()[9], 8);
    auto mapped = vmap([&](Array i) { return dynamic_slice(x, {i}, {1}); })(both);
    EXPECT_EQ(mapped.to_vector<int>(), (HostVector<int>{9, 9}));
    auto written = vmap([&](Array i) { return dynamic_update_slice(x, part, {i}); })(both);
    EXPECT_EQ(written.to_vector<int>()[19], 8);
  }
  // The others of an unsigned type are where they are.
  EXPECT_EQ(dynamic_index(x, Array(3, DType::u64)).item<int>(), 3);
  EXPECT_EQ(dynamic_index(x, Array(3, DType::u32)).item<int>(), 3);
}

TEST(StructureValues, OneHotMarksOneColumn) {
  for (DType dtype : {DType::i8, DType::u8, DType::i32, DType::u64}) {
    for (Int n : {100, 128, 129, 256, 257, 600}) {
      Array marked = one_hot(array({0, 3, 99}, dtype), n, DType::i32);
      auto values = marked.to_vector<int>();
      for (Int i = 0; i < 3; i++) {
        Int position = i == 0 ? 0 : i == 1 ? 3 : 99;
        for (Int j = 0; j < n; j++) {
          ASSERT_EQ(values[static_cast<std::size_t>(i * n + j)], j == position ? 1 : 0)
              << name_of(dtype) << " " << n << " at " << j;
        }
      }
    }
  }
  EXPECT_EQ(one_hot(array({255}, DType::u8), 300, DType::i32).to_vector<int>()[255], 1);
  EXPECT_EQ(one_hot(array({-1}, DType::i8), 300, DType::i32).to_vector<int>(),
            HostVector<int>(300, 0));
}

// Rows are written at positions, of which 4 and -1 are outside. Of several `set` any may stay, so
// only there no position repeats.
TEST(StructureValues, ScatterCombines) {
  Numbers x = numbers({4, 3}), updates = numbers({5, 3}, 3);
  struct Case {
    Combine combine;
    Ints positions;
    std::function<double(double, double)> combined;
  };
  const std::vector<Case> cases = {
      {Combine::set, {2, 0, 3, 4, -1}, [](double, double b) { return b; }},
      {Combine::add, {2, 0, 2, 4, -1}, [](double a, double b) { return a + b; }},
      {Combine::multiply, {2, 0, 2, 4, -1}, [](double a, double b) { return a * b; }},
      {Combine::max, {2, 0, 2, 4, -1}, [](double a, double b) { return std::max(a, b); }},
      {Combine::min, {2, 0, 2, 4, -1}, [](double a, double b) { return std::min(a, b); }}};
  for (const Case& c : cases) {
    SCOPED_TRACE(static_cast<int>(c.combine));
    Array result = scatter(x, array(c.positions, {5, 1}), updates,
                           {.offset = {1}, .collapsed = {0}, .start_map = {0}}, c.combine);
    expect_values(result, {4, 3}, [&](Int i, Int j) {
      double value = x(i, j);
      for (std::size_t n = 0; n < 5; n++) {
        if (c.positions[n] == i) value = c.combined(value, updates(static_cast<Int>(n), j));
      }
      return value;
    });
  }
}

TEST(StructureValues, NumbersThatAreNone) {
  double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  double largest = std::numeric_limits<double>::max();
  const Doubles values = {1.5, nan, infinity, -infinity, 0, -2, largest};
  auto is_nans = is_nan(array(values)).to_vector<bool>();
  auto is_infs = is_inf(array(values)).to_vector<bool>();
  auto finite = nan_to_num(array(values)).to_vector<double>();
  for (std::size_t i = 0; i < values.size(); i++) {
    EXPECT_EQ(is_nans[i] != 0, std::isnan(values[i])) << values[i];
    EXPECT_EQ(is_infs[i] != 0, std::isinf(values[i])) << values[i];
    double expected = std::isnan(values[i]) ? 0 : std::clamp(values[i], -largest, largest);
    EXPECT_EQ(finite[i], expected) << values[i];
  }
}

TEST(StructureValues, IntegersStayIntegers) {
  for (DType dtype : {DType::i32, DType::i64, DType::u32}) {
    Array x = array({0, 16777217, 3}, dtype);
    for (Array (*f)(Operand) : {relu, nan_to_num}) {
      EXPECT_EQ(f(x).dtype(), dtype);
      EXPECT_EQ(convert(f(x), DType::f64).to_vector<double>(), (Doubles{0, 16777217, 3}));
    }
  }
  EXPECT_EQ(relu(array({-5, 5}, DType::i8)).dtype(), DType::i8);
  EXPECT_EQ(convert(relu(array({-5, 5}, DType::i8)), DType::i32).to_vector<int>(),
            (HostVector<int>{0, 5}));
  EXPECT_EQ(nan_to_num(array({-5}, DType::i32)).item<int>(), -5);
}

TEST(StructureValues, Shifts) {
  using Word = std::uint32_t;
  const Ints values = {0, 1, -1, 5, -8, 123456789, INT32_MAX, INT32_MIN};
  for (int bits : {0, 1, 3, 31}) {
    auto left = shift_left(array(values), bits).to_vector<int>();
    auto right = shift_right(array(values), bits).to_vector<int>();
    auto with_sign = shift_right_arithmetic(array(values), bits).to_vector<int>();
    for (std::size_t i = 0; i < values.size(); i++) {
      EXPECT_EQ(left[i], static_cast<int>(static_cast<Word>(values[i]) << bits)) << values[i];
      EXPECT_EQ(right[i], static_cast<int>(static_cast<Word>(values[i]) >> bits)) << values[i];
      EXPECT_EQ(with_sign[i], std::floor(std::ldexp(values[i], -bits))) << values[i];
    }
  }
}

}  // namespace
}  // namespace sturnus
