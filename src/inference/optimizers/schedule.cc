#include <sturnus/inference/optimizers/schedule.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

namespace sturnus {

Schedule Schedule::stepwise(double value, std::vector<Step> steps) {
  Schedule result(value);
  result.steps = std::move(steps);
  return result;
}

Schedule Schedule::from(std::int64_t start, double value) {
  if (start <= 0) return value;
  return stepwise(0, {{start - 1, value}});
}

Schedule Schedule::cosine(double value, double last, std::int64_t begin, std::int64_t end) {
  Schedule result(value);
  result.kind = Kind::cosine;
  result.last = last;
  result.begin = begin;
  result.end = end;
  return result;
}

Schedule Schedule::exponential(double value, double last, std::int64_t begin, std::int64_t end) {
  Schedule result = cosine(value, last, begin, end);
  result.kind = Kind::exponential;
  return result;
}

Schedule Schedule::with_warm_up(std::int64_t iterations) const {
  Schedule result = *this;
  result.warm_up = iterations;
  return result;
}

Array Schedule::at(const Array& iteration, DType dtype) const {
  Array result = full(Shape{}, value, dtype);
  if (kind == Kind::steps) {
    for (const Step& step : steps) result = where(iteration > step.after, step.value, result);
  } else {
    Array passed = convert(iteration - begin, dtype) / static_cast<double>(end - begin);
    Array part = clamp(passed, 0.0, 1.0);
    result = kind == Kind::cosine
                 ? last + (value - last) * 0.5 * (1.0 + cos(std::numbers::pi * part))
                 : value * exp(std::log(last / value) * part);
  }
  if (warm_up > 0) {
    Array passed = convert(iteration + 1, dtype) / static_cast<double>(warm_up);
    result = result * minimum(passed, 1.0);
  }
  return result;
}

double Schedule::least() const {
  if (kind != Kind::steps) return std::min(value, last);
  double result = value;
  for (const Step& step : steps) result = std::min(result, step.value);
  return result;
}

void Schedule::check(const char* what) const {
  bool finite = std::isfinite(value) && std::isfinite(last);
  for (const Step& step : steps) finite = finite && std::isfinite(step.value);
  if (!finite) throw Error(std::string(what) + ": a schedule holds a value that is not finite");
  for (std::size_t i = 1; i < steps.size(); i++) {
    if (steps[i - 1].after < steps[i].after) continue;
    throw Error(std::string(what) + ": the step after iteration " + std::to_string(steps[i].after) +
                " stands behind that after " + std::to_string(steps[i - 1].after) +
                ". Give steps in order, one for each iteration");
  }
  if (kind != Kind::steps && end <= begin) {
    throw Error(std::string(what) + ": a schedule ends at iteration " + std::to_string(end) +
                ", which is not after its begin, " + std::to_string(begin));
  }
  if (kind == Kind::exponential && !(value * last > 0)) {
    throw Error(std::string(what) + ": an exponential schedule goes from " + std::to_string(value) +
                " to " + std::to_string(last) + ". Both must be of one sign and not 0");
  }
}

}  // namespace sturnus
