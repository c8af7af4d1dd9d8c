// The posteriors that `sturnus sample` and `sturnus vi` know by name.
#pragma once

#include <sturnus/inference/models/model.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/problems/experiment_data.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/app/chain_program.h"

namespace sturnus::app {

struct SampledProblem {
  std::string name;
  std::function<Target(int run)> target;
  bool has_runs = true;
  /// The function that was measured; empty where none was.
  std::function<MeasuredCurve(int run)> curve = {};
  std::size_t weights = 0;  ///< So many of the last parameters are weights of a network.
  /// Where its chains begin; empty: at promising_starts.
  std::function<ChainStarts(int run)> starts = {};
  /// What its chains need where the settings do not say.
  std::optional<std::string> metric = {};
  std::optional<double> target_acceptance = {};
};

const std::vector<SampledProblem>& sampled_problems();

/// Where chains of an experiment's posterior begin: of Lotka-Volterra's at particles of a tempering
/// from the prior. Empty for others.
ChainStarts starts_for(const ExperimentData& data);

/// The settings, with what the problem's chains need where they do not say.
ChainSettings settings_for(const SampledProblem& problem, ChainSettings settings);

/// Throws Error, in the name of `command`, when a published run of `problem` is none.
void check_run(const std::string& command, std::string_view problem, int run);

/// The problem of that name. Throws Error, in the name of `command`, when there is none, or when it
/// has no such run.
const SampledProblem& sampled_problem(
    const std::string& command, const std::string& name, std::optional<int> run,
    const std::vector<SampledProblem>& problems = sampled_problems());

}  // namespace sturnus::app
