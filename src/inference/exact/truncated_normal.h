// A normal density cut to an interval, safe in every regime: far in a tail, nearly flat, or a
// point.
#pragma once

namespace sturnus {

/// The density proportional to exp(-d |s| - s^2 / 2) for s = (x - anchor) / sd in [-below, above],
/// where the anchor is the interval's point nearest to the normal's mean and d >= 0 is how many sd
/// the mean lies beyond it (so d > 0 only if below or above is 0). No formula subtracts nearly
/// equal numbers.
class TruncatedNormal {
 public:
  /// The density proportional to exp(-precision x^2 / 2 + linear x) on [low, high]; precision may
  /// be 0.
  static TruncatedNormal from_quadratic(double precision, double linear, double low, double high);
  /// A normal that is not cut; sd may be 0.
  static TruncatedNormal normal(double mean, double sd);

  /// log of the integral of exp(-precision x^2 / 2 + linear x) that from_quadratic was given.
  double log_integral() const { return log_integral_; }
  double density(double x) const;
  double cdf(double x) const;
  /// The x with cdf(x) = probability.
  double quantile(double probability) const;
  struct Moments {
    double mean, variance;
  };
  Moments moments() const;
  /// The distribution of scale * x + shift.
  TruncatedNormal affine(double scale, double shift) const;

 private:
  TruncatedNormal(double anchor, double sd, double d, double below, double above);
  double mass_beyond(double s, double end) const;

  double anchor_, sd_, d_, below_, above_;
  double total_;  // integral over s
  double log_integral_ = 0;
};

/// The integral of exp(-d s - s^2 / 2) over s in [0, end]; d >= 0, end may be infinite.
double half_normal_integral(double d, double end);

}  // namespace sturnus
