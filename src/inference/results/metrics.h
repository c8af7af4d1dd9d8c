// How good an ensemble is: the published scores exactly as published, and beside them what those
// miss.
//
// An ensemble is a MatrixView: one row per member, one column per value it predicts. A wrong shape,
// a value that is not finite or an empty ensemble is an Error.
#pragma once

#include <sturnus/inference/results/matrix_view.h>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace sturnus {

// --- As published
// ---------------------------------------------------------------------------------

/// RMSE: root of the mean squared difference of the ensemble's mean and the noise-free truth.
double rmse(MatrixView members, std::span<const double> truth);

/// The published bandwidth: lower median of the nonzero |x_i - x_j|, i < j, over sqrt(ln n); 0 if
/// all values are equal. Takes O(n log n) time and O(n) memory; needs n >= 2.
double kde_bandwidth(std::span<const double> sample);

/// Log of the Gaussian kernel density estimate (1/n) sum_i N(x; sample_i, bandwidth^2).
double kde_log_density(std::span<const double> sample, double bandwidth, double x);

/// A sum of KDE log densities.
struct KdeScore {
  double value = 0;
  /// Columns left out because all members agree there, so that no density exists (the published
  /// code fails on these). `value` is -infinity if every column is left out.
  std::size_t skipped = 0;
};

/// logL/N: the KDE of the members at each *noisy* value of `observed`, without the noise in the
/// density, natural logs summed and divided by the number of points. With two outputs per point
/// there are twice as many columns as points, as published for Lotka-Volterra. Where columns are
/// skipped the divisor shrinks in proportion.
KdeScore logl_per_n(MatrixView members, std::span<const double> observed, std::size_t points);

/// |dlambda|: mean over parameters of |ensemble mean - truth|.
double abs_dlambda(MatrixView lambda, std::span<const double> truth);

/// logL lambda: *sum* over parameters of the log of the one-dimensional KDE at the truth.
KdeScore logl_lambda(MatrixView lambda, std::span<const double> truth);

/// Wasserstein-1 distance of two samples, of any sizes: the integral of |F_a - F_b|.
double wasserstein(std::span<const double> a, std::span<const double> b);

/// The same for samples that are sorted already, in one merge.
double wasserstein_sorted(std::span<const double> a, std::span<const double> b);

/// W(f) and W(lambda): the mean over columns of the Wasserstein-1 distance to the same column of
/// `reference`. Published for f on 200 equispaced points of the collocation range, first output
/// only.
double mean_wasserstein(MatrixView members, MatrixView reference);

/// Mean and population standard deviation (divisor n), as the published tables give over 5 runs.
struct MeanSd {
  double mean = 0;
  double sd = 0;
};
MeanSd mean_sd(std::span<const double> values);

/// What as few as `members` of the draws score against all of them by mean_wasserstein, over
/// choices that are spread evenly: no ensemble can be expected to do better by much. Throws Error
/// unless there are 1 to as many members as draws.
MeanSd wasserstein_floor(MatrixView draws, std::size_t members, std::size_t choices = 20);

// --- What the published ones miss
// -----------------------------------------------------------------

/// Mean log of the predictive density of noisy values, (1/n) sum_i N(y; f_i, sigma^2): the noise is
/// in it, so spreading members wider than the posterior does not pay.
double predictive_log_density(MatrixView members, std::span<const double> observed, double sigma);

/// Continuous ranked probability score of an equally weighted ensemble, exact, in O(n log n):
/// E|X - x| - E|X - X'| / 2. Smaller is better; for one member it is the absolute error.
double crps(std::span<const double> sample, double x);

/// Mean of crps over columns. Compare like with like: members of f with the noise-free truth.
double mean_crps(MatrixView members, std::span<const double> truth);

/// How often a central band holds the truth, and how wide it is on average (sharpness).
struct BandScore {
  double level = 0;
  double coverage = 0;
  double width = 0;
};

/// Coverage and sharpness of the ensemble's central bands. Quantile p is the order statistic at
/// position p (n + 1), interpolated and clamped: a truth exchangeable with the members falls into
/// the band with probability `level`, or (n - 1) / (n + 1) if so few members cannot span it.
std::vector<BandScore> band_scores(MatrixView members, std::span<const double> truth,
                                   std::span<const double> levels);
std::vector<BandScore> band_scores(MatrixView members, std::span<const double> truth,
                                   std::initializer_list<double> levels = {0.5, 0.8, 0.9, 0.95});

}  // namespace sturnus
