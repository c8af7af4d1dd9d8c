#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/special.h>
#include <sturnus/ops/transcendental.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "src/ops/elementwise.h"
#include "src/ops/scaled_erfc.h"

namespace sturnus {
namespace internal {
namespace {

using std::numbers::inv_sqrtpi;
using std::numbers::pi;

// c[0] + c[1] x + c[2] x^2 + ...
Array polynomial(const Array& x, std::span<const double> c) {
  Array result = full(c.back(), x.type());
  for (std::size_t i = c.size() - 1; i > 0; i--) result = result * x + c[i - 1];
  return result;
}

// f of the node's input in place of the node; 16 bits are computed with 32.
void expand_with(Emitter& emitter, const Node& node, Array (*f)(const Array&)) {
  const Array& x = node.inputs[0];
  bool narrow = size_of(x.dtype()) < 4;
  Array result = f(narrow ? converted(x, DType::f32) : x);
  emitter.expand(node, {converted(result, x.dtype())});
}

// ------------------------------------------------------------------------------ error functions
// The polynomials interpolate at Chebyshev points, computed with 50 digits.

// erf(x) / x in x^2, for |x| <= 1: relative error 5e-17.
constexpr std::array erf_near_0 = {
    1.1283791670955126,      -0.37612638903183543,    0.11283791670945006,
    -0.02686617064323777,    0.0052239776071164225,   -0.00085483259753896918,
    0.00012055294904839707,  -1.4924736907419661e-05, 1.6447424703317362e-06,
    -1.6208483801871705e-07, 1.3720064546777686e-08,  -7.7958988270021425e-10};

// (1 + 2 x) exp(x^2) erfc(x) in (x - 3.5) / (x + 3.5), for 0.5 <= x <= 28: relative error 4e-17.
constexpr std::array erfc_far = {
    1.2423492448711544,      -0.14000918013762031,    -0.010555596332223261,
    0.097519095153371135,    -0.11508959815988616,    0.087983153820703222,
    -0.048823325835148215,   0.019099331013171308,    -0.0042150198211104205,
    -0.00030226854037508963, 0.00056438382538780162,  -0.00012150868000034695,
    -4.2779778510438283e-05, 2.4247675823974918e-05,  2.322045011502968e-06,
    -3.7846870004578745e-06, -3.459330237444781e-08,  5.5932130432163289e-07,
    -1.6136929112351133e-08, -6.1559198172589983e-08, 3.5367704244220635e-09};

// erf_inv(x) / x in (sqrt(w + 2) - center) / half for w = -log(1 - x^2) <= 37.5: error 4e-7.
constexpr double erf_inv_center = 3.8495580536806813, erf_inv_half = 2.4353444913075863;
constexpr std::array erf_inv_start = {
    3.4164748251639616,   2.6390039756082357,    -0.11090467872278728, 0.062531223613731951,
    -0.02605936350254355, -0.0293162171337055,   0.091867676787213234, -0.076157307583055139,
    0.14811942524628813,  -0.5618030865882554,   0.38261866518007925,  1.0380071079616759,
    -1.249123815858652,   -0.71652988335777756,  1.2599108747025949,   0.21182699577656,
    -0.58489643389138091, -0.018266723618846289, 0.10751559015297292};

Array small_erf(const Array& x) { return x * polynomial(x * x, erf_near_0); }

// erfc(x) for x >= 0.5.
Array far_erfc(const Array& size) {
  Array x = where(size > 28.0, 28.0, size);
  // exp(-x^2) = exp(-a^2) exp(-(x - a) (x + a)), where a is x to 1/16, whose square is exact. The
  // factors are kept apart, or XLA would add the exponents again.
  Array a = round(x * 16.0) / 16.0;
  Array t = (x - 3.5) / (x + 3.5);
  Array rest = exp(-((x - a) * (x + a))) * (polynomial(t, erfc_far) / (1.0 + 2.0 * x));
  return exp(-(a * a)) * rest;
}

Array erf_of(const Array& x) {
  Array size = abs(x);
  Array far = 1.0 - far_erfc(size);
  return where(size < 1.0, small_erf(x), where(x < 0.0, -far, far));
}

Array erfc_of(const Array& x) {
  Array size = abs(x);
  Array far = far_erfc(size);
  Array either = where(x < 0.0, 2.0 - far, far);
  return where(size < 0.5, 1.0 - small_erf(x), either);
}

Array erf_inv_of(const Array& x) {
  Array size = abs(x);
  Array up = log1p(size), down = log1p(-size);
  Array t = (sqrt(2.0 - (up + down)) - erf_inv_center) / erf_inv_half;
  Array y = size * polynomial(t, erf_inv_start);
  // One step of Halley's method cubes the error. 1 - size is exact where it is used.
  Array near = erf_of(y) - size, far = (1.0 - size) - erfc_of(y);
  Array newton = where(size < 0.5, near, far) * (0.5 / inv_sqrtpi * exp(y * y));
  Array better = y - newton / (1.0 + y * newton);
  Array result = where(size == 1.0, std::numeric_limits<double>::infinity(), better);
  return where(x < 0.0, -result, result);
}

}  // namespace

Array scaled_erfc(const Array& x) {
  // Far out the first terms of the series in 1 / x^2, in the middle as in far_erfc.
  Array y = 0.5 / (x * x);
  Array series = (1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y))) * (inv_sqrtpi / x);
  Array inside = minimum(x, 28.0);
  Array t = (inside - 3.5) / (inside + 3.5);
  return where(x < 28.0, polynomial(t, erfc_far) / (1.0 + 2.0 * inside), series);
}

