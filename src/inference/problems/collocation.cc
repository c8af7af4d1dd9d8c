#include <sturnus/functional/doubles.h>
#include <sturnus/inference/problems/collocation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/distributions.h>
#include <sturnus/ops/order.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/sobol.h>
#include <sturnus/ops/take.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/setting_error.h>

#include <cmath>
#include <string>

namespace sturnus {
namespace {

// Equispaced along one input: the whole number whose power gives the number of points.
std::int64_t grid_side(std::int64_t points, std::int64_t inputs) {
  return std::llround(std::pow(static_cast<double>(points), 1.0 / static_cast<double>(inputs)));
}

std::int64_t power_of(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; i++) result *= base;
  return result;
}

// Points of the unit cube to the domain.
Array scaled(const Array& unit, const std::vector<double>& low, const std::vector<double>& high) {
  if (low.size() == 1) return reshape(unit, {-1}) * (high[0] - low[0]) + low[0];
  std::vector<double> range;
  for (std::size_t i = 0; i < low.size(); i++) range.push_back(high[i] - low[i]);
  Shape shape = {unit.shape()[1]};
  return unit * array(range, shape, unit.dtype()) + array(low, shape, unit.dtype());
}

Array unit_grid(std::int64_t points, std::int64_t inputs, DType dtype) {
  std::int64_t side = grid_side(points, inputs);
  Shape box(static_cast<std::size_t>(inputs), side);
  Arrays columns;
  for (std::size_t i = 0; i < box.size(); i++) {
    Shape along(box.size(), 1);
    along[i] = side;
    Array line = reshape(linspace(Array(0.0, dtype), 1.0, side), along);
    columns.push_back(reshape(broadcast_to(line, box), {points}));
  }
  return stack(columns, 1);
}

}  // namespace

void Collocation::check(std::int64_t inputs) const {
  if (points < 1) {
    throw Error("Collocation: " + std::to_string(points) + " points. Give at least 1");
  }
  if (resample_every < 0) {
    throw Error("Collocation: resample_every is " + std::to_string(resample_every) +
                ". Give a number of iterations, or 0 for never");
  }
  if (kind == Kind::grid && power_of(grid_side(points, inputs), inputs) != points) {
    throw Error("Collocation: a grid of " + std::to_string(points) + " points in " +
                std::to_string(inputs) + " dimensions. Give a power, for instance " +
                std::to_string(power_of(grid_side(points, inputs), inputs)) +
                ", or another kind of points");
  }
  if (kind == Kind::grid && resample_every > 0) {
    throw SettingError("resample_every",
                       "Collocation: a grid drawn anew every " + std::to_string(resample_every) +
                           " iterations would be the same. Give 0, or another kind of points");
  }
  if (kind != Kind::adaptive && candidates != Collocation().candidates) {
    throw SettingError("candidates", "Collocation: " + std::to_string(candidates) +
                                         " candidates for points that are not adaptive. Leave "
                                         "this out, or take adaptive points");
  }
  if (kind != Kind::adaptive && power != Collocation().power) {
    throw SettingError("power", "Collocation: a power of residuals, " + std::to_string(power) +
                                    ", for points that are not adaptive. Leave this out, or take "
                                    "adaptive points");
  }
  if (kind == Kind::adaptive && (candidates < points || !(power > 0))) {
    throw Error("Collocation: " + std::to_string(points) + " adaptive points of " +
                std::to_string(candidates) + " candidates, power " + std::to_string(power) +
                ". Give more candidates than points, and a positive power");
  }
  if (kind == Kind::adaptive && resample_every == 0) {
    throw SettingError("resample_every",
                       "Collocation: adaptive points that are never drawn anew, and so only know "
                       "the residuals of networks that have learnt nothing. Give a number of "
                       "iterations, for instance 100");
  }
}

Array collocation_points(const Collocation& collocation, const std::vector<double>& low,
                         const std::vector<double>& high, const Key& key,
                         const std::function<Array(const Array&)>& residual, DType dtype) {
  auto inputs = static_cast<std::int64_t>(low.size());
  auto draw = [&](const Key& k, std::int64_t count) {
    return scaled(uniform(k, {count, inputs}, 0.0, 1.0, dtype), low, high);
  };
  switch (collocation.kind) {
    case Collocation::Kind::grid:
      return scaled(unit_grid(collocation.points, inputs, dtype), low, high);
    case Collocation::Kind::uniform:
      return draw(key, collocation.points);
    case Collocation::Kind::sobol:
      return scaled(sobol(key, collocation.points, inputs, {.dtype = dtype}), low, high);
    case Collocation::Kind::adaptive: {
      auto [for_points, for_choice] = split(key);
      Array candidates = draw(for_points, collocation.candidates);
      Array size = residual(candidates);
      // In units of the largest, so that powers do not overflow.
      Array weight = pow(size / maximum(max(size), 1e-30), collocation.power);
      weight = weight / maximum(mean(weight), 1e-30) + 1.0;
      // The largest of log weights plus Gumbel numbers: a sample without repetition.
      Array rank = log(weight) + gumbel(for_choice, {collocation.candidates}, dtype);
      return take(candidates, top_k(rank, collocation.points).second, 0);
    }
  }
  throw Error("Collocation: no such kind");
}

}  // namespace sturnus
