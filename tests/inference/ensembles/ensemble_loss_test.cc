#include <gtest/gtest.h>
#include <sturnus/functional/jit.h>
#include <sturnus/inference/ensembles/ensemble.h>
#include <sturnus/inference/ensembles/published.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/inference/ensembles/host_ensemble.h"

namespace sturnus {
namespace {

// Parameters at both sides of 0, so that priors show.
EnsembleState with_some_negative(const Ensemble& ensemble, const EnsembleState& state) {
  return with_lambda(ensemble, state, ensemble.lambda(state) - 0.7);
}

double published_weight(Experiment experiment, int iteration) {
  switch (experiment) {
    case Experiment::exponential:
      return iteration > 9000 ? 25 : iteration > 7500 ? 10 : 5;
    case Experiment::oscillator:
      return iteration > 7500 ? 10 : iteration > 5000 ? 5 : 1;
    case Experiment::advection:
      return 0.1;
    case Experiment::lotka_volterra:
      return iteration > 7500 ? 2 : iteration > 5000 ? 1 : 0.5;
  }
  return 0;
}

bool starts_late(Experiment experiment) {
  return experiment == Experiment::oscillator || experiment == Experiment::lotka_volterra;
}

void expect_loss(const HostEnsemble& host, const LossTerms& loss, double error) {
  Doubles data = doubles(loss.data()), residual = doubles(loss.residual());
  Doubles prior = doubles(loss.prior()), repulsion = doubles(loss.repulsion());
  ASSERT_EQ(data.size(), host.members.size());
  for (std::size_t i = 0; i < host.members.size(); i++) {
    SCOPED_TRACE("member " + std::to_string(i));
    HostTerms expected = host.terms(i);
    EXPECT_NEAR(data[i], expected.data, error * expected.data);
    EXPECT_NEAR(residual[i], expected.residual, error * expected.residual);
    EXPECT_NEAR(prior[i], expected.prior, error * expected.prior);
    double rho = 2 * std::pow(host.problem().noise_sd, 2) /
                 static_cast<double>(host.problem().data.y.size());
    EXPECT_NEAR(repulsion[i], expected.repulsion, error * (rho + std::abs(expected.repulsion)));
  }
}

// The losses of several ensembles at one state, by one program: compiling takes most of the time.
auto all_losses(const std::vector<Ensemble>& ensembles) {
  return jit([&ensembles](const EnsembleState& s) {
    std::vector<LossTerms> results;
    for (const Ensemble& ensemble : ensembles) results.push_back(ensemble.loss(s));
    return results;
  });
}

TEST(EnsembleLoss, OfPublishedExperimentsIsThatOfLoops) {
  for (Experiment experiment : all_experiments) {
    std::vector<Ensemble> ensembles;
    for (const std::string& variant : published_variants()) {
      ensembles.emplace_back(published_problem(experiment), small_options(experiment, variant));
    }
    auto losses = all_losses(ensembles);
    EnsembleState state = with_some_negative(ensembles[0], ensembles[0].init());
    for (int iteration : {0, 2999, 3000, 5000, 5001, 7501, 9001}) {
      state.iteration = Array(iteration);
      std::vector<LossTerms> found = losses(state);
      for (std::size_t v = 0; v < ensembles.size(); v++) {
        SCOPED_TRACE(ensembles[v].problem().name + " " + published_variants()[v] + " " +
                     std::to_string(iteration));
        HostEnsemble host{ensembles[v], host_members(ensembles[v].members(state)),
                          doubles(state.points), published_weight(experiment, iteration),
                          !starts_late(experiment) || iteration >= 3000};
        expect_loss(host, found[v], 2e-4);
      }
    }
  }
}

TEST(EnsembleLoss, OfAFullSizedEnsembleIsThatOfLoops) {
  Ensemble ensemble(published_problem(Experiment::exponential),
                    published_training(Experiment::exponential, "factorized").options);
  EnsembleState state = ensemble.init();
  HostEnsemble host{ensemble, host_members(ensemble.members(state)), doubles(state.points), 5,
                    true};
  expect_loss(host, ensemble.loss(state), 2e-4);
}

TEST(EnsembleLoss, SeesWhateverItIsToldTo) {
  for (Experiment experiment : {Experiment::advection, Experiment::lotka_volterra}) {
    std::vector<Ensemble> ensembles;
    for (Seen seen :
         {Seen::collocation_values, Seen::point_values, Seen::data_gradients, Seen::weights}) {
      EnsembleOptions options = small_options(experiment, "none");
      options.dtype = DType::f64;
      bool full = (experiment == Experiment::advection) == (seen == Seen::data_gradients);
      options.repulsion = {.seen = {seen, Seen::parameters},
                           .factorization = full ? Factorization::full : Factorization::blocks,
                           .weight = 0.3};
      if (seen == Seen::point_values) options.repulsion.points = {0.1, 0.2, 0.3, 0.4};
      ensembles.emplace_back(published_problem(experiment), options);
    }
    EnsembleState state = ensembles[0].init();
    std::vector<LossTerms> found = all_losses(ensembles)(state);
    for (std::size_t v = 0; v < ensembles.size(); v++) {
      SCOPED_TRACE(v);
      HostEnsemble host{ensembles[v], host_members(ensembles[v].members(state)),
                        doubles(state.points), published_weight(experiment, 0), true};
      host.repulsion_weight = 0.3;
      expect_loss(host, found[v], 1e-10);
    }
  }
}

TEST(EnsembleLoss, WeighsEachTermByIteration) {
  EnsembleOptions options = small_options(Experiment::oscillator, "factorized");
  options.dtype = DType::f64;
  options.data_weight = Schedule::stepwise(2, {{4, 3}});
  options.residual_weight = Schedule::cosine(4, 2, 0, 8);
  options.prior_weight = Schedule(0.5).with_warm_up(4);
  options.repulsion.weight = Schedule::exponential(0.25, 4, 2, 6);
  options.repulsion.start = 3;
  std::vector<Ensemble> ensembles = {Ensemble(published_problem(Experiment::oscillator), options)};
  auto losses = all_losses(ensembles);
  EnsembleState state = with_some_negative(ensembles[0], ensembles[0].init());
  struct Row {
    int iteration;
    double data, residual, prior, repulsion;
  };
  for (const Row& row : {Row{0, 2, 4, 0.125, 0},
                         {2, 2, 3 + std::sqrt(0.5), 0.375, 0},
                         {4, 2, 3, 0.5, 1},
                         {5, 3, 3 - std::sin(std::numbers::pi / 8), 0.5, 2},
                         {9, 3, 2, 0.5, 4}}) {
    SCOPED_TRACE(row.iteration);
    state.iteration = Array(row.iteration);
    HostEnsemble host{ensembles[0],
                      host_members(ensembles[0].members(state)),
                      doubles(state.points),
                      row.residual,
                      row.repulsion > 0,
                      row.data,
                      row.prior,
                      row.repulsion};
    expect_loss(host, losses(state)[0], 1e-10);
  }
}

// One step of descent against differences of the loss of one member while the others stay.
TEST(EnsembleLoss, IsWhatDescentGoesDown) {
  struct Row {
    Experiment experiment;
    const char* variant;
  };
  const std::vector<Row> rows = {
      {Experiment::exponential, "none"},          {Experiment::exponential, "f"},
      {Experiment::oscillator, "lambda"},         {Experiment::oscillator, "joint"},
      {Experiment::lotka_volterra, "factorized"}, {Experiment::advection, "full"},
  };
  constexpr double rate = 0.125;
  for (const Row& row : rows) {
    EnsembleOptions options = small_options(row.experiment, row.variant);
    options.dtype = DType::f64;
    options.members = 4;
    options.network.hidden = {3};
    options.repulsion.start = 0;
    options.collocation.resample_every = 0;
    options.optimizer = {.method = Optimizer::Method::sgd, .rate = rate};
    Ensemble ensemble(published_problem(row.experiment), options);
    SCOPED_TRACE(ensemble.problem().name + " " + row.variant);
    EnsembleState state = with_some_negative(ensemble, ensemble.init());
    HostEnsemble host{ensemble, host_members(ensemble.members(state)), doubles(state.points),
                      published_weight(row.experiment, 0), true};
    std::vector<HostMember> after = host_members(ensemble.members(ensemble.advance(state, 1)));
    for (std::size_t i = 0; i < host.members.size(); i++) {
      HostMember own = host.members[i];
      std::vector<double*> numbers = numbers_of(own), moved = numbers_of(after[i]);
      ASSERT_EQ(numbers.size(), moved.size());
      for (std::size_t k = 0; k < numbers.size(); k++) {
        double before = *numbers[k];
        constexpr double step = 1e-5;
        *numbers[k] = before + step;
        double up = host.terms(i, own).total();
        *numbers[k] = before - step;
        double down = host.terms(i, own).total();
        *numbers[k] = before;
        double slope = (up - down) / (2 * step);
        EXPECT_NEAR((before - *moved[k]) / rate, slope, 1e-6 * (1 + std::abs(slope)))
            << "member " << i << ", number " << k;
      }
    }
  }
}

}  // namespace
}  // namespace sturnus