namespace {

struct Erf {
  static constexpr std::string_view name = "erf";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0] * (2 * inv_sqrtpi * exp(-(x[0] * x[0])));
  }
  void lower(Emitter& emitter, const Node& node) const { expand_with(emitter, node, erf_of); }
};

struct Erfc {
  static constexpr std::string_view name = "erfc";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0] * (-2 * inv_sqrtpi * exp(-(x[0] * x[0])));
  }
  void lower(Emitter& emitter, const Node& node) const { expand_with(emitter, node, erfc_of); }
};

struct ErfInv {
  static constexpr std::string_view name = "erf_inv";
  using Family = Elementwise;
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const {
    return dx[0] * (0.5 / inv_sqrtpi * exp(y * y));
  }
  void lower(Emitter& emitter, const Node& node) const { expand_with(emitter, node, erf_inv_of); }
};

// --------------------------------------------------------------------------------- gamma function

// lgamma(2 + u) / u, for |u| <= 0.5: relative error 6e-17.
constexpr std::array lgamma_near_2 = {
    0.42278433509846713,     0.3224670334241132,      -0.067352301053195632,
    0.020580808427783381,    -0.0073855510289355447,  0.0028905103308659009,
    -0.0011927539009983087,  0.00050966951965266728,  -0.00022315497746292723,
    9.945761692157133e-05,   -4.4923727564247656e-05, 2.0506019701747618e-05,
    -9.4562885151017197e-06, 4.3828545383846665e-06,  -1.9743106888421067e-06,
    9.2428522251622768e-07,  -5.8112777689212464e-07, 2.7475390051909663e-07};

// B(2), B(4), ...: Bernoulli numbers.
constexpr std::array bernoulli = {1.0 / 6,       -1.0 / 30,      1.0 / 42, -1.0 / 30,
                                  5.0 / 66,      -691.0 / 2730,  7.0 / 6,  -3617.0 / 510,
                                  43867.0 / 798, -174611.0 / 330};

// Stirling's series for w >= 8: (w - 1/2) log w - w + log(2 pi) / 2 + sum of B(2k) / (2k (2k - 1)
// w^(2k - 1)).
Array stirling(const Array& w) {
  std::vector<double> c;
  for (std::size_t i = 0; i < 8; i++) {
    double k2 = 2.0 * static_cast<double>(i + 1);
    c.push_back(bernoulli[i] / (k2 * (k2 - 1)));
  }
  Array inverse = 1.0 / w;
  Array correction = inverse * polynomial(inverse * inverse, c);
  double rest = 0.5 * std::log(2 * pi) - 0.5;
  return (w - 0.5) * (log(w) - 1.0) + (correction + rest);
}

