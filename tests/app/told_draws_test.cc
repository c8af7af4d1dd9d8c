#include "src/app/told_draws.h"

#include <gtest/gtest.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/subscript.h>

#include <cmath>

namespace sturnus::app {
namespace {

// Two chains of 50 draws: a slope, and weights of which the second chain has other values.
ChainDraws small_draws() {
  ChainDraws draws = {2, 50, {{"slope", {}, {}}, {"layers_0_w", {3}, {}}}, {}};
  for (int i = 0; i < 100; i++) {
    draws.parameters[0].values.push_back(std::sin(7.0 * i * i));
    for (int k = 0; k < 3; k++) {
      double apart = k == 1 && i >= 50 ? 10 : 0;
      draws.parameters[1].values.push_back(std::cos(3.0 * i * i + k) + apart);
    }
  }
  return draws;
}

// t (slope + last weight), and its negative.
MeasuredCurve small_curve() {
  MeasuredCurve curve;
  curve.outputs = {"up", "down"};
  for (int i = 0; i <= 8; i++) curve.plot.x.push_back(0.5 * i);
  curve.plot.points = 9;
  curve.values = [](const Array& parameters, std::span<const double> times) {
    Array t = array(std::vector<double>(times.begin(), times.end()),
                    {static_cast<std::int64_t>(times.size()), 1}, DType::f64);
    return t * (parameters(0) + parameters(3)) * array({{1.0, -1.0}}, DType::f64);
  };
  return curve;
}

TEST(ToldDraws, AllParametersWithoutANetwork) {
  ToldDraws told = told_draws(small_draws(), 0, small_curve());
  ASSERT_EQ(told.rows.size(), 4u);
  EXPECT_EQ(told.rows[3].name, "layers_0_w[3]");
  EXPECT_EQ(told.draws.size(), 4u);
  EXPECT_TRUE(told.weights.is_null());
  EXPECT_EQ(weights_text(told.weights), "");
}

TEST(ToldDraws, TheFunctionInTheWeightsPlace) {
  ChainDraws draws = small_draws();
  ToldDraws told = told_draws(draws, 3, small_curve());
  ASSERT_EQ(told.rows.size(), 11u);  // the slope, and two outputs at five times
  EXPECT_EQ(told.rows[0].name, "slope");
  EXPECT_EQ(told.rows[1].name, "up(0)");
  EXPECT_EQ(told.rows[2].name, "down(0)");
  EXPECT_EQ(told.rows[10].name, "down(4)");
  double mean = 0;
  for (std::size_t i = 0; i < 100; i++) {
    double value = -3 * (draws.parameters[0].values[i] + draws.parameters[1].values[3 * i + 2]);
    EXPECT_NEAR(told.draws[8](i / 50, i % 50), value, 1e-14);  // down(3)
    mean += value / 100;
  }
  EXPECT_EQ(told.rows[8].name, "down(3)");
  EXPECT_NEAR(told.rows[8].mean, mean, 1e-13);

  EXPECT_EQ(told.weights.at("count"), 3);
  EXPECT_EQ(told.weights.at("rhat_of"), "layers_0_w[2]");
  EXPECT_GT(told.weights.at("rhat").get<double>(), 1.5);
  EXPECT_LT(told.weights.at("ess_bulk").get<double>(), 10);
  EXPECT_EQ(
      weights_text(
          {{"count", 3}, {"rhat", 1.23456}, {"rhat_of", "layers_0_w[2]"}, {"ess_bulk", 7.4}}),
      "and 3 weights of a network, whose largest R-hat is 1.235 (layers_0_w[2]) and least bulk ESS "
      "7");
}

TEST(ToldDraws, WeightsThatNeverMoved) {
  ChainDraws draws = small_draws();
  for (double& value : draws.parameters[1].values) value = 0.5;
  ToldDraws told = told_draws(draws, 3, {});
  EXPECT_EQ(told.rows.size(), 1u);
  EXPECT_EQ(weights_text(told.weights), "and 3 weights of a network, none of which moved");
}

}  // namespace
}  // namespace sturnus::app
