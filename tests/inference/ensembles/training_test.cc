#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/ensembles/training.h>
#include <sturnus/ops/creation.h>

#include <algorithm>
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

  // A stop stays one, and nothing more is done.
  EXPECT_THAT(error_of([&] { train_with(OnDivergence::stop); }),
              HasSubstr("member 1 was not finite at iteration 0"));
  EXPECT_EQ(state.iteration.item<std::int32_t>(), 5);
  EXPECT_EQ(log.divergences.size(), 1u);
}

TEST_F(Lost, AreNotBegunAnewAtTheEnd) {
  train(ensemble, state, log,
        {.iterations = 5, .chunk = 5, .on_divergence = OnDivergence::restart});
  EXPECT_THAT(surviving_members(state), ElementsAre(0, 2));
  EXPECT_TRUE(std::isnan(doubles(ensemble.lambda(state))[1]));
}

// A member whose memory drives it, in its very first step, to where its numbers are finite but its
// loss is not.
struct LostByAStep : testing::Test {
  LostByAStep()
      : ensemble(problem_of(published_data(Experiment::exponential, 0)),
                 {.members = 3,
                  .network = {.hidden = {3}},
                  .collocation = {.points = 5},
                  .optimizer = {.method = Optimizer::Method::sgd, .momentum = 0.9}}) {}

  EnsembleState start() const {
    EnsembleState state = ensemble.init();
    Array& memory = state.optimizer.mean[0];
    Doubles values = doubles(memory);
    std::fill_n(values.begin() + memory.shape()[1], memory.shape()[1], 1e25);
    memory = device_array(values, memory.shape(), DType::f32);
    return state;
  }
  Ensemble ensemble;
};

TEST_F(LostByAStep, CountAsLostWhateverHappensToThem) {
  for (OnDivergence what : {OnDivergence::drop, OnDivergence::restart, OnDivergence::stop}) {
    EnsembleState state = start();
    TrainingLog log;
    auto act = [&] { train(ensemble, state, log, {.iterations = 1, .on_divergence = what}); };
    if (what == OnDivergence::stop) {
      // Again too, when no iteration is left.
      for (int i = 0; i < 2; i++) {
        EXPECT_THAT(error_of(act), HasSubstr("member 1 was not finite at iteration 1"));
      }
    } else {
      act();
    }
    EXPECT_TRUE(std::isfinite(doubles(ensemble.lambda(state))[1]));
    EXPECT_THAT(surviving_members(state), ElementsAre(0, 2));
    ASSERT_EQ(log.divergences.size(), 1u);
    EXPECT_EQ(log.divergences[0].member, 1);
    EXPECT_EQ(log.divergences[0].iteration, 1);
  }
}

TEST_F(LostByAStep, CountAsLostWhereATrainingIsInterruptedAndItsBitsStay) {
  TrainingOptions options = {.iterations = 3, .chunk = 1};
  EnsembleState whole = start(), cut = start();
  TrainingLog of_whole, of_cut;
  train(ensemble, whole, of_whole, options);
  train(ensemble, cut, of_cut, options,
        [](const EnsembleState&, const TrainingLog&) { return false; });
  EXPECT_THAT(surviving_members(cut), ElementsAre(0, 2));
  train(ensemble, cut, of_cut, options);
  EXPECT_EQ(bytes_of(cut.parameters), bytes_of(whole.parameters));
  EXPECT_EQ(bytes_of(cut.diverged_at), bytes_of(whole.diverged_at));
  ASSERT_EQ(of_cut.divergences.size(), 1u);
  EXPECT_EQ(of_cut.divergences[0].iteration, of_whole.divergences[0].iteration);
}

// ------------------------------------------------------------------------------------- polish

TEST(Train, PolishesAtTheEnd) {
  Ensemble ensemble(problem_of(published_data(Experiment::exponential, 0)),
                    {.members = 3,
                     .network = {.hidden = {3}},
                     .collocation = {.points = 5},
                     .dtype = DType::f64});
  TrainingOptions options = {.iterations = 20, .chunk = 10, .polish = 30};
  EnsembleState state = ensemble.init();
  TrainingLog log;
  // Interrupted before it begins.
  train(ensemble, state, log, options, [](const EnsembleState&, const TrainingLog& so_far) {
    return so_far.records.back().iteration < 20;
  });
  EXPECT_EQ(state.iteration.item<std::int32_t>(), 20);
  train(ensemble, state, log, options);
  EXPECT_EQ(state.iteration.item<std::int32_t>(), 50);
  ASSERT_EQ(log.records.size(), 3u);
  EXPECT_EQ(log.records[2].iteration, 50);
  EXPECT_LT(log.records[2].data + log.records[2].residual,
            log.records[1].data + log.records[1].residual);
  EnsembleState expected = ensemble.polish(ensemble.advance(ensemble.init(), 20), 30);
  EXPECT_EQ(bytes_of(state.parameters), bytes_of(expected.parameters));
  train(ensemble, state, log, options);
  EXPECT_EQ(log.records.size(), 3u);
}

}  // namespace
}  // namespace sturnus
