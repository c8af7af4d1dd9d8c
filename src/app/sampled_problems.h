// The posteriors that `sturnus sample` and `sturnus vi` know by name.
#pragma once

#include <sturnus/inference/models/model.h>
#include <sturnus/inference/posteriors/measured_curves.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus::app {

struct SampledProblem {
  std::string name;
  std::function<Target(int run)> target;
  bool has_runs = true;
  /// The function that was measured; empty where none was.
  std::function<MeasuredCurve(int run)> curve = {};
  std::size_t weights = 0;  ///< So many of the last parameters are weights of a network.
};

const std::vector<SampledProblem>& sampled_problems();

/// Throws Error, in the name of `command`, when a published run of `problem` is none.
void check_run(const std::string& command, std::string_view problem, int run);

/// The problem of that name. Throws Error, in the name of `command`, when there is none, or when it
/// has no such run.
const SampledProblem& sampled_problem(
    const std::string& command, const std::string& name, std::optional<int> run,
    const std::vector<SampledProblem>& problems = sampled_problems());

}  // namespace sturnus::app
