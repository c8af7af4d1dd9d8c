#include "src/app/chain_baseline.h"

#include <sturnus/inference/posteriors/advection_posterior.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "src/app/chain_run.h"
#include "src/app/result_parts.h"
#include "src/app/sampled_problems.h"
#include "src/app/table.h"
#include "src/app/tempering.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

// As many draws are kept to make densities of.
constexpr std::size_t kept_draws = 1000;

// A posterior that the data have, and what its draws say of f.
struct Aim {
  std::string name, problem;
  Target target;
  std::optional<MeasuredCurve> curve;                // of a function of time
  std::function<Matrix(const ChainDraws& draws)> f;  // at the plot points
};

Aim aim_at_curve(const ExperimentData& data, const std::string& name, bool free_phase = false) {
  CurvePosterior posterior = curve_posterior(data, free_phase);
  MeasuredCurve curve = posterior.curve;
  std::string problem = (free_phase ? "free_phase_" : "") + std::string(name_of(data.experiment));
  return {name, problem, posterior.target, curve,
          [=](const ChainDraws& draws) { return curves(curve, draws, data.plot.x); }};
}

// All curves of as many draws as this are a hundred megabytes.
constexpr std::size_t advection_draws = 4000;

Aim aim_at_advection(const ExperimentData& data) {
  return {"posterior",
          std::string(name_of(data.experiment)),
          advection_posterior(data.train, data.noise_sd),
          {},
          [=](const ChainDraws& draws) {
            std::size_t count = std::min(advection_draws, draws.chains * draws.draws);
            return advection_curves(rows_of(draws, count), data.plot);
          }};
}

std::vector<Aim> aims_of(const ExperimentData& data) {
  if (data.experiment == Experiment::advection) return {aim_at_advection(data)};
  if (data.experiment != Experiment::oscillator) return {aim_at_curve(data, "posterior")};
  return {aim_at_curve(data, "fixed_phase"), aim_at_curve(data, "free_phase", true)};
}

// All draws of one parameter.
std::vector<double> draws_of(const ChainDraws& draws, const std::string& name) {
  for (const ParameterDraws& parameter : draws.parameters) {
    if (parameter.name == name) return parameter.values;
  }
  throw Error("against_chains: the chains have no parameter " + name);
}

Matrix lambda_of(const ChainDraws& draws, const std::vector<std::string>& names) {
  Matrix lambda(draws.chains * draws.draws, names.size());
  for (std::size_t k = 0; k < names.size(); k++) {
    std::vector<double> values = draws_of(draws, names[k]);
    for (std::size_t i = 0; i < lambda.rows; i++) lambda(i, k) = values[i];
  }
  return lambda;
}

json describe_lambda(const std::string& name, const std::vector<double>& values,
                     const json& summary) {
  std::vector<double> kept;
  std::size_t stride = (values.size() + kept_draws - 1) / kept_draws;
  for (std::size_t i = 0; i < values.size(); i += stride) kept.push_back(values[i]);
  const json& row = summary.at(name);
  return {{"name", name}, {"mean", row.at("mean")}, {"sd", row.at("sd")}, {"draws", kept}};
}

json compared(const ChainRun& run, const Aim& aim, const ExperimentData& data,
              const Predictions& ensemble) {
  Matrix f = aim.f(run.draws);
  json result = describe_distance(ensemble.plot, f, ensemble.lambda,
                                  lambda_of(run.draws, data.parameter_names));
  json lambda = json::array();
  for (const std::string& name : data.parameter_names) {
    lambda.push_back(describe_lambda(name, draws_of(run.draws, name), run.result.at("summary")));
  }
  result.update(describe_worst(run.rows));
  result.update({{"method", run.result.at("settings").at("method")},
                 {"divergences", run.result.at("divergences").at("draws")},
                 {"finished", run.result.at("finished")},
                 {"warnings", run.result.at("warnings")},
                 {"timing", run.result.at("timing")},
                 {"lambda", lambda}});
  // Bands are drawn along a curve.
  if (aim.curve) result["bands"] = describe_bands(data.plot.x, f, data.plot.outputs);
  return result;
}

