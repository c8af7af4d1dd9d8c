#include "src/app/experiment_run.h"

#include <sturnus/functional/doubles.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "src/app/chain_baseline.h"
#include "src/app/clock.h"
#include "src/app/member_draws.h"
#include "src/app/progress.h"
#include "src/app/table.h"
#include "src/app/training_file.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

constexpr double seconds_between_saves = 30;

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
  auto predict = [&](const Array& points) { return ensemble.predict(state, points); };
  return predictions_of(data, predict, ensemble.lambda(state), members);
}

json to_json(const MeanSd& value) { return {{"mean", value.mean}, {"sd", value.sd}}; }

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
  return {
      {"rmse", scores.rmse},
      {"logl_per_n", scores.logl_per_n.value},
      {"abs_dlambda", scores.abs_dlambda},
      {"logl_lambda", scores.logl_lambda.value},
      {"w_f", known ? json(scores.exact[0].w_f) : json()},
      {"w_lambda", known ? json(scores.exact[0].w_lambda) : json()},
      {"predictive_log_density", scores.predictive_log_density},
      {"crps_f", scores.crps_f},
      {"crps_lambda", scores.crps_lambda},
      {"spread_f", scores.predictive_spread.mean},
      {"skipped",
       {{"logl_per_n", scores.logl_per_n.skipped}, {"logl_lambda", scores.logl_lambda.skipped}}},
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
  return {{"name", name}, {"lambda", lambda}, {"bands", describe_bands(data.plot.x, f, 1)}};
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
          {"draws", in_rows(draws)}};
}

// Nobody knows the truth behind measurements of one's own: what compares with the published one is
// left out.
void leave_out_truth(json& result) {
  json& metrics = result["metrics"];
  for (const char* name : {"rmse", "logl_per_n", "abs_dlambda", "logl_lambda",
                           "predictive_log_density", "crps_f", "crps_lambda"}) {
    metrics[name] = nullptr;
  }
  for (json& band : metrics["bands"]) band["coverage"] = nullptr;
  for (json& parameter : result["lambda"]["truth"]) parameter = nullptr;
  result["predictions"]["truth"] = json::array();
}

// What of a schedule a training that ends at `end` does not reach; empty: all is reached.
// Iterations count from 0: the last is one before the end.
std::string not_reached(const Schedule& schedule, std::int64_t end) {
  if (schedule.kind != Schedule::Kind::steps) {
    if (schedule.end <= end) return "";
    return "is on its way until iteration " + std::to_string(schedule.end);
  }
  for (const Schedule::Step& step : schedule.steps) {
    if (step.after >= end - 1) return "has a step after iteration " + std::to_string(step.after);
  }
  return "";
}

void warn_of_what_is_not_reached(const RunConfig& config) {
  const EnsembleOptions& ensemble = config.ensemble;
  const Repulsion& repulsion = ensemble.repulsion;
  std::int64_t end = config.training.iterations, with_polish = end + config.training.polish;
  auto warn = [&](const std::string& what, const std::string& remedy) {
    log(LogLevel::warning, what + ", and the training ends at " + std::to_string(end) +
                               ". Give more --iterations, or " + remedy + " in a file");
  };
  bool repels = !repulsion.seen.empty();
  if (repels && repulsion.start >= end) {
    warn("members never repel each other: repulsion begins at iteration " +
             std::to_string(repulsion.start),
         "a smaller \"repulsion\": {\"start\": ...}");
  }
  struct Scheduled {
    const char* name;
    const Schedule& schedule;
    std::int64_t end;
  };
  for (const auto& [name, schedule, last] :
       {Scheduled{"optimizer.rate", ensemble.optimizer.rate, end},
        {"data_weight", ensemble.data_weight, with_polish},
        {"residual_weight", ensemble.residual_weight, with_polish},
        {"prior_weight", ensemble.prior_weight, with_polish},
        {"repulsion.weight", repulsion.weight, with_polish}}) {
    std::string missed = not_reached(schedule, last);
    if (!missed.empty()) warn(std::string(name) + " " + missed, "another schedule");
  }
  if (config.training.polish > 0 && ensemble.dtype == DType::f32) {
    log(LogLevel::warning,
        "the polish is in f32, whose rounding ends it before a minimum. Give \"dtype\": \"f64\"");
  }
}

// With the exact posteriors, if they are those of the priors in use and can be had: for data of
// one's own the quadrature may fail.
json scored(const ExperimentData& data, const Predictions& predictions, bool exact) {
  try {
    return describe_results(data, predictions, exact);
  } catch (const Error& error) {
    if (!exact) throw;
    log(LogLevel::warning,
        std::string("there is no exact posterior to compare with: ") + error.what());
    return describe_results(data, predictions, false);
  }
}

