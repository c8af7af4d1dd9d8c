// Bayesian inverse problems: a differential equation with unknown parameters, and noisy
// measurements of its unknown solution.
#pragma once

#include <sturnus/functional/grad.h>
#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/problems/prior.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace sturnus {

/// The unknown function at one point. A point of one input is a scalar, a value of one output too;
/// several are vectors. Differentiate it as any function: grad(f), jvp(f, point, direction).
using Field = std::function<Array(const Array& point)>;

namespace internal {

template <class F>
struct ThirdArgument : ThirdArgument<decltype(&F::operator())> {};
template <class R, class A, class B, class C>
struct ThirdArgument<R (*)(A, B, C)> : std::decay<C> {};
template <class F, class R, class A, class B, class C>
struct ThirdArgument<R (F::*)(A, B, C) const> : std::decay<C> {};

/// The elements of a vector, one by one.
Arrays scalars_of(const Array& vector);

}  // namespace internal

/// What is zero when f solves the equation, at one point: residual(f, point, lambda). lambda is
/// the function's own struct of scalars, whose fields name the parameters, or an Array with an
/// element for each:
///
///   struct Spring { Array omega, zeta; };
///   Equation equation = [](const Field& f, const Array& t, const Spring& s) { ... };
class Equation {
 public:
  Equation() = default;
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, Equation>) Equation(F residual) {
    using Lambda = typename internal::ThirdArgument<F>::type;
    if constexpr (std::is_same_v<Lambda, Array>) {
      residual_ = std::move(residual);
    } else {
      for (const std::string& path : tree_structure(Lambda()).leaf_paths()) names_.push_back(path);
      residual_ = [residual = std::move(residual)](const Field& f, const Array& point,
                                                   const Array& lambda) -> Array {
        return residual(f, point, internal::with_leaves(Lambda(), internal::scalars_of(lambda)));
      };
    }
  }

  Array operator()(const Field& f, const Array& point, const Array& lambda) const {
    return residual_(f, point, lambda);
  }
  bool empty() const { return !residual_; }
  /// The fields of lambda as paths, ".omega"; empty if it is an Array.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::function<Array(const Field&, const Array&, const Array&)> residual_;
  std::vector<std::string> names_;
};

/// An unknown number of the equation.
struct Parameter {
  std::string name;
  Prior prior = {};
  std::optional<double> truth = {};  ///< Where it is known, to measure against.
  /// Members start uniformly in this interval; without it at |N(0, 1)|, as published.
  std::optional<std::pair<double, double>> start = {};
};

/// All that is known. Everything is plain data and pure functions.
struct Problem {
  std::string name;
  Equation equation;
  std::vector<Parameter> parameters;
  /// Where the equation holds: one bound per input.
  std::vector<double> low, high;
  Samples data;         ///< Points `x` and measured values `y`.
  double noise_sd = 1;  ///< Standard deviation of the measurements.

  std::int64_t inputs() const { return static_cast<std::int64_t>(low.size()); }
  std::int64_t outputs() const { return static_cast<std::int64_t>(data.outputs); }
  /// Throws Error for what cannot be a problem: no data, values that are not finite, points
  /// outside the domain, noise that is not positive, parameters that the equation does not have or
  /// that start nowhere, a residual that is no number or vector.
  void check() const;
};

/// Measurements at points of one input. Throws Error when there are not as many of both.
Samples measurements(std::vector<double> t, std::vector<double> y);

}  // namespace sturnus
