// One step of an adaptive solver, by each of its methods.
#pragma once

#include <sturnus/inference/models/ode.h>

#include <functional>
#include <vector>

namespace sturnus::internal {

/// Where a step of length h from (t, y) leads.
struct OdeTrial {
  Array y, slope;  // at the end; the slope is f there
  Array error;     // an estimate of that of y
  /// At t + theta h there is y + the sum over terms of part (c_0 theta + c_1 theta^2 + ...).
  struct Term {
    std::vector<double> coefficients;
    Array part;
  };
  std::vector<Term> continuous;
};

/// A method: its error estimate falls as h^order. `slope` is f(t, y).
struct OdeStep {
  double order = 0;
  bool ends_at_times = false;  // whether steps have to end where y is asked for
  std::function<OdeTrial(const Array& t, const Array& y, const Array& slope, const Array& h)> trial;
};
OdeStep dormand_prince_step(VectorField f);
OdeStep tsitouras_step(VectorField f);
OdeStep rosenbrock_step(VectorField f);

/// sum_i weights_i parts_i, of which there is at least one.
Array weighted_sum(const std::vector<double>& weights, const Arrays& parts);

}  // namespace sturnus::internal
