// One root of one increasing function.
#pragma once

#include <cmath>

namespace sturnus {

/// The root in [low, high] of an increasing function, to rounding. `function` takes x and returns
/// {value, slope}; a Newton step that leaves the bracket or does not shrink it fast becomes a
/// bisection.
template <class Function>
double bracketed_newton(Function function, double low, double high) {
  double x = 0.5 * (low + high);
  double last_width = high - low;
  for (int step = 0; step < 200; ++step) {
    auto [value, slope] = function(x);
    if (value == 0) return x;
    (value < 0 ? low : high) = x;
    double next = x - value / slope;
    bool slow = step % 4 == 3 && high - low > 0.5 * last_width;
    if (step % 4 == 3) last_width = high - low;
    if (slow || !(next > low && next < high)) next = 0.5 * (low + high);
    if (next == x || std::abs(next - x) <= 4e-16 * std::abs(x)) return next;
    x = next;
  }
  return x;
}

}  // namespace sturnus
