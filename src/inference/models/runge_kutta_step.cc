#include <sturnus/ops/arithmetic.h>

#include <utility>

#include "src/inference/models/ode_step.h"

namespace sturnus::internal {
namespace {

// An embedded method of seven stages, the last of which is the first of the next step. Row i of `a`
// makes stage i; the last row is the solution. The continuous solution is
// y + h sum_i k_i (a polynomial of theta, whose coefficients of theta, theta^2, ... are row i).
struct Tableau {
  std::vector<double> c;
  std::vector<std::vector<double>> a;
  std::vector<double> error;
  std::vector<std::vector<double>> continuous;
};

// Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.5 and II.6. With b the
// weights of the solution and d those of their fifth term, the continuous solution
//   theta (b + (1 - theta) (e_1 - b + theta (2 b - e_1 - e_7 + (1 - theta) d)))
// is written out in powers of theta.
Tableau dormand_prince() {
  Tableau t;
  t.c = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
  t.a = {{},
         {1. / 5},
         {3. / 40, 9. / 40},
         {44. / 45, -56. / 15, 32. / 9},
         {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
         {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
         {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
  t.error = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
  const std::vector<double> d = {-12715105075. / 11282082432,  0,
                                 87487479700. / 32700410799,   -10690763975. / 1880347072,
                                 701980252875. / 199316789632, -1453857185. / 822651844,
                                 69997945. / 29380423};
  for (std::size_t i = 0; i < 7; i++) {
    double b = i < 6 ? t.a[6][i] : 0, first = i == 0 ? 1 : 0, last = i == 6 ? 1 : 0;
    double p = first - b, q = 2 * b - first - last;
    t.continuous.push_back({b + p, -p + q + d[i], -q - 2 * d[i], d[i]});
  }
  return t;
}

Tableau tsitouras() {
  Tableau t;
  t.c = {0, 0.161, 0.327, 0.9, 0.9800255409045097, 1, 1};
  t.a = {{},
         {0.161},
         {-0.008480655492356989, 0.335480655492357},
         {2.8971530571054935, -6.359448489975075, 4.3622954328695815},
         {5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
         {5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
          -0.028269050394068383},
         {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
          2.324710524099774}};
  t.error = {-0.00178001105222577714,
             -0.0008164344596567469,
             0.007880878010261995,
             -0.1447110071732629,
             0.5823571654525552,
             -0.45808210592918697,
             1. / 66};
  // scale theta^2 (theta^2 - sum theta + product)
  auto squared = [](double scale, double sum, double product) {
    return std::vector<double>{0, scale * product, -scale * sum, scale};
  };
  // scale theta (theta - r) (theta^2 - s theta + p)
  constexpr double scale = -1.0530884977290216, r = 1.3299890189751412, s = 1.4364028541716351,
                   p = 0.7139816917074209;
  t.continuous = {{-scale * r * p, scale * (p + r * s), -scale * (r + s), scale},
                  squared(0.1017, 2.1966568338249754, 1.2949852507374631),
                  squared(2.490627285651252793, 2.38535645472061657, 1.57803468208092486),
                  squared(-16.54810288924490272, 1.21712927295533244 + 0.61620406037800089,
                          1.21712927295533244 * 0.61620406037800089),
                  squared(47.37952196281928122, 1.203071208372362603 + 0.658047292653547382,
                          1.203071208372362603 * 0.658047292653547382),
                  squared(-34.87065786149660974, 1.2 + 2. / 3, 1.2 * 2. / 3),
                  squared(2.5, 1 + 0.6, 0.6)};
  return t;
}

OdeStep explicit_step(VectorField f, Tableau tableau) {
  auto trial = [f = std::move(f), tableau = std::move(tableau)](
                   const Array& t, const Array& y, const Array& slope, const Array& h) {
    Arrays k = {slope};
    OdeTrial result;
    for (std::size_t i = 1; i < 7; i++) {
      result.y = y + h * weighted_sum(tableau.a[i], k);
      k.push_back(f(t + tableau.c[i] * h, result.y));
    }
    result.slope = k[6];
    result.error = h * weighted_sum(tableau.error, k);
    for (std::size_t i = 0; i < 7; i++) {
      result.continuous.push_back({tableau.continuous[i], h * k[i]});
    }
    return result;
  };
  return {.order = 5, .ends_at_times = false, .trial = trial};
}

}  // namespace

Array weighted_sum(const std::vector<double>& weights, const Arrays& parts) {
  Array total;
  for (std::size_t i = 0; i < weights.size(); i++) {
    if (weights[i] == 0) continue;
    Array term = weights[i] * parts[i];
    total = total.empty() ? term : total + term;
  }
  return total;
}

OdeStep dormand_prince_step(VectorField f) { return explicit_step(std::move(f), dormand_prince()); }

OdeStep tsitouras_step(VectorField f) { return explicit_step(std::move(f), tsitouras()); }

}  // namespace sturnus::internal
