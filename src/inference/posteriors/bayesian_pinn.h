// Bayesian physics-informed networks: the posterior of all weights of a network and of the
// equation's parameters together (L. Yang, X. Meng, G. E. Karniadakis, J. Comput. Phys. 425, 2021).
//
//   Target target = bayesian_pinn(problem, network, {.residual_sd = 0.05});
//   Draws draws = sample(target);
#pragma once

#include <sturnus/inference/models/bijections.h>
#include <sturnus/inference/models/model.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/problems/network.h>
#include <sturnus/inference/problems/problem.h>

#include <cstdint>
#include <vector>

namespace sturnus {

struct BayesianPinnOptions {
  /// Weights and biases are normal around 0 before the data.
  double weight_sd = 1, bias_sd = 1;
  /// The residual counts as measured to be 0 with normal noise, at so many points of a grid along
  /// each input.
  std::int64_t points = 32;
  double residual_sd = 0.1;
  /// That the residual is 0 says something of lambda before anything is measured: how likely a
  /// residual that small is among the networks of the weights' prior. Of an oscillator it favours
  /// low frequencies. Whether this is divided out, so that lambda has the problem's priors until it
  /// is measured. Needs a residual that is affine in the weights: that of a linear equation, and no
  /// hidden layers.
  bool forget_residual = false;
  /// Whether samplers see the weights as what they are given lambda, the residual and the data:
  /// less their mean, in units in which they are independent with variance 1. How far the weights
  /// may go differs from lambda to lambda, and chains of the weights as such take many small steps.
  /// Needs what forget_residual needs.
  bool given_lambda = false;
  /// What constrains the equation's parameters, which have the problem's priors: one each, or none.
  std::vector<Bijection> lambda = {};
};

/// log p = sum log N(w; 0, weight_sd^2) + sum log N(b; 0, bias_sd^2) + sum log prior(lambda)
///       + sum log N(y; f(x), noise_sd^2) + sum log N(residual; 0, residual_sd^2),
/// and with forget_residual less log N(0; r, R R^T + residual_sd^2), where residuals of weights one
/// deviation times v from 0 are r + R v. The parameters come first, under their own names, then
/// layer after layer the network's. Throws Error for a problem or a network that cannot be, or
/// settings that make no sense.
Target bayesian_pinn(const Problem& problem, const Network& network,
                     const BayesianPinnOptions& options = {});

/// The network's function over such parameters, to be drawn at `plot`.
MeasuredCurve bayesian_pinn_curve(const Problem& problem, const Network& network,
                                  const Samples& plot);

/// An inverse Poisson problem: lambda u'' = f on [-0.7, 0.7] with the solution u = sin(6 x)^3 and
/// lambda = 0.01, f known, u measured at 16 points with noise of 0.1. `plot` of the result are 141
/// points with the true u.
struct PoissonProblem {
  Problem problem;
  Samples plot;
};
PoissonProblem poisson_problem(std::uint64_t seed = 0);

}  // namespace sturnus
