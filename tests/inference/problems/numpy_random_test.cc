#include "src/inference/problems/numpy_random.h"

#include <gtest/gtest.h>

namespace sturnus {
namespace {

// All recorded from numpy.random.RandomState.
TEST(NumpyRandom, GivesNumpysUniforms) {
  NumpyRandom random(42);
  EXPECT_EQ(random.uniform(), 0.3745401188473625);
  EXPECT_EQ(random.uniform(), 0.9507143064099162);
  for (int i = 2; i < 1000; ++i) random.uniform();
  EXPECT_EQ(random.uniform(), 0.18513292883861965);
}

TEST(NumpyRandom, GivesNumpysNormals) {
  NumpyRandom random(0);
  EXPECT_DOUBLE_EQ(random.normal(), 1.764052345967664);
  EXPECT_DOUBLE_EQ(random.normal(), 0.4001572083672233);
  for (int i = 2; i < 1001; ++i) random.normal();
  EXPECT_DOUBLE_EQ(random.normal(), 0.8924738873315303);
}

TEST(NumpyRandom, GivesNumpysIntegers) {
  NumpyRandom random(42);
  for (std::uint32_t expected : {6u, 19u, 14u, 10u, 7u, 20u})
    EXPECT_EQ(random.integer(21), expected);
  for (std::uint32_t expected : {2u, 1u, 2u, 2u, 2u, 2u}) EXPECT_EQ(random.integer(4), expected);
}

TEST(NumpyRandom, KeepsTheSecondNormalWhileOtherDrawsPassBy) {
  NumpyRandom random(7);
  EXPECT_DOUBLE_EQ(random.normal(), 1.690525703800356);
  EXPECT_EQ(random.integer(100), 92u);
  EXPECT_DOUBLE_EQ(random.normal(), -0.4659373705408328);
  EXPECT_EQ(random.uniform(), 0.30801276518773935);
}

}  // namespace
}  // namespace sturnus
