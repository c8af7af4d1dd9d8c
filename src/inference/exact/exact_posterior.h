// Exact posteriors of the exponential and the damped oscillator, by quadrature: what an ensemble or
// a sampler is measured against.
//
// Measurements are y_i = f(t_i) + N(0, sigma^2) with known sigma, and every prior is uniform on an
// interval. In all three models f(t) is linear in its amplitudes, which are integrated in closed
// form; the one or two parameters lambda that are left are integrated adaptively. Draws are
// independent, and have no chain behind them.
//
// How exact: evidence 1e-8, moments 1e-6 of a standard deviation, distribution functions of
// parameters 1e-7. The distribution function of f(t) is a sum of normals over nodes of lambda:
// 1e-3, and 5e-3 at worst, where f(t) is near zero for every amplitude.
#pragma once

#include <sturnus/inference/results/matrix_view.h>
#include <sturnus/inference/results/metrics.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sturnus {

/// A uniform prior.
struct PriorInterval {
  double low = 0;
  double high = 1;
};

struct Measurements {
  std::span<const double> t;
  std::span<const double> y;
  double sigma = 1;
};

/// f(t) = f0 exp(lambda t). The published chain's prior.
struct ExponentialPrior {
  PriorInterval f0 = {-10, 10};
  PriorInterval lambda = {-10, 10};
};

/// f(t) = f0 exp(-zeta omega t) sin(omega sqrt(1 - zeta^2) t). The published chain's prior: it
/// knows that f(0) = 0, which a network that is told no initial value does not.
struct OscillatorPrior {
  PriorInterval f0 = {0, 1.5};
  PriorInterval omega = {0, 3};
  PriorInterval zeta = {0, 0.9};
};

/// f(t) = exp(-zeta omega t) (sine sin(w t) + cosine cos(w t)), w = omega sqrt(1 - zeta^2): every
/// solution of the equation, so the phase is free. The amplitudes are bounded only because measured
/// decay alone does not bound them: at strong damping large ones fit as well.
struct FreePhasePrior {
  PriorInterval sine = {-5, 5};
  PriorInterval cosine = {-5, 5};
  PriorInterval omega = {0, 3};
  PriorInterval zeta = {0, 0.9};
};

/// Independent draws: row i of both belongs together.
struct PosteriorDraws {
  Matrix amplitudes;  // f0, or sine and cosine
  Matrix lambda;      // lambda, or omega and zeta
};

struct FloorOptions {
  int repetitions = 100;
  std::size_t reference_draws = 10000;
  std::uint32_t seed = 0;
};

/// What n exact draws score against the posterior they come from, over repetitions: no method that
/// gives n equally weighted members can be expected to do better by much.
struct WassersteinFloor {
  MeanSd w_f;
  MeanSd w_lambda;
};

class ExactPosterior {
 public:
  /// The posterior of f0 and lambda of an exponential.
  static ExactPosterior exponential(const Measurements& data, const ExponentialPrior& prior = {});
  /// The posterior of f0, omega and zeta of an oscillator that starts at 0.
  static ExactPosterior oscillator(const Measurements& data, const OscillatorPrior& prior = {});
  /// The posterior of sine, cosine, omega and zeta of an oscillator of any phase.
  static ExactPosterior oscillator(const Measurements& data, const FreePhasePrior& prior);

  /// The parameters in order, amplitudes first: "f0", "lambda"; "f0", "omega", "zeta"; or "sine",
  /// "cosine", "omega", "zeta".
  const std::vector<std::string>& names() const;
  /// How many of them are amplitudes.
  std::size_t amplitudes() const;
  /// log of the density of the measurements, the parameters integrated out.
  double log_evidence() const;

  /// Marginals of one parameter, by its place in names().
  double mean(std::size_t parameter) const;
  double sd(std::size_t parameter) const;
  double density(std::size_t parameter, double x) const;
  std::vector<double> density(std::size_t parameter, std::span<const double> grid) const;
  double cdf(std::size_t parameter, double x) const;
  double quantile(std::size_t parameter, double probability) const;

  /// The posterior of f(t), without measurement noise.
  double predictive_mean(double t) const;
  double predictive_sd(double t) const;
  double predictive_cdf(double t, double f) const;
  std::vector<double> predictive_quantiles(double t, std::span<const double> probabilities) const;

  /// n independent draws; the same seed gives the same draws.
  PosteriorDraws draws(std::size_t n, std::uint32_t seed) const;
  /// f at `times` for every draw: draws x times.
  Matrix predict(const PosteriorDraws& draws, std::span<const double> times) const;

  /// W(f) at `times` and W(lambda) of n exact draws.
  WassersteinFloor floor(std::size_t n, std::span<const double> times,
                         const FloorOptions& options = {}) const;

 private:
  class Implementation;
  explicit ExactPosterior(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace sturnus
