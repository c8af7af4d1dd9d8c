// Subscripts against NumPy, and what happens at the edges.
#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/take.h>

#include <limits>

#include "tests/ops/subscript_values.h"

namespace sturnus::testing {
namespace {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;
using Ints = std::vector<int>;

Array numbers() { return reshape(arange(60, DType::f64), {4, 3, 5}); }
Array i() { return array(Ints{2, 0, -1}); }
Array j() { return array(Ints{1, 0, -2, 1, 1, 2}, {2, 3}); }

TEST(Subscript, ReadsWhatNumPyReads) {
  for (const ReadCase& row : read_cases) {
    Array part = row.f(numbers(), i(), j());
    EXPECT_EQ(part.shape(), row.shape) << row.text;
    EXPECT_EQ(part.to_vector<double>(), row.expected) << row.text;
  }
}

TEST(Subscript, WritesWhatNumPyWrites) {
  for (const WriteCase& row : write_cases) {
    Doubles values(static_cast<std::size_t>(ArrayType{DType::f64, row.shape}.size()));
    for (std::size_t k = 0; k < values.size(); k++) values[k] = static_cast<double>(k * 2 % 11 + 1);
    Array whole = row.f(numbers(), i(), j(), array(values, row.shape));
    EXPECT_EQ(whole.to_vector<double>(), row.expected) << row.text;
  }
}

TEST(Subscript, ReadsMoveInsideAndWritesOutsideAreLeftOut) {
  Array x = array(Doubles{10, 11, 12});
  Array at = array(Ints{-9, -3, 2, 3, 100});
  EXPECT_EQ(x[at].to_vector<double>(), (Doubles{10, 10, 12, 12, 12}));
  EXPECT_EQ(take(x, at).to_vector<double>(), (Doubles{10, 10, 12, 12, 12}));
  EXPECT_EQ(x.at(at).add(1.0).to_vector<double>(), (Doubles{11, 11, 13}));
  EXPECT_EQ(x.at(Array(3)).set(7.0).to_vector<double>(), (Doubles{10, 11, 12}));
  auto read = [&](Array y) { return sum(y[at] * array(Doubles{1, 10, 100, 1000, 10000})); };
  EXPECT_EQ(grad(read)(x).to_vector<double>(), (Doubles{11, 0, 11100}));
  auto write = [&](Array v) { return sum(x.at(at).add(v)); };
  EXPECT_EQ(grad(write)(array(Doubles{1, 2, 3, 4, 5})).to_vector<double>(),
            (Doubles{0, 1, 1, 0, 0}));
}

TEST(Subscript, ConstantPositionsOutsideAreErrors) {
  Array x = zeros({4, 3});
  auto text = [&](auto f) -> std::string {
    try {
      f();
    } catch (const ShapeError& error) {
      return error.what();
    } catch (const DtypeError& error) {
      return error.what();
    }
    return "no error";
  };
  std::string line = std::to_string(__LINE__ + 1);
  EXPECT_EQ(text([&] { x[4]; }),
            "subscript: position 4 is outside of axis 0 of f32[4,3] (subscript_test.cc:" + line +
                "). Give one from -4 to 3");
  EXPECT_NE(text([&] { x(0, -4); }).find("position -4 is outside of axis 1 of f32[4,3]"),
            std::string::npos);
  EXPECT_NE(text([&] { x(0, 0, 0); }).find("3 subscripts for the 2 axes of f32[4,3]"),
            std::string::npos);
  EXPECT_NE(text([&] { x(ellipsis, ellipsis); }).find("more than one ellipsis"), std::string::npos);
  EXPECT_NE(text([&] { x(Slice{0, 1, 0}); }).find("a step of 0"), std::string::npos);
  EXPECT_NE(text([&] { x[x > 0.0]; }).find("Choose with where when it is a mask"),
            std::string::npos);
  EXPECT_NE(text([&] { (void)x.at(0).set(zeros({2})); }).find("f32[2] does not fit into f32[3]"),
            std::string::npos);
  EXPECT_NE(text([&] { zeros({0})[Array(0)]; }).find("a position within an empty axis"),
            std::string::npos);
}

TEST(Subscript, KeepsIntegersInfinitiesAndNaN) {
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  Array x = array(Doubles{inf, nan, 1, -inf}, {2, 2});
  Array at = array(Ints{1, 0});
  auto row = vmap([&](Array k) { return dynamic_index(x, k); })(at).to_vector<double>();
  EXPECT_EQ(row[0], 1);
  EXPECT_EQ(row[1], -inf);
  EXPECT_EQ(row[2], inf);
  EXPECT_TRUE(std::isnan(row[3]));
  auto put = vmap([&](Array k) {
    return dynamic_update_slice(x, full({1, 2}, 5, DType::f64), {k, Array(0)});
  })(at);
  auto written = put.to_vector<double>();
  EXPECT_EQ(written[0], inf);
  EXPECT_TRUE(std::isnan(written[1]));
  EXPECT_EQ(written[2], 5);
  std::int64_t large = (std::int64_t{1} << 53) + 1;
  Array big = array(std::vector<std::int64_t>{large, -large});
  EXPECT_EQ(vmap([&](Array k) { return dynamic_index(big, k); })(at).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{-large, large}));
}

TEST(Subscript, ChosenPartsOfEmptyArraysAreEmpty) {
  Array x = zeros({0, 3});
  EXPECT_EQ(x(Slice{1, 5}).shape(), (Shape{0, 3}));
  EXPECT_EQ(x(Slice{}, 1).shape(), (Shape{0}));
  EXPECT_EQ(x(Slice{}, i()).shape(), (Shape{0, 3}));
  Array none = array(Ints{});
  EXPECT_EQ(numbers()[none].shape(), (Shape{0, 3, 5}));
  EXPECT_EQ(numbers().at(none).add(1.0).to_vector<double>(), numbers().to_vector<double>());
  EXPECT_EQ(take_along_axis(x, zeros({0, 2}, DType::i32), 1).shape(), (Shape{0, 2}));
}

// Where a value is set twice the gradient goes to the one that stays.
TEST(Subscript, GradientOfRepeatedSetGoesToTheOneThatStays) {
  Array x = array(Doubles{1, 2}), at = array(Ints{1, 1, 1}), v = array(Doubles{5, 6, 7});
  Array y = x.at(at).set(v);
  auto loss = [&](Array w) { return sum(x.at(at).set(w)); };
  auto gradient = grad(loss)(v).to_vector<double>();
  double stayed = 0, count = 0;
  for (std::size_t k = 0; k < 3; k++) {
    stayed += gradient[k] * v.to_vector<double>()[k];
    count += gradient[k];
  }
  EXPECT_EQ(count, 1);
  EXPECT_EQ(stayed, y.to_vector<double>()[1]);
}

// d/dv of x v1 v2 where one v is 0: division by it must not be seen.
TEST(Subscript, GradientOfProductsWithZero) {
  Array x = array(Doubles{3}), at = array(Ints{0, 0});
  auto loss = [&](Array v) { return sum(x.at(at).multiply(v)); };
  EXPECT_EQ(grad(loss)(array(Doubles{0, 5})).to_vector<double>(), (Doubles{15, 0}));
  EXPECT_EQ(grad(loss)(array(Doubles{0, 0})).to_vector<double>(), (Doubles{0, 0}));
  EXPECT_EQ(grad(loss)(array(Doubles{2, 5})).to_vector<double>(), (Doubles{15, 6}));
}

TEST(Subscript, OneHot) {
  Array hot = one_hot(array(Ints{2, 0, -1, 3}), 3);
  EXPECT_EQ(hot.to_vector<float>(), (Floats{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Subscript, WorksWithEveryIndexType) {
  Array x = array(Doubles{1, 2, 3});
  EXPECT_EQ(x[array(std::vector<std::uint8_t>{2, 255})].to_vector<double>(), (Doubles{3, 3}));
  EXPECT_EQ(x[array(std::vector<std::int64_t>{-1})].to_vector<double>(), (Doubles{3}));
  std::size_t k = 1;
  EXPECT_EQ(x[k].item<double>(), 2);
}

}  // namespace
}  // namespace sturnus::testing
