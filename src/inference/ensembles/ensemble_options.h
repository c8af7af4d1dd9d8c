// How an ensemble is made and trained.
#pragma once

#include <sturnus/inference/ensembles/repulsion.h>
#include <sturnus/inference/optimizers/lbfgs.h>
#include <sturnus/inference/optimizers/optimizer.h>
#include <sturnus/inference/optimizers/schedule.h>
#include <sturnus/inference/problems/collocation.h>
#include <sturnus/inference/problems/network.h>
#include <sturnus/inference/problems/problem.h>

#include <cstdint>
#include <optional>

namespace sturnus {

/// The network with inputs, outputs and unset scales taken from the problem: inputs range over the
/// domain, outputs from the smallest to the largest measurement, as published.
Network network_for(const Problem& problem, Network network);

struct EnsembleOptions {
  std::int64_t members = 25;
  Network network = {};  ///< Completed by network_for.
  Collocation collocation = {};
  Optimizer optimizer = {};
  /// Of the terms of the loss; that of the repulsion is Repulsion::weight.
  Schedule data_weight = 1, residual_weight = 1, prior_weight = 1;
  Repulsion repulsion = {};
  Lbfgs lbfgs = {};  ///< For `polish` alone.
  std::uint64_t seed = 0;
  /// f64 costs about twice the time.
  DType dtype = DType::f32;
  std::optional<Device> device = {};
  /// Members are spread over so many devices, `device` (or the default one) and those after it; the
  /// results are the same to rounding. A divisor of `members`.
  std::int64_t devices = 1;

  /// Throws Error for settings that make no sense for the problem.
  void check(const Problem& problem) const;
};

}  // namespace sturnus
