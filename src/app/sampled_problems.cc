#include "src/app/sampled_problems.h"

#include <sturnus/inference/posteriors.h>

#include "src/app/json_reader.h"

namespace sturnus::app {
namespace {

SampledProblem published(const std::string& name, Experiment experiment, bool free_phase = false) {
  auto posterior = [=](int run) {
    return curve_posterior(published_data(experiment, run), free_phase);
  };
  return {name, [=](int run) { return posterior(run).target; }, true,
          [=](int run) { return posterior(run).curve; }};
}

}  // namespace

const std::vector<SampledProblem>& sampled_problems() {
  static const std::vector<SampledProblem> problems = {
      published("exponential", Experiment::exponential),
      published("oscillator", Experiment::oscillator),
      published("free_phase_oscillator", Experiment::oscillator, true),
      published("lotka_volterra", Experiment::lotka_volterra),
      {"eight_schools", [](int) { return eight_schools(); }, false},
      {"hare_lynx", [](int) -> Target { return hare_lynx_model(); }, false,
       [](int) { return hare_lynx_curve(); }}};
  return problems;
}

const SampledProblem& sampled_problem(const std::string& command, const std::string& name,
                                      std::optional<int> run) {
  const SampledProblem& problem =
      one_named(command, "problem", name, sampled_problems(), &SampledProblem::name);
  if (!problem.has_runs && run) {
    refuse(command, problem.name + " has one data set, but run " + std::to_string(*run) +
                        " is asked for. Leave --run out");
  }
  if (run && (*run < 0 || *run >= published_runs)) {
    refuse(command, "run " + std::to_string(*run) + " of " + problem.name +
                        " is asked for, but there are runs 0 to " +
                        std::to_string(published_runs - 1) + ". Give one of them");
  }
  return problem;
}

}  // namespace sturnus::app
