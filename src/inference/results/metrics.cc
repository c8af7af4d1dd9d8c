#include <sturnus/inference/results/metrics.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>

namespace sturnus {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void check_finite(const char* function, const char* what, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw Error(std::string(function) + ": " + what + " " + std::to_string(i) + " is " +
                  std::to_string(values[i]) + ", not a finite number. Leave such values out.");
    }
  }
}

void check_sample(const char* function, std::span<const double> sample) {
  if (sample.empty()) {
    throw Error(std::string(function) + ": the sample is empty. Give at least one value.");
  }
  check_finite(function, "sample value", sample);
}

void check_members(const char* function, MatrixView members) {
  if (members.rows == 0 || members.cols == 0) {
    throw Error(std::string(function) + ": the ensemble is " + std::to_string(members.rows) +
                " x " + std::to_string(members.cols) + ". Give at least one member and one value.");
  }
  for (std::size_t i = 0; i < members.rows; ++i) {
    for (std::size_t j = 0; j < members.cols; ++j) {
      if (!std::isfinite(members(i, j))) {
        throw Error(std::string(function) + ": member " + std::to_string(i) + " has " +
                    std::to_string(members(i, j)) + " in column " + std::to_string(j) +
                    ", not a finite number. Leave diverged members out.");
      }
    }
  }
}

void check(const char* function, MatrixView members, std::span<const double> truth) {
  check_members(function, members);
  if (truth.size() != members.cols) {
    throw Error(std::string(function) + ": members have " + std::to_string(members.cols) +
                " columns, the values to compare with are " + std::to_string(truth.size()) +
                ". Give one value per column.");
  }
  check_finite(function, "value to compare with", truth);
}

std::vector<double> column(MatrixView members, std::size_t col) {
  std::vector<double> values(members.rows);
  for (std::size_t i = 0; i < members.rows; ++i) values[i] = members(i, col);
  return values;
}

std::vector<double> sorted_column(MatrixView members, std::size_t col) {
  std::vector<double> values = column(members, col);
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> column_means(MatrixView members) {
  std::vector<double> means(members.cols, 0.0);
  for (std::size_t i = 0; i < members.rows; ++i) {
    for (std::size_t j = 0; j < members.cols; ++j) means[j] += members(i, j);
  }
  for (double& mean : means) mean /= static_cast<double>(members.rows);
  return means;
}

/// log of the mean of exp(exponent(0)), ..., exp(exponent(n - 1)).
template <class Exponent>
double log_mean_exp(std::size_t n, Exponent exponent) {
  double largest = -infinity;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, exponent(i));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(exponent(i) - largest);
  return largest + std::log(sum / static_cast<double>(n));
}

double log_mean_normal(std::span<const double> centres, double sd, double x) {
  auto exponent = [&](std::size_t i) {
    double z = (x - centres[i]) / sd;
    return -0.5 * z * z;
  };
  return log_mean_exp(centres.size(), exponent) - std::log(sd) -
         0.5 * std::log(2 * std::numbers::pi);
}

/// How many pairs i < j of a sorted sample have x_j - x_i <= limit. Rounding is monotone, so the
/// computed differences are sorted in both indices and one sweep counts them.
std::uint64_t pairs_within(std::span<const double> sorted, double limit) {
  std::uint64_t count = 0;
  std::size_t first = 0;
  for (std::size_t j = 0; j < sorted.size(); ++j) {
    while (sorted[j] - sorted[first] > limit) ++first;
    count += j - first;
  }
  return count;
}

KdeScore kde_score(MatrixView members, std::span<const double> at) {
  KdeScore score;
  for (std::size_t j = 0; j < members.cols; ++j) {
    std::vector<double> sample = column(members, j);
    double bandwidth = kde_bandwidth(sample);
    if (bandwidth == 0) {
      ++score.skipped;
    } else {
      score.value += kde_log_density(sample, bandwidth, at[j]);
    }
  }
  if (score.skipped == members.cols) score.value = -infinity;
  return score;
}

double crps_sorted(std::span<const double> sorted, double x) {
  double n = static_cast<double>(sorted.size());
  double distance = 0;  // n E|X - x|
  double spread = 0;    // n^2 E|X - X'| / 2
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    distance += std::abs(sorted[i] - x);
    // Measured from x, so that a common offset does not cancel in the sum.
    spread += (2.0 * static_cast<double>(i) + 1 - n) * (sorted[i] - x);
  }
  return distance / n - spread / (n * n);
}

