#include "src/app/sampled_problems.h"

#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/posteriors/advection_posterior.h>
#include <sturnus/inference/posteriors/bayesian_pinn.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/ops/subscript.h>

#include <algorithm>
#include <utility>

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

// Its parameters hang together: along one axis at a time only short steps can be taken.
SampledProblem lotka_volterra() {
  SampledProblem problem = published("lotka_volterra", Experiment::lotka_volterra);
  problem.starts = [](int run) {
    return starts_for(published_data(Experiment::lotka_volterra, run));
  };
  problem.metric = "dense";
  problem.target_acceptance = 0.9;
  return problem;
}

SampledProblem advection() {
  auto data_of = [](int run) { return published_data(Experiment::advection, run); };
  return {"advection",
          [=](int run) {
            ExperimentData data = data_of(run);
            return advection_posterior(data.train, data.noise_sd);
          },
          true, [=](int run) { return advection_curve(data_of(run)); }};
}

// Weights of order 1 make waves of about so many units of time.
Network network_of_time(const ExperimentData& data, std::vector<std::int64_t> hidden, double unit) {
  double middle = 0.5 * (data.domain_low[0] + data.domain_high[0]);
  return {.hidden = std::move(hidden), .input_low = {middle - unit}, .input_high = {middle + unit}};
}

SampledProblem oscillator_bpinn() {
  auto problem_at = [](const ExperimentData& data) {
    Problem problem = sturnus::problem_of(data);
    problem.parameters[0].prior = Prior::uniform(0, 3);
    problem.parameters[1].prior = Prior::uniform(0, 0.9);
    return problem;
  };
  auto data_of = [](int run) { return published_data(Experiment::oscillator, run); };
  auto network_at = [](const ExperimentData& data) { return network_of_time(data, {16, 16}, 2.5); };
  return {"oscillator_bpinn",
          [=](int run) {
            ExperimentData data = data_of(run);
            return bayesian_pinn(problem_at(data), network_at(data),
                                 {.points = 50, .residual_sd = 0.05});
          },
          true,
          [=](int run) {
            ExperimentData data = data_of(run);
            return bayesian_pinn_curve(problem_at(data), network_at(data), data.plot);
          },
          static_cast<std::size_t>(network_at(data_of(0)).size())};
}

SampledProblem poisson_bpinn() {
  // As published: two layers of 50, weights of standard deviation 1.
  Network network = {.hidden = {50, 50}};
  return {"poisson_bpinn",
          [=](int) {
            return bayesian_pinn(
                poisson_problem().problem, network,
                {.points = 32, .residual_sd = 0.1, .lambda = {Bijection::positive()}});
          },
          false,
          [=](int) {
            PoissonProblem poisson = poisson_problem();
            MeasuredCurve curve = bayesian_pinn_curve(poisson.problem, network, poisson.plot);
            curve.input = "x";
            curve.outputs = {"u"};
            return curve;
          },
          static_cast<std::size_t>(network.size())};
}

}  // namespace

const std::vector<SampledProblem>& sampled_problems() {
  static const std::vector<SampledProblem> problems = {
      published("exponential", Experiment::exponential),
      published("oscillator", Experiment::oscillator),
      published("free_phase_oscillator", Experiment::oscillator, true),
      advection(),
      lotka_volterra(),
      {"eight_schools", [](int) { return eight_schools(); }, false,
       [](int) { return eight_schools_curve(); }},
      {"hare_lynx", [](int) -> Target { return hare_lynx_model(); }, false,
       [](int) { return hare_lynx_curve(); }},
      oscillator_bpinn(),
      poisson_bpinn()};
  return problems;
}

ChainStarts starts_for(const ExperimentData& data) {
  if (data.experiment != Experiment::lotka_volterra) return {};
  return [=](std::int64_t chains, std::uint64_t seed) {
    SmcOptions options = TemperedOptions().smc;
    options.particles = std::max(options.particles, chains);
    options.seed = seed;
    SmcResult found = lotka_volterra_particles(data.train, data.noise_sd, options);
    return found.particles(Slice{0, chains});
  };
}

ChainSettings settings_for(const SampledProblem& problem, ChainSettings settings) {
  if (!settings.metric) settings.metric = problem.metric;
  bool slopes = settings.method != "random_walk";
  if (!settings.target_acceptance && slopes) settings.target_acceptance = problem.target_acceptance;
  return settings;
}

void check_run(const std::string& command, std::string_view problem, int run) {
  if (run >= 0 && run < published_runs) return;
  refuse(command, "run " + std::to_string(run) + " of " + std::string(problem) +
                      " is asked for, but there are runs 0 to " +
                      std::to_string(published_runs - 1) + ". Give one of them");
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
  if (run) check_run(command, problem.name, *run);
  return problem;
}

}  // namespace sturnus::app
