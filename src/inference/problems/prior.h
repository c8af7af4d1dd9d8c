// What is known of a parameter before the data.
#pragma once

#include <sturnus/functional/array.h>

#include <functional>

namespace sturnus {

/// A prior density of one parameter, as minus its logarithm up to a constant: smooth and finite
/// everywhere, so that an optimiser can walk on it.
class Prior {
 public:
  /// Nothing is known.
  Prior() = default;
  /// Positive: a wall 1000 min(0, x)^2, as in the published code.
  static Prior positive();
  /// Uniform on an interval, its steps smoothed to sigmoids of the given width (default: a
  /// hundredth of the interval), as in the published text:
  /// -log(sigmoid((x - low) / width) sigmoid((high - x) / width)). Throws Error unless low < high
  /// and all are finite.
  static Prior uniform(double low, double high, double width = 0);
  /// Normal. Throws Error unless sd > 0 and both are finite.
  static Prior normal(double mean, double sd);
  /// exp of a normal number; flat below 1e-6, and below 0 a wall 1000 min(0, x)^2. Throws Error
  /// unless sd > 0 and both are finite.
  static Prior log_normal(double mean, double sd);
  /// Any density, by its logarithm.
  static Prior density(std::function<Array(const Array& x)> log_density);

  /// Minus the log density at x, element by element; an empty array where nothing is known.
  Array penalty(const Array& x) const { return penalty_ ? penalty_(x) : Array(); }

 private:
  explicit Prior(std::function<Array(const Array&)> penalty) : penalty_(std::move(penalty)) {}
  std::function<Array(const Array&)> penalty_;
};

}  // namespace sturnus