std::string number(const json& value) {
  return value.is_number() ? formatted("%.4g", value.get<double>()) : "-";
}

void print_divergences(std::ostream& out, const json& members) {
  for (const LostMember& lost : lost_members(members)) {
    out << "member " << lost.member << " diverged at iteration " << lost.iteration
        << (lost.is_dropped ? " and was dropped: scores are without it" : " and was begun anew")
        << '\n';
  }
}

// Whether those that survive have come to rest.
void print_drift(std::ostream& out, const json& members) {
  auto movement = movement_of(members);
  if (!movement) {
    out << "it is not known whether it has settled: too few records of the last two tenths of the "
           "training. Give at least 100 iterations, and no chunk, or a hundredth of them\n";
    return;
  }
  bool settled = movement->moving.empty() && movement->unknown.empty() && !movement->loss_moves();
  auto shown = [&](double drift) { return formatted("%.2g", movement->shown(drift)); };
  std::string of_all = " of " + std::to_string(movement->members) + " members by ";
  out << (settled ? "settled" : "not settled") << ": " << told_tenths << ", parameters moved by ";
  if (movement->known.empty()) {
    out << "what is not known";
  } else {
    out << "at most " << shown(movement->known.back()) << movement->unit();
    if (!movement->moving.empty()) {
      out << ", those of " << movement->moving.size() << of_all << "more than "
          << shown(movement->limit) << (movement->members > 1 ? "" : " %");
    }
    if (!movement->unknown.empty()) {
      out << ", those of " << movement->unknown.size() << of_all << "what is not known";
    }
  }
  out << ", and the loss by "
      << (std::isfinite(movement->loss) ? formatted("%+.1f", 100 * movement->loss) + " %"
                                        : "what is not known");
  if (!settled) out << ". More iterations may change the result";
  out << '\n';
}

// A record of a training that ended without a member: how it went, and nothing of what it found.
// It counts as unfinished, so that the next run begins anew.
[[noreturn]] void give_up(json result, const RunPlaces& places, const KeptWork& kept) {
  std::string what = "all " + result["members"]["count"].dump() + " members diverged:";
  for (const json& d : result["members"]["divergences"]) {
    if (what.size() > 200) {
      what += " ...";
      break;
    }
    what += " member " + d["member"].dump() + " at iteration " + d["iteration"].dump() + ",";
  }
  if (what.back() == ',') what.pop_back();
  const json& divergences = result["members"]["divergences"];
  bool at_once = std::all_of(divergences.begin(), divergences.end(),
                             [](const json& d) { return d.at("iteration") == 0; });
  std::string remedy = at_once ? ". No step was taken yet: scale the data, lower the weights, or "
                                 "give \"dtype\": \"f64\""
                               : ". Lower the learning rate, or clip gradients";
  result["finished"] = false;
  result["failed"] = what;
  for (const char* score :
       {"rmse", "logl_per_n", "abs_dlambda", "logl_lambda", "w_f", "w_lambda"}) {
    result["metrics"][score] = nullptr;
  }
  if (places.folder.empty()) throw AllDiverged(what, "run: " + what + remedy);
  std::filesystem::path file = places.folder / "result.json";
  try {
    write_file(file, result.dump() + "\n");
  } catch (const Error& error) {
    throw AllDiverged(
        what, "run: " + what + remedy + "; how it went could not be written: " + error.what());
  }
  kept.remove();
  throw AllDiverged(what, "run: " + what + remedy + "; " + file.string() +
                              " tells of each member. The next run begins anew");
}

// The number of each surviving member, and its loss by terms.
MemberStatistics loss_statistics(const Ensemble& ensemble, const EnsembleState& state) {
  std::vector<std::int64_t> members = surviving_members(state);
  LossTerms loss = ensemble.loss(state);
  MemberStatistics result = {{"member", {members.begin(), members.end()}}};
  using Term = std::pair<const char*, Array>;
  for (const auto& [name, term] :
       {Term("loss_data", loss.data()), Term("loss_residual", loss.residual()),
        Term("loss_prior", loss.prior()), Term("loss_repulsion", loss.repulsion())}) {
    std::vector<double> of_all = to_doubles(term), values;
    for (std::int64_t member : members) {
      values.push_back(of_all[static_cast<std::size_t>(member)]);
    }
    result.emplace_back(name, values);
  }
  return result;
}

}  // namespace

json describe_run(const json& settings, const ExperimentData& data) {
  return {{"sturnus", describe_program()},
          {"device", default_device().description().text},
          {"settings", settings},
          {"data", describe_data(data.train, data.noise_sd)}};
}