double quantile_sorted(std::span<const double> sorted, double probability) {
  double last = static_cast<double>(sorted.size() - 1);
  double position = std::clamp(probability * static_cast<double>(sorted.size() + 1) - 1, 0.0, last);
  auto index = static_cast<std::size_t>(position);
  if (index + 1 == sorted.size()) return sorted.back();
  return std::lerp(sorted[index], sorted[index + 1], position - static_cast<double>(index));
}

}  // namespace

double rmse(MatrixView members, std::span<const double> truth) {
  check("rmse", members, truth);
  std::vector<double> means = column_means(members);
  double sum = 0;
  for (std::size_t j = 0; j < means.size(); ++j) {
    sum += (means[j] - truth[j]) * (means[j] - truth[j]);
  }
  return std::sqrt(sum / static_cast<double>(means.size()));
}

double kde_bandwidth(std::span<const double> sample) {
  check_sample("kde_bandwidth", sample);
  if (sample.size() < 2) {
    throw Error(
        "kde_bandwidth: the sample has 1 value, and one value has no spread. Give at least 2.");
  }
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() == sorted.back()) return 0;

  // Non-negative doubles are ordered as their bits are: bisect the bits for the smallest difference
  // with at least `rank` pairs within it. 64 sweeps, exact, and never all pairs at once.
  auto n = static_cast<std::uint64_t>(sorted.size());
  std::uint64_t pairs = n * (n - 1) / 2;
  std::uint64_t zeros = pairs_within(sorted, 0);
  std::uint64_t rank = zeros + (pairs - zeros + 1) / 2;
  std::uint64_t low = 0;
  std::uint64_t high = std::bit_cast<std::uint64_t>(sorted.back() - sorted.front());
  while (low + 1 < high) {
    std::uint64_t middle = low + (high - low) / 2;
    (pairs_within(sorted, std::bit_cast<double>(middle)) >= rank ? high : low) = middle;
  }
  return std::bit_cast<double>(high) / std::sqrt(std::log(static_cast<double>(n)));
}

double kde_log_density(std::span<const double> sample, double bandwidth, double x) {
  check_sample("kde_log_density", sample);
  if (!(bandwidth > 0)) {
    throw Error(
        "kde_log_density: bandwidth is " + std::to_string(bandwidth) +
        ", and a density needs a positive one. Leave out samples whose values are all equal.");
  }
  return log_mean_normal(sample, bandwidth, x);
}

KdeScore logl_per_n(MatrixView members, std::span<const double> observed, std::size_t points) {
  check("logl_per_n", members, observed);
  if (points == 0 || members.cols % points != 0) {
    throw Error("logl_per_n: members have " + std::to_string(members.cols) +
                " columns, points are " + std::to_string(points) +
                ". Columns are points times outputs.");
  }
  KdeScore score = kde_score(members, observed);
  if (score.skipped == members.cols) return score;
  double used =
      static_cast<double>(members.cols - score.skipped) / static_cast<double>(members.cols);
  score.value /= used * static_cast<double>(points);
  return score;
}

double abs_dlambda(MatrixView lambda, std::span<const double> truth) {
  check("abs_dlambda", lambda, truth);
  std::vector<double> means = column_means(lambda);
  double sum = 0;
  for (std::size_t j = 0; j < means.size(); ++j) sum += std::abs(means[j] - truth[j]);
  return sum / static_cast<double>(means.size());
}

KdeScore logl_lambda(MatrixView lambda, std::span<const double> truth) {
  check("logl_lambda", lambda, truth);
  return kde_score(lambda, truth);
}

double wasserstein_sorted(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) {
    throw Error("wasserstein: a sample is empty. Give at least one value each.");
  }
  // Both quantile functions are steps; walk their common refinement. The levels (i + 1) / |a| and
  // (j + 1) / |b| are compared as integers, so equal levels are seen as equal.
  double sum = 0;
  std::uint64_t level = 0;  // in units of 1 / (|a| |b|)
  for (std::size_t i = 0, j = 0; i < a.size();) {
    std::uint64_t end_a = (i + 1) * b.size();
    std::uint64_t end_b = (j + 1) * a.size();
    std::uint64_t end = std::min(end_a, end_b);
    sum += static_cast<double>(end - level) * std::abs(a[i] - b[j]);
    level = end;
    i += end == end_a;
    j += end == end_b;
  }
  return sum / (static_cast<double>(a.size()) * static_cast<double>(b.size()));
}

double wasserstein(std::span<const double> a, std::span<const double> b) {
  check_sample("wasserstein", a);
  check_sample("wasserstein", b);
  std::vector<double> sorted_a(a.begin(), a.end());
  std::vector<double> sorted_b(b.begin(), b.end());
  std::sort(sorted_a.begin(), sorted_a.end());
  std::sort(sorted_b.begin(), sorted_b.end());
  return wasserstein_sorted(sorted_a, sorted_b);
}

