#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/grad.h>
#include <sturnus/inference/optimizers/lbfgs.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <limits>
#include <string>
#include <tuple>
#include <utility>

namespace sturnus {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Array dot_rows(const Array& a, const Array& b) { return sum(a * b, -1); }

/// A number per row, as a column beside a row's elements.
Array column(const Array& x) { return expand_dims(x, -1); }

Array choose_rows(const Array& which, const Array& yes, const Array& no) {
  return where(broadcast_to(column(which), yes.shape()), yes, no);
}

struct Evaluation {
  Array value, gradient;
};

Evaluation evaluate(const Lbfgs::Objective& objective, const Array& x) {
  auto total = [&](const Array& rows) {
    Array values = objective(rows);
    return std::pair(sum(values), values);
  };
  auto [value, gradient] = value_and_grad(total)(x);
  // Whatever is not a number counts as infinitely high.
  return {where(is_finite(value.second), value.second, infinity), gradient};
}

// Minus the inverse Hessian, as far as it is remembered, times the gradient: both loops over the
// memory, from the newest to the oldest and back.
Array direction(const Lbfgs::State& s) {
  using Memory = std::tuple<Array, Array, Array>;
  auto down = [](const Array& q, const Memory& m) {
    const auto& [step, change, curvature] = m;
    Array a = curvature * dot_rows(step, q);
    return std::pair(q - column(a) * change, a);
  };
  Memory memory = {s.steps, s.changes, s.curvature};
  auto [q, a] = scan(down, s.gradient, memory, {.reverse = true});
  // The newest pair says how steep the function is.
  Array step = s.steps[-1], change = s.changes[-1];
  Array known = s.curvature[-1] > 0.0;
  Array scale = where(known, dot_rows(step, change) / maximum(dot_rows(change, change), 1e-300),
                      1.0 / maximum(sqrt(dot_rows(s.gradient, s.gradient)), 1.0));
  auto up = [](const Array& r, const std::pair<Memory, Array>& m) {
    const auto& [step, change, curvature] = m.first;
    Array b = curvature * dot_rows(change, r);
    return std::pair(r + column(m.second - b) * step, std::tuple<>());
  };
  return -scan(up, column(scale) * q, std::pair(memory, a)).first;
}

// The best point found along the direction so far, and the bracket of the next one.
struct Search {
  Array rate, low, high;  // [rows]
  Array x, value, gradient;
  Array done;   // bool[rows]
  Array trial;  // i32
};

Array appended(const Array& memory, const Array& newest) {
  std::int64_t length = memory.shape()[0];
  std::vector<std::int64_t> start(memory.shape().size(), 0), stop = memory.shape();
  start[0] = 1;
  return length == 1 ? expand_dims(newest, 0)
                     : concatenate({slice(memory, start, stop), expand_dims(newest, 0)}, 0);
}

}  // namespace

void Lbfgs::check() const {
  if (history >= 1 && trials >= 1) return;
  throw Error("Lbfgs: a history of " + std::to_string(history) + " steps and " +
              std::to_string(trials) + " trials. Give at least 1 of both");
}

Lbfgs::State Lbfgs::init(const Objective& objective, const Array& x) const {
  check();
  Evaluation at = evaluate(objective, x);
  std::int64_t n = x.shape()[0], size = x.shape()[1];
  Array nothing = zeros({history, n, size}, x.dtype());
  return {x, at.value, at.gradient, nothing, nothing, zeros({history, n}, x.dtype())};
}

Lbfgs::State Lbfgs::step(const Objective& objective, const State& state) const {
  Array d = direction(state);
  Array slope = dot_rows(state.gradient, d);
  // A memory that points uphill, or nowhere, is not used.
  Array downhill = is_finite(slope) & (slope < 0.0);
  d = choose_rows(downhill, d, -state.gradient);
  slope = where(downhill, slope, -dot_rows(state.gradient, state.gradient));

  Shape rows = state.value.shape();
  DType dtype = state.x.dtype();
  Search start = {full(rows, 1, dtype),
                  zeros(rows, dtype),
                  full(rows, infinity, dtype),
                  state.x,
                  state.value,
                  state.gradient,
                  !(slope < 0.0),
                  Array(0)};
  auto go_on = [&](const Search& s) { return (s.trial < trials) & any(!s.done); };
  auto look = [&](const Search& s) {
    Array x = state.x + column(s.rate) * d;
    Evaluation at = evaluate(objective, x);
    Array low_enough = at.value <= state.value + sufficient_decrease * s.rate * slope;
    Array flat_enough = dot_rows(at.gradient, d) >= sufficient_flattening * slope;
    Array better = low_enough & !s.done;
    Search next;
    next.x = choose_rows(better, x, s.x);
    next.value = where(better, at.value, s.value);
    next.gradient = choose_rows(better, at.gradient, s.gradient);
    next.done = s.done | (low_enough & flat_enough);
    next.high = where(low_enough, s.high, s.rate);
    next.low = where(low_enough, s.rate, s.low);
    next.rate = where(is_finite(next.high), 0.5 * (next.low + next.high), 2.0 * next.low);
    next.trial = s.trial + 1;
    return next;
  };
  Search end = while_loop(go_on, look, start);

  State next;
  next.x = end.x;
  next.value = end.value;
  next.gradient = end.gradient;
  Array moved = end.x - state.x, change = end.gradient - state.gradient;
  Array product = dot_rows(moved, change);
  Array useful = product > 1e-12 * dot_rows(change, change);
  Array curvature = where(useful, 1.0 / where(useful, product, 1.0), 0.0);
  next.steps = appended(state.steps, moved);
  next.changes = appended(state.changes, change);
  next.curvature = appended(state.curvature, curvature);
  // A row that is stuck begins anew along its gradient.
  Array stuck = end.value >= state.value;
  next.curvature = where(stuck, 0.0, next.curvature);
  return next;
}

}  // namespace sturnus
