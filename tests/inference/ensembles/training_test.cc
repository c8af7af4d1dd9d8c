#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/ensembles/training.h>
#include <sturnus/ops/creation.h>

#include <cmath>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

// ------------------------------------------------------------------------------- what a log says

TEST(ParameterDrift, IsTheLargestChangeInTheLastTenthInStandardDeviations) {
  // Two members with two parameters, forty records: the last four count.
  TrainingLog log;
  for (int i = 0; i < 40; i++) log.records.push_back({.iteration = i, .lambda = {9, 9, 9, 9}});
  log.records[36].lambda = {1, 10, 5, 30};
  log.records[37].lambda = {1.4, 10, 5, 32};
  log.records[38].lambda = {1.2, 10, 5, 30};
  log.records[39].lambda = {1, 10, 5, 30};
  // Standard deviations at the end: of 1 and 5 it is 2, of 10 and 30 it is 10.
  EXPECT_THAT(parameter_drift(log, 2), ElementsAre(DoubleNear(0.2, 1e-12), DoubleNear(0.2, 1e-12)));
}

TEST(ParameterDrift, OfOneMemberIsAbsoluteAndOfNothingIsZero) {
  TrainingLog log;
  EXPECT_EQ(parameter_drift(log, 3), Doubles(3, 0));
  for (int i = 0; i < 20; i++) log.records.push_back({.lambda = {0.1 * i}});
  EXPECT_THAT(parameter_drift(log, 1), ElementsAre(DoubleNear(0.1, 1e-12)));
  for (TrainingRecord& record : log.records) record.lambda = {};
  EXPECT_EQ(parameter_drift(log, 2), Doubles(2, 0));
}

TEST(ParameterDrift, DoesNotMindALostMember) {
  TrainingLog log;
  double nan = std::nan("");
  for (int i = 0; i < 20; i++) log.records.push_back({.lambda = {1, nan, 5}});
  log.records[18].lambda[2] = 6;
  std::vector<double> drift = parameter_drift(log, 3);
  EXPECT_EQ(drift[0], 0);
  EXPECT_NEAR(drift[2], 0.5, 1e-12);
}

TEST(LambdaMoments, AreThoseOfFiniteMembers) {
  TrainingRecord record = {.lambda = {1, 7, std::nan(""), 7, 3, 8, 5, INFINITY}};
  MeanSd first = lambda_moments(record, 0, 2), second = lambda_moments(record, 1, 2);
  EXPECT_NEAR(first.mean, 3, 1e-12);
  EXPECT_NEAR(first.sd, std::sqrt(8.0 / 3), 1e-12);
  EXPECT_NEAR(second.mean, 22.0 / 3, 1e-12);
  EXPECT_TRUE(std::isnan(lambda_moments({.lambda = {std::nan("")}}, 0, 1).mean));
}

// ------------------------------------------------------------------- members that are lost

struct Lost : testing::Test {
  Lost()
      : ensemble(problem_of(published_data(Experiment::exponential, 0)),
                 {.members = 3, .network = {.hidden = {3}}, .collocation = {.points = 5}}) {
    state = ensemble.init();
    Doubles lambda = doubles(ensemble.lambda(state));
    lambda[1] = std::nan("");
    Member members = ensemble.members(state);
    members.lambda = device_array(lambda, {3, 1}, DType::f32);
    state = ensemble.with_members(state, members);
  }
  void train_with(OnDivergence what) {
    train(ensemble, state, log, {.iterations = 12, .chunk = 5, .on_divergence = what});
  }
  Ensemble ensemble;
  EnsembleState state;
  TrainingLog log;
};

TEST_F(Lost, AreDroppedRestartedOrEndTheTraining) {
  EnsembleState first = tree_map([](const Array& a) { return a + zeros_like(a); }, state);
  EnsembleState second = tree_map([](const Array& a) { return a + zeros_like(a); }, state);
  train_with(OnDivergence::drop);
  EXPECT_THAT(surviving_members(state), ElementsAre(0, 2));
  ASSERT_EQ(log.divergences.size(), 1u);
  EXPECT_EQ(log.divergences[0].member, 1);
  EXPECT_EQ(log.divergences[0].iteration, 0);
  ASSERT_EQ(log.records.size(), 3u);
  EXPECT_EQ(log.records[2].iteration, 12);
  EXPECT_TRUE(std::isfinite(log.records[2].data));
  EXPECT_TRUE(std::isnan(log.records[2].lambda[1]));

  state = first, log = {};
  train_with(OnDivergence::restart);
  EXPECT_THAT(surviving_members(state), ElementsAre(0, 1, 2));
  EXPECT_THAT(to_doubles(state.optimizer.steps), ElementsAre(12, 7, 12));
  EXPECT_TRUE(std::isfinite(log.records[2].lambda[1]));
  EXPECT_EQ(log.divergences.size(), 1u);

  // What was done until then is not lost.
  state = second, log = {};
  EXPECT_THAT(error_of([&] { train_with(OnDivergence::stop); }),
              HasSubstr("train: the loss of member 1 was not finite at iteration 0. Lower"));
  EXPECT_EQ(state.iteration.item<std::int32_t>(), 5);
  EXPECT_EQ(log.records.size(), 1u);
}

}  // namespace
}  // namespace sturnus