double mean_wasserstein(MatrixView members, MatrixView reference) {
  check_members("mean_wasserstein", members);
  check_members("mean_wasserstein", reference);
  if (members.cols != reference.cols) {
    throw Error("mean_wasserstein: members have " + std::to_string(members.cols) +
                " columns, the reference has " + std::to_string(reference.cols) +
                ". Give both at the same points.");
  }
  double sum = 0;
  for (std::size_t j = 0; j < members.cols; ++j) {
    sum += wasserstein_sorted(sorted_column(members, j), sorted_column(reference, j));
  }
  return sum / static_cast<double>(members.cols);
}

MeanSd mean_sd(std::span<const double> values) {
  check_sample("mean_sd", values);
  double n = static_cast<double>(values.size());
  double mean = 0;
  for (double value : values) mean += value / n;
  double variance = 0;
  for (double value : values) variance += (value - mean) * (value - mean) / n;
  return {mean, std::sqrt(variance)};
}

MeanSd wasserstein_floor(MatrixView draws, std::size_t members, std::size_t choices) {
  check_members("wasserstein_floor", draws);
  if (members < 1 || members > draws.rows || choices < 1) {
    throw Error("wasserstein_floor: " + std::to_string(choices) + " choices of " +
                std::to_string(members) + " of " + std::to_string(draws.rows) +
                " draws. Give at least one choice, and 1 to " + std::to_string(draws.rows) +
                " members");
  }
  std::vector<double> scores(choices), some(members);
  for (std::size_t j = 0; j < draws.cols; ++j) {
    std::vector<double> sorted = sorted_column(draws, j);
    for (std::size_t choice = 0; choice < choices; ++choice) {
      std::size_t first = choice * draws.rows / members / choices;
      for (std::size_t i = 0; i < members; ++i)
        some[i] = draws(first + i * draws.rows / members, j);
      std::sort(some.begin(), some.end());
      scores[choice] += wasserstein_sorted(some, sorted) / static_cast<double>(draws.cols);
    }
  }
  return mean_sd(scores);
}

double predictive_log_density(MatrixView members, std::span<const double> observed, double sigma) {
  check("predictive_log_density", members, observed);
  if (!(sigma > 0)) {
    throw Error("predictive_log_density: sigma is " + std::to_string(sigma) +
                ", and a density needs positive noise. Give the noise's standard deviation.");
  }
  double sum = 0;
  for (std::size_t j = 0; j < members.cols; ++j) {
    sum += log_mean_normal(column(members, j), sigma, observed[j]);
  }
  return sum / static_cast<double>(members.cols);
}

double crps(std::span<const double> sample, double x) {
  check_sample("crps", sample);
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  return crps_sorted(sorted, x);
}

double mean_crps(MatrixView members, std::span<const double> truth) {
  check("mean_crps", members, truth);
  double sum = 0;
  for (std::size_t j = 0; j < members.cols; ++j) {
    sum += crps_sorted(sorted_column(members, j), truth[j]);
  }
  return sum / static_cast<double>(members.cols);
}

std::vector<BandScore> band_scores(MatrixView members, std::span<const double> truth,
                                   std::span<const double> levels) {
  check("band_scores", members, truth);
  std::vector<BandScore> scores;
  for (double level : levels) {
    if (!(level > 0 && level < 1)) {
      throw Error("band_scores: a level is " + std::to_string(level) +
                  ", and a band holds a share between 0 and 1. Write 90 % as 0.9.");
    }
    scores.push_back({level, 0, 0});
  }
  for (std::size_t j = 0; j < members.cols; ++j) {
    std::vector<double> sorted = sorted_column(members, j);
    for (BandScore& score : scores) {
      double low = quantile_sorted(sorted, 0.5 * (1 - score.level));
      double high = quantile_sorted(sorted, 0.5 * (1 + score.level));
      score.coverage += low <= truth[j] && truth[j] <= high;
      score.width += high - low;
    }
  }
  for (BandScore& score : scores) {
    score.coverage /= static_cast<double>(members.cols);
    score.width /= static_cast<double>(members.cols);
  }
  return scores;
}

std::vector<BandScore> band_scores(MatrixView members, std::span<const double> truth,
                                   std::initializer_list<double> levels) {
  return band_scores(members, truth, std::span<const double>(levels.begin(), levels.size()));
}

}  // namespace sturnus
