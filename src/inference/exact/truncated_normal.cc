#include "src/inference/exact/truncated_normal.h"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace sturnus {
namespace {

using boost::math::quadrature::gauss;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// exp(x^2) erfc(x) for x >= 0.
double scaled_erfc(double x) {
  if (x < 20) return std::exp(x * x) * std::erfc(x);
  double u = 0.5 / (x * x);  // asymptotic series; the next term is below 1e-13
  return (1 - u * (1 - 3 * u * (1 - 5 * u))) * std::numbers::inv_sqrtpi / x;
}

/// exp(-d s - s^2 / 2) falls below exp(-40) beyond this s.
double reach(double d) { return 80 / (d + std::sqrt(d * d + 80)); }

}  // namespace

double half_normal_integral(double d, double end) {
  if (end <= 0) return 0;
  if (end * (1 + d) < 1) {
    auto integrand = [d](double s) { return std::exp(-s * (d + 0.5 * s)); };
    return gauss<double, 10>::integrate(integrand, 0.0, end);
  }
  double beyond = 0;
  if (end < reach(d)) {
    beyond = std::exp(-end * (d + 0.5 * end)) * scaled_erfc((d + end) * std::numbers::sqrt2 / 2);
  }
  constexpr double root_half_pi = 1.2533141373155003;
  return root_half_pi * (scaled_erfc(d * std::numbers::sqrt2 / 2) - beyond);
}

TruncatedNormal::TruncatedNormal(double anchor, double sd, double d, double below, double above)
    : anchor_(anchor),
      sd_(sd),
      d_(d),
      below_(below),
      above_(above),
      total_(half_normal_integral(d, below) + half_normal_integral(d, above)) {}

TruncatedNormal TruncatedNormal::from_quadratic(double precision, double linear, double low,
                                                double high) {
  // A precision so small that the quadratic term stays below 1e-13 on the interval may be raised to
  // that: the density is the same to rounding, and its standard deviation is finite.
  double floor = 1e-13 / std::max({low * low, high * high, (high - low) * (high - low)});
  precision = std::max(precision, floor);
  double sd = 1 / std::sqrt(precision);
  double anchor = std::clamp(linear / precision, low, high);
  bool inside = low < anchor && anchor < high;
  double d = inside ? 0 : std::abs(linear - precision * anchor) * sd;
  TruncatedNormal result(anchor, sd, d, (anchor - low) / sd, (high - anchor) / sd);
  result.log_integral_ =
      anchor * (linear - 0.5 * precision * anchor) + std::log(sd * result.total_);
  return result;
}

TruncatedNormal TruncatedNormal::normal(double mean, double sd) {
  return TruncatedNormal(mean, sd, 0, infinity, infinity);
}

TruncatedNormal TruncatedNormal::affine(double scale, double shift) const {
  TruncatedNormal result = *this;
  result.anchor_ = scale * anchor_ + shift;
  result.sd_ = std::abs(scale) * sd_;
  if (scale < 0) std::swap(result.below_, result.above_);
  return result;
}

double TruncatedNormal::density(double x) const {
  double s = (x - anchor_) / sd_;
  if (s < -below_ || s > above_) return 0;
  s = std::abs(s);
  return std::exp(-s * (d_ + 0.5 * s)) / (sd_ * total_);
}

/// The share of the total beyond distance s from the anchor, on the side that ends at `end`.
double TruncatedNormal::mass_beyond(double s, double end) const {
  if (s >= end) return 0;
  return std::exp(-s * (d_ + 0.5 * s)) * half_normal_integral(d_ + s, end - s) / total_;
}

double TruncatedNormal::cdf(double x) const {
  if (sd_ == 0) return x < anchor_ ? 0 : 1;
  double s = (x - anchor_) / sd_;
  return s < 0 ? mass_beyond(-s, below_) : 1 - mass_beyond(s, above_);
}

double TruncatedNormal::quantile(double probability) const {
  double share_below = half_normal_integral(d_, below_) / total_;
  bool is_below = probability < share_below;
  double beyond = is_below ? probability : 1 - probability;
  double end = is_below ? below_ : above_;
  // Find s in [0, end] with mass_beyond(s) = beyond: Newton on its log, which is concave, kept
  // within a bracket that every step shrinks.
  double low = 0;
  double high = std::min(end, reach(d_) + 1);
  double s = 0;
  for (int step = 0; step < 100 && beyond > 0; ++step) {
    double mass = mass_beyond(s, end);
    (mass > beyond ? low : high) = s;
    double slope = std::exp(-s * (d_ + 0.5 * s)) / total_;
    double next = s + mass / slope * std::log(mass / beyond);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    bool done = std::abs(next - s) <= 1e-14 * next || low == high;
    s = next;
    if (done) break;
  }
  if (beyond <= 0) s = high;
  return anchor_ + (is_below ? -s : s) * sd_;
}

TruncatedNormal::Moments TruncatedNormal::moments() const {
  double end = reach(d_);
  if (below_ >= end && above_ >= end) return {anchor_, sd_ * sd_};
  double first = 0, second = 0;
  auto add = [&](double sign, double length) {
    using Gauss = gauss<double, 30>;
    for (std::size_t i = 0; i < Gauss::abscissa().size(); ++i) {
      for (double node : {-Gauss::abscissa()[i], Gauss::abscissa()[i]}) {
        double s = 0.5 * length * (1 + node);
        double mass = 0.5 * length * Gauss::weights()[i] * std::exp(-s * (d_ + 0.5 * s)) / total_;
        first += mass * sign * s;
        second += mass * s * s;
      }
    }
  };
  if (below_ > 0) add(-1, std::min(below_, end));
  if (above_ > 0) add(1, std::min(above_, end));
  return {anchor_ + sd_ * first, sd_ * sd_ * (second - first * first)};
}

}  // namespace sturnus
