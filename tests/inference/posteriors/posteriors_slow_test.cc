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

/// Mean squares of mu, tau, theta[1], ... by quadrature: given tau, the others are normal, so one
/// integral over log tau is left.
Doubles eight_schools_squares() {
  const Doubles y = {28, 8, -3, 7, -1, 1, 18, 12}, sd = {15, 10, 16, 11, 9, 11, 10, 18};
  Doubles total(10);
  double norm = 0;
  for (double log_tau = -12; log_tau < 9; log_tau += 1e-3) {
    double tau = std::exp(log_tau), precision = 1.0 / 25, pull = 0, log_weight = log_tau;
    log_weight -= std::log1p(tau * tau / 25);
    for (std::size_t i = 0; i < 8; i++) {
      double variance = sd[i] * sd[i] + tau * tau;
      precision += 1 / variance;
      pull += y[i] / variance;
      log_weight -= 0.5 * std::log(variance) + 0.5 * y[i] * y[i] / variance;
    }
    double mean = pull / precision;
    double weight = std::exp(log_weight + 0.5 * mean * pull - 0.5 * std::log(precision) + 30);
    norm += weight;
    total[0] += weight * (mean * mean + 1 / precision);
    total[1] += weight * tau * tau;
    for (std::size_t i = 0; i < 8; i++) {
      double variance = sd[i] * sd[i], share = variance / (variance + tau * tau);
      double theta = share * mean + (1 - share) * y[i];
      total[2 + i] += weight * (theta * theta + share * share / precision + (1 - share) * variance);
    }
  }
  for (double& value : total) value /= norm;
  return total;
}

TEST(PosteriorChains, EightSchoolsHaveTheMomentsOfPosteriordb) {
  std::vector<KnownMoments> known = {
      {"mu", 4.410518, 0.0330},       {"tau", 3.602060, 0.0319},
      {"theta[1]", 6.150502, 0.0557}, {"theta[2]", 4.939581, 0.0462},
      {"theta[3]", 3.905906, 0.0542}, {"theta[4]", 4.796017, 0.0475},
      {"theta[5]", 3.614436, 0.0461}, {"theta[6]", 4.051148, 0.0485},
      {"theta[7]", 6.317170, 0.0499}, {"theta[8]", 4.883997, 0.0543}};
  Doubles squares = eight_schools_squares();
  for (std::size_t i = 0; i < known.size(); i++) known[i].square = squares[i];
  expect_moments(four_chains(eight_schools(), 2500, 0.95), known);
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
