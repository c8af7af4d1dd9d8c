#include "src/app/vi_network.h"

#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/inference/variational/network_variational.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <numeric>
#include <ostream>

#include "src/app/experiment_run.h"
#include "src/app/json_reader.h"
#include "src/app/member_draws.h"
#include "src/app/plotly_script.h"
#include "src/app/report.h"
#include "src/app/table.h"
#include "src/app/variational_run.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The published run.
constexpr int published_run = 3;

bool has_slip(const VariationalRequest& request) {
  using Choice = std::pair<std::string, bool>;
  const std::vector<Choice> divergences = {{"exact", false}, {"published", true}};
  return one_named("vi", "divergence", request.divergence, divergences, &Choice::first).second;
}

ChainDraws chain_of(const Matrix& lambda, const std::vector<std::string>& names) {
  ChainDraws chain = {.chains = 1, .draws = lambda.rows, .parameters = {}, .statistics = {}};
  for (std::size_t p = 0; p < names.size(); p++) {
    ParameterDraws draws = {names[p], {}, {}};
    for (std::size_t i = 0; i < lambda.rows; i++) draws.values.push_back(lambda(i, p));
    chain.parameters.push_back(draws);
  }
  return chain;
}

}  // namespace

void fit_network(std::ostream& out, std::ostream& progress, const VariationalRequest& request) {
  if (request.family != "mean_field") {
    refuse("vi", std::string(network_problem) + " has the family mean_field, but " +
                     request.family + " is asked for. Leave --family out");
  }
  NetworkVariationalOptions options = published_network_variational();
  options.published_slip = has_slip(request);
  options.fit.seed = request.seed;
  if (request.rate) {
    refuse("vi", std::string(network_problem) + " has the published rates, but --rate " +
                     formatted("%g", *request.rate) + " is given. Leave --rate out");
  }
  options.fit.draws = at_least("vi", "draws-per-iteration",
                               request.draws_per_iteration.value_or(options.fit.draws), 1);
  std::int64_t iterations = iterations_of(request, 20000);
  std::int64_t draws = at_least("vi", "draws", request.draws.value_or(100), 4);
  select_device(request.device);
  fs::path folder = folder_of(request);
  check_places("vi", "fit", {folder, request.resume});
  ExperimentData data = published_data(Experiment::oscillator, request.run.value_or(published_run));
  NetworkVariational network(problem_of(data), options);
  json settings = {{"problem", request.problem},
                   {"experiment", name_of(data.experiment)},
                   {"variant", "variational"},
                   {"run", request.run.value_or(published_run)},
                   {"method", "variational"},
                   {"family", request.family},
                   {"divergence", request.divergence},
                   {"iterations", iterations},
                   {"draws_per_iteration", options.fit.draws},
                   {"draws", draws},
                   {"seed", request.seed}};
  KeptWork kept = kept_fit({folder, request.resume}, settings);
  Fitted fitted = run_fit(network.fit(), request.problem, iterations, kept, progress);

  Member drawn = network.draw(fitted.state, draws);
  std::vector<std::int64_t> all(static_cast<std::size_t>(draws));
  std::iota(all.begin(), all.end(), 0);
  auto predict = [&](const Array& points) { return network.predict(drawn, points); };
  Predictions predictions = predictions_of(data, predict, drawn.lambda, all);
  ChainDraws chain = chain_of(predictions.lambda, data.parameter_names);
  std::vector<std::string> warned = warnings(fitted.log);
  json result = describe_run(settings, data);
  result.update(describe_results(data, predictions, true));
  result.update(describe(fitted));
  result["draws"] = draws;
  result["summary"] = describe_summary(summarize(chain));
  result["warnings"] = warned;

  print_scores(out, result);
  print_end(out, fitted, warned);
  write_results(
      out, kept, fitted,
      {{folder / "result.json", [&](auto& path) { write_file(path, result.dump() + "\n"); }},
       {folder / "draws.nc",
        [&](auto& path) {
          Matrix at_data = predicted_rows(data.train, predict, drawn.lambda.dtype(), all);
          write_inference_data(path, member_draws(data, predictions.lambda, at_data, request.seed));
        }},
       {folder / "report.html",
        [&](auto& path) { write_file(path, report_html(result, plotly_script())); }}});
}

}  // namespace sturnus::app
