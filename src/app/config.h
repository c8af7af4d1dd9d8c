// What `sturnus run` is asked to do: from a name, a JSON file and options.
#pragma once

#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/ensembles/training.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace sturnus::app {

/// One of the kinds of Prior by its numbers, of which a kind has some.
struct PriorSettings {
  enum class Kind { none, positive, uniform, normal, log_normal };

  Kind kind = Kind::none;
  double low = 0, high = 1, width = 0;
  double mean = 0, sd = 1;

  /// Throws Error when the numbers make no sense.
  Prior prior() const;
};

/// Where the equation is imposed: one bound per input.
struct Domain {
  std::vector<double> low, high;
};

/// All settings of a run. Equal settings give equal bits.
struct RunConfig {
  Experiment experiment = Experiment::oscillator;
  /// A published variant, or a name of one's own for other choices.
  std::string variant = "full";
  /// The data: a published run, 0 to 4, unless `data_seed` asks for new ones.
  std::int64_t run = 0;
  std::optional<std::uint64_t> data_seed = {};
  std::optional<double> noise_sd = {};
  /// Measurements of one's own for the experiment's equation.
  std::optional<Samples> measured = {};
  /// In place of the published one.
  std::optional<Domain> domain = {};
  /// In place of the published priors, by the parameters' names. Exact posteriors have the
  /// published ones, and are then not compared with.
  std::map<std::string, PriorSettings> priors = {};
  EnsembleOptions ensemble = {};
  TrainingOptions training = {};
};

/// "oscillator" and "damped_oscillator" are one. Throws Error with the nearest name.
Experiment experiment_named(const std::string& name);

/// The settings of one of variants_of(experiment). Throws Error for a variant that is none, with
/// those that there are and the nearest name.
RunConfig variant_config(Experiment experiment, const std::string& variant,
                         std::optional<std::int64_t> iterations = {});

/// The same settings for another variant: its repulsion, and of its iterations, learning rate and
/// weight of the equation those in which it differs from the variant that `config` has. What
/// `config` says of its own stays otherwise.
RunConfig with_variant(const RunConfig& config, const std::string& variant);

/// The same settings for another number of iterations: what the variant ties to that number
/// changes with it, unless `config` says otherwise.
RunConfig with_iterations(const RunConfig& config, std::int64_t iterations);

/// Settings from JSON, which start from the published ones of "experiment" and "variant".
/// Throws Error with the JSON path of what is wrong, which begins with that of `json` itself.
RunConfig config_from_json(const nlohmann::json& json, const std::string& path = "$");
/// The same from a file, which may hold a result.json: its settings are taken. Messages speak of
/// the `command` that reads it.
RunConfig config_from_file(const std::string& command, const std::filesystem::path& path);
/// The settings that the command line names: those of a file with `variant` and `iterations` over
/// them, or those of an experiment's variant. An empty variant: what the file says, or full.
RunConfig config_named(const std::string& command, const std::string& experiment_or_file,
                       const std::string& variant, std::optional<std::int64_t> iterations = {});
/// All settings; config_from_json gives them back.
nlohmann::json to_json(const RunConfig& config);

/// The data that the settings ask for.
ExperimentData data_of(const RunConfig& config);
/// The problem that these data pose, with the priors that the settings ask for.
Problem problem_of(const RunConfig& config);

}  // namespace sturnus::app
