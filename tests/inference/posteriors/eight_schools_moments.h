// What is known of the posterior of the eight schools.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/inference/host.h"
#include "tests/inference/posterior_tests.h"

namespace sturnus {

/// Mean squares of mu, tau, theta[1], ... by quadrature: given tau, the others are normal, so one
/// integral over log tau is left.
inline Doubles eight_schools_squares() {
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

/// Means and their standard errors are those of posteriordb's reference draws.
inline std::vector<KnownMoments> eight_schools_moments() {
  std::vector<KnownMoments> known = {
      {"mu", 4.410518, 0.0330},       {"tau", 3.602060, 0.0319},
      {"theta[1]", 6.150502, 0.0557}, {"theta[2]", 4.939581, 0.0462},
      {"theta[3]", 3.905906, 0.0542}, {"theta[4]", 4.796017, 0.0475},
      {"theta[5]", 3.614436, 0.0461}, {"theta[6]", 4.051148, 0.0485},
      {"theta[7]", 6.317170, 0.0499}, {"theta[8]", 4.883997, 0.0543}};
  Doubles squares = eight_schools_squares();
  for (std::size_t i = 0; i < known.size(); i++) known[i].square = squares[i];
  return known;
}

}  // namespace sturnus
