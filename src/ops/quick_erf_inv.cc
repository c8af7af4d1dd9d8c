#include "src/ops/quick_erf_inv.h"

#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/transcendental.h>

#include <numbers>
#include <vector>

#include "src/ops/elementwise.h"

namespace sturnus::internal {
namespace {

// Coefficients, highest power first, of erf_inv(x) / x as polynomials in w = -log(1 - x^2) or its
// square root, shifted to the middle of each piece (M. Giles, Approximating the erfinv function,
// GPU Computing Gems, 2011).
using Coefficients = std::vector<double>;
const Coefficients single_centre = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                    -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                    -0.00417768164,  0.246640727,    1.50140941};
const Coefficients single_tail = {-0.000200214257, 0.000100950558, 0.00134934322,
                                  -0.00367342844,  0.00573950773,  -0.0076224613,
                                  0.00943887047,   1.00167406,     2.83297682};
const Coefficients double_centre = {
    -3.64441206401782e-21,  -1.6850591381820166e-19, 1.28584807152564e-18,
    1.1157877678025181e-17, -1.3331716628546209e-16, 2.0972767875968562e-17,
    6.6376381343583238e-15, -4.0545662729752069e-14, -8.1519341976054722e-14,
    2.6335093153082323e-12, -1.2975133253453532e-11, -5.4154120542946279e-11,
    1.0512122733215323e-09, -4.1126339803469837e-09, -2.9070369957882005e-08,
    4.2347877827932404e-07, -1.3654692000834679e-06, -1.3882523362786469e-05,
    0.00018673420803405714, -0.000740702534166267,   -0.0060336708714301491,
    0.24015818242558962,    1.6536545626831027};
const Coefficients double_middle = {
    2.2137376921775787e-09, 9.0756561938885391e-08, -2.7517406297064545e-07,
    1.8239629214389228e-08, 1.5027403968909828e-06, -4.013867526981546e-06,
    2.9234449089955446e-06, 1.2475304481671779e-05, -4.7318229009055734e-05,
    6.8284851459573175e-05, 2.4031110387097894e-05, -0.00035503752036284748,
    0.0009532893797373805,  -0.0016882755560235047, 0.0024914420961078508,
    -0.0037512085075692412, 0.0053709145535900636,  1.0052589676941592,
    3.0838856104922208};
const Coefficients double_tail = {
    -2.7109920616438573e-11, -2.5556418169965252e-10, 1.5076572693500548e-09,
    -3.789465440126737e-09,  7.61570120807834e-09,    -1.496002662714924e-08,
    2.9147953450901081e-08,  -6.7711997758452339e-08, 2.2900482228026655e-07,
    -9.9298272942317e-07,    4.5260625972231537e-06,  -1.9681778105531671e-05,
    7.5995277030017761e-05,  -0.00021503011930044477, -0.00013871931833623122,
    1.0103004648645344,      4.8499064014085844};

struct Piece {
  Array here;  // whether w is in this piece
  const Coefficients* coefficients;
};

// Horner's rule for all pieces at once. Pieces come with fewest coefficients first; those that have
// all of theirs stay as they are while the others go on.
Array polynomial(const Array& w, const std::vector<Piece>& pieces) {
  Array result;
  std::size_t longest = pieces.back().coefficients->size();
  for (std::size_t k = 0; k < longest; k++) {
    Array next, busy;
    for (const Piece& piece : pieces) {
      if (k >= piece.coefficients->size()) continue;
      Array coefficient = full((*piece.coefficients)[k], w.type());
      next = next.empty() ? coefficient : select(piece.here, coefficient, next);
      busy = busy.empty() ? piece.here : busy | piece.here;
    }
    bool all_busy = pieces.front().coefficients->size() > k;
    if (k > 0) next = result * w + next;
    result = k == 0 || all_busy ? next : select(busy, next, result);
  }
  return result;
}

Array single_precision(const Array& x) {
  Array w = -log1p(-(x * x));
  Array centre = w < 5.0;
  Array shifted = select(centre, w - 2.5, sqrt(w) - 3.0);
  return polynomial(shifted, {{!centre, &single_tail}, {centre, &single_centre}}) * x;
}

Array double_precision(const Array& x) {
  Array w = -log1p(-(x * x));
  Array centre = w < 6.25, not_tail = w < 16.0;
  Array shift = select(not_tail, full(3.25, w.type()), full(5.0, w.type()));
  Array root = sqrt(w);
  Array shifted = select(centre, w - 3.125, root - shift);
  Array middle = not_tail & !centre;
  return polynomial(
             shifted,
             {{!not_tail, &double_tail}, {middle, &double_middle}, {centre, &double_centre}}) *
         x;
}

struct QuickErfInv {
  static constexpr std::string_view name = "quick_erf_inv";
  using Family = Elementwise;
  // (sqrt(pi) / 2) exp(y^2)
  Array jvp(const Arrays&, const Array& y, const Arrays& dx) const {
    return dx[0] * (0.5 / std::numbers::inv_sqrtpi * exp(y * y));
  }
  void lower(Emitter& emitter, const Node& node) const {
    const Array& x = node.inputs[0];
    Array inside;
    if (x.dtype() == DType::f64) {
      inside = double_precision(x);
    } else {
      inside = converted(single_precision(converted(x, DType::f32)), x.dtype());
    }
    Array ends = x * full(std::numeric_limits<double>::infinity(), x.type());
    emitter.expand(node, {select(abs(x) == 1.0, ends, inside)});
  }
};

}  // namespace

Array quick_erf_inv(Operand x) {
  Blame blame(x.where, "quick_erf_inv");
  return make(QuickErfInv{}, {to_floating(x)});
}

}  // namespace sturnus::internal
