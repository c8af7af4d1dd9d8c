// One or two amplitudes c of a linear model with normal noise and uniform priors: their posterior.
#pragma once

#include <sturnus/inference/exact/exact_posterior.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/inference/exact/piecewise_density.h"
#include "src/inference/exact/truncated_normal.h"
#include "src/inference/problems/numpy_random.h"

namespace sturnus {

using Pair = std::array<double, 2>;

inline double dot(const Pair& a, const Pair& b) { return a[0] * b[0] + a[1] * b[1]; }

struct SymmetricPair {
  double aa = 0, ab = 0, bb = 0;
  double determinant() const { return aa * bb - ab * ab; }
  /// g . M g.
  double along(const Pair& g) const {
    return g[0] * g[0] * aa + 2 * g[0] * g[1] * ab + g[1] * g[1] * bb;
  }
};

/// A share of the posterior of c: a normal that no prior cuts, or one cut normal while the other
/// amplitude is known.
struct AmplitudePart {
  double weight = 1;
  Pair mean = {0, 0};                   // of the uncut normal; or the known amplitude
  SymmetricPair covariance = {};        // of the uncut normal
  std::optional<std::size_t> cut = {};  // which amplitude the cut normal is
  TruncatedNormal normal = TruncatedNormal::normal(0, 1);

  /// The distribution of g . c.
  TruncatedNormal along(const Pair& g) const;
};

/// The posterior of c, and how to take it apart so that the weights of the parts add to 1. For two
/// amplitudes that are cut there are two ways, with the one or the other known in each part.
struct AmplitudeParts {
  Pair mean = {0, 0};
  SymmetricPair covariance = {};
  Pair sd_given_other = {0, 0};
  std::array<std::vector<AmplitudePart>, 2> with_normal =
      {};  // the second is empty if there is one way

  /// The way whose parts are smoothest in g . c.
  const std::vector<AmplitudePart>& along(const Pair& g) const;
};

class Amplitudes {
 public:
  /// Measurements y_i = basis_i . c + N(0, sigma^2). One prior: only c_0 is there.
  Amplitudes(std::span<const Pair> basis, std::span<const double> y, double sigma,
             std::span<const PriorInterval> priors);

  /// log of the integral of exp(-sum of squares / 2 sigma^2) over the priors' intervals; where that
  /// is below `care`, any number below `care`, which costs less.
  double log_integral(double care) const;
  /// What the parts leave out weighs less than `left_out`.
  AmplitudeParts parts(double left_out) const;
  Pair draw(NumpyRandom& random) const;

 private:
  bool uncut() const;
  PiecewiseDensity marginal(std::size_t axis) const;
  TruncatedNormal given_other(std::size_t axis, double other) const;

  // All is kept relative to a point near the least squares solution, so that precise measurements
  // do not make large numbers cancel.
  Pair centre_ = {0, 0};
  double half_squares_ = 0;  // sum of squares / 2 sigma^2 at the centre
  SymmetricPair precision_;
  Pair linear_ = {0, 0};
  std::vector<PriorInterval> priors_;
  /// Both as if the priors had no bounds; none if there is one, or the data do not determine two.
  std::optional<AmplitudePart> unbounded_;
};

}  // namespace sturnus
