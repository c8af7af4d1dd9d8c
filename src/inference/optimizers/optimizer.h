// First-order optimisers as pure functions, for arrays with an axis of members in front.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/inference/optimizers/schedule.h>

#include <optional>

namespace sturnus {

/// What an optimiser remembers: running means of the gradient and of its square, as long as needed,
/// and how many steps each member has taken: i32[members].
struct OptimizerState {
  Arrays mean, square;
  Array steps;
};

/// Descent along gradients g, with rate r, in a member's step t = 1, 2, ...:
///   sgd    m = momentum m + g;  p -= r m
///   adam   m, v running means of g and g^2;  p -= r m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) +
///          epsilon), where g includes weight_decay p
///   adamw  the same without the decay in g;  p -= r weight_decay p  besides
struct Optimizer {
  enum class Method { sgd, adam, adamw };

  Method method = Method::adam;
  Schedule rate = 0.01;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< Of adam and adamw.
  double momentum = 0;                                ///< Of sgd.
  double weight_decay = 0;
  /// Gradients longer than this, taken over all that a member has, are shortened to it.
  std::optional<double> clip_norm = {};

  /// Throws Error when a number makes no sense, or is one that the method does not know.
  void check() const;
  /// The state before the first step.
  OptimizerState init(const Arrays& parameters) const;

  struct Step {
    Arrays parameters;
    OptimizerState state;
  };
  /// One step from the gradients, with the rate of iteration 0, 1, ...: an i32 scalar.
  Step step(const Arrays& parameters, const Arrays& gradients, const OptimizerState& state,
            const Array& iteration) const;
};

}  // namespace sturnus
