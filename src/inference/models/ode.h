// Ordinary differential equations y' = f(t, y), solved on the device.
//
//   auto decay = [](const Array& t, const Array& y) { return -0.3 * y; };
//   Array y = rk4(decay, array({1.0}), linspace(0.0, 10.0, 21), {.substeps = 4});  // [21, 1]
//   OdeSolution exact = solve_ode(decay, array({1.0}), linspace(0.0, 10.0, 21));
//
// Solvers are functions like others: they can be jitted, mapped and differentiated, also by what f
// captures.
#pragma once

#include <sturnus/functional/flat.h>

#include <cstdint>
#include <functional>

namespace sturnus {

/// y' at a time (a scalar) and a state of any shape, which the result has too.
using VectorField = std::function<Array(const Array& t, const Array& y)>;

struct Rk4Options {
  std::int64_t substeps = 1;  ///< Equal steps from each time to the next.
  /// Writes the substeps one after another instead of as a loop: several times quicker for a tree
  /// of few numbers, but slower to compile. Not for a y whose f picks or moves elements, such as
  /// y(1): compilers do those again for each use, and uses multiply from step to step.
  bool unroll = false;
};

namespace internal {
Arrays rk4(const std::function<Arrays(const Array& t, const Arrays& y)>& f, const Arrays& start,
           const Array& times, const Rk4Options& options);
}

/// y at each of `times`, of which the first is that of `start`: [times, ...]. y is a tree, and y' =
/// f(t, y) one like it. The classical fourth-order method of Runge and Kutta, also backwards in
/// time. All derivatives; reverse mode keeps the y and takes the steps again. Throws Error unless
/// there are times and substeps, and ShapeError or TreeError when y' is not like y.
template <class F, class Y>
internal::Argument<Y> rk4(const F& f, const Y& start, const Array& times,
                          const Rk4Options& options = {}, Where where = Where::here()) {
  internal::Argument<Y> like = start;
  auto slope = [&](const Array& t, const Arrays& leaves) {
    internal::Argument<Y> y = internal::with_leaves(like, leaves), slope = f(t, y);
    return internal::leaves_like("rk4", "y", like, "y'", slope, where);
  };
  Arrays leaves = internal::leaves_of(like, "rk4", "the start", where);
  return internal::with_leaves(like, internal::rk4(slope, leaves, times, options));
}

/// Embedded methods. The first two are of order 5 with an error estimate of order 4, both
/// first-same-as-last and with a continuous solution of order 4; they are not for stiff equations,
/// for which they need very many steps. The last is of order 4 (3), L-stable, and for those:
/// each step takes the Jacobian of f by forward mode, and inverts a matrix of its size.
///   dormand_prince  J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980)
///   tsitouras       Ch. Tsitouras, Comput. Math. Appl. 62 (2011): smaller errors at the same cost
///   rosenbrock      RODAS, E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996)
enum class OdeMethod { dormand_prince, tsitouras, rosenbrock };

struct OdeOptions {
  OdeMethod method = OdeMethod::tsitouras;
  /// A step is accepted when the root mean square over y of error / (absolute + relative |y|) is at
  /// most 1.
  double relative = 1e-6, absolute = 1e-8;
  std::int64_t max_steps = 10000;  ///< Of all steps, accepted or not.
  /// Takes max_steps turns of a loop, whether needed or not, so that reverse mode works; then few
  /// should do. Without, the loop ends with the solution, and only forward mode works.
  bool bounded = false;
};

struct OdeSolution {
  Array y;         ///< [times, ...]; NaN where it was not reached.
  Array steps;     ///< i32: steps that were accepted,
  Array rejected;  ///< and that were not.
  Array reached;   ///< The time where the solver stopped.
};

/// y at each of `times`, which increase, with steps as long as the tolerances allow: the times do
/// not shorten them, but those of rosenbrock. Throws Error for tolerances that are not positive,
/// for times that decrease, and as `checked` does. In a program, where neither is known yet, y is
/// NaN at times that decrease or were not reached: ask `checked` of what comes out of it.
OdeSolution solve_ode(const VectorField& f, const Array& start, const Array& times,
                      const OdeOptions& options = {});

/// The solution again. Throws Error when it did not reach the last time within the steps allowed,
/// as happens near singularities, and with stiff equations unless the method is rosenbrock.
const OdeSolution& checked(const OdeSolution& solution, const Array& times);

}  // namespace sturnus
