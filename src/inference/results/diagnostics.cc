#include <sturnus/inference/results/diagnostics.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <bit>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>

namespace sturnus {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void check(const char* function, MatrixView chains) {
  if (chains.rows == 0 || chains.cols < 4) {
    throw Error(std::string(function) + ": the draws are " + std::to_string(chains.rows) +
                " chains x " + std::to_string(chains.cols) +
                " draws. Give at least 1 chain of at least 4 draws.");
  }
}

void check(const char* function, MatrixView chains, double p) {
  check(function, chains);
  if (!(p > 0 && p < 1)) {
    throw Error(std::string(function) + ": the probability is " + std::to_string(p) +
                ", not between 0 and 1. Write 95 % as 0.95.");
  }
}

std::span<const double> all(MatrixView x) { return {x.data, x.rows * x.cols}; }

bool all_finite(MatrixView x) {
  auto values = all(x);
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// Whether the values vary at all: without variance there is nothing to compare. Exact, so that
/// results do not depend on the unit of a quantity.
bool varies(std::span<const double> x) {
  return std::any_of(x.begin(), x.end(), [&](double v) { return v != x.front(); });
}

bool has_nan(MatrixView x) {
  auto values = all(x);
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

bool has_diagnostics(MatrixView x) { return all_finite(x) && varies(all(x)); }

/// Measured from the first value, so that equal values have exactly their mean and no variance.
double mean(std::span<const double> x) {
  double sum = 0;
  for (double value : x) sum += value - x.front();
  return x.front() + sum / static_cast<double>(x.size());
}

/// With divisor n - 1.
double variance(std::span<const double> x) {
  double center = mean(x);
  double sum = 0;
  for (double value : x) sum += (value - center) * (value - center);
  return sum / static_cast<double>(x.size() - 1);
}

template <class Function>
Matrix each_of(MatrixView x, Function function) {
  Matrix result(x.rows, x.cols);
  auto values = all(x);
  std::transform(values.begin(), values.end(), result.values.begin(), function);
  return result;
}

/// The first halves of all chains, then the last.
Matrix split(MatrixView x) {
  Matrix halves(2 * x.rows, x.cols / 2);
  for (std::size_t chain = 0; chain < x.rows; ++chain) {
    auto draws = x.row(chain);
    std::copy_n(draws.begin(), halves.cols, &halves(chain, 0));
    std::copy_n(draws.end() - static_cast<std::ptrdiff_t>(halves.cols), halves.cols,
                &halves(x.rows + chain, 0));
  }
  return halves;
}

std::vector<double> sorted(MatrixView x) {
  std::vector<double> values(all(x).begin(), all(x).end());
  std::sort(values.begin(), values.end());
  return values;
}

double median(MatrixView x) {
  std::vector<double> values = sorted(x);
  std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The two formulas round so that a draw at the quantile is not lost beside it: indicators x <= q
// must come out as NumPy's do.
double quantile_sorted(std::span<const double> values, double p) {
  double position = p * static_cast<double>(values.size() - 1);
  double below = std::floor(position);
  double t = position - below;
  double low = values[static_cast<std::size_t>(below)];
  double high = values[std::min(static_cast<std::size_t>(below) + 1, values.size() - 1)];
  return t < 0.5 ? low + (high - low) * t : high - (high - low) * (1 - t);
}

/// Each value's rank among all, ties sharing their average rank, as a normal score with Blom's
/// offset 3/8. An infinite value has a rank too; where one is NaN, all are.
Matrix normal_scores(MatrixView x) {
  auto values = all(x);
  if (has_nan(x)) return each_of(x, [](double) { return nan; });
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Matrix scores(x.rows, x.cols);
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    double rank = 0.5 * static_cast<double>(begin + 1 + end);
    double share = (rank - 0.375) / (static_cast<double>(order.size()) + 0.25);
    double score = -std::numbers::sqrt2 * boost::math::erfc_inv(2 * share);
    for (std::size_t i = begin; i < end; ++i) scores.values[order[i]] = score;
  }
  return scores;
}

using Complex = std::complex<double>;

/// The Fourier transform of a power of two of values, in place and without scaling. Bits of the
/// index are reversed first, then transforms of twice the length are made from pairs.
class FourierTransform {
 public:
  explicit FourierTransform(std::size_t n) : roots_(n) {
    for (std::size_t half = 1; half < n; half *= 2) {
      for (std::size_t k = 0; k < half; ++k) {
        roots_[half + k] =
            std::polar(1.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(half));
      }
    }
  }

  void operator()(std::vector<Complex>& x) const {
    std::size_t n = roots_.size();
    for (std::size_t i = 1, reversed = 0; i < n; ++i) {
      std::size_t bit = n / 2;
      for (; reversed & bit; bit /= 2) reversed ^= bit;
      reversed ^= bit;
      if (i < reversed) std::swap(x[i], x[reversed]);
    }
    for (std::size_t half = 1; half < n; half *= 2) {
      for (std::size_t start = 0; start < n; start += 2 * half) {
        for (std::size_t k = 0; k < half; ++k) {
          Complex& low = x[start + k];
          Complex& high = x[start + k + half];
          Complex root = roots_[half + k];
          // Written out: the operator also looks after infinities, which takes longer than this.
          Complex odd(root.real() * high.real() - root.imag() * high.imag(),
                      root.real() * high.imag() + root.imag() * high.real());
          high = low - odd;
          low += odd;
        }
      }
    }
  }

 private:
  std::vector<Complex> roots_;  // exp(-i pi k / half) at half + k
};

/// The mean over chains of their autocovariances: the transform of their mean power spectrum,
/// padded with zeros so that ends do not meet. Two chains go as real and imaginary part: the
/// spectrum of both is the even part of that of the pair, and the even part is what becomes real.
std::vector<double> mean_autocovariance(MatrixView x) {
  std::size_t padded = std::bit_ceil(2 * x.cols);
  FourierTransform transform(padded);
  std::vector<Complex> power(padded);
  std::vector<Complex> pair;
  for (std::size_t chain = 0; chain < x.rows; chain += 2) {
    pair.assign(padded, 0);
    auto first = x.row(chain);
    double center = mean(first);
    for (std::size_t i = 0; i < x.cols; ++i) pair[i].real(first[i] - center);
    if (chain + 1 < x.rows) {
      auto second = x.row(chain + 1);
      center = mean(second);
      for (std::size_t i = 0; i < x.cols; ++i) pair[i].imag(second[i] - center);
    }
    transform(pair);
    for (std::size_t k = 0; k < padded; ++k) power[k] += std::norm(pair[k]);
  }
  transform(power);
  std::vector<double> covariance(x.cols);
  double scale = static_cast<double>(padded) * static_cast<double>(x.rows * x.cols);
  for (std::size_t lag = 0; lag < x.cols; ++lag) covariance[lag] = power[lag].real() / scale;
  return covariance;
}

std::vector<double> chain_means(MatrixView x) {
  std::vector<double> means(x.rows);
  for (std::size_t chain = 0; chain < x.rows; ++chain) means[chain] = mean(x.row(chain));
  return means;
}

double plain_rhat(MatrixView x) {
  if (!has_diagnostics(x)) return nan;
  double n = static_cast<double>(x.cols);
  double within = 0;
  for (std::size_t chain = 0; chain < x.rows; ++chain) within += variance(x.row(chain));
  within /= static_cast<double>(x.rows);
  double between = n * variance(chain_means(x));
  return std::sqrt((between / within + n - 1) / n);
}

double plain_ess(MatrixView x) {
  if (!has_diagnostics(x)) return nan;
  double n = static_cast<double>(x.cols);
  double size = n * static_cast<double>(x.rows);
  std::vector<double> covariance = mean_autocovariance(x);
  double within = covariance[0] * n / (n - 1);
  double total = covariance[0] + variance(chain_means(x));
  auto correlation = [&](std::size_t lag) { return 1 - (within - covariance[lag]) / total; };

  // Sums of two neighbouring lags are positive and fall in any reversible chain: take them until
  // one is not positive, none larger than those before, and of the last pair only the first lag,
  // once.
  double tau = -1;
  double smallest = infinity;
  double even = 1;
  double odd = correlation(1);
  for (std::size_t lag = 0; lag + 4 < x.cols && even + odd > 0;) {
    smallest = std::min(smallest, even + odd);
    tau += 2 * smallest;
    lag += 2;
    even = correlation(lag);
    odd = correlation(lag + 1);
  }
  tau += even + odd >= 0 ? even : std::max(even, 0.0);
  return size / std::max(tau, 1 / std::log10(size));
}

double quantile_ess(MatrixView chains, double p) {
  if (!has_diagnostics(chains)) return nan;
  double quantile = quantile_sorted(sorted(chains), p);
  return plain_ess(split(each_of(chains, [&](double x) { return x <= quantile ? 1.0 : 0.0; })));
}

Matrix squared_deviations(MatrixView chains) {
  double center = mean(all(chains));
  return each_of(chains, [&](double x) { return (x - center) * (x - center); });
}

/// NaN if either is.
double smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? nan : std::min(a, b); }

}  // namespace

Matrix stack_chains(std::span<const std::vector<double>> chains) {
  if (chains.empty()) throw Error("stack_chains: there are no chains. Give at least one.");
  Matrix result(chains.size(), chains.front().size());
  for (std::size_t chain = 0; chain < chains.size(); ++chain) {
    if (chains[chain].size() != result.cols) {
      throw Error("stack_chains: chain 0 has " + std::to_string(result.cols) + " draws, chain " +
                  std::to_string(chain) + " has " + std::to_string(chains[chain].size()) +
                  ". Cut them to the same length.");
    }
    std::copy(chains[chain].begin(), chains[chain].end(),
              result.values.begin() + static_cast<std::ptrdiff_t>(chain * result.cols));
  }
  return result;
}

double rhat(MatrixView chains) {
  check("rhat", chains);
  if (has_nan(chains)) return nan;
  Matrix halves = split(chains);
  double center = median(halves);
  Matrix folded = each_of(halves, [&](double x) { return std::abs(x - center); });
  // Two values that are equally frequent are equally far from the median, and nobody knows how far
  // from an infinite one: fmax leaves NaN out.
  return std::fmax(plain_rhat(normal_scores(halves)), plain_rhat(normal_scores(folded)));
}

double ess_bulk(MatrixView chains) {
  check("ess_bulk", chains);
  return plain_ess(normal_scores(split(chains)));
}

double ess_tail(MatrixView chains) {
  check("ess_tail", chains);
  return smaller(quantile_ess(chains, 0.05), quantile_ess(chains, 0.95));
}

double ess_mean(MatrixView chains) {
  check("ess_mean", chains);
  return plain_ess(split(chains));
}

double ess_sd(MatrixView chains) {
  check("ess_sd", chains);
  return plain_ess(split(squared_deviations(chains)));
}

double ess_median(MatrixView chains) {
  check("ess_median", chains);
  return quantile_ess(chains, 0.5);
}

double ess_quantile(MatrixView chains, double p) {
  check("ess_quantile", chains, p);
  return quantile_ess(chains, p);
}

double mcse_mean(MatrixView chains) {
  check("mcse_mean", chains);
  return sample_sd(chains) / std::sqrt(ess_mean(chains));
}

double mcse_sd(MatrixView chains) {
  check("mcse_sd", chains);
  Matrix squares = squared_deviations(chains);
  double second = mean(squares.values);
  double fourth = 0;
  for (double square : squares.values) fourth += (square - second) * (square - second);
  fourth /= static_cast<double>(squares.values.size());
  return std::sqrt(fourth / plain_ess(split(squares)) / second) / 2;
}

double mcse_quantile(MatrixView chains, double p) {
  check("mcse_quantile", chains, p);
  double ess = quantile_ess(chains, p);
  if (std::isnan(ess)) return nan;
  std::vector<double> values = sorted(chains);
  double last = static_cast<double>(values.size() - 1);
  // Probabilities of one standard deviation below and above, with the digits that others use.
  auto place = [&](double probability) {
    return boost::math::ibeta_inv(ess * p + 1, ess * (1 - p) + 1, probability) * (last + 1) - 1;
  };
  auto low = static_cast<std::size_t>(std::max(std::floor(place(0.1586553)), 0.0));
  auto high = static_cast<std::size_t>(std::min(std::ceil(place(0.8413447)), last));
  return (values[high] - values[low]) / 2;
}

std::vector<double> ebfmi(MatrixView energies) {
  check("ebfmi", energies);
  std::vector<double> result;
  for (std::size_t chain = 0; chain < energies.rows; ++chain) {
    auto energy = energies.row(chain);
    double steps = 0;
    for (std::size_t i = 1; i < energy.size(); ++i) {
      steps += (energy[i] - energy[i - 1]) * (energy[i] - energy[i - 1]);
    }
    result.push_back(steps / static_cast<double>(energy.size() - 1) / variance(energy));
  }
  return result;
}

double sample_quantile(MatrixView chains, double p) {
  check("sample_quantile", chains, p);
  return all_finite(chains) ? quantile_sorted(sorted(chains), p) : nan;
}

double sample_mean(MatrixView chains) {
  check("sample_mean", chains);
  return all_finite(chains) ? mean(all(chains)) : nan;
}

double sample_sd(MatrixView chains) {
  check("sample_sd", chains);
  return all_finite(chains) ? std::sqrt(variance(all(chains))) : nan;
}

double sample_mad(MatrixView chains) {
  check("sample_mad", chains);
  if (!all_finite(chains)) return nan;
  double center = median(chains);
  return 1.4826 * median(each_of(chains, [&](double x) { return std::abs(x - center); }));
}

Interval hdi(MatrixView chains, double p) {
  check("hdi", chains, p);
  if (!all_finite(chains)) return {nan, nan};
  std::vector<double> values = sorted(chains);
  auto apart = static_cast<std::size_t>(p * static_cast<double>(values.size()));
  Interval shortest = {values[0], values[apart]};
  for (std::size_t i = 1; i + apart < values.size(); ++i) {
    if (values[i + apart] - values[i] < shortest.high - shortest.low) {
      shortest = {values[i], values[i + apart]};
    }
  }
  return shortest;
}

std::vector<double> autocovariance(std::span<const double> x) {
  if (x.empty()) throw Error("autocovariance: there are no values. Give at least one.");
  return mean_autocovariance({x.data(), 1, x.size()});
}

}  // namespace sturnus
