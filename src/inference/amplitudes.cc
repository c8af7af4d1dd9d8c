#include "src/inference/amplitudes.h"

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

Amplitudes::Amplitudes(const SymmetricPair& precision, const Pair& linear,
                       std::span<const PriorInterval> priors)
    : precision_(precision), linear_(linear), priors_(priors) {
  double determinant = precision.determinant();
  if (priors.size() == 2 && determinant > 1e-10 * precision.aa * precision.bb) {
    unbounded_.emplace();
    SymmetricPair& c = unbounded_->covariance;
    c = {precision.bb / determinant, -precision.ab / determinant, precision.aa / determinant};
    unbounded_->mean = {c.aa * linear[0] + c.ab * linear[1], c.ab * linear[0] + c.bb * linear[1]};
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

/// The one amplitude there is.
TruncatedNormal Amplitudes::only() const {
  return TruncatedNormal::from_quadratic(precision_.aa, linear_[0], priors_[0].low,
                                         priors_[0].high);
}

/// The first of two, the second integrated.
PiecewiseDensity Amplitudes::first() const {
  auto log_density = [this](double c, double) {
    return c * (linear_[0] - 0.5 * precision_.aa * c) + second(c).log_integral();
  };
  return PiecewiseDensity(log_density, {{priors_[0].low, priors_[0].high, 4}});
}

/// The second of two, the first being known.
TruncatedNormal Amplitudes::second(double first) const {
  return TruncatedNormal::from_quadratic(precision_.bb, linear_[1] - precision_.ab * first,
                                         priors_[1].low, priors_[1].high);
}

double Amplitudes::log_integral(double care) const {
  if (priors_.size() == 1) return only().log_integral();
  if (unbounded_) {
    double whole = 0.5 * dot(linear_, unbounded_->mean) + std::log(2 * std::numbers::pi) -
                   0.5 * std::log(precision_.determinant());
    // Bounds only take away.
    if (whole < care || uncut()) return whole;
  }
  return first().log_total();
}

std::vector<AmplitudePart> Amplitudes::parts(double left_out) const {
  if (uncut()) return {*unbounded_};
  if (priors_.size() == 1) {
    TruncatedNormal normal = only();
    auto [mean, variance] = normal.moments();
    return {{1, {mean, 0}, {variance, 0, 0}, 0, normal}};
  }
  std::vector<AmplitudePart> parts;
  for (const PiecewiseDensity::Node& node : first().nodes(left_out)) {
    TruncatedNormal normal = second(node.x[0]);
    auto [mean, variance] = normal.moments();
    parts.push_back({node.weight, {node.x[0], mean}, {0, 0, variance}, 1, normal});
  }
  return parts;
}

Pair Amplitudes::draw(NumpyRandom& random) const {
  if (uncut()) {
    const SymmetricPair& c = unbounded_->covariance;
    double u = random.normal(), v = random.normal();
    double root = std::sqrt(c.aa);
    return {unbounded_->mean[0] + root * u,
            unbounded_->mean[1] + (c.ab * u + std::sqrt(c.determinant()) * v) / root};
  }
  if (priors_.size() == 1) return {only().quantile(random.uniform()), 0};
  double drawn = first().draw(random)[0];
  return {drawn, second(drawn).quantile(random.uniform())};
}

}  // namespace sturnus
