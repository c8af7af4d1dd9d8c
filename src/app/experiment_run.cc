#include "src/app/experiment_run.h"

#include <sturnus/functional/doubles.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>
#include <sturnus/runtime/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include "src/app/part_file.h"
#include "src/app/progress.h"
#include "src/app/table.h"
#include "src/app/training_file.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double seconds_between_saves = 30;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Array points_of(const Samples& samples, DType dtype) {
  auto count = static_cast<std::int64_t>(samples.points);
  auto inputs = static_cast<std::int64_t>(samples.inputs);
  return array(samples.x, inputs == 1 ? Shape{count} : Shape{count, inputs}, dtype);
}

// Rows of the given members, as doubles.
Matrix rows_of(const Array& x, const std::vector<std::int64_t>& members) {
  std::vector<double> values = to_doubles(x);
  std::size_t columns = values.size() / static_cast<std::size_t>(x.shape()[0]);
  Matrix result(members.size(), columns);
  for (std::size_t i = 0; i < members.size(); i++) {
    for (std::size_t j = 0; j < columns; j++) {
      result(i, j) = values[static_cast<std::size_t>(members[i]) * columns + j];
    }
  }
  return result;
}

Predictions surviving_predictions(const Ensemble& ensemble, const EnsembleState& state,
                                  const ExperimentData& data) {
  std::vector<std::int64_t> members = surviving_members(state);
  if (members.empty()) {
    throw Error("run: all members diverged. Lower the learning rate, or clip gradients");
  }
  auto predict = [&](const Array& points) { return ensemble.predict(state, points); };
  return predictions_of(data, predict, state.members.lambda, members);
}

json to_json(const Matrix& matrix) {
  json result = json::array();
  for (std::size_t i = 0; i < matrix.rows; i++) {
    auto row = MatrixView(matrix).row(i);
    result.push_back(std::vector<double>(row.begin(), row.end()));
  }
  return result;
}

json to_json(const MeanSd& value) { return {{"mean", value.mean}, {"sd", value.sd}}; }

// Rows of `width` numbers.
json in_rows(const std::vector<double>& values, std::size_t width) {
  json result = json::array();
  for (std::size_t i = 0; i < values.size(); i += width) {
    result.push_back(std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(i),
                                         values.begin() + static_cast<std::ptrdiff_t>(i + width)));
  }
  return result;
}

json to_json(const Evaluation& scores) {
  json exact = json::array(), bands = json::array();
  for (const DistanceToExact& d : scores.exact) {
    exact.push_back({{"name", d.name},
                     {"w_f", d.w_f},
                     {"w_lambda", d.w_lambda},
                     {"floor_w_f", to_json(d.floor_w_f)},
                     {"floor_w_lambda", to_json(d.floor_w_lambda)}});
  }
  for (const BandScore& band : scores.bands_f) {
    bands.push_back({{"level", band.level}, {"coverage", band.coverage}, {"width", band.width}});
  }
  bool known = !scores.exact.empty();
  return {{"rmse", scores.rmse},
          {"logl_per_n", scores.logl_per_n.value},
          {"abs_dlambda", scores.abs_dlambda},
          {"logl_lambda", scores.logl_lambda.value},
          {"w_f", known ? json(scores.exact[0].w_f) : json()},
          {"w_lambda", known ? json(scores.exact[0].w_lambda) : json()},
          {"predictive_log_density", scores.predictive_log_density},
          {"crps_f", scores.crps_f},
          {"crps_lambda", scores.crps_lambda},
          {"spread_f", scores.predictive_spread.mean},
          {"bands", bands},
          {"exact", exact}};
}

