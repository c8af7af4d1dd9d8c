// Draws in Stan's CSV format, which CmdStan's stansummary and diagnose, cmdstanpy, cmdstanr, R's
// posterior and ArviZ read.
#pragma once

#include <sturnus/inference/results/draws.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sturnus {

/// What the comments at the head and the end of a file say of the run. Readers ask for them.
struct StanCsvRun {
  std::string model = "sturnus_model";
  /// nuts; hmc, with `leapfrogs` steps in each trajectory; or another, which CmdStan does not know.
  std::string method = "nuts";
  std::size_t warmup = 0;
  int thin = 1;
  double target_acceptance = 0.8;
  int max_tree_depth = 10;      // of nuts
  int leapfrogs = 0;            // of hmc,
  double step_size_jitter = 0;  // and by what part their length varies
  std::uint64_t seed = 0;
  /// The inverse mass matrix of each chain, for its unconstrained parameters: one row is a
  /// diagonal, several are the whole matrix. Empty: the unit matrix.
  std::vector<Matrix> inverse_metric;
  double warmup_seconds = 0;
  double sampling_seconds = 0;
};

/// One chain, counted from 0: comments, then lp__, accept_stat__, stepsize__, treedepth__,
/// n_leapfrog__, divergent__, energy__ and the parameters as beta.1.2, the first index fastest; 17
/// significant digits, so that doubles survive. Statistics that the sampler did not keep are left
/// out, but for lp__, which is then nan. Before the draws stand the step size and the inverse mass
/// matrix, as after CmdStan's adaptation. Throws Error if shapes do not fit or names cannot be read
/// back.
std::string stan_csv(const ChainDraws& draws, std::size_t chain, const StanCsvRun& run = {});

/// Writes <folder>/<model>_1.csv, <model>_2.csv, ..., one file per chain, and says which. Throws
/// Error, naming the cause, if there is no room or no right.
std::vector<std::filesystem::path> write_stan_csv(const std::filesystem::path& folder,
                                                  const ChainDraws& draws,
                                                  const StanCsvRun& run = {});

}  // namespace sturnus
