// Where the equation is imposed.
#pragma once

#include <sturnus/functional/array.h>
#include <sturnus/ops/random.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace sturnus {

/// Points in the domain, chosen once or again and again while training, on the device.
struct Collocation {
  /// grid      equispaced, ends included; with several inputs the product of equal grids
  /// uniform   independent and uniform
  /// sobol     a scrambled Sobol sequence, another scramble for each drawing
  /// adaptive  of `candidates` uniform points those with large residuals r are more likely:
  ///           r^power / mean(r^power) + 1, without repetition
  enum class Kind { grid, uniform, sobol, adaptive };

  Kind kind = Kind::grid;
  std::int64_t points = 100;
  /// New points every so many iterations; 0: never. A grid stays, adaptive points must not.
  std::int64_t resample_every = 0;
  /// Every member has its own points.
  bool per_member = false;
  /// Of adaptive points alone.
  std::int64_t candidates = 1000;
  double power = 2;

  /// Throws Error when a number makes no sense for so many inputs.
  void check(std::int64_t inputs) const;
};

/// Points between `low` and `high`, one bound per input: [points] for one input, else [points,
/// inputs], of the given element type. `residual` gives |r| at points of that shape and type,
/// [points]; only adaptive points ask it.
Array collocation_points(const Collocation& collocation, const std::vector<double>& low,
                         const std::vector<double>& high, const Key& key,
                         const std::function<Array(const Array& points)>& residual,
                         DType dtype = DType::f32);

}  // namespace sturnus
