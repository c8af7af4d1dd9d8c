#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/ensembles/training.h>
#include <sturnus/ops/creation.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

// ------------------------------------------------------------------------------- what a log says

// A hundred records, 5 iterations apart: the last ten against the ten before them.
TrainingLog hundred_records(const Doubles& lambda) {
  TrainingLog log;
  for (int i = 1; i <= 100; i++) {
    log.records.push_back({.iteration = 5 * i, .data = 3, .residual = 1, .lambda = lambda});
  }
  return log;
}

TEST(Drift, IsFromOneTenthToTheNextInStandardDeviations) {
  // Two members with two parameters, at the end 2 and 10 standard deviations wide.
  TrainingLog log = hundred_records({1, 10, 5, 30});
  for (std::size_t i = 0; i < 80; i++) log.records[i].lambda = {99, 99, 99, 99};
  EXPECT_EQ(drift_of(log, 2)->parameters, Doubles(2, 0));
  // To and fro is no drift.
  for (std::size_t i = 80; i < 98; i++) log.records[i].lambda[0] += i % 2 == 0 ? 0.5 : -0.5;
  EXPECT_THAT(drift_of(log, 2)->parameters, ElementsAre(DoubleNear(0, 1e-12), 0));
  // One step of the first member, a slow way of the other.
  for (std::size_t i = 80; i < 90; i++) log.records[i].lambda[0] += 1;
  for (std::size_t i = 80; i < 100; i++) log.records[i].lambda[3] -= 0.1 * (99.0 - i);
  std::optional<Drift> drift = drift_of(log, 2);
  EXPECT_THAT(drift->parameters, ElementsAre(DoubleNear(0.5, 1e-12), DoubleNear(0.1, 1e-12)));
  EXPECT_EQ(drift->loss, 0);
  for (std::size_t i = 90; i < 100; i++) log.records[i].prior = -0.5;
  EXPECT_NEAR(drift_of(log, 2)->loss, -0.125, 1e-12);
}

TEST(Drift, OfOneMemberIsInPartsOfTheParameter) {
  TrainingLog log = hundred_records({50});
  for (std::size_t i = 80; i < 90; i++) log.records[i].lambda = {49};
  EXPECT_THAT(drift_of(log, 1)->parameters, ElementsAre(DoubleNear(0.02, 1e-12)));
  EXPECT_EQ(drift_of(hundred_records({}), 2)->parameters, Doubles(2, 0));
}

TEST(Drift, DoesNotMindALostMember) {
  TrainingLog log = hundred_records({1, std::nan(""), 5});
  for (std::size_t i = 80; i < 90; i++) log.records[i].lambda[2] = 6;
  Doubles drift = drift_of(log, 3)->parameters;
  EXPECT_EQ(drift[0], 0);
  EXPECT_TRUE(std::isnan(drift[1]));
  EXPECT_NEAR(drift[2], 0.5, 1e-12);
}

// The width is that of the members that survive, and one alone has none.
TEST(Drift, IsOfTheSurvivingMembers) {
  TrainingLog log = hundred_records({50, 20});
  for (std::size_t i = 80; i < 90; i++) log.records[i].lambda = {49, 20};
  EXPECT_NEAR(drift_of(log, 2)->parameters[0], 1 / 15.0, 1e-12);
  EXPECT_NEAR(drift_of(log, 2, {0, 1})->parameters[0], 1 / 15.0, 1e-12);
  EXPECT_NEAR(drift_of(log, 2, {0})->parameters[0], 0.02, 1e-12);
}

// Its record says that it was lost, for all that it survives.
TEST(Drift, OfAMemberBegunAnewIsNotKnown) {
  TrainingLog log = hundred_records({1, 2, 5});
  log.records[85].lambda[1] = std::nan("");
  Doubles drift = drift_of(log, 3, {0, 1, 2})->parameters;
  EXPECT_TRUE(std::isnan(drift[1]));
  EXPECT_EQ(drift[0], 0);
}

