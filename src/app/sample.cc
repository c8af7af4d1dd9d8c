#include <ostream>

#include "src/app/chain_program.h"
#include "src/app/chain_run.h"
#include "src/app/commands.h"
#include "src/app/sampled_problems.h"

namespace sturnus::app {

void sample_problem(std::ostream& out, std::ostream& progress, const SampleRequest& request) {
  const SampledProblem& problem = sampled_problem("sample", request.problem, request.run);
  select_device(request.device);
  int run = request.run.value_or(0);
  PosteriorToSample posterior = {problem.name, problem.target(run), {}, {}};
  if (problem.curve) posterior.curve = problem.curve(run);
  posterior.weights = problem.weights;
  if (problem.starts) posterior.starts = problem.starts(run);
  posterior.about = {{"problem", problem.name}, {"run", run}};
  std::filesystem::path folder = request.out.empty()
                                     ? std::filesystem::path("results") / ("sample-" + problem.name)
                                     : request.out;
  RunPlaces places = {folder, request.resume};
  ChainSettings settings = settings_for(problem, request);
  chain_program(posterior.target, settings);  // settings that make no sense leave no folder
  check_places("sample", "sampling", places);
  print_chains(out, run_chains(posterior, settings, places, progress));
}

}  // namespace sturnus::app
