// What keeps the members of an ensemble apart: three separate choices.
#pragma once

#include <sturnus/inference/ensembles/kernel_density.h>
#include <sturnus/inference/optimizers/schedule.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus {

/// What of a member the density sees.
///   data_values         f at the measured points
///   collocation_values  f where the equation is imposed
///   point_values        f at points of one's own
///   data_gradients      the derivative of f by its inputs, at the measured points
///   parameters          lambda
///   weights             all the network's parameters
enum class Seen {
  data_values,
  collocation_values,
  point_values,
  data_gradients,
  parameters,
  weights
};

/// How the density of all that is seen factorises.
///   joint       one kernel over everything
///   blocks      one over each kind of thing seen
///   full        one over every single number; takes the weight 1 / sqrt(N_d), N_d measured values
///   correlated  one over everything in the metric of the members' covariance, see
///               correlated_density.h; best where little is seen: lambda, and f at as many points
///               as the solution has constants of its own
enum class Factorization { joint, blocks, full, correlated };

/// Repulsion adds weight * log density to the loss of each member. Nothing seen: no repulsion.
struct Repulsion {
  std::vector<Seen> seen = {};
  Factorization factorization = Factorization::blocks;
  KernelDensity density = {};
  /// Beside 2 sigma^2 / N_d.
  Schedule weight = 1;
  /// No repulsion before this iteration, whatever its weight.
  std::int64_t start = 0;
  /// For point_values: points x inputs, row by row.
  std::vector<double> points = {};
};

/// A published variant: "none", "f", "lambda", "joint", "factorized" or "full". Throws Error for
/// another name.
Repulsion published_repulsion(std::string_view variant);
/// Their names, in the order of the published tables.
const std::vector<std::string>& published_variants();

/// The log density of each member, [members], from what is seen of them: one [members, dimensions]
/// for each kind. `others` is what was seen when the density was made, if it is not made anew.
/// Throws Error for fewer than 2 members.
Array log_density(const Repulsion& repulsion, const Arrays& seen, const Arrays& others = {});

}  // namespace sturnus
