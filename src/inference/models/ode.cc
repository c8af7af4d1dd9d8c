#include <sturnus/functional/checkpoint.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
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
#include <sturnus/runtime/error.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/inference/models/ode_step.h"

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

// Which only known times can be asked for.
void check_order(const Array& times) {
  if (!times.concrete()) return;
  std::vector<double> t = to_doubles(times);
  for (std::size_t i = 1; i < t.size(); i++) {
    if (t[i - 1] <= t[i]) continue;
    throw Error("solve_ode: time " + std::to_string(i - 1) + " is " + std::to_string(t[i - 1]) +
                ", and time " + std::to_string(i) + " is " + std::to_string(t[i]) +
                ". Give times that increase; rk4 goes backwards too");
  }
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

internal::OdeStep step_of(const VectorField& f, OdeMethod method) {
  switch (method) {
    case OdeMethod::dormand_prince:
      return internal::dormand_prince_step(f);
    case OdeMethod::tsitouras:
      return internal::tsitouras_step(f);
    case OdeMethod::rosenbrock:
      return internal::rosenbrock_step(f);
  }
  throw Error("solve_ode: there is no such method");
}

class Adaptive {
 public:
  Adaptive(const VectorField& f, const Array& times, const OdeOptions& options)
      : f_([f](const Array& t, const Array& y) { return slope("solve_ode", f, t, y); }),
        options_(options),
        method_(step_of(f_, options.method)),
        times_(times),
        grid_(stop_gradient(times)),
        end_(grid_(times.size() - 1)) {}

  struct State {
    Array t, y, k;     // k is f(t, y)
    Array h;           // of the next step
    Array last_error;  // of the last accepted step
    Array found;       // the solution at the times
    Array steps, rejected;
  };

  State begin(const Array& start) const {
    Array t = times_(0);
    Array k = f_(t, start);
    Shape shape = start.shape();
    shape.insert(shape.begin(), times_.size());
    Array unknown = full(shape, std::numeric_limits<double>::quiet_NaN(), start.dtype());
    Array found = where(at_times(times_ == t, shape), broadcast_to(start, shape), unknown);
    Array h = stop_gradient(first_step(t, start, k));
    return {t, start, k, h, full({}, 1e-4, start.dtype()), found, Array(0), Array(0)};
  }

  Array unfinished(const State& s) const {
    return (s.t < end_) & (s.steps + s.rejected < Array(static_cast<int>(options_.max_steps))) &
           is_finite(s.h);
  }

  // A trial of a step: taken if its error is small enough, else only h changes. Derivatives are
  // those of the solution by steps as they are: how errors would change their lengths says nothing
  // of it, and the slope of the norm of no error at all is not a number.
  State step(const State& s) const {
    Array now = stop_gradient(s.t);
    Array end = method_.ends_at_times ? min(where(grid_ > now, grid_, end_)) : end_;
    // Under vmap those that have arrived try steps too, which they do not take: short ones back,
    // since f may end where the times do.
    Array h = where(end > now, minimum(s.h, end - now), -1e-3 * s.h);
    internal::OdeTrial trial = method_.trial(s.t, s.y, s.k, h);
    Array error = stop_gradient(norm(trial.error, s.y, trial.y));
    // Hairer's controller for smooth changes of the step, with its exponents.
    double order = method_.order;
    Array bounded = maximum(error, 1e-10);
    Array growth = 0.9 * pow(bounded, -0.7 / order) * pow(s.last_error, 0.4 / order);
    Array shrink = 0.9 * pow(bounded, -1.0 / order);
    Array accept = error <= 1.0;  // no NaN is
    Array factor = where(accept, clamp(growth, 0.2, 10.0),
                         where(is_finite(error), clamp(shrink, 0.1, 0.9), 0.1));
    auto taken = [&](const Array& a, const Array& b) { return where(accept, a, b); };
    // The last step ends at the end, whatever rounding says. Where the start moves, all steps do.
    Array t = where(s.h >= end - now, end, now + h) + (s.t - now);
    Array none = Array(0), one = Array(1);
    // A step so short that it moves nothing will get nowhere: a singularity.
    Array next = where(now + factor * h > now, factor * h, full({}, nan(), h.dtype()));
    return {taken(t, s.t),
            taken(trial.y, s.y),
            taken(trial.slope, s.k),
            next,
            taken(maximum(error, 1e-4), s.last_error),
            taken(filled_in(s, t, h, trial), s.found),
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
    Array change = norm(f_(t + h0, y + h0 * k) - k, y, y) / h0;
    Array steepest = maximum(speed, change);
    Array h1 = where(steepest <= 1e-15, maximum(tiny, 1e-3 * h0),
                     pow(0.01 / maximum(steepest, 1e-30), 1.0 / method_.order));
    return minimum(100.0 * h0, h1);
  }

  // The continuous solution at those times that the step from s.t to t reaches.
  Array filled_in(const State& s, const Array& t, const Array& h,
                  const internal::OdeTrial& trial) const {
    const Shape& shape = s.found.shape();
    Array here = (times_ > s.t) & (times_ <= t);
    Array theta = where(here, (times_ - s.t) / h, 0.0);
    Shape column(shape.size(), 1);
    column[0] = shape[0];
    Array y = broadcast_to(s.y, shape);
    for (const internal::OdeTrial::Term& term : trial.continuous) {
      Array weight = zeros_like(theta);
      for (std::size_t i = term.coefficients.size(); i-- > 0;) {
        weight = theta * (term.coefficients[i] + weight);
      }
      y = y + reshape(weight, column) * term.part;
    }
    return where(at_times(here, shape), y, s.found);
  }

  VectorField f_;
  const OdeOptions& options_;
  internal::OdeStep method_;
  Array times_;
  Array grid_, end_;  // what steps look at, without derivatives
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
  check_order(times);
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
  OdeSolution solution = {end.found, end.steps, end.rejected, end.t};
  return end.t.concrete() ? checked(solution, times) : solution;
}

const OdeSolution& checked(const OdeSolution& solution, const Array& times) {
  double reached = to_doubles(solution.reached)[0], end = to_doubles(times).back();
  if (end - reached <= 1e-6 * std::abs(end)) return solution;
  throw Error("solve_ode: after " + std::to_string(solution.steps.item<int>()) + " steps and " +
              std::to_string(solution.rejected.item<int>()) +
              " rejected ones only t = " + std::to_string(reached) + " of " + std::to_string(end) +
              " was reached. The equation is stiff or its solution ends there: take "
              "OdeMethod::rosenbrock, allow more steps or larger tolerances, or stop earlier");
}

}  // namespace sturnus
