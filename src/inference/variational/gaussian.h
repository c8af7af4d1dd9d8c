// Normal distributions of vectors, and what is known of them in closed form.
#pragma once

#include <sturnus/functional/array.h>

namespace sturnus {

/// The normal distribution with covariance L L^T.
struct Gaussian {
  Array mean;    // [size]
  Array factor;  // L: its diagonal [size], or a lower triangle [size, size]; L_ii > 0
};

/// mean + L z for each row of z, [draws, size]: draws, if z is standard normal.
Array transported(const Gaussian& q, const Array& z);
/// L L^T.
Array covariance(const Gaussian& q);
/// The log density at each row of x, [draws, size].
Array log_density(const Gaussian& q, const Array& x);
/// E_q[-log q] = size (1 + log 2 pi) / 2 + sum_i log L_ii.
Array entropy(const Gaussian& q);
/// KL(q || p) = E_q[log q - log p] with M the factor of p:
///   sum_i log(M_ii / L_ii) + (|M^-1 L|^2 + |M^-1 (mean_q - mean_p)|^2 - size) / 2.
Array divergence(const Gaussian& q, const Gaussian& p);

}  // namespace sturnus
