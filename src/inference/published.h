// The four published experiments: their equations, and every setting of their trainings.
#pragma once

#include <sturnus/inference/ensemble.h>
#include <sturnus/inference/experiment_data.h>

#include <cstdint>
#include <string_view>

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
Training published_training(Experiment experiment, std::string_view variant);

}  // namespace sturnus
