// Truncated Taylor series in plain C++: an evaluation of derivatives that shares no code with the
// transforms.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace sturnus::testing {

/// Value, slope, and the coefficients of the second and the third power.
struct Taylor {
  std::array<double, 4> c = {};
};

inline Taylor operator+(Taylor a, const Taylor& b) {
  for (std::size_t k = 0; k < 4; k++) a.c[k] += b.c[k];
  return a;
}

inline Taylor operator*(const Taylor& a, const Taylor& b) {
  Taylor r;
  for (std::size_t k = 0; k < 4; k++) {
    for (std::size_t i = 0; i <= k; i++) r.c[k] += a.c[i] * b.c[k - i];
  }
  return r;
}

inline Taylor operator*(double s, Taylor a) {
  for (double& c : a.c) c *= s;
  return a;
}

/// f(a) from f's derivatives at a.c[0].
inline Taylor composed(const Taylor& a, const std::array<double, 4>& derivatives) {
  Taylor d = a;
  d.c[0] = 0;
  Taylor power, r;
  power.c[0] = 1;
  double factorial = 1;
  for (std::size_t k = 0; k < 4; k++) {
    if (k > 0) factorial *= static_cast<double>(k);
    r = r + derivatives[k] / factorial * power;
    power = power * d;
  }
  return r;
}

inline Taylor sin(const Taylor& a) {
  double s = std::sin(a.c[0]), c = std::cos(a.c[0]);
  return composed(a, {s, c, -s, -c});
}
inline Taylor cos(const Taylor& a) {
  double s = std::sin(a.c[0]), c = std::cos(a.c[0]);
  return composed(a, {c, -s, -c, s});
}
inline Taylor exp(const Taylor& a) {
  double e = std::exp(a.c[0]);
  return composed(a, {e, e, e, e});
}
inline Taylor tanh(const Taylor& a) {
  double h = std::tanh(a.c[0]), g = 1 - h * h;
  return composed(a, {h, g, -2 * h * g, -2 * g * g + 4 * h * h * g});
}
inline Taylor reciprocal(const Taylor& a) {
  double r = 1 / a.c[0];
  return composed(a, {r, -r * r, 2 * r * r * r, -6 * r * r * r * r});
}
inline Taylor sqrt(const Taylor& a) {
  double s = std::sqrt(a.c[0]), r = 1 / a.c[0];
  return composed(a, {s, s * r / 2, -s * r * r / 4, 3 * s * r * r * r / 8});
}

}  // namespace sturnus::testing
