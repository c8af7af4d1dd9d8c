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

// A problem of a network with this density and curve for a run's data.
struct NetworkOf {
  Problem problem;
  Network network;
  BayesianPinnOptions options;
  Samples plot;
};

SampledProblem of_network(const std::string& name, bool has_runs,
                          const std::function<NetworkOf(int run)>& of,
                          const std::string& input = "t", const std::string& output = "f") {
  SampledProblem result = {name, [=](int run) {
                             NetworkOf at = of(run);
                             return bayesian_pinn(at.problem, at.network, at.options);
                           }};
  result.has_runs = has_runs;
  result.curve = [=](int run) {
    NetworkOf at = of(run);
    MeasuredCurve curve = bayesian_pinn_curve(at.problem, at.network, at.plot);
    curve.input = input;
    curve.outputs = {output};
    return curve;
  };
  result.weights = static_cast<std::size_t>(of(0).network.size());
  return result;
}

// Sines and cosines with fixed frequencies, whose weights are what is not known. With a linear
// equation that is what chains get through, and its density can be held against the exact one.
BayesianPinnOptions of_waves(std::vector<Bijection> lambda, double weight_sd) {
  return {.weight_sd = weight_sd,
          .bias_sd = weight_sd,
          .points = 32,
          .residual_sd = 0.02,
          .forget_residual = true,
          .given_lambda = true,
          .lambda = std::move(lambda)};
}

NetworkOf oscillator_network(int run, std::vector<std::int64_t> hidden) {
  ExperimentData data = published_data(Experiment::oscillator, run);
  NetworkOf result = {sturnus::problem_of(data), {.hidden = std::move(hidden)}, {}, data.plot};
  // Weights of order 1 make waves of about so many units of time.
  constexpr double unit = 2.5;
  double middle = 0.5 * (data.domain_low[0] + data.domain_high[0]);
  result.network.input_low = {middle - unit};
  result.network.input_high = {middle + unit};
  return result;
}

NetworkOf oscillator_waves(int run) {
  NetworkOf result = oscillator_network(run, {});
  result.network.fourier_features = 16;
  result.network.fourier_scale = 0.3;
  for (Parameter& parameter : result.problem.parameters) parameter.prior = Prior();
  result.options = of_waves({Bijection::interval(0, 3), Bijection::interval(0, 0.9)}, 2);
  return result;
}

NetworkOf oscillator_tanh(int run) {
  NetworkOf result = oscillator_network(run, {16, 16});
  result.problem.parameters[0].prior = Prior::uniform(0, 3);
  result.problem.parameters[1].prior = Prior::uniform(0, 0.9);
  result.options = {.points = 50, .residual_sd = 0.05};
  return result;
}

NetworkOf poisson_waves(int) {
  PoissonProblem poisson = poisson_problem();
  const Problem& problem = poisson.problem;
  return {problem,
          {.hidden = {},
           .input_low = problem.low,
           .input_high = problem.high,
           .fourier_features = 16,
           .fourier_scale = 1.2},
          of_waves({Bijection::positive()}, 1),
          poisson.plot};
}

// As published: two layers of 50, weights of standard deviation 1.
NetworkOf poisson_tanh(int) {
  PoissonProblem poisson = poisson_problem();
  return {poisson.problem,
          {.hidden = {50, 50}},
          {.points = 32, .residual_sd = 0.1, .lambda = {Bijection::positive()}},
          poisson.plot};
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
      of_network("oscillator_bpinn", true, oscillator_waves),
      of_network("poisson_bpinn", false, poisson_waves, "x", "u"),
      of_network("oscillator_bpinn_tanh", true, oscillator_tanh),
      of_network("poisson_bpinn_tanh", false, poisson_tanh, "x", "u")};
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
