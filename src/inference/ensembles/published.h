// The four published experiments: their equations, and every setting of their trainings.
#pragma once

#include <sturnus/inference/ensembles/ensemble.h>
#include <sturnus/inference/problems/experiment_data.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus {

/// exponential      f' - lambda f
Equation exponential_equation();
/// oscillator       f'' + 2 zeta omega f' + omega^2 f
Equation oscillator_equation();
/// advection        u_t + beta u_x, inputs (t, x)
Equation advection_equation();
/// lotka_volterra   x' - x (alpha - beta y), y' + y (gamma - delta x)
Equation lotka_volterra_equation();

/// The problem that an experiment's data pose, with the priors of the published code: parameters
/// are positive, but for the exponential, where nothing is known.
Problem problem_of(const ExperimentData& data);

/// How an experiment is trained.
struct Training {
  EnsembleOptions options;
  std::int64_t iterations = 0;
};

/// The published settings of an experiment, with the repulsion of one of published_variants().
/// Networks and starts come from this library's generator: the published ones cannot be had.
/// Advection draws one scrambled Sobol set per iteration and member, here from the seed.
/// In another number of iterations the equation's weight of the exponential grows after the same
/// parts of them, as published; those of the others grow after the published iterations.
Training published_training(Experiment experiment, std::string_view variant,
                            std::optional<std::int64_t> iterations = {});

/// Settings of this library's own, which come closer to the exact posterior, under the name
/// "correlated". The density sees lambda, and f at the first measured points, as many as the
/// solution has constants of its own, in the metric of their covariance. The equation's weight
/// grows until it hardly gives way, while the learning rate falls, over the same parts of any
/// number of iterations: twice the published ones, unless they are given. Throws Error for
/// advection, whose solutions have no finite number of constants.
Training correlated_training(Experiment experiment, std::optional<std::int64_t> iterations = {});

/// The names of an experiment's settings, the published ones first, and the settings of such a
/// name. Throws Error for a name that is none.
std::vector<std::string> variants_of(Experiment experiment);
Training training_of(Experiment experiment, std::string_view variant,
                     std::optional<std::int64_t> iterations = {});

}  // namespace sturnus
