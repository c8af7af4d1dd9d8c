#include <sturnus/functional/program.h>
#include <sturnus/inference/problems/problem.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <utility>

#include "src/functional/graph.h"

namespace sturnus {
namespace {

[[noreturn]] void refuse(const Problem& problem, const std::string& what) {
  throw Error("problem " + (problem.name.empty() ? "without a name" : problem.name) + ": " + what);
}

void check_domain(const Problem& problem) {
  if (problem.low.empty() || problem.low.size() != problem.high.size()) {
    refuse(problem, "the domain has " + std::to_string(problem.low.size()) + " lower and " +
                        std::to_string(problem.high.size()) +
                        " upper bounds. Give one of each per input");
  }
  for (std::size_t i = 0; i < problem.low.size(); i++) {
    if (!(problem.low[i] < problem.high[i]) || !std::isfinite(problem.high[i] - problem.low[i])) {
      refuse(problem, "input " + std::to_string(i) + " ranges from " +
                          std::to_string(problem.low[i]) + " to " +
                          std::to_string(problem.high[i]) +
                          ". Both must be finite, the first below the second");
    }
  }
}

void check_data(const Problem& problem) {
  const Samples& data = problem.data;
  if (data.points == 0) refuse(problem, "there are no measurements. Give at least one");
  if (data.inputs != problem.low.size()) {
    refuse(problem, "measured points have " + std::to_string(data.inputs) +
                        " inputs, the domain has " + std::to_string(problem.low.size()));
  }
  if (data.outputs == 0) refuse(problem, "measurements of 0 outputs. Give at least one");
  if (data.x.size() != data.points * data.inputs || data.y.size() != data.points * data.outputs) {
    refuse(problem, std::to_string(data.points) + " measurements of " +
                        std::to_string(data.inputs) + " inputs and " +
                        std::to_string(data.outputs) + " outputs need " +
                        std::to_string(data.points * data.inputs) + " and " +
                        std::to_string(data.points * data.outputs) + " numbers, but there are " +
                        std::to_string(data.x.size()) + " and " + std::to_string(data.y.size()));
  }
  for (std::size_t i = 0; i < data.x.size(); i++) {
    std::size_t input = i % data.inputs;
    if (!(data.x[i] >= problem.low[input] && data.x[i] <= problem.high[input])) {
      refuse(problem, "measurement " + std::to_string(i / data.inputs) + " lies at " +
                          std::to_string(data.x[i]) + ", outside the domain from " +
                          std::to_string(problem.low[input]) + " to " +
                          std::to_string(problem.high[input]) +
                          ". Leave it out, or widen the domain");
    }
  }
  for (std::size_t i = 0; i < data.y.size(); i++) {
    if (!std::isfinite(data.y[i])) {
      refuse(problem, "measurement " + std::to_string(i / data.outputs) + " is " +
                          std::to_string(data.y[i]) + ". Leave out what was not measured");
    }
  }
  if (!(problem.noise_sd > 0) || !std::isfinite(problem.noise_sd)) {
    refuse(problem, "the noise has standard deviation " + std::to_string(problem.noise_sd) +
                        ". It must be positive: it says how far data may be missed");
  }
}

void check_parameters(const Problem& problem) {
  for (const Parameter& parameter : problem.parameters) {
    const auto& start = parameter.start;
    if (start && !(start->first < start->second && std::isfinite(start->second - start->first))) {
      refuse(problem, "parameter " + parameter.name + " starts between " +
                          std::to_string(start->first) + " and " + std::to_string(start->second) +
                          ". Both must be finite, the first below the second");
    }
  }
}

void check_equation(const Problem& problem) {
  if (problem.equation.empty()) refuse(problem, "there is no equation");
  const std::vector<std::string>& fields = problem.equation.names();
  if (!fields.empty() && fields.size() != problem.parameters.size()) {
    refuse(problem, "the equation has " + std::to_string(fields.size()) + " parameters (" +
                        fields.front() + " ...), but " + std::to_string(problem.parameters.size()) +
                        " are described. Describe each, in the order of the fields");
  }
  auto count = static_cast<std::int64_t>(problem.parameters.size());
  internal::Trace trace;
  Array point =
      abstract_array(DType::f32, problem.inputs() == 1 ? Shape{} : Shape{problem.inputs()});
  Shape value = problem.outputs() == 1 ? Shape{} : Shape{problem.outputs()};
  // Any smooth function of all inputs will do to see the shape.
  Field f = [&](const Array& x) {
    Array total = problem.inputs() == 1 ? x : x[0];
    for (int i = 1; i < problem.inputs(); i++) total = total + x[i];
    return broadcast_to(total, value);
  };
  Array residual = problem.equation(f, point, abstract_array(DType::f32, {count}));
  if (residual.empty() || !is_floating(residual.dtype()) || residual.rank() > 1) {
    refuse(problem, "the residual at one point is " +
                        (residual.empty() ? "an empty array" : residual.type().str()) +
                        ". It must be a number, or a vector with one for each equation");
  }
}

}  // namespace

namespace internal {

Arrays scalars_of(const Array& vector) {
  Arrays result;
  for (std::int64_t i = 0; i < vector.shape()[0]; i++) result.push_back(vector[i]);
  return result;
}

}  // namespace internal

void Problem::check() const {
  check_domain(*this);
  check_data(*this);
  check_parameters(*this);
  check_equation(*this);
}

Samples measurements(std::vector<double> t, std::vector<double> y) {
  if (t.size() != y.size()) {
    throw Error("measurements: " + std::to_string(t.size()) + " points, but " +
                std::to_string(y.size()) + " values");
  }
  Samples result;
  result.points = t.size();
  result.x = std::move(t);
  result.y = std::move(y);
  return result;
}

}  // namespace sturnus