Array lgamma_of(const Array& x) {
  Array reflected = x < 0.5;
  Array z = where(reflected, 1.0 - x, x);
  // Below 8.5: down to z < 3.5 by Gamma(z) = (z - 1) Gamma(z - 1), then from 1, 2 or 3 to 2, so
  // that the zeros at 1 and 2 are exact.
  Array factors = ones_of(x.type()), low = z;
  for (int i = 0; i < 5; i++) {
    Array large = low >= 3.5, next = low - 1.0;
    factors = where(large, factors * next, factors);
    low = where(large, next, low);
  }
  Array u = where(low < 1.5, low - 1.0, where(low < 2.5, low - 2.0, low - 3.0));
  Array last = where(low < 1.5, low, where(low < 2.5, 1.0, (low - 1.0) * factors));
  Array factor = log(last);
  Array near = u * polynomial(u, lgamma_near_2) + where(low < 1.5, -factor, factor);
  Array result = where(z < 8.5, near, stirling(z));
  // Gamma(x) Gamma(1 - x) = pi / sin(pi x).
  Array sine = abs(sin(pi * (x - round(x))));
  Array other = (std::log(pi) - log(sine)) - result;
  Array infinite = abs(x) == std::numeric_limits<double>::infinity();
  return where(infinite, abs(x), where(reflected, other, result));
}

struct Lgamma {
  static constexpr std::string_view name = "lgamma";
  using Family = Elementwise;
  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const { return dx[0] * digamma(x[0]); }
  void lower(Emitter& emitter, const Node& node) const { expand_with(emitter, node, lgamma_of); }
};

double factorial(int n) { return std::tgamma(n + 1.0); }

struct Polygamma {
  static constexpr std::string_view name = "polygamma";
  using Family = Elementwise;
  int order;

  Array jvp(const Arrays& x, const Array&, const Arrays& dx) const {
    return dx[0] * polygamma(order + 1, x[0]);
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& input = node.inputs[0];
    Array x = size_of(input.dtype()) < 4 ? converted(input, DType::f32) : input;
    Array reflected = x <= 0.0;
    Array up = of_positive(where(reflected, 1.0 - x, x));
    Array down = (order % 2 == 0 ? up : -up) - cotangent(x);
    emitter.expand(node, {converted(where(reflected, down, up), input.dtype())});
  }

  // (-1)^(n+1) n! (sum of (z + k)^-(n+1) for k < N), and the asymptotic series at w = z + N:
  // log w - 1 / (2 w) - sum of B(2k) / (2k w^(2k)), differentiated n times.
  Array of_positive(const Array& z) const {
    int n = order, count = 8 + n;
    double sign = n % 2 == 0 ? -1 : 1;
    Array below = zeros_of(z.type());
    for (int k = count - 1; k >= 0; k--) {
      Array inverse = 1.0 / (z + static_cast<double>(k));
      below = below + pow(inverse, n + 1);
    }
    std::vector<double> c;
    for (std::size_t i = 0; i < bernoulli.size(); i++) {
      int k2 = 2 * static_cast<int>(i + 1);
      c.push_back(sign * bernoulli[i] * factorial(k2 + n - 1) / factorial(k2));
    }
    Array w = z + static_cast<double>(count);
    Array inverse = 1.0 / w;
    Array square = inverse * inverse;
    Array tail = (sign * factorial(n) / 2) * inverse + square * polynomial(square, c);
    Array power = pow(inverse, n);
    Array rest = sign * factorial(n) * below + power * tail;
    return n == 0 ? log(w) + rest : (sign * factorial(n - 1)) * power + rest;
  }

  // d^n/dx^n of pi cot(pi x), a polynomial in c = cot(pi x), since dc/dx = -pi (1 + c^2).
  Array cotangent(const Array& x) const {
    std::vector<double> p = {0, pi};
    for (int i = 0; i < order; i++) {
      std::vector<double> next(p.size() + 1, 0.0);
      for (std::size_t k = 1; k < p.size(); k++) {
        double slope = -pi * static_cast<double>(k) * p[k];
        next[k - 1] += slope;
        next[k + 1] += slope;
      }
      p = next;
    }
    Array angle = pi * (x - round(x));
    Array c = cos(angle), s = sin(angle);
    return polynomial(c / s, p);
  }
};

}  // namespace
}  // namespace internal

using internal::make_real;

Array erf(Operand x) { return make_real(internal::Erf{}, x); }
Array erfc(Operand x) { return make_real(internal::Erfc{}, x); }
Array erf_inv(Operand x) { return make_real(internal::ErfInv{}, x); }
Array lgamma(Operand x) { return make_real(internal::Lgamma{}, x); }
Array digamma(Operand x) { return make_real(internal::Polygamma{0}, x, "digamma"); }
Array polygamma(int order, Operand x) {
  internal::Blame blame(x.where, "polygamma");
  if (order < 0) {
    throw Error(internal::message("polygamma", "the order is " + std::to_string(order),
                                  "Give an order of 0 or more"));
  }
  return make_real(internal::Polygamma{order}, x);
}

}  // namespace sturnus