Predictions predictions_of(const ExperimentData& data,
                           const std::function<Array(const Array& points)>& predict,
                           const Array& lambda, const std::vector<std::int64_t>& members) {
  auto rows_at = [&](const Samples& samples) {
    return predicted_rows(samples, predict, lambda.dtype(), members);
  };
  return {rows_at(data.test), rows_at(data.plot), rows_of(lambda, members)};
}

Matrix predicted_rows(const Samples& samples,
                      const std::function<Array(const Array& points)>& predict, DType dtype,
                      const std::vector<std::int64_t>& members) {
  return rows_of(predict(points_of(samples, dtype)), members);
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
            {"members", in_rows(predictions.plot)}}},
          {"exact", posteriors}};
}

namespace {

json trained_and_scored(const RunConfig& config, const RunPlaces& places, std::ostream& progress,
                        const std::optional<ChainSettings>& against) {
  if (against) check_baseline(config, against->method);
  warn_of_what_is_not_reached(config);
  ExperimentData data = data_of(config);
  Ensemble ensemble(problem_of(config), config.ensemble);
  json result = describe_run(to_json(config), data);
  KeptWork kept = kept_training(places, result["settings"]);
  SavedTraining training = load_training(kept, ensemble);
  Ensemble::CompileTime compile_time = ensemble.compile();
  if (config.training.polish > 0) {
    Ensemble::CompileTime of_polish = ensemble.compile_polish();
    compile_time.lower += of_polish.lower;
    compile_time.compile += of_polish.compile;
  }

  std::int64_t resumed_at = training.state.iteration.item<std::int32_t>();
  std::string title = std::string(name_of(config.experiment)) + " " + config.variant + " run " +
                      std::to_string(config.run);
  if (config.data_seed) title += " of data seed " + std::to_string(*config.data_seed);
  std::int64_t end = config.training.iterations + config.training.polish;
  Progress line(progress, title, end);
  InterruptGuard guard;
  auto last_save = Clock::now();
  auto save = [&] {
    save_training(kept, training);
    last_save = Clock::now();
  };
  bool finished = true;
  try {
    train(ensemble, training.state, training.log, config.training,
          [&](const EnsembleState&, const TrainingLog& so_far) {
            std::int64_t now = so_far.records.back().iteration;
            line.show(now, so_far.seconds + so_far.polish_seconds,
                      app::describe(so_far, data.parameter_names));
            if (seconds_since(last_save) > seconds_between_saves) save();
            finished = now >= end;
            return !guard.interrupted();
          });
  } catch (const Error& error) {
    save();
    // An earlier file will do, where none can be written.
    if (places.folder.empty() || !std::filesystem::exists(kept.name())) throw;
    throw Error(std::string(error.what()) + "; " + kept.name() +
                " keeps what was done: remove it to begin anew");
  }
  line.finish();
  save();  // whatever becomes of the scores

  json log_json = app::to_json(training.log);
  std::int64_t steps = training.state.iteration.item<std::int32_t>();
  std::int64_t iterations = std::min(steps, config.training.iterations);
  std::vector<std::int64_t> surviving = surviving_members(training.state);
  auto drift = drift_of(training.log, config.ensemble.members, surviving);
  result["members"] = {{"count", config.ensemble.members},
                       {"surviving", surviving},
                       {"divergences", log_json["divergences"]},
                       {"drift", drift ? json(drift->parameters) : json()},
                       {"loss_drift", drift ? json(drift->loss) : json()}};
  auto ms_each = [](double seconds, std::int64_t count) {
    return 1e3 * seconds / std::max<double>(1, static_cast<double>(count));
  };
  result["timing"] = {{"lower_s", compile_time.lower},
                      {"compile_s", compile_time.compile},
                      {"ms_per_iteration", ms_each(training.log.seconds, iterations)},
                      {"train_s", training.log.seconds},
                      {"resumed_at", resumed_at}};
  if (config.training.polish > 0) {
    result["timing"]["polish_s"] = training.log.polish_seconds;
    result["timing"]["ms_per_polish_step"] =
        ms_each(training.log.polish_seconds, steps - iterations);
  }
  result["history"] = std::move(log_json);
  if (surviving.empty()) give_up(std::move(result), places, kept);

  Predictions predictions = surviving_predictions(ensemble, training.state, data);
  result.update(scored(data, predictions, config.priors.empty()));
  if (config.measured) leave_out_truth(result);
  result["finished"] = finished;
  auto written = [&](const std::function<void()>& write) {
    try {
      if (!places.folder.empty()) write();
      return true;
    } catch (const Error& error) {
      // The caller can still tell the scores, and --resume what was trained.
      log(LogLevel::warning, std::string("the result could not be written: ") + error.what());
      return false;
    }
  };
  auto write_result = [&] { write_file(places.folder / "result.json", result.dump() + "\n"); };
  bool complete =
      written([&] {
        write_result();
        auto predict = [&](const Array& points) {
          return ensemble.predict(training.state, points);
        };
        Matrix at_data = predicted_rows(data.train, predict, config.ensemble.dtype,
                                        surviving_members(training.state));
        write_inference_data(places.folder / "draws.nc",
                             member_draws(data, predictions.lambda, at_data, config.ensemble.seed,
                                          loss_statistics(ensemble, training.state)));
      }) &&
      finished;
  if (finished && against) {
    try {
      if (guard.interrupted()) throw Error("interrupted before they began. Go on with --resume");
      result["against"] = against_chains(config, data, predictions, *against, places, progress);
      for (const json& chains : result["against"]) complete = complete && chains.at("finished");
      complete = written(write_result) && complete;
    } catch (const Error& error) {
      // The ensemble is good without them, and --resume can try again.
      log(LogLevel::warning, std::string("there are no chains to compare with: ") + error.what());
      complete = false;
    }
  }
  if (complete) kept.remove();
  return result;
}

}  // namespace

