#include <sturnus/inference/chain_draws.h>
#include <sturnus/inference/inference_data.h>
#include <sturnus/inference/posteriors.h>
#include <sturnus/inference/sampling.h>
#include <sturnus/inference/stan_csv.h>
#include <sturnus/inference/summary.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <ostream>
#include <utility>

#include "src/app/commands.h"
#include "src/app/experiment_run.h"
#include "src/app/json_reader.h"
#include "src/app/progress.h"
#include "src/app/summary_json.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// How often warm-up and draws are looked at. Chains wait for each other then.
constexpr std::int64_t looks = 10;

// --- What is asked for

struct SampledProblem {
  std::string name;
  std::function<Target(int run)> target;
  bool has_runs = true;
};

Measurements measurements_of(const ExperimentData& data) {
  return {data.train.x, data.train.y, data.noise_sd};
}

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

template <class T, class Name>
const T& named(const std::vector<T>& all, const std::string& kind, const std::string& name,
               const Name& name_of) {
  std::vector<std::string> names;
  for (const T& one : all) {
    if (name_of(one) == name) return one;
    names.push_back(name_of(one));
  }
  refuse_unknown("sample", kind, name, names);
}

const SampledProblem& problem_of(const SampleRequest& request) {
  const SampledProblem& problem = named(sampled_problems(), "problem", request.problem,
                                        [](const SampledProblem& p) { return p.name; });
  int run = request.run.value_or(0);
  if (!problem.has_runs && request.run) {
    refuse("sample", problem.name + " has one data set, but run " + std::to_string(run) +
                         " is asked for. Leave --run out");
  }
  if (run < 0 || run >= published_runs) {
    refuse("sample", "run " + std::to_string(run) + " of " + problem.name +
                         " is asked for, but there are runs 0 to " +
                         std::to_string(published_runs - 1) + ". Give one of them");
  }
  return problem;
}

SamplingOptions options_of(const SampleRequest& request) {
  using Choice = std::pair<std::string, MetricKind>;
  const std::vector<Choice> metrics = {
      {"unit", MetricKind::unit}, {"diagonal", MetricKind::diagonal}, {"dense", MetricKind::dense}};
  if (request.draws < 4) {
    refuse("sample", std::to_string(request.draws) +
                         " draws of each chain, but R-hat and effective sample sizes need 4. Give "
                         "--draws at least 4");
  }
  return {
      .chains = request.chains,
      .warmup = request.warmup,
      .draws = request.draws,
      .seed = request.seed,
      .metric =
          named(metrics, "metric", request.metric, [](const Choice& c) { return c.first; }).second,
      .target_accept = request.target_acceptance,
      .max_depth = request.max_depth};
}

// --- Chains

struct Timing {
  double compile = 0, warmup = 0, sampling = 0;
};

