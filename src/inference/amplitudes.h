// One or two amplitudes c of a linear model with normal noise and uniform priors: their posterior.
#pragma once

#include <sturnus/inference/exact_posterior.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/inference/numpy_random.h"
#include "src/inference/piecewise_density.h"
#include "src/inference/truncated_normal.h"

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
  Pair mean = {0, 0};
  SymmetricPair covariance;
  std::optional<std::size_t> cut = {};  // which amplitude the cut normal is
  TruncatedNormal normal = TruncatedNormal::normal(0, 1);

  /// The distribution of g . c.
  TruncatedNormal along(const Pair& g) const;
};

class Amplitudes {
 public:
  /// The log likelihood is linear . c - c . precision c / 2 up to a constant. One prior: only c_0.
  Amplitudes(const SymmetricPair& precision, const Pair& linear,
             std::span<const PriorInterval> priors);

  /// log of the likelihood's integral over the priors' intervals; where that is below `care`, any
  /// number below `care`, which costs less.
  double log_integral(double care) const;
  /// The posterior as parts whose weights add to 1; what is left out weighs less than `left_out`.
  std::vector<AmplitudePart> parts(double left_out) const;
  Pair draw(NumpyRandom& random) const;

 private:
  bool uncut() const;
  TruncatedNormal only() const;
  PiecewiseDensity first() const;
  TruncatedNormal second(double first) const;

  SymmetricPair precision_;
  Pair linear_;
  std::span<const PriorInterval> priors_;
  /// Both as if the priors had no bounds; none if there is one, or the data do not determine two.
  std::optional<AmplitudePart> unbounded_;
};

}  // namespace sturnus
