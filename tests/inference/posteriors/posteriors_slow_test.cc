// Long chains of the posteriors: minutes, not seconds, so tagged slow.
#include <gtest/gtest.h>
#include <sturnus/inference/chains/smc.h>
#include <sturnus/inference/results/summary.h>

#include <algorithm>
#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tests/inference/host.h"
#include "tests/inference/posterior_tests.h"
#include "tests/inference/posteriors/eight_schools_moments.h"

namespace sturnus {
namespace {

TEST(PosteriorChains, LongOnesAgreeWithTheExactPosteriors) {
  for (int run = 0; run < published_runs; run++) {
    SCOPED_TRACE(run);
    ExperimentData exponential = published_data(Experiment::exponential, run);
    expect_exact(exponential_model(measurements_of(exponential)),
                 ExactPosterior::exponential(measurements_of(exponential)), 3000);
    ExperimentData oscillator = published_data(Experiment::oscillator, run);
    expect_exact(oscillator_model(measurements_of(oscillator)),
                 ExactPosterior::oscillator(measurements_of(oscillator)), 3000);
    FreePhasePrior prior;
    expect_exact(oscillator_model(measurements_of(oscillator), prior),
                 ExactPosterior::oscillator(measurements_of(oscillator), prior), 3000);
  }
}

TEST(PosteriorChains, HaresAndLynxesHaveTheMomentsOfPosteriordb) {
  expect_moments(four_chains(hare_lynx_model(), 2500, 0.99), hare_lynx_moments);
}

TEST(PosteriorChains, EightSchoolsHaveTheMomentsOfPosteriordb) {
  expect_moments(four_chains(eight_schools(), 2500, 0.95), eight_schools_moments());
}

/// The log likelihood of start, alpha, beta, gamma and delta with the equation solved to 1e-11.
double log_likelihood(const ExperimentData& data, const double* p) {
  namespace odeint = boost::numeric::odeint;
  using State = std::array<double, 2>;
  auto slope = [&](const State& z, State& rate, double) {
    rate = {z[0] * (p[2] - p[3] * z[1]), z[1] * (p[5] * z[0] - p[4])};
  };
  State z = {p[0], p[1]};
  double total = 0;
  std::size_t i = 0;
  auto add = [&](const State& at, double) {
    for (double f : at) {
      double residual = (data.train.y[i++] - f) / data.noise_sd;
      total -= 0.5 * residual * residual;
    }
  };
  auto solver = odeint::make_controlled<odeint::runge_kutta_dopri5<State>>(1e-11, 1e-11);
  odeint::integrate_times(solver, slope, z, data.train.x.begin(), data.train.x.end(), 1e-3, add);
  return total;
}

// On draws of the posterior, not only near the truth: the log density, not the curve.
TEST(LotkaVolterra, LogDensitiesOfTheStepsTakenAreRight) {
  for (int run = 0; run < published_runs; run++) {
    ExperimentData data = published_data(Experiment::lotka_volterra, run);
    Model<LotkaVolterra> model = lotka_volterra_model(data.train, data.noise_sd);
    SmcResult found = smc(model, lotka_volterra_reference(), {.particles = 1000, .moves = 20});
    Doubles free = doubles(found.particles), values = doubles(found.log_density);
    double largest = 0;
    double constants =
        -2 * std::log(20) - 4 * std::log(6) - 24 * std::log(data.noise_sd * std::sqrt(2 * M_PI));
    for (std::size_t i = 0; i < values.size(); i++) {
      Doubles p(6);
      double volume = 0;
      for (std::size_t k = 0; k < 6; k++) {
        p[k] = std::exp(free[6 * i + k]);
        volume += free[6 * i + k];
      }
      double exact = log_likelihood(data, p.data()) + constants + volume;
      largest = std::max(largest, std::abs(values[i] - exact));
    }
    RecordProperty("largest_error_run_" + std::to_string(run), std::to_string(largest));
    EXPECT_LT(largest, 0.01) << "run " << run;
  }
}

}  // namespace
}  // namespace sturnus
