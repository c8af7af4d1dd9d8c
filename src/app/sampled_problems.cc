#include "src/app/sampled_problems.h"

#include <sturnus/inference/posteriors.h>

#include "src/app/json_reader.h"

namespace sturnus::app {
namespace {

Measurements measurements_of(const ExperimentData& data) {
  return {data.train.x, data.train.y, data.noise_sd};
}

}  // namespace

const std::vector<SampledProblem>& sampled_problems() {
  static const std::vector<SampledProblem> problems = {
      {"exponential",
       [](int run) -> Target {
         return exponential_model(measurements_of(published_data(Experiment::exponential, run)));
       }},
      {"oscillator",
       [](int run) -> Target {
         return oscillator_model(measurements_of(published_data(Experiment::oscillator, run)));
       }},
      {"free_phase_oscillator",
       [](int run) -> Target {
         return oscillator_model(measurements_of(published_data(Experiment::oscillator, run)),
                                 FreePhasePrior());
       }},
      {"lotka_volterra",
       [](int run) -> Target {
         ExperimentData data = published_data(Experiment::lotka_volterra, run);
         return lotka_volterra_model(data.train, data.noise_sd);
       }},
      {"eight_schools", [](int) { return eight_schools(); }, false},
      {"hare_lynx", [](int) -> Target { return hare_lynx_model(); }, false}};
  return problems;
}

const SampledProblem& sampled_problem(const std::string& command, const std::string& name,
                                      std::optional<int> run,
                                      const std::vector<SampledProblem>& problems) {
  const SampledProblem& problem =
      one_named(command, "problem", name, problems, &SampledProblem::name);
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
