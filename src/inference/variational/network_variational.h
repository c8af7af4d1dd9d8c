// The published baseline of the ensembles: one network and the parameters of the equation, all of
// them independent normal numbers.
//
//   NetworkVariational network(problem_of(data), published_network_variational());
//   VariationalState state = network.fit().advance(network.fit().init(), 20000);
//   Member draws = network.draw(state, 100);
//   Array f = network.predict(draws, linspace(0.0, 25.0, 200));    // [draws, points]
#pragma once

#include <sturnus/inference/ensembles/ensemble.h>
#include <sturnus/inference/variational/variational.h>

#include <cstdint>

namespace sturnus {

/// KL(q || p) of independent numbers as the published code has it, with sd_q where the formula has
/// sd_q^2: sum_i log(sd_p / sd_q) + (sd_q + (mean_q - mean_p)^2) / (2 sd_p^2) - 1/2.
Array published_divergence(const Gaussian& q, const Gaussian& p);

/// The loss is  E_q[sum (f - y)^2 + residual_weight mean r^2] + divergence_weight KL(q || prior),
/// where the prior of all weights and parameters is normal(0, prior_sd).
struct NetworkVariationalOptions {
  Network network = {};          ///< Completed by network_for.
  std::int64_t points = 125;     ///< Where the equation is imposed: an equispaced grid.
  Schedule residual_weight = 1;  ///< By iteration.
  Schedule divergence_weight = 1e-4;
  double prior_sd = 0.1;
  bool published_slip = false;  ///< Takes published_divergence.
  /// Draws of each iteration, optimiser, seed and device; family and start are the baseline's own.
  VariationalOptions fit = {.draws = 5, .dtype = DType::f32};
};

/// The published settings for the oscillator, for 20000 iterations.
NetworkVariationalOptions published_network_variational();

class NetworkVariational {
 public:
  /// Means and softplus^-1 of standard deviations start as the weights of a network do, those of
  /// the equation's parameters uniformly in (-1, 1). Throws Error for a problem or settings that
  /// make no sense.
  NetworkVariational(const Problem& problem, const NetworkVariationalOptions& options);

  /// Its `elbo` is minus the loss; the target's density is that of data and equation alone.
  const VariationalFit& fit() const { return fit_; }
  /// Networks and parameters, with an axis of draws in front of every array.
  Member draw(const VariationalState& state, std::int64_t count) const;
  /// f of every draw at points, as Ensemble::predict.
  Array predict(const Member& draws, const Array& points) const;

 private:
  Network network_;
  Model<Member> model_;
  VariationalFit fit_;
};

}  // namespace sturnus
