// Whether Markov chains have mixed, and how far their averages can be trusted.
//
// The draws of one scalar quantity are a MatrixView: one row per chain, one column per draw,
// without warm-up. Chains are split into halves (of an odd number of draws the middle one is left
// out), and the definitions are those of Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021),
// "Rank-normalization, folding, and localization". Fewer than 4 draws or no chain is an Error; a
// NaN makes every result NaN, and so does an infinite value, but for R-hat and the bulk ESS, which
// see ranks only.
//
// Numbers agree with ArviZ to 1e-8. Where ArviZ and R's posterior (1.4) differ:
//   all draws equal, or all on one side of a quantile: NaN, as posterior; ArviZ has ESS = draws
//   R-hat of one chain: that of its halves, as posterior; ArviZ has NaN
//   quantiles of infinite draws: NaN, as posterior; ArviZ has their ESS and errors
//   odd number of draws: R-hat folds at the median of the halves, as ArviZ; posterior at that of
//     all draws
//   ess_sd: of (x - mean)^2, as ArviZ and as both use for mcse_sd; posterior has |x - mean|
//   no pair of lags to sum, with fewer than 10 draws (posterior: 12) or neighbours that repel so
//     that the first pair is not positive: ESS = S log10(S), as ArviZ; posterior has S / 2, and NaN
//     below 6 draws
//   halves of an odd number: Geyer's sum goes to the last pair of lags, as ArviZ; posterior's stops
//     one pair earlier
//   folded draws all equal, or folded at an infinite median: R-hat is that of the draws, as ArviZ;
//     posterior has NaN
//   chains that differ and do not move: R-hat is infinite, as ArviZ; posterior has 1e15 or so
//   draws that differ by less than 2e-16: they differ; posterior takes them for equal
//   mcse_sd: with ess_sd, as posterior and arviz 0.23; arviz-stats 0.8 takes ess_mean
#pragma once

#include <sturnus/inference/results/matrix_view.h>

#include <cstddef>
#include <span>
#include <vector>

namespace sturnus {

/// One matrix of chains that were kept one by one. Throws Error unless all have the same length.
Matrix stack_chains(std::span<const std::vector<double>> chains);

/// The larger of the split R-hats of rank-normalised draws and of their folded distances from the
/// median, sqrt((B / W + n - 1) / n): near 1 when chains agree in place and in spread. Infinite
/// when no chain moves and they differ.
double rhat(MatrixView chains);

/// Effective sample size of rank-normalised draws: how well the bulk is known. All effective sample
/// sizes are S / tau with Geyer's initial monotone sequence for tau, and at most S log10(S).
double ess_bulk(MatrixView chains);
/// The smaller of those for the quantiles 0.05 and 0.95.
double ess_tail(MatrixView chains);
double ess_mean(MatrixView chains);
double ess_sd(MatrixView chains);
double ess_median(MatrixView chains);
/// That of the indicator x <= quantile(p). Throws Error unless 0 < p < 1, as all that take p.
double ess_quantile(MatrixView chains, double p);

/// Monte Carlo standard error of the mean, sd / sqrt(ess_mean).
double mcse_mean(MatrixView chains);
/// That of the standard deviation, by the variance of the variance: no normality is assumed.
double mcse_sd(MatrixView chains);
/// That of the quantile p: half the distance of the order statistics that hold it with the
/// probability of one standard deviation.
double mcse_quantile(MatrixView chains, double p);

/// Energy's fraction of missing information per chain, mean (E_i - E_{i-1})^2 / var E. Below 0.3
/// the momenta explore the energies too slowly. `energies` is chains x draws.
std::vector<double> ebfmi(MatrixView energies);

/// Quantile p of all draws, interpolated at (n - 1) p (Hyndman and Fan's type 7).
double sample_quantile(MatrixView chains, double p);
/// Mean of all draws, and their standard deviation with divisor n - 1.
double sample_mean(MatrixView chains);
double sample_sd(MatrixView chains);
/// 1.4826 times the median of the distances from the median: the sd of a normal distribution,
/// whatever its tails.
double sample_mad(MatrixView chains);

/// The shortest interval between draws that are floor(p n) ranks apart.
struct Interval {
  double low = 0;
  double high = 0;
};
Interval hdi(MatrixView chains, double p);

/// (1/n) sum_i (x_i - mean) (x_{i+lag} - mean) for every lag 0, ..., n - 1, in O(n log n).
std::vector<double> autocovariance(std::span<const double> x);

}  // namespace sturnus
