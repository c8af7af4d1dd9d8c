// Smooth one-to-one maps from real numbers to numbers with a constraint, so that samplers and
// optimisers can walk without borders.
#pragma once

#include <sturnus/functional/array.h>

#include <functional>
#include <string>

namespace sturnus {

/// A map from free numbers y to constrained ones x, as pure functions of arrays. Those along an
/// axis (ordered, simplex) act on the last one, and on each of a stack.
struct Bijection {
  using Map = std::function<Array(const Array&)>;

  std::string name;
  Map forward;
  Map inverse;
  /// log |det dx/dy| at y, of all elements together: a scalar.
  Map log_det;
  /// The shape of y for a shape of x. Throws ShapeError when no x has such a shape.
  std::function<Shape(const Shape&)> free_shape;
  /// What x has to be, for messages: "above 0".
  std::string range = {};

  /// x = y.
  static Bijection identity();
  /// x = exp(y) > 0.
  static Bijection positive();
  /// low < x < high: x = low + (high - low) sigmoid(y). Throws Error unless low < high, both
  /// finite.
  static Bijection interval(double low, double high);
  /// x_0 < x_1 < ...: x_0 = y_0, x_k = x_{k-1} + exp(y_k).
  static Bijection ordered();
  /// K positive numbers with sum 1 of K - 1 free ones, by breaking a stick: with
  /// z_k = sigmoid(y_k - log(K - 1 - k)), x_k = z_k (1 - x_0 - ... - x_{k-1}), and the last one is
  /// what remains. y = 0 is the middle.
  static Bijection simplex();
};

}  // namespace sturnus
