#include <sturnus/functional/control_flow.h>
#include <sturnus/inference/chains/warmup.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/dot.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

namespace sturnus {

WarmupWindows warmup_windows(std::int64_t warmup) {
  if (warmup < 20) return {};
  std::int64_t before = 75, window = 25, behind = 50;
  if (before + window + behind > warmup) {
    before = warmup * 15 / 100;
    behind = warmup / 10;
    window = warmup - before - behind;
  }
  WarmupWindows result = {before, warmup - behind, {}};
  std::int64_t end = before + window;
  while (end < result.end) {
    result.last.push_back(end - 1);
    window *= 2;
    // Where the one after would not fit, this one goes to the end.
    end = end + 3 * window > result.end ? result.end : end + window;
  }
  result.last.push_back(result.end - 1);
  return result;
}

DualAveraging::State DualAveraging::init(const Array& step_size) const {
  Array log_step = log(step_size), zero = zeros_like(step_size);
  return {log(10.0 * step_size), zero, log_step, zero, zero};
}

DualAveraging::State DualAveraging::update(const State& state, const Array& accept) const {
  State next;
  next.center = state.center;
  next.count = state.count + 1.0;
  Array rate = 1.0 / (next.count + delay);
  next.error = (1.0 - rate) * state.error + rate * (target - minimum(accept, 1.0));
  next.log_step = state.center - sqrt(next.count) / shrinkage * next.error;
  Array weight = pow(next.count, -decay);
  next.log_average = weight * next.log_step + (1.0 - weight) * state.log_average;
  return next;
}

StepSearch::State StepSearch::init(const Array& step_size) const { return {step_size, Array(2)}; }

StepSearch::State StepSearch::update(const State& state, const Array& accept) const {
  Array good = accept > 0.8;
  Array wanted = where(good, 1, -1);
  Array first = state.direction == 2;
  Array crossed = (wanted != state.direction) & !first;
  Array step =
      where(crossed, state.size, state.size * where(good, Array(2.0, state.size.dtype()), 0.5));
  // A density that is flat, or steep beyond reason, ends the search too.
  Array over = crossed | (step > longest) | (step < shortest);
  return {step, where(over, 0, wanted)};
}

std::pair<StepSearch::State, Array> StepSearch::find(const Key& key, const Array& trial,
                                                     const LogDensity& log_density,
                                                     const Metric& metric, const DensityPoint& at,
                                                     const State& begin) const {
  using Trial = std::pair<State, Array>;
  auto try_it = [&](const Trial& t) {
    auto& [step, number] = t;
    Array momentum = normal(fold_in(key, number), at.position.shape(), at.position.dtype());
    PhasePoint from = {at, momentum}, to = leapfrog(log_density, metric, from, step.size);
    return Trial(update(step, minimum(exp(energy(from) - energy(to)), 1.0)), number + 1);
  };
  auto go_on = [](const Trial& t) { return t.first.direction != 0; };
  return while_loop(go_on, try_it, Trial(begin, trial));
}

RunningMoments::State RunningMoments::init(std::int64_t size, DType dtype) const {
  Shape vector = {size}, matrix = {size, size};
  return {zeros({}, dtype), zeros(vector, dtype),
          zeros(kind == MetricKind::dense ? matrix : vector, dtype)};
}

RunningMoments::State RunningMoments::add(const State& state, const Array& position) const {
  State next;
  next.count = state.count + 1.0;
  Array from_old = position - state.mean;
  next.mean = state.mean + from_old / next.count;
  Array from_new = position - next.mean;
  next.squares =
      state.squares + (kind == MetricKind::dense ? outer(from_new, from_old) : from_new * from_old);
  return next;
}

Metric RunningMoments::metric(const State& state) const {
  DType dtype = state.mean.dtype();
  if (kind == MetricKind::unit) return {Array(1.0, dtype)};
  Array n = state.count;
  Array covariance = (n / (n + 5.0)) * (state.squares / maximum(n - 1.0, 1.0));
  Array least = 1e-3 * (5.0 / (n + 5.0));
  if (kind == MetricKind::diagonal) return {sqrt(covariance + least)};
  return {cholesky(covariance + least * eye(state.mean.shape()[0], dtype))};
}

}  // namespace sturnus
