#include <gtest/gtest.h>
#include <sturnus/runtime/eigen.h>
#include <sturnus/runtime/eigen_tensor.h>

#include <complex>

#include "tests/runtime/cpu.h"

namespace sturnus {
namespace {

// Element (i, j, ...) holds a number that tells its place, so that no two orders look alike.
double place(Eigen::Index i, Eigen::Index j, Eigen::Index k = 0) {
  return static_cast<double>(100 * i + 10 * j + k);
}

template <class M>
class EigenMatrix : public testing::Test {};

using Matrices =
    testing::Types<Eigen::MatrixXf, Eigen::MatrixXd, Eigen::ArrayXXd, Eigen::Matrix<double, 3, 4>,
                   Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                   Eigen::Matrix<int, 3, 4, Eigen::RowMajor>,
                   Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic>>;
TYPED_TEST_SUITE(EigenMatrix, Matrices);

TYPED_TEST(EigenMatrix, KeepsItsElementsThroughTheDevice) {
  using Scalar = typename TypeParam::Scalar;
  TypeParam m(3, 4);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) m(i, j) = static_cast<Scalar>(place(i, j));
  }
  Buffer buffer = to_device(cpu().device(), m);
  EXPECT_EQ(buffer.type(), (ArrayType{dtype_of<Scalar>, {3, 4}}));
  auto values = buffer.to_vector<Scalar>();
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) {
      EXPECT_EQ(values[static_cast<std::size_t>(4 * i + j)], static_cast<Scalar>(place(i, j)));
    }
  }
  TypeParam back = to_eigen<TypeParam>(buffer);
  EXPECT_TRUE((back.array() == m.array()).all());
}

TEST(Eigen, VectorsHaveOneAxis) {
  Eigen::VectorXd column(3);
  column << 1, 2, 3;
  Buffer buffer = to_device(cpu().device(), column);
  EXPECT_EQ(buffer.type(), (ArrayType{DType::f64, {3}}));
  EXPECT_EQ(to_eigen<Eigen::VectorXd>(buffer), column);
  EXPECT_EQ(to_eigen<Eigen::RowVector3d>(buffer), Eigen::RowVector3d(column.transpose()));
}

TEST(Eigen, BlocksAndMapsKeepTheirStrides) {
  Eigen::MatrixXd m(5, 6);
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 6; j++) m(i, j) = place(i, j);
  }
  Eigen::MatrixXd block = to_eigen<Eigen::MatrixXd>(to_device(cpu().device(), m.block(1, 2, 3, 2)));
  EXPECT_EQ(block, m.block(1, 2, 3, 2));
  Eigen::VectorXd row = to_eigen<Eigen::VectorXd>(to_device(cpu().device(), m.row(3)));
  EXPECT_EQ(row, m.row(3).transpose());
  Eigen::Map<Eigen::MatrixXd, 0, Eigen::Stride<10, 2>> skipping(m.data(), 2, 3);
  EXPECT_EQ(to_eigen<Eigen::MatrixXd>(to_device(cpu().device(), skipping)), skipping);
}

template <class T>
class EigenTensor : public testing::Test {};
using Tensors = testing::Types<Eigen::Tensor<float, 3>, Eigen::Tensor<double, 3, Eigen::RowMajor>>;
TYPED_TEST_SUITE(EigenTensor, Tensors);

TYPED_TEST(EigenTensor, KeepsItsElementsThroughTheDevice) {
  using Scalar = typename TypeParam::Scalar;
  TypeParam tensor(2, 3, 4);
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 4; k++) tensor(i, j, k) = static_cast<Scalar>(place(i, j, k));
    }
  }
  Buffer buffer = to_device(cpu().device(), tensor);
  EXPECT_EQ(buffer.type(), (ArrayType{dtype_of<Scalar>, {2, 3, 4}}));
  EXPECT_EQ(buffer.to_vector<Scalar>()[(1 * 3 + 2) * 4 + 3], static_cast<Scalar>(place(1, 2, 3)));
  TypeParam back = to_eigen_tensor<TypeParam>(buffer);
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 4; k++) EXPECT_EQ(back(i, j, k), tensor(i, j, k));
    }
  }
}

TEST(Eigen, ViewsAreInPlace) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Random(3, 2);
  Buffer buffer = to_device(cpu().device(), m);
  HostView view = buffer.host_view();
  auto seen = as_eigen<double>(view);
  EXPECT_EQ(static_cast<const void*>(seen.data()), view.data());
  EXPECT_EQ(seen, m);
}

TEST(Eigen, ErrorsNameBothTypes) {
  Buffer buffer = to_device(cpu().device(), Eigen::MatrixXd(3, 2));
  auto message = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { to_eigen<Eigen::VectorXd>(buffer); }),
            "to_eigen: the array is f64[3,2], the Eigen type has 1 axis. Reshape the array, or "
            "ask for another type");
  EXPECT_EQ(message([&] { to_eigen<Eigen::Matrix2d>(buffer); }),
            "to_eigen: the array is f64[3,2], the Eigen type is fixed to 2. Ask for a type of that "
            "size, or for one that is Eigen::Dynamic");
  EXPECT_EQ(message([&] { to_eigen<Eigen::MatrixXf>(buffer); }),
            "to_eigen: the array is f64[3,2], asked for elements of f32. Ask for f64, or "
            "convert on the device");
  Buffer cube = Buffer::from_host(cpu().device(), {DType::f64, {0, 2, 2}}, nullptr);
  EXPECT_EQ(message([&] { as_eigen<double>(cube.host_view()); }),
            "as_eigen: the array is f64[0,2,2], the Eigen type has 2 axes. Reshape the array, or "
            "ask for another type");
}

}  // namespace
}  // namespace sturnus
