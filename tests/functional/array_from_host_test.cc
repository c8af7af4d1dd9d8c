// Arrays from what a program has: numbers of every type, nested vectors, Eigen's matrices.
#include <gtest/gtest.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/eigen.h>
#include <sturnus/functional/eigen_tensor.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sturnus {
namespace {

template <class T>
class Number : public ::testing::Test {};
using Integers = ::testing::Types<short, unsigned short, int, unsigned, long, unsigned long,
                                  long long, unsigned long long, signed char, unsigned char>;
TYPED_TEST_SUITE(Number, Integers);

TYPED_TEST(Number, IsAnArrayAndAnOperand) {
  auto three = static_cast<TypeParam>(3);
  Array x = three;
  EXPECT_EQ(x.dtype(), DType::i32);
  EXPECT_EQ(x.item<std::int32_t>(), 3);
  Array y = Array(2.0, DType::f64) * three;
  EXPECT_EQ(y.item<double>(), 6);
}

TEST(Numbers, OfFloatingPoint) {
  EXPECT_EQ(Array(1.5f).item<float>(), 1.5f);
  EXPECT_EQ(Array(1.5L).item<float>(), 1.5f);
  EXPECT_EQ((Array(1.0) * 2.5L).item<float>(), 2.5f);
}

TEST(Numbers, ThatDoesNotFitIsRefused) {
  EXPECT_THROW(Array(std::int64_t{1} << 40), DtypeError);
  EXPECT_THROW(Array(~std::uint64_t{0}), DtypeError);
  EXPECT_THROW(Array(4000000000u), DtypeError);
}

TEST(Doubles, AreRoundedToTheTypeAndComeBack) {
  const std::vector<double> values = {0, 1, 2.5, 3.1, 100, 7};
  const std::vector<std::pair<DType, double>> rounded = {
      {DType::f64, 3.1}, {DType::f32, 3.1f}, {DType::f16, 3.099609375}, {DType::bf16, 3.09375},
      {DType::i32, 3},   {DType::u8, 3},     {DType::boolean, 1}};
  for (auto [dtype, expected] : rounded) {
    Array x = array(values, {2, 3}, dtype);
    EXPECT_EQ(x.type(), (ArrayType{dtype, {2, 3}}));
    std::vector<double> back = to_doubles(x);
    EXPECT_EQ(back[3], expected) << x.type().str();
    EXPECT_EQ(back[4], dtype == DType::boolean ? 1 : 100) << x.type().str();
  }
  EXPECT_EQ(to_doubles(array(values, {6}, DType::f64)), values);
  EXPECT_THROW(array(values, {4}, DType::f32), Error);
  EXPECT_THROW(to_doubles(array(values, {6}, DType::c64)), DtypeError);
}

TEST(Spans, BecomeArraysAndAreFilledFromThem) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::span<float> own(values);
  std::span<const float> constant(values);
  for (const Array& x :
       {array(own, {2, 3}), array(constant, {2, 3}), array(own.first(6), {2, 3})}) {
    EXPECT_EQ(x.type(), (ArrayType{DType::f32, {2, 3}}));
    EXPECT_EQ(x.to_vector<float>(), values);
  }
  EXPECT_EQ(array(own.subspan(1, 2)).to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(array(constant).shape(), Shape{6});
  EXPECT_THROW(array(own, {4}), Error);

  std::vector<float> back(6);
  array(constant, {3, 2}).copy_to(std::span(back));
  EXPECT_EQ(back, values);
  EXPECT_THROW(array(constant).copy_to(std::span(back).first(5)), Error);
  std::vector<double> wrong(6);
  EXPECT_THROW(array(constant).copy_to(std::span(wrong)), Error);
}

TEST(Spans, MayHaveAFixedExtent) {
  std::array<float, 4> values = {1, 2, 3, 4};
  for (const Array& x :
       {array(values), array(std::span(values)), array(std::span<const float, 4>(values))}) {
    EXPECT_EQ(x.type(), (ArrayType{DType::f32, {4}}));
    EXPECT_EQ(x.to_vector<float>()[3], 4);
  }
  EXPECT_EQ(array(values, {2, 2}).shape(), (Shape{2, 2}));
  EXPECT_THROW(array(values, {3}), Error);
}

TEST(Devices, AnArrayGoesToAnother) {
  Client client = Client::cpu(2);
  Device second = client.addressable_devices()[1];
  Array x = array(std::vector<int>{1, 2, 3}), there = x.to(second);
  EXPECT_EQ(there.device(), second);
  EXPECT_EQ(there.to_vector<int>(), x.to_vector<int>());
  EXPECT_TRUE(there.to(second).same(there));
}

TEST(Printing, IsLikeNumPys) {
  const std::vector<std::pair<Array, std::string>> table = {
      {Array(2.5), "2.5"},
      {array({1, 2, 3}, DType::i32), "[1 2 3]"},
      {array({{1, 20}, {300, 4}}, DType::i32), "[[  1  20]\n [300   4]]"},
      {array(std::vector<bool>{true, false}), "[ true false]"},
      {array(std::vector<int>(0)), "[]"},
      {zeros({2, 0, 3}), "[]"},
      {reshape(arange(8), {2, 2, 2}), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"},
      {reshape(arange(4), {2, 1, 2, 1}), "[[[[0]\n   [1]]]\n\n\n [[[2]\n   [3]]]]"},
      {reshape(arange(2), {1, 1, 2}), "[[[0 1]]]"},
      // One notation for all: exponents where fixed numbers would be long.
      {array({100000, 0.0001, 0.5}), "[100000 0.0001    0.5]"},
      {array({1, 1e-5, 0}), "[1e+00 1e-05 0e+00]"},
      {array({-1.5, 2e8}, DType::f64), "[-1.5e+00    2e+08]"},
      {array({NAN, 1e-5, INFINITY}), "[  nan 1e-05   inf]"},
      {array({std::complex<double>(1, 1e-5)}, DType::c64), "[1e+00+1e-05i]"},
      // As short as reads back the same in their type.
      {array({0.1, 3.140625}, DType::bf16), "[ 0.1 3.14]"},
      {array({0.1, 2.0 / 3}, DType::f16), "[   0.1 0.6665]"},
      // No lines of more than 75 characters.
      {arange(30) + 100,
       "[100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117\n"
       " 118 119 120 121 122 123 124 125 126 127 128 129]"},
      {reshape(arange(38) + 100, {2, 19}),
       "[[100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117\n"
       "  118]\n"
       " [119 120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136\n"
       "  137]]"}};
  for (const auto& [x, expected] : table) EXPECT_EQ(to_string(x), expected);
  std::vector<int> many(2000);
  for (std::size_t i = 0; i < many.size(); i++) many[i] = static_cast<int>(i);
  EXPECT_EQ(to_string(array(many)), "[   0    1    2 ... 1997 1998 1999]");
  // No longer than what is shown.
  many.assign(10000000, 0);
  many[5000] = 123456;
  auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(to_string(array(many)), "[0 0 0 ... 0 0 0]");
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
  many.resize(2000);
  for (std::size_t i = 0; i < many.size(); i++) many[i] = static_cast<int>(i);
  EXPECT_EQ(
      to_string(array(many, {1000, 2})),
      "[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [1994 1995]\n [1996 1997]\n [1998 1999]]");
  EXPECT_EQ(to_string(zeros({1000, 2, 1})),
            "[[[0]\n  [0]]\n\n [[0]\n  [0]]\n\n [[0]\n  [0]]\n\n ...\n\n [[0]\n  [0]]\n\n [[0]\n  "
            "[0]]\n\n [[0]\n  [0]]]");
}

TEST(NestedVectors, BecomeAxes) {
  Array x = array(std::vector<std::vector<double>>{{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(x.type(), (ArrayType{DType::f64, {2, 3}}));
  EXPECT_EQ(x.to_vector<double>()[4], 5);
  std::vector<std::vector<std::vector<std::int32_t>>> deep = {{{1}, {2}}, {{3}, {4}}, {{5}, {6}}};
  EXPECT_EQ(array(deep).type(), (ArrayType{DType::i32, {3, 2, 1}}));
  EXPECT_EQ(array(deep).to_vector<std::int32_t>()[5], 6);
  EXPECT_EQ(array(std::vector<std::vector<float>>{}).shape(), (Shape{0, 0}));
  EXPECT_THROW(array(std::vector<std::vector<float>>{{1, 2}, {3}}), ShapeError);
}

TEST(Vectors, OfBool) {
  Array x = array(std::vector<bool>{true, false, true});
  EXPECT_EQ(x.type(), (ArrayType{DType::boolean, {3}}));
  EXPECT_EQ(x.to_vector<bool>(), (HostVector<bool>{1, 0, 1}));
  Array y = array(std::vector<bool>{true, false, false, true}, {2, 2});
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_EQ(array(std::vector<bool>{}).shape(), Shape{0});
  std::vector<std::vector<bool>> rows = {{false, true, true}, {true, false, false}};
  EXPECT_EQ(array(rows).type(), (ArrayType{DType::boolean, {2, 3}}));
  EXPECT_EQ(array(rows).to_vector<bool>(), (HostVector<bool>{0, 1, 1, 1, 0, 0}));
  EXPECT_THROW(array(std::vector<bool>{true}, {2}), Error);
}

TEST(Eigen, ThereAndBack) {
  Eigen::MatrixXd m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  Array x = from_eigen(m);
  EXPECT_EQ(x.type(), (ArrayType{DType::f64, {2, 3}}));
  EXPECT_EQ(x.to_vector<double>()[1], 2);
  EXPECT_EQ(to_eigen<Eigen::MatrixXd>(x), m);
  EXPECT_EQ(to_eigen<Eigen::MatrixXd>(from_eigen(m.transpose() * 2.0)), m.transpose() * 2.0);
  Eigen::VectorXf v(3);
  v << 1, 2, 3;
  EXPECT_EQ(from_eigen(v).type(), (ArrayType{DType::f32, {3}}));
  EXPECT_EQ(to_eigen<Eigen::VectorXf>(from_eigen(v)), v);
  EXPECT_THROW(to_eigen<Eigen::VectorXd>(x), Error);
  auto message = [](const std::function<void()>& f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string line = " (array_from_host_test.cc:" + std::to_string(__LINE__ + 1) + ")";
  EXPECT_EQ(message([&] { to_eigen<Eigen::VectorXd>(x); }),
            "to_eigen: the array is " + x.type().str() + ", the Eigen type has 1 axis" + line +
                ". Reshape the array, or ask for another type");
  std::string traced = message([&] {
    jit([](Array y) {
      to_eigen<Eigen::VectorXd>(y);
      return y;
    })(x);
  });
  EXPECT_EQ(traced.substr(0, 15), "to_eigen: this ") << traced;

  Eigen::Tensor<float, 3> t(2, 3, 4);
  for (int i = 0; i < 24; i++) t.data()[i] = static_cast<float>(i);
  Array y = from_eigen(t);
  EXPECT_EQ(y.type(), (ArrayType{DType::f32, {2, 3, 4}}));
  EXPECT_EQ(y.to_vector<float>()[1], t(0, 0, 1));
  auto back = to_eigen_tensor<Eigen::Tensor<float, 3>>(y);
  for (int i = 0; i < 24; i++) EXPECT_EQ(back.data()[i], t.data()[i]);
}

}  // namespace
}  // namespace sturnus
