#include "src/inference/exact/amplitudes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sturnus {

TruncatedNormal AmplitudePart::along(const Pair& g) const {
  if (!cut) {
    return TruncatedNormal::normal(dot(g, mean), std::sqrt(std::max(0.0, covariance.along(g))));
  }
  std::size_t known = 1 - *cut;
  return normal.affine(g[*cut], g[known] * mean[known]);
}

Amplitudes::Amplitudes(std::span<const Pair> basis, std::span<const double> y, double sigma,
                       std::span<const PriorInterval> priors)
    : priors_(priors.begin(), priors.end()) {
  double scale = 1 / (sigma * sigma);
  for (auto [a, b] : basis) {
    precision_.aa += scale * a * a;
    precision_.ab += scale * a * b;
    precision_.bb += scale * b * b;
  }
  double determinant = precision_.determinant();
  bool determined = determinant > 1e-10 * precision_.aa * precision_.bb;
  SymmetricPair covariance;
  if (priors_.size() == 1 && precision_.aa > 1e-300) covariance.aa = 1 / precision_.aa;
  if (priors_.size() == 2 && determined) {
    covariance = {precision_.bb / determinant, -precision_.ab / determinant,
                  precision_.aa / determinant};
  }
  auto gradient_at = [&](const Pair& c) {
    Pair gradient = {0, 0};
    half_squares_ = 0;
    for (std::size_t i = 0; i < basis.size(); ++i) {
      double residual = y[i] - dot(basis[i], c);
      half_squares_ += 0.5 * scale * residual * residual;
      gradient[0] += scale * basis[i][0] * residual;
      gradient[1] += scale * basis[i][1] * residual;
    }
    return gradient;
  };
  auto times_covariance = [&](const Pair& g) {
    return Pair{covariance.aa * g[0] + covariance.ab * g[1],
                covariance.ab * g[0] + covariance.bb * g[1]};
  };
  Pair solution = times_covariance(gradient_at({0, 0}));
  for (std::size_t i = 0; i < priors_.size(); ++i) {
    centre_[i] = std::clamp(solution[i], priors_[i].low, priors_[i].high);
  }
  linear_ = gradient_at(centre_);
  for (std::size_t i = 0; i < priors_.size(); ++i) {
    priors_[i].low -= centre_[i];
    priors_[i].high -= centre_[i];
  }
  if (priors_.size() == 2 && determined) {
    unbounded_.emplace();
    unbounded_->covariance = covariance;
    unbounded_->mean = times_covariance(linear_);
  }
}

/// Whether the priors leave the unbounded normal whole, to rounding.
bool Amplitudes::uncut() const {
  auto within = [&](std::size_t i, double variance) {
    double margin = 8.5 * std::sqrt(variance);
    return unbounded_->mean[i] - margin > priors_[i].low &&
           unbounded_->mean[i] + margin < priors_[i].high;
  };
  return unbounded_ && within(0, unbounded_->covariance.aa) && within(1, unbounded_->covariance.bb);
}

/// One of two, the other integrated.
PiecewiseDensity Amplitudes::marginal(std::size_t axis) const {
  double precision = axis == 0 ? precision_.aa : precision_.bb;
  auto log_density = [&](double c, double) {
    return c * (linear_[axis] - 0.5 * precision * c) + given_other(1 - axis, c).log_integral();
  };
  return PiecewiseDensity(log_density, {{priors_[axis].low, priors_[axis].high, 1}});
}

TruncatedNormal Amplitudes::given_other(std::size_t axis, double other) const {
  return TruncatedNormal::from_quadratic(axis == 0 ? precision_.aa : precision_.bb,
                                         linear_[axis] - precision_.ab * other, priors_[axis].low,
                                         priors_[axis].high);
}

double Amplitudes::log_integral(double care) const {
  if (priors_.size() == 1) return given_other(0, 0).log_integral() - half_squares_;
  if (unbounded_) {
    double whole = 0.5 * dot(linear_, unbounded_->mean) + std::log(2 * std::numbers::pi) -
                   0.5 * std::log(precision_.determinant()) - half_squares_;
    // Bounds only take away.
    if (whole < care || uncut()) return whole;
  }
  return marginal(0).log_total() - half_squares_;
}

const std::vector<AmplitudePart>& AmplitudeParts::along(const Pair& g) const {
  bool second = std::abs(g[1]) * sd_given_other[1] > std::abs(g[0]) * sd_given_other[0];
  return with_normal[second && !with_normal[1].empty() ? 1 : 0];
}

AmplitudeParts Amplitudes::parts(double left_out) const {
  AmplitudeParts result;
  if (uncut()) {
    AmplitudePart whole = *unbounded_;
    whole.mean = {centre_[0] + whole.mean[0], centre_[1] + whole.mean[1]};
    return {whole.mean, whole.covariance, {}, {{{whole}, {}}}};
  }
  // One amplitude is a cut normal, the other is known.
  auto add = [&](std::size_t axis, double other, double weight) {
    TruncatedNormal normal = given_other(axis, other).affine(1, centre_[axis]);
    AmplitudePart part = {.weight = weight, .cut = axis, .normal = normal};
    part.mean[1 - axis] = centre_[1 - axis] + other;
    result.with_normal[axis].push_back(part);
  };
  if (priors_.size() == 1) {
    add(0, 0, 1);
  } else {
    for (std::size_t axis : {0, 1}) {
      for (const PiecewiseDensity::Node& other : marginal(1 - axis).nodes(10, left_out)) {
        add(axis, other.x[0], other.weight);
      }
    }
  }
  for (std::size_t i = 0; i < priors_.size(); ++i) {
    // About that of the normal, and never more than the prior's.
    double length = priors_[i].high - priors_[i].low;
    double precision = i == 0 ? precision_.aa : precision_.bb;
    result.sd_given_other[i] = 1 / std::sqrt(precision + 12 / (length * length));
  }
  std::size_t axis = priors_.size() - 1, other = 1 - axis;
  std::vector<TruncatedNormal::Moments> moments;
  for (const AmplitudePart& part : result.with_normal[axis]) {
    moments.push_back(part.normal.moments());
    result.mean[axis] += part.weight * moments.back().mean;
    result.mean[other] += part.weight * part.mean[other];
  }
  double variance = 0, other_variance = 0, covariance = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const AmplitudePart& part = result.with_normal[axis][i];
    double u = moments[i].mean - result.mean[axis], v = part.mean[other] - result.mean[other];
    variance += part.weight * (moments[i].variance + u * u);
    other_variance += part.weight * v * v;
    covariance += part.weight * u * v;
  }
  result.covariance = axis == 0 ? SymmetricPair{variance, covariance, other_variance}
                                : SymmetricPair{other_variance, covariance, variance};
  return result;
}

Pair Amplitudes::draw(NumpyRandom& random) const {
  Pair drawn = {0, 0};
  if (uncut()) {
    const SymmetricPair& c = unbounded_->covariance;
    double u = random.normal(), v = random.normal();
    double root = std::sqrt(c.aa);
    drawn = {unbounded_->mean[0] + root * u,
             unbounded_->mean[1] + (c.ab * u + std::sqrt(c.determinant()) * v) / root};
  } else if (priors_.size() == 1) {
    drawn[0] = given_other(0, 0).quantile(random.uniform());
  } else {
    drawn[0] = marginal(0).draw(random)[0];
    drawn[1] = given_other(1, drawn[0]).quantile(random.uniform());
  }
  return {centre_[0] + drawn[0], centre_[1] + drawn[1]};
}

}  // namespace sturnus