// Densities of the parameters and quantiles of f, to draw.
json describe(const std::string& name, const ExactPosterior& posterior,
              const ExperimentData& data) {
  json lambda = json::array();
  for (std::size_t k = posterior.amplitudes(); k < posterior.names().size(); k++) {
    double mean = posterior.mean(k), sd = posterior.sd(k);
    std::vector<double> grid;
    for (int i = -100; i <= 100; i++) grid.push_back(mean + 0.05 * i * sd);
    lambda.push_back({{"name", posterior.names()[k]},
                      {"mean", mean},
                      {"sd", sd},
                      {"grid", grid},
                      {"density", posterior.density(k, grid)}});
  }
  // Of draws: to draw lines their quantiles are near enough, and come at once.
  Matrix f = posterior.predict(posterior.draws(5000, 2), data.plot.x);
  const std::vector<std::pair<std::string, double>> levels = {
      {"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}};
  json bands = {{"x", data.plot.x}};
  std::vector<double> column(f.rows);
  for (std::size_t j = 0; j < f.cols; j++) {
    for (std::size_t i = 0; i < f.rows; i++) column[i] = f(i, j);
    std::sort(column.begin(), column.end());
    for (const auto& [key, level] : levels) {
      bands[key].push_back(column[static_cast<std::size_t>(level * static_cast<double>(f.rows))]);
    }
  }
  return {{"name", name}, {"lambda", lambda}, {"bands", bands}};
}

json describe_lambda(const Matrix& draws, const ExperimentData& data) {
  json mean = json::array(), sd = json::array();
  std::vector<double> column(draws.rows);
  for (std::size_t p = 0; p < draws.cols; p++) {
    for (std::size_t i = 0; i < draws.rows; i++) column[i] = draws(i, p);
    MeanSd moments = mean_sd(column);
    mean.push_back(moments.mean);
    sd.push_back(moments.sd);
  }
  return {{"names", data.parameter_names},
          {"truth", data.parameters},
          {"mean", mean},
          {"sd", sd},
          {"draws", to_json(draws)}};
}

std::string number(const json& value) {
  return value.is_number() ? formatted("%.4g", value.get<double>()) : "-";
}

// The state to start from: fresh, or the one that was kept.
SavedTraining starting_point(const Ensemble& ensemble, const fs::path& kept, bool resume,
                             const json& settings) {
  SavedTraining start = {ensemble.init(), {}};
  return goes_on("run", kept, resume) ? load_training(kept, settings, start.state) : start;
}

}  // namespace

json describe_program() {
  const char* commit = std::getenv("STURNUS_COMMIT");
  return {{"version", version}, {"commit", commit != nullptr ? commit : "unknown"}};
}

json describe_run(const json& settings, const ExperimentData& data) {
  return {{"sturnus", describe_program()},
          {"device", default_device().description().text},
          {"settings", settings},
          {"data",
           {{"x", in_rows(data.train.x, data.train.inputs)},
            {"y", in_rows(data.train.y, data.train.outputs)},
            {"noise_sd", data.noise_sd},
            {"inputs", data.train.inputs},
            {"outputs", data.train.outputs}}}};
}

Predictions predictions_of(const ExperimentData& data,
                           const std::function<Array(const Array& points)>& predict,
                           const Array& lambda, const std::vector<std::int64_t>& members) {
  auto rows_at = [&](const Samples& samples) {
    return rows_of(predict(points_of(samples, lambda.dtype())), members);
  };
  return {rows_at(data.test), rows_at(data.plot), rows_of(lambda, members)};
}

json describe_results(const ExperimentData& data, const Predictions& predictions, bool exact) {
  json posteriors = json::array();
  bool has_phase = data.experiment == Experiment::oscillator;
  for (bool free_phase : {false, true}) {
    auto posterior = exact ? exact_posterior_of(data, free_phase) : std::nullopt;
    if (!posterior) continue;
    std::string name = !has_phase ? "exact" : free_phase ? "free_phase" : "fixed_phase";
    posteriors.push_back(describe(name, *posterior, data));
  }
  return {{"metrics", to_json(evaluate(data, predictions, {.exact = exact}))},
          {"lambda", describe_lambda(predictions.lambda, data)},
          {"predictions",
           {{"x", in_rows(data.plot.x, data.plot.inputs)},
            {"truth", in_rows(data.plot.truth, data.plot.outputs)},
            {"outputs", data.plot.outputs},
            {"members", to_json(predictions.plot)}}},
          {"exact", posteriors}};
}

json run(const RunConfig& config, const RunPlaces& places, std::ostream& progress) {
  ExperimentData data = data_of(config);
  Ensemble ensemble(problem_of(config), config.ensemble);
  json result = describe_run(to_json(config), data);
  fs::path kept = places.folder.empty() ? fs::path() : places.folder / "training.part";
  SavedTraining training = starting_point(ensemble, kept, places.resume, result["settings"]);
  Ensemble::CompileTime compile_time = ensemble.compile();

  std::int64_t resumed_at = training.state.iteration.item<std::int32_t>();
  std::string title = std::string(name_of(config.experiment)) + " " + config.variant + " run " +
                      std::to_string(config.run);
  Progress line(progress, title, config.training.iterations);
  InterruptGuard guard;
  auto last_save = Clock::now();
  auto save = [&] {
    if (kept.empty()) return;
    save_training(kept, result["settings"], training);
    last_save = Clock::now();
  };
  bool finished = true;
  try {
    train(ensemble, training.state, training.log, config.training,
          [&](const EnsembleState&, const TrainingLog& so_far) {
            std::int64_t now = so_far.records.back().iteration;
            line.show(now, so_far.seconds, describe(so_far, data.parameter_names));
            if (seconds_since(last_save) > seconds_between_saves) save();
            finished = now >= config.training.iterations;
            return !guard.interrupted();
          });
  } catch (const Error&) {
    save();
    throw;
  }
  line.finish();
  if (!finished) save();

  Predictions predictions = surviving_predictions(ensemble, training.state, data);
  result.update(describe_results(data, predictions, config.priors.empty()));
  std::int64_t iterations = training.state.iteration.item<std::int32_t>();
  json log_json = to_json(training.log);
  result["finished"] = finished;
  result["members"] = {{"count", config.ensemble.members},
                       {"surviving", surviving_members(training.state)},
                       {"divergences", log_json["divergences"]},
                       {"drift", parameter_drift(training.log, config.ensemble.members)}};
  result["timing"] = {
      {"lower_s", compile_time.lower},
      {"compile_s", compile_time.compile},
      {"ms_per_iteration", 1e3 * training.log.seconds / std::max<double>(1, iterations)},
      {"train_s", training.log.seconds},
      {"resumed_at", resumed_at}};
  result["history"] = std::move(log_json);
  if (places.folder.empty()) return result;
  try {
    write_file(places.folder / "result.json", result.dump() + "\n");
    if (finished) fs::remove(kept);
  } catch (const Error& error) {
    // The caller can still tell the scores, and --resume what was trained.
    log(LogLevel::warning, std::string("the result could not be written: ") + error.what());
    save();
  }
  return result;
}

void print_scores(std::ostream& out, const json& result) {
  const json& metrics = result.at("metrics");
  Table scores(
      {"RMSE", "logL/N", "|dlambda|", "logL lambda", "W(f)", "W(lambda)", "CRPS f", "log density"});
  std::vector<std::string> row;
  for (const char* name : {"rmse", "logl_per_n", "abs_dlambda", "logl_lambda", "w_f", "w_lambda",
                           "crps_f", "predictive_log_density"}) {
    row.push_back(number(metrics.at(name)));
  }
  scores.add(row);
  scores.print(out);

  const json& lambda = result.at("lambda");
  Table parameters({"parameter", "truth", "mean", "sd"});
  for (std::size_t p = 0; p < lambda.at("names").size(); p++) {
    parameters.add({lambda["names"][p], number(lambda["truth"][p]), number(lambda["mean"][p]),
                    number(lambda["sd"][p])});
  }
  out << '\n';
  parameters.print(out);

  if (!metrics.at("exact").empty()) {
    Table distances({"exact posterior", "W(f)", "floor", "W(lambda)", "floor"});
    for (const json& d : metrics.at("exact")) {
      distances.add({d.at("name"), number(d.at("w_f")), number(d.at("floor_w_f").at("mean")),
                     number(d.at("w_lambda")), number(d.at("floor_w_lambda").at("mean"))});
    }
    out << '\n';
    distances.print(out);
  }
  Table bands({"band", "holds the truth", "width"});
  for (const json& band : metrics.at("bands")) {
    bands.add({number(band.at("level")), number(band.at("coverage")), number(band.at("width"))});
  }
  out << '\n';
  bands.print(out);
}

void print_training(std::ostream& out, const json& result) {
  const json& members = result.at("members");
  for (const json& d : members.at("divergences")) {
    out << "member " << d.at("member") << " diverged at iteration " << d.at("iteration") << '\n';
  }
  const json& timing = result.at("timing");
  out << '\n'
      << number(timing.at("ms_per_iteration")) << " ms per iteration, lowered in "
      << number(timing.at("lower_s")) << " s, compiled in " << number(timing.at("compile_s"))
      << " s\n";
}

}  // namespace sturnus::app