json against_tempering(const ExperimentData& data, const Predictions& ensemble, std::uint64_t seed,
                       const RunPlaces& places, std::ostream& progress) {
  DrawnPosterior posterior =
      tempered(data, {.seed = seed},
               places.folder.empty() ? places.folder : places.folder / "tempering.json", progress);
  const json& summary = posterior.about.at("summary");
  json result = distance_to(posterior, ensemble.plot, ensemble.lambda), lambda = json::array();
  for (std::size_t k = 0; k < posterior.lambda.cols; k++) {
    std::vector<double> values;
    for (std::size_t i = 0; i < posterior.lambda.rows; i++) {
      values.push_back(posterior.lambda(i, k));
    }
    lambda.push_back(describe_lambda(data.parameter_names[k], values, summary));
  }
  result.update(describe_worst(summary));
  result.update({{"method", "tempering"},
                 {"name", "posterior"},
                 {"divergences", nullptr},
                 {"finished", true},
                 {"warnings", posterior.about.at("warnings")},
                 {"timing", {{"sampling_s", posterior.about.at("seconds")}}},
                 {"lambda", lambda},
                 {"bands", describe_bands(data.plot.x, posterior.f, data.plot.outputs)}});
  return result;
}

}  // namespace

void check_baseline(const RunConfig& config, const std::string& method) {
  std::string experiment(name_of(config.experiment));
  if (method == "tempering") check_tempering("run", config.experiment);
  if (!config.priors.empty()) {
    throw Error("run: chains of " + experiment +
                " know the published priors, but the settings have others for " +
                config.priors.begin()->first + ". Leave --against out");
  }
}

json against_chains(const RunConfig& config, const ExperimentData& data,
                    const Predictions& ensemble, const ChainSettings& settings,
                    const RunPlaces& places, std::ostream& progress) {
  if (settings.method == "tempering") {
    return {against_tempering(data, ensemble, settings.seed, places, progress)};
  }
  json result = json::array();
  const std::vector<Aim> aims = aims_of(data);
  for (const Aim& aim : aims) {
    json about = {{"problem", aim.problem},
                  {"run", config.run},
                  {"data", describe_data(data.train, data.noise_sd)}};
    RunPlaces beside = places;
    if (!beside.folder.empty()) {
      beside.folder /= settings.method + (aims.size() == 1 ? "" : "-" + aim.name);
    }
    progress << settings.method << " of " << aim.problem << '\n';
    PosteriorToSample to_sample = {
        .name = aim.problem, .target = aim.target, .curve = aim.curve, .about = about};
    to_sample.starts = starts_for(data);
    ChainSettings suited = settings_for(sampled_problem("run", aim.problem, {}), settings);
    ChainRun run = run_chains(to_sample, suited, beside, progress);
    json described = compared(run, aim, data, ensemble);
    described["name"] = aim.name;
    result.push_back(described);
    if (!described.at("finished").get<bool>()) break;  // interrupted
  }
  return result;
}

void print_baseline(std::ostream& out, const json& against) {
  auto number = [](const json& value, const char* format) -> std::string {
    if (!value.is_number()) return "-";
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), format, value.get<double>());
    return std::string(buffer);
  };
  Table distances({"posterior", "W(f)", "floor", "W(lambda)", "floor", "largest R-hat",
                   "least bulk ESS", "divergent"});
  for (const json& d : against) {
    distances.add({d.at("method").get<std::string>() + " " + d.at("name").get<std::string>(),
                   number(d.at("w_f"), "%.4g"), number(d.at("floor_w_f").at("mean"), "%.4g"),
                   number(d.at("w_lambda"), "%.4g"),
                   number(d.at("floor_w_lambda").at("mean"), "%.4g"), number(d.at("rhat"), "%.3f"),
                   number(d.at("ess_bulk"), "%.0f"), number(d.at("divergences"), "%.0f")});
  }
  out << '\n';
  distances.print(out);
  for (const json& d : against) {
    for (const json& sentence : d.at("warnings")) {
      out << "Warning: " << d.at("name").get<std::string>() << ": " << sentence.get<std::string>()
          << '\n';
    }
  }
}

}  // namespace sturnus::app
