#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/graph.h>
#include <sturnus/inference/models/ode.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>

#include <limits>
#include <string>
#include <vector>

namespace sturnus {
namespace {

void check_slope(const char* solver, const Array& y, const Array& k) {
  if (k.type() == y.type()) return;
  throw ShapeError(std::string(solver) + ": y is " + y.type().str() + ", and y' is " +
                   k.type().str() + ". Let the vector field return what y is");
}

// f with what it returns checked.
Array slope(const char* solver, const VectorField& f, const Array& t, const Array& y) {
  Array k = f(t, y);
  check_slope(solver, y, k);
  return k;
}

void check_times(const char* solver, const Array& times) {
  if (times.rank() == 1 && times.size() > 0) return;
  throw ShapeError(std::string(solver) + ": times are " + times.type().str() +
                   ". Give a vector of at least one time");
}

using FlatField = std::function<Arrays(const Array& t, const Arrays& y)>;

// y + h k, leaf by leaf.
Arrays moved(const Arrays& y, const Array& h, const Arrays& k) {
  Arrays sum;
  for (std::size_t i = 0; i < y.size(); i++) sum.push_back(y[i] + h * k[i]);
  return sum;
}

// One step from t to t + h.
Arrays rk4_step(const FlatField& f, const Array& t, const Array& h, const Arrays& y) {
  Array half = 0.5 * h;
  Arrays k1 = f(t, y), k2 = f(t + half, moved(y, half, k1)), k3 = f(t + half, moved(y, half, k2)),
         k4 = f(t + h, moved(y, h, k3)), next;
  for (std::size_t i = 0; i < y.size(); i++) {
    next.push_back(y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
  }
  return next;
}

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

Array weighted_sum(const std::vector<double>& weights, const std::vector<Array>& k) {
  Array total;
  for (std::size_t i = 0; i < weights.size(); i++) {
    if (weights[i] == 0) continue;
    Array term = weights[i] * k[i];
    total = total.empty() ? term : total + term;
  }
  return total;
}

class Adaptive {
 public:
  Adaptive(const VectorField& f, const Array& times, const OdeOptions& options)
      : f_(f),
        options_(options),
        tableau_(options.method == OdeMethod::tsitouras ? tsitouras() : dormand_prince()),
        times_(times),
        end_(times(times.size() - 1)) {}

  struct State {
    Array t, y, k;     // k is f(t, y)
    Array h;           // of the next step
    Array last_error;  // of the last accepted step
    Array found;       // the solution at the times
    Array steps, rejected;
  };

  State begin(const Array& start) const {
    Array t = times_(0);
    Array k = slope("solve_ode", f_, t, start);
    Shape shape = start.shape();
    shape.insert(shape.begin(), times_.size());
    Array unknown = full(shape, std::numeric_limits<double>::quiet_NaN(), start.dtype());
    Array found = where(at_times(times_ == t, shape), broadcast_to(start, shape), unknown);
    return {t,     start,    k,       first_step(t, start, k), full({}, 1e-4, start.dtype()),
            found, Array(0), Array(0)};
  }

  Array unfinished(const State& s) const {
    return (s.t < end_) & (s.steps + s.rejected < Array(static_cast<int>(options_.max_steps))) &
           is_finite(s.h);
  }

  // A trial of a step: taken if its error is small enough, else only h changes.
  State step(const State& s) const {
    Array h = minimum(s.h, end_ - s.t);
    std::vector<Array> k = {s.k};
    Array y;
    for (std::size_t i = 1; i < 7; i++) {
      y = s.y + h * weighted_sum(tableau_.a[i], k);
      k.push_back(slope("solve_ode", f_, s.t + tableau_.c[i] * h, y));
    }
    Array error = norm(h * weighted_sum(tableau_.error, k), s.y, y);
    // Hairer's controller for smooth changes of the step, with exponents for order 5.
    Array bounded = maximum(error, 1e-10);
    Array growth = 0.9 * pow(bounded, -0.7 / 5) * pow(s.last_error, 0.4 / 5);
    Array shrink = 0.9 * pow(bounded, -1.0 / 5);
    Array accept = error <= 1.0;  // no NaN is
    Array factor = where(accept, clamp(growth, 0.2, 10.0),
                         where(is_finite(error), clamp(shrink, 0.1, 0.9), 0.1));
    auto taken = [&](const Array& a, const Array& b) { return where(accept, a, b); };
    // The last step ends at the end, whatever rounding says.
    Array t = where(s.h >= end_ - s.t, end_, s.t + h);
    Array none = Array(0), one = Array(1);
    // A step so short that it moves nothing will get nowhere: a singularity.
    Array next = where(s.t + factor * h > s.t, factor * h, full({}, nan(), h.dtype()));
    return {taken(t, s.t),
            taken(y, s.y),
            taken(k[6], s.k),
            next,
            taken(maximum(error, 1e-4), s.last_error),
            taken(filled_in(s, t, h, k), s.found),
            s.steps + where(accept, one, none),
            s.rejected + where(accept, none, one)};
  }

 private:
  static double nan() { return std::numeric_limits<double>::quiet_NaN(); }

  // The root mean square of the error in units of the tolerance.
  Array norm(const Array& error, const Array& from, const Array& to) const {
    Array scale = options_.absolute + options_.relative * maximum(abs(from), abs(to));
    return sqrt(mean(square(error / scale)));
  }

  // [times] as a mask for `shape`, [times, ...].
  static Array at_times(const Array& flags, const Shape& shape) {
    Shape ones(shape.size(), 1);
    ones[0] = shape[0];
    return broadcast_to(reshape(flags, ones), shape);
  }

  // Hairer's guess: an Euler step, and how much the slope changes over it.
  Array first_step(const Array& t, const Array& y, const Array& k) const {
    Array size = norm(y, y, y), speed = norm(k, y, y);
    Array tiny = full({}, 1e-6, y.dtype());
    Array h0 = where((size < 1e-5) | (speed < 1e-5), tiny, 0.01 * size / maximum(speed, 1e-30));
    Array change = norm(slope("solve_ode", f_, t + h0, y + h0 * k) - k, y, y) / h0;
    Array steepest = maximum(speed, change);
    Array h1 = where(steepest <= 1e-15, maximum(tiny, 1e-3 * h0),
                     pow(0.01 / maximum(steepest, 1e-30), 1.0 / 5));
    return minimum(100.0 * h0, h1);
  }

  // The continuous solution at those times that the step from s.t to t reaches.
  Array filled_in(const State& s, const Array& t, const Array& h,
                  const std::vector<Array>& k) const {
    const Shape& shape = s.found.shape();
    Array here = (times_ > s.t) & (times_ <= t);
    Array theta = where(here, (times_ - s.t) / h, 0.0);
    Shape column(shape.size(), 1);
    column[0] = shape[0];
    Array y = broadcast_to(s.y, shape);
    for (std::size_t i = 0; i < k.size(); i++) {
      const std::vector<double>& c = tableau_.continuous[i];
      Array weight = theta * (c[0] + theta * (c[1] + theta * (c[2] + theta * c[3])));
      y = y + reshape(h * weight, column) * k[i];
    }
    return where(at_times(here, shape), y, s.found);
  }

  const VectorField& f_;
  const OdeOptions& options_;
  Tableau tableau_;
  Array times_, end_;
};

}  // namespace

Arrays internal::rk4(const FlatField& field, const Arrays& start, const Array& times,
                     const Rk4Options& options) {
  check_times("rk4", times);
  if (options.substeps < 1) {
    throw Error("rk4: " + std::to_string(options.substeps) +
                " steps between times are not possible. Take at least 1");
  }
  FlatField f = [&](const Array& t, const Arrays& y) {
    Arrays k = field(t, y);
    for (std::size_t i = 0; i < y.size(); i++) check_slope("rk4", y[i], k[i]);
    return k;
  };
  Array t = start.empty() ? times : convert(times, start[0].dtype());
  // Reverse mode keeps one y per step, or per interval where steps are unrolled, and takes the
  // steps again: to keep all stages costs it several times the steps themselves.
  auto advance = [&](const Arrays& y, const std::pair<Array, Array>& interval) {
    const Array &first = interval.first, &last = interval.second;
    Array h = (last - first) / static_cast<double>(options.substeps);
    auto one_step = [&](const Array& i, const Arrays& y) {
      return rk4_step(f, first + convert(i, h.dtype()) * h, h, y);
    };
    auto all_steps = [&](const Arrays& y) {
      Arrays next = y;
      for (std::int64_t i = 0; i < options.substeps; i++) {
        next = rk4_step(f, first + static_cast<double>(i) * h, h, next);
      }
      return next;
    };
    Arrays next = options.unroll || options.substeps == 1
                      ? sturnus::checkpoint(all_steps)(y)
                      : fori_loop(0, options.substeps, sturnus::checkpoint(one_step), y);
    return std::pair(next, next);
  };
  std::int64_t intervals = t.size() - 1;
  Arrays rest =
      sturnus::scan(advance, start, std::pair(t(Slice{0, intervals}), t(Slice{1, t.size()})))
          .second;
  Arrays all;
  for (std::size_t i = 0; i < start.size(); i++) {
    all.push_back(concatenate({expand_dims(start[i], 0), rest[i]}, 0));
  }
  return all;
}

OdeSolution solve_ode(const VectorField& f, const Array& start, const Array& times,
                      const OdeOptions& options) {
  check_times("solve_ode", times);
  if (!(options.relative > 0) || !(options.absolute > 0) || options.max_steps < 1) {
    throw Error("solve_ode: tolerances " + std::to_string(options.relative) + " and " +
                std::to_string(options.absolute) + " with at most " +
                std::to_string(options.max_steps) + " steps. Give positive ones");
  }
  Adaptive solver(f, convert(times, start.dtype()), options);
  using State = Adaptive::State;
  State end = solver.begin(start);
  if (options.bounded) {
    end = fori_loop(
        0, options.max_steps,
        [&](const Array&, const State& s) {
          return cond(
              solver.unfinished(s), [&](const State& s) { return solver.step(s); },
              [](const State& s) { return s; }, s);
        },
        end);
  } else {
    end = while_loop([&](const State& s) { return solver.unfinished(s); },
                     [&](const State& s) { return solver.step(s); }, end);
  }
  return {end.found, end.steps, end.rejected, end.t};
}

const OdeSolution& checked(const OdeSolution& solution, const Array& times) {
  double reached = convert(solution.reached, DType::f64).item<double>();
  double end = convert(times(times.size() - 1), DType::f64).item<double>();
  double gap = end - reached;
  if (gap <= 1e-6 * std::abs(end)) return solution;
  int accepted = solution.steps.item<int>(), rejected = solution.rejected.item<int>();
  throw Error("solve_ode: after " + std::to_string(accepted) + " steps and " +
              std::to_string(rejected) + " rejected ones only t = " + std::to_string(reached) +
              " of " + std::to_string(end) +
              " was reached. The equation is stiff or its solution ends there: allow more steps or "
              "larger tolerances, scale it, or stop earlier");
}

}  // namespace sturnus