// However still a training stands, few records cannot tell.
TEST(Drift, IsNotKnownFromFewRecords) {
  EXPECT_FALSE(drift_of({}, 2));
  for (std::size_t count : {1, 2, 10, 19, 20, 60, 99, 100}) {
    TrainingLog log;
    for (std::size_t i = 1; i <= count; i++) {
      log.records.push_back({.iteration = static_cast<std::int64_t>(i), .lambda = {1, 2}});
    }
    EXPECT_EQ(drift_of(log, 2).has_value(), count >= 100) << count;
  }
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

struct Polish : testing::Test {
  Ensemble ensemble{problem_of(published_data(Experiment::exponential, 0)),
                    {.members = 3,
                     .network = {.hidden = {3}},
                     .collocation = {.points = 5},
                     .residual_weight = Schedule::stepwise(1, {{31, 2}}),
                     .lbfgs = {.history = 4},
                     .dtype = DType::f64}};
  TrainingOptions options = {.iterations = 20, .chunk = 10, .polish = 25};
};

TEST_F(Polish, ComesAtTheEndChunkByChunk) {
  EnsembleState state = ensemble.init();
  TrainingLog log;
  train(ensemble, state, log, options);
  std::vector<std::int64_t> at;
  for (const TrainingRecord& record : log.records) at.push_back(record.iteration);
  EXPECT_THAT(at, ElementsAre(10, 20, 30, 40, 45));
  EXPECT_LT(log.records[2].data + log.records[2].residual,
            log.records[1].data + log.records[1].residual);
  EXPECT_GT(log.seconds, 0);
  EXPECT_GT(log.polish_seconds, 0);
  EnsembleState expected = ensemble.polish(ensemble.advance(ensemble.init(), 20), 25);
  EXPECT_EQ(bytes_of(state.parameters), bytes_of(expected.parameters));
  EXPECT_EQ(bytes_of(state.loss.all), bytes_of(expected.loss.all));
  train(ensemble, state, log, options);
  EXPECT_EQ(log.records.size(), 5u);
}

// Wherever it is interrupted: what L-BFGS knew goes on.
TEST_F(Polish, ContinuedHasTheBitsOfAWholeOne) {
  EnsembleState whole = ensemble.init(), cut = ensemble.init();
  TrainingLog of_whole, of_cut;
  train(ensemble, whole, of_whole, options);
  for (int part = 0; part < 5; part++) {
    train(ensemble, cut, of_cut, options,
          [](const EnsembleState&, const TrainingLog&) { return false; });
    EXPECT_EQ(of_cut.records.size(), static_cast<std::size_t>(part + 1));
  }
  EXPECT_EQ(bytes_of(cut.parameters), bytes_of(whole.parameters));
  EXPECT_EQ(bytes_of(cut.lbfgs[1]), bytes_of(whole.lbfgs[1]));

  // It matters: without its memory it goes another way.
  EnsembleState forgetful = ensemble.polish(ensemble.advance(ensemble.init(), 20), 10);
  forgetful.lbfgs = {};
  forgetful = ensemble.polish(forgetful, 15);
  EXPECT_NE(bytes_of(forgetful.parameters), bytes_of(whole.parameters));
  // A step of another kind leaves the place that it knows.
  EXPECT_TRUE(ensemble.advance(whole, 1).lbfgs.empty());
}

TEST(Train, EndsWhenNobodyIsLeft) {
  Ensemble ensemble(problem_of(published_data(Experiment::exponential, 0)),
                    {.members = 3,
                     .network = {.hidden = {3}},
                     .collocation = {.points = 5},
                     .optimizer = {.rate = 1e30}});
  for (OnDivergence what : {OnDivergence::drop, OnDivergence::restart}) {
    EnsembleState state = ensemble.init();
    TrainingLog log;
    train(ensemble, state, log, {.iterations = 40, .chunk = 10, .on_divergence = what});
    EXPECT_EQ(log.records.size(), what == OnDivergence::drop ? 1u : 4u);
    EXPECT_TRUE(surviving_members(state).empty());
  }
}

}  // namespace
}  // namespace sturnus