json run(const RunConfig& config, const RunPlaces& places, std::ostream& progress,
         const std::optional<ChainSettings>& against) {
  try {
    return trained_and_scored(config, places, progress, against);
  } catch (const Error& error) {
    std::string what = error.what();
    bool full =
        what.find("RESOURCE_EXHAUSTED") != what.npos || what.find("Out of memory") != what.npos;
    if (!full) throw;
    throw Error(what + ". Give fewer members, points or widths");
  }
}

std::vector<LostMember> lost_members(const json& members) {
  std::vector<LostMember> all;
  if (!members.is_object()) return all;
  const json surviving = members.value("surviving", json::array());
  for (const json& divergence : members.value("divergences", json::array())) {
    std::int64_t member = divergence.value("member", std::int64_t{0});
    for (LostMember& before : all) {
      if (before.member == member) before.is_dropped = false;
    }
    bool survives = std::find(surviving.begin(), surviving.end(), member) != surviving.end();
    all.push_back({member, divergence.value("iteration", json()), !survives});
  }
  return all;
}

bool Movement::loss_moves() const { return !(std::abs(loss) <= settled_loss); }

std::optional<Movement> movement_of(const json& members) {
  if (!members.is_object()) return {};
  const json drift = members.value("drift", json());
  const json surviving = members.value("surviving", json::array());
  if (!drift.is_array() || surviving.empty()) return {};
  Movement result;
  result.members = surviving.size();
  result.limit = settled_parameters(static_cast<std::int64_t>(surviving.size()));
  result.loss = number_or_nan(members.value("loss_drift", json()));
  for (std::int64_t member : surviving) {
    auto i = static_cast<std::size_t>(member);
    double own = number_or_nan(i < drift.size() ? drift[i] : json());
    if (!std::isfinite(own)) {
      result.unknown.push_back(member);
      continue;
    }
    result.known.push_back(own);
    if (own > result.limit) result.moving.emplace_back(member, own);
  }
  std::sort(result.known.begin(), result.known.end());
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
  for (const auto& [name, title] :
       {std::pair("logl_per_n", "logL/N"), std::pair("logl_lambda", "logL lambda")}) {
    const json& skipped = metrics.at("skipped").at(name);
    if (skipped == 0) continue;
    out << "values that " << title << " leaves out, since all members agree on them: " << skipped
        << '\n';
  }
  if (!result.at("settings").value("data", json()).is_null()) {
    out << "The data are your own: no truth is known, and nothing is scored by one.\n";
  }

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
  if (result.contains("against")) print_baseline(out, result.at("against"));
  Table bands({"band", "holds the truth", "width"});
  for (const json& band : metrics.at("bands")) {
    bands.add({number(band.at("level")), number(band.at("coverage")), number(band.at("width"))});
  }
  out << '\n';
  bands.print(out);
}

void print_training(std::ostream& out, const json& result) {
  const json& members = result.at("members");
  print_divergences(out, members);
  print_drift(out, members);
  const json& timing = result.at("timing");
  out << '\n' << number(timing.at("ms_per_iteration")) << " ms per iteration, ";
  if (timing.contains("ms_per_polish_step")) {
    out << number(timing["ms_per_polish_step"]) << " ms per step of the polish, ";
  }
  out << "lowered in " << number(timing.at("lower_s")) << " s, compiled in "
      << number(timing.at("compile_s")) << " s\n";
}

}  // namespace sturnus::app
