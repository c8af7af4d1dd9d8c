// Whether samples come from a distribution.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/ops/arithmetic.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

namespace sturnus::testing {

inline std::vector<double> numbers(const Array& x) {
  auto elements = convert(x, DType::f64).to_vector<double>();
  return {elements.begin(), elements.end()};
}

/// Kolmogorov-Smirnov: sqrt(n) times the largest distance between the distribution function of the
/// sample and `cdf`. Above 2.2 with probability 1.3e-4 if the sample is from it.
inline double ks_statistic(std::vector<double> x, const std::function<double(double)>& cdf) {
  std::sort(x.begin(), x.end());
  double worst = 0, n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); i++) {
    double f = cdf(x[i]), rank = static_cast<double>(i);
    worst = std::max({worst, f - rank / n, (rank + 1) / n - f});
  }
  return std::sqrt(n) * worst;
}

/// Chi-square of counts against probabilities, as (chi^2 - degrees) / sqrt(2 degrees), which is
/// nearly normal. Outcomes that are expected less than 10 times count as one.
inline double chi_square_score(const std::vector<double>& x,
                               const std::function<double(std::int64_t)>& probability) {
  std::map<std::int64_t, double> counts;
  for (double value : x) counts[static_cast<std::int64_t>(value)] += 1;
  double n = static_cast<double>(x.size()), chi_square = 0, degrees = -1;
  double rest_seen = n, rest_expected = n;
  std::int64_t last = counts.rbegin()->first;
  for (std::int64_t k = 0; k <= last; k++) {
    double expected = n * probability(k);
    if (expected < 10) continue;
    double seen = counts.count(k) > 0 ? counts[k] : 0;
    chi_square += (seen - expected) * (seen - expected) / expected;
    rest_seen -= seen;
    rest_expected -= expected;
    degrees += 1;
  }
  if (rest_expected > 1) {
    chi_square += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
    degrees += 1;
  }
  return (chi_square - degrees) / std::sqrt(2 * degrees);
}

inline double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

inline double variance_of(const std::vector<double>& x) {
  double mean = mean_of(x), sum = 0;
  for (double value : x) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size() - 1);
}

}  // namespace sturnus::testing