struct Sampled {
  ChainDraws draws;
  std::int64_t warmup_divergences = 0;
  Timing timing;
  bool finished = true;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double mean_of(const Matrix& matrix) {
  double total = 0;
  for (double value : matrix.values) total += value;
  return total / static_cast<double>(std::max<std::size_t>(1, matrix.values.size()));
}

std::int64_t count_of(const Matrix& flags) {
  return std::count_if(flags.values.begin(), flags.values.end(), [](double f) { return f != 0; });
}

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

Sampled sample_chains(const Target& target, SamplingOptions options, std::ostream& progress) {
  Sampler(target, options);  // refuses settings before anything is compiled
  Sampled result;
  auto start = Clock::now();
  options.start = promising_starts(target, options.chains, options.seed);
  Sampler sampler(target, options);
  ChainState state = sampler.advance(sampler.init(), 0).first;
  result.timing.compile = seconds_since(start);

  InterruptGuard guard;
  std::vector<Draws> chunks;
  std::int64_t done = 0, divergences = 0;
  auto go_on = [&](const char* phase, std::int64_t count, double& seconds, bool keep) {
    auto begun = Clock::now();
    std::int64_t chunk = std::max<std::int64_t>(1, (count + looks - 1) / looks);
    for (std::int64_t left = count; left > 0 && result.finished; left -= chunk) {
      chunk = std::min(chunk, left);
      auto [next, draws] = sampler.advance(state, chunk);
      state = next;
      done += chunk;
      SamplerStatistics said = chain_draws({draws}).statistics;
      divergences += count_of(said.divergent);
      if (keep) chunks.push_back(draws);
      seconds = seconds_since(begun);
      progress << phase << "  " << done << "/" << options.warmup + options.draws << "  "
               << text("%.1f s", seconds) << "  divergent " << divergences << "  acceptance "
               << text("%.2f", mean_of(said.acceptance)) << "  step size "
               << text("%.3g", mean_of(said.step_size)) << "  depth "
               << text("%.1f", mean_of(said.tree_depth)) << std::endl;
      result.finished = !guard.interrupted();
    }
  };
  go_on("warm-up", options.warmup, result.timing.warmup, false);
  result.warmup_divergences = std::exchange(divergences, 0);
  if (result.finished) go_on("draws", options.draws, result.timing.sampling, true);
  if (!chunks.empty()) result.draws = chain_draws(chunks);
  result.finished = result.finished || done == options.warmup + options.draws;
  if (result.draws.draws < 4) {
    throw Error("sample: interrupted after " + std::to_string(result.draws.draws) +
                " draws of each chain, which are too few to say anything. Let it go on longer");
  }
  return result;
}

// --- What is said of them

json describe(const SampleRequest& request, const Sampled& sampled,
              const std::vector<ParameterSummary>& rows, const std::vector<std::string>& warned) {
  double least = std::numeric_limits<double>::infinity();
  for (const ParameterSummary& row : rows) least = std::min(least, row.ess_bulk);
  const Timing& timing = sampled.timing;
  return {{"sturnus", describe_program()},
          {"device", default_device().description().text},
          {"settings",
           {{"problem", request.problem},
            {"run", request.run.value_or(0)},
            {"method", "nuts"},
            {"chains", request.chains},
            {"warmup", request.warmup},
            {"draws", request.draws},
            {"seed", request.seed},
            {"metric", request.metric},
            {"target_acceptance", request.target_acceptance},
            {"max_depth", request.max_depth}}},
          {"finished", sampled.finished},
          {"draws", sampled.draws.draws},
          {"summary", to_json(rows)},
          {"divergences",
           {{"warmup", sampled.warmup_divergences},
            {"draws", count_of(sampled.draws.statistics.divergent)}}},
          {"warnings", warned},
          {"timing",
           {{"compile_s", timing.compile},
            {"warmup_s", timing.warmup},
            {"sampling_s", timing.sampling},
            {"ess_bulk_per_s", least / timing.sampling}}}};
}

}  // namespace

void sample_problem(std::ostream& out, std::ostream& progress, const SampleRequest& request) {
  const SampledProblem& problem = problem_of(request);
  SamplingOptions options = options_of(request);
  select_device(request.device);
  Sampled sampled = sample_chains(problem.target(request.run.value_or(0)), options, progress);
  std::vector<ParameterSummary> rows = summarize(sampled.draws);
  std::vector<std::string> warned =
      warnings(rows, sampled.draws.statistics, static_cast<int>(options.max_depth));
  json result = describe(request, sampled, rows, warned);

  fs::path folder =
      request.out.empty() ? fs::path("results") / ("sample-" + problem.name) : request.out;
  std::vector<fs::path> files = {folder / "result.json"};
  write_file(files[0], result.dump() + "\n");
  StanCsvRun run = {.model = problem.name,
                    .warmup = static_cast<std::size_t>(options.warmup),
                    .target_acceptance = options.target_accept,
                    .max_tree_depth = static_cast<int>(options.max_depth),
                    .seed = options.seed,
                    .inverse_metric = {},
                    .warmup_seconds = sampled.timing.warmup,
                    .sampling_seconds = sampled.timing.sampling};
  for (const fs::path& file : write_stan_csv(folder, sampled.draws, run)) files.push_back(file);
  files.push_back(folder / "draws.nc");
  write_inference_data(files.back(), inference_data(sampled.draws));

  out << summary_table(rows);
  for (const std::string& sentence : warned) out << "\nWarning: " << sentence << '\n';
  if (!sampled.finished) {
    out << "\nInterrupted after " << sampled.draws.draws << " draws of each chain.\n";
  }
  const json& timing = result["timing"];
  out << text("\ncompiled in %.1f s", timing["compile_s"])
      << text(", warmed up in %.1f s", timing["warmup_s"])
      << text(", drawn in %.1f s", timing["sampling_s"])
      << text(": %.0f effective draws per second\n\n", timing["ess_bulk_per_s"]);
  for (const fs::path& file : files) out << file.string() << '\n';
}

}  // namespace sturnus::app
