#include <sturnus/functional/doubles.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/inference/variational/variational.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <cmath>
#include <ostream>
#include <utility>

#include "src/app/commands.h"
#include "src/app/draw_parts.h"
#include "src/app/json_reader.h"
#include "src/app/plotly_script.h"
#include "src/app/result_parts.h"
#include "src/app/sampled_problems.h"
#include "src/app/table.h"
#include "src/app/told_draws.h"
#include "src/app/variational_run.h"
#include "src/app/vi_network.h"
#include "src/app/vi_report.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Places from which modes are looked for.
constexpr std::int64_t climbers = 8;
/// Weights this uneven say that the Gaussian is another distribution than the posterior.
constexpr double low_efficiency = 0.1;

GaussianFamily family_of(const VariationalRequest& request) {
  using Choice = std::pair<std::string, GaussianFamily>;
  const std::vector<Choice> families = {{"mean_field", GaussianFamily::mean_field},
                                        {"full_rank", GaussianFamily::full_rank}};
  return one_named("vi", "family", request.family, families, &Choice::first).second;
}

void print_summary(std::ostream& out, const std::vector<ParameterSummary>& rows) {
  Table table({"parameter", "mean", "sd", "5 %", "50 %", "95 %"});
  for (const ParameterSummary& row : rows) {
    auto number = [](double value) { return formatted("%.4g", value); };
    table.add({row.name, number(row.mean), number(row.sd), number(row.q05), number(row.q50),
               number(row.q95)});
  }
  table.print(out);
}

/// What the posterior says of each draw, beside how often it is drawn.
InferenceData with_weights(InferenceData data, const Array& log_weights) {
  for (DataGroup& group : data.groups) {
    if (group.name != "sample_stats") continue;
    std::vector<double> values = to_doubles(log_weights);
    group.variables.push_back({"log_weight", {"chain", "draw"}, {1, values.size()}, values});
  }
  return data;
}

}  // namespace

void fit_problem(std::ostream& out, std::ostream& progress, const VariationalRequest& request) {
  std::vector<SampledProblem> problems = sampled_problems();
  problems.push_back({network_problem, {}});
  const SampledProblem& problem = sampled_problem("vi", request.problem, request.run, problems);
  if (problem.name == network_problem) return fit_network(out, progress, request);
  if (request.divergence != "exact") {
    refuse("vi", "the divergence " + request.divergence + " is for " + network_problem +
                     " alone, but the problem is " + problem.name + ". Leave --divergence out");
  }
  GaussianFamily family = family_of(request);
  std::int64_t iterations = iterations_of(request, 10000);
  std::int64_t draws_per_iteration =
      at_least("vi", "draws-per-iteration", request.draws_per_iteration.value_or(10), 1);
  double rate = request.rate.value_or(0.05);
  if (!(rate > 0) || std::isinf(rate)) {
    refuse("vi", "a rate of " + formatted("%g", rate) + ". Give --rate a positive number");
  }
  std::int64_t draws = at_least("vi", "draws", request.draws.value_or(4000), 4);
  select_device(request.device);
  fs::path folder = folder_of(request);
  check_places("vi", "fit", {folder, request.resume});
  Target target = problem.target(request.run.value_or(0));
  Gaussian start = start_at_mode(target, promising_starts(target, climbers, request.seed));
  VariationalFit fit(target,
                     {.family = family,
                      .draws = draws_per_iteration,
                      .optimizer = {.rate = Schedule::cosine(rate, rate / 100, 0, iterations)},
                      .seed = request.seed,
                      .start = start,
                      .units = start.factor},
                     path_negative_elbo(target.log_density));
  json settings = {{"problem", request.problem},
                   {"run", request.run.value_or(0)},
                   {"method", "variational"},
                   {"family", request.family},
                   {"iterations", iterations},
                   {"draws_per_iteration", draws_per_iteration},
                   {"rate", rate},
                   {"draws", draws},
                   {"seed", request.seed}};
  KeptWork kept = kept_fit({folder, request.resume}, settings);
  Fitted fitted = run_fit(fit, problem.name + " " + request.family, iterations, kept, progress);

  VariationalDraws drawn = fit.draw(fitted.state, draws);
  ChainDraws chain = chain_draws({drawn.draws});
  std::optional<MeasuredCurve> curve;
  if (problem.curve) curve = problem.curve(request.run.value_or(0));
  ToldDraws told = told_draws(chain, problem.weights, curve);
  double elbo = -to_doubles(fit.loss(fitted.state, draws))[0];
  double efficiency = weight_efficiency(drawn.log_weights);
  std::vector<std::string> warned = warnings(fitted.log);
  if (!(efficiency >= low_efficiency)) {
    warned.push_back(
        "The Gaussian is not the posterior: weighted by what the posterior says of them, " +
        std::to_string(draws) + " draws count for " +
        formatted("%.0f", efficiency * static_cast<double>(draws)) + ". Compare with `sturnus " +
        (problem.name == name_of(Experiment::lotka_volterra) ? "posterior " : "sample ") +
        problem.name + "`.");
  }
  json result = {{"sturnus", describe_program()},
                 {"device", default_device().description().text},
                 {"settings", settings},
                 {"draws", draws},
                 {"summary", describe_summary(told.rows)},
                 {"elbo", elbo},
                 {"weight_efficiency", efficiency},
                 {"warnings", warned},
                 {"chains", describe_shown(chain, told)}};
  if (problem.weights > 0) result["weights"] = {{"count", problem.weights}};
  result.update(describe_predictions(curve, chain, request.seed));
  result.update(describe(fitted));

  print_summary(out, told.rows);
  if (problem.weights > 0) out << weights_text(result.at("weights")) << '\n';
  print_end(out, fitted, warned);
  write_results(
      out, kept, fitted,
      {{folder / "result.json", [&](auto& path) { write_file(path, result.dump() + "\n"); }},
       {folder / "report.html",
        [&](auto& path) { write_file(path, variational_report_html(result, plotly_script())); }},
       {folder / "draws.nc", [&](auto& path) {
          write_inference_data(
              path, with_weights(inference_data_of(chain, curve, request.seed), drawn.log_weights));
        }}});
}

}  // namespace sturnus::app
