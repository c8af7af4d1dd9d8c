// Log densities, element by element: parameters and places are broadcast against each other, and
// numbers take the element type of the arrays beside them. Outside of where a density lives, its
// logarithm is -infinity and the derivative 0. To be summed by whoever adds them up.
//
//   Array log_joint = normal_log_density(mean, 0.0, 5.0) + sum(normal_log_density(y, mean, sd));
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// exp(-((x - mean) / sd)^2 / 2) / (sd sqrt(2 pi)).
Array normal_log_density(Operand x, Operand mean, Operand sd);
/// That of log x, over x; x > 0.
Array log_normal_log_density(Operand x, Operand mean, Operand sd);
/// Twice that of a normal number around 0; x >= 0.
Array half_normal_log_density(Operand x, Operand sd);
/// 1 / (high - low); low <= x <= high.
Array uniform_log_density(Operand x, Operand low, Operand high);
/// rate exp(-rate x); x >= 0.
Array exponential_log_density(Operand x, Operand rate);
/// rate^shape / Gamma(shape) x^(shape - 1) exp(-rate x); x > 0.
Array gamma_log_density(Operand x, Operand shape, Operand rate);
/// scale^shape / Gamma(shape) x^(-shape - 1) exp(-scale / x); x > 0.
Array inverse_gamma_log_density(Operand x, Operand shape, Operand scale);
/// Gamma(a + b) / (Gamma(a) Gamma(b)) x^(a - 1) (1 - x)^(b - 1); 0 < x < 1.
Array beta_log_density(Operand x, Operand a, Operand b);
/// shape / scale (x / scale)^(shape - 1) exp(-(x / scale)^shape); x > 0.
Array weibull_log_density(Operand x, Operand shape, Operand scale);
/// 1 / (pi scale (1 + ((x - center) / scale)^2)).
Array cauchy_log_density(Operand x, Operand center, Operand scale);
/// Twice that around 0; x >= 0.
Array half_cauchy_log_density(Operand x, Operand scale);
/// Gamma((n + 1) / 2) / (Gamma(n / 2) sqrt(n pi) scale) (1 + z^2 / n)^(-(n + 1) / 2) with
/// z = (x - center) / scale and n degrees of freedom.
Array student_t_log_density(Operand x, Operand degrees, Operand center, Operand scale);
/// exp(-|x - center| / scale) / (2 scale).
Array laplace_log_density(Operand x, Operand center, Operand scale);

/// The probability of x, true or false (or 1 or 0), when that of true is sigmoid(logit).
Array bernoulli_logit_log_density(Operand x, Operand logit);
/// (trials over count) p^count (1 - p)^(trials - count) with p = sigmoid(logit), for whole numbers
/// count of 0 to trials.
Array binomial_logit_log_density(Operand count, Operand trials, Operand logit);
/// rate^count exp(-rate) / count! for whole numbers count >= 0.
Array poisson_log_density(Operand count, Operand rate);
/// That of a rate which is itself gamma, with such a mean and the variance mean^2 / shape: variance
/// of the count mean + mean^2 / shape.
Array negative_binomial_log_density(Operand count, Operand mean, Operand shape);

/// The probability of the whole number x = 0, 1, ..., softmax(logits)_x along the last axis of
/// `logits`, which x does not have.
Array categorical_logit_log_density(Operand x, Operand logits);
/// (sum n)! / product n_i! product softmax(logits)_i^n_i along the last axis of counts n, which
/// disappears; n_i whole numbers >= 0.
Array multinomial_logit_log_density(Operand counts, Operand logits);

/// Gamma(sum a) / product Gamma(a_i) product x_i^(a_i - 1) along the last axis, which disappears;
/// x_i > 0 and their sum is 1, which is not checked.
Array dirichlet_log_density(Operand x, Operand concentration);
/// The normal density of vectors with the covariance l l^T, l lower triangular, along the last
/// axis, which disappears.
Array multivariate_normal_log_density(Operand x, Operand mean, Operand cholesky);

}  // namespace sturnus
