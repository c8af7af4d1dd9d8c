// What the tests of Markov chains share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "tests/inference/host.h"

namespace sturnus {

/// Expects the mean of a function of draws to be within 4 standard errors of `expected`. The error
/// is that of the means of stretches of chains, which are long enough to be independent.
template <class F>
void expect_mean(const Doubles& draws, std::size_t chains, std::size_t count, std::size_t size,
                 const F& f, double expected) {
  const std::size_t stretches = 10, length = count / stretches;
  Doubles means;
  for (std::size_t c = 0; c < chains; c++) {
    for (std::size_t s = 0; s < stretches; s++) {
      double total = 0;
      for (std::size_t i = s * length; i < (s + 1) * length; i++) {
        total += f(&draws[(c * count + i) * size]);
      }
      means.push_back(total / static_cast<double>(length));
    }
  }
  double mean = 0, variance = 0;
  auto n = static_cast<double>(means.size());
  for (double m : means) mean += m / n;
  for (double m : means) variance += (m - mean) * (m - mean) / (n - 1);
  EXPECT_NEAR(mean, expected, 4 * std::sqrt(variance / n));
  EXPECT_GT(variance, 0);
}

/// The covariance matrix of a test's Gaussian, [size, size]: correlations 0.8^|i - j|, and standard
/// deviations from 0.5 on.
inline Doubles test_covariance(std::size_t size) {
  Doubles covariance(size * size);
  auto sd = [](std::size_t i) { return 0.5 + static_cast<double>(i); };
  for (std::size_t i = 0; i < size; i++) {
    for (std::size_t j = 0; j < size; j++) {
      double apart = std::abs(static_cast<double>(i) - static_cast<double>(j));
      covariance[i * size + j] = std::pow(0.8, apart) * sd(i) * sd(j);
    }
  }
  return covariance;
}

/// Expects means i and the test's covariances.
inline void expect_test_moments(const Doubles& draws, std::size_t chains, std::size_t count,
                                std::size_t size) {
  Doubles covariance = test_covariance(size);
  for (std::size_t i = 0; i < size; i++) {
    auto mean_i = static_cast<double>(i);
    expect_mean(
        draws, chains, count, size, [&](const double* x) { return x[i]; }, mean_i);
    for (std::size_t j = 0; j <= i; j++) {
      auto mean_j = static_cast<double>(j);
      expect_mean(
          draws, chains, count, size,
          [&](const double* x) { return (x[i] - mean_i) * (x[j] - mean_j); },
          covariance[i * size + j]);
    }
  }
}

}  // namespace sturnus
