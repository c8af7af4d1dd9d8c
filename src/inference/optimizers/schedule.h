// Numbers that change while a training goes on: weights of loss terms, learning rates.
#pragma once

#include <sturnus/functional/array.h>

#include <cstdint>
#include <vector>

namespace sturnus {

/// A number by iteration, which counts from 0. A plain number is a schedule that never changes.
struct Schedule {
  struct Step {
    std::int64_t after = 0;  ///< The value holds for iterations > after.
    double value = 0;
  };
  enum class Kind { steps, cosine, exponential };

  Schedule(double value = 1) : value(value) {}
  /// `value`, then that of the last step that was passed, as the published weights are given.
  static Schedule stepwise(double value, std::vector<Step> steps);
  /// 0 before the iteration `start`, `value` from there on.
  static Schedule from(std::int64_t start, double value);
  /// From `value` at iteration `begin` to `last` at `end` along half a cosine; constant outside.
  static Schedule cosine(double value, double last, std::int64_t begin, std::int64_t end);
  /// The same along an exponential, both of one sign.
  static Schedule exponential(double value, double last, std::int64_t begin, std::int64_t end);
  /// This schedule times a factor that grows linearly to 1 over the first iterations.
  Schedule with_warm_up(std::int64_t iterations) const;

  /// The value at an iteration, an i32 scalar, as a number of the given type.
  Array at(const Array& iteration, DType dtype = DType::f32) const;
  /// Throws Error, naming `what`, for values that are not finite, steps that are not in order, or
  /// an end before its begin.
  void check(const char* what) const;
  /// The smallest of the values that it is made of.
  double least() const;

  Kind kind = Kind::steps;
  double value = 1;
  std::vector<Step> steps = {};
  double last = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t warm_up = 0;
};

}  // namespace sturnus
