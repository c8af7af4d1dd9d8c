#include "src/app/config.h"

#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/setting_error.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "src/app/json_reader.h"
#include "src/app/table.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

template <class Enum>
using Names = std::vector<std::pair<Enum, std::string>>;

template <class Enum>
std::string name_in(const Names<Enum>& names, Enum value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  throw Error("config: a value without a name");
}

// New data come from the legacy generator of NumPy, whose seeds have 32 bits.
constexpr std::uint64_t largest_data_seed = std::numeric_limits<std::uint32_t>::max();

const Names<Experiment> experiment_names = {{Experiment::exponential, "exponential"},
                                            {Experiment::oscillator, "oscillator"},
                                            {Experiment::oscillator, "damped_oscillator"},
                                            {Experiment::advection, "advection"},
                                            {Experiment::lotka_volterra, "lotka_volterra"}};
const Names<Activation> activation_names = {
    {Activation::tanh, "tanh"},       {Activation::sin, "sin"},
    {Activation::sigmoid, "sigmoid"}, {Activation::softplus, "softplus"},
    {Activation::relu, "relu"},       {Activation::gelu, "gelu"},
    {Activation::silu, "silu"}};
const Names<Initializer> initializer_names = {{Initializer::torch_linear, "torch_linear"},
                                              {Initializer::glorot, "glorot"},
                                              {Initializer::lecun, "lecun"}};
const Names<Collocation::Kind> collocation_names = {{Collocation::Kind::grid, "grid"},
                                                    {Collocation::Kind::uniform, "uniform"},
                                                    {Collocation::Kind::sobol, "sobol"},
                                                    {Collocation::Kind::adaptive, "adaptive"}};
const Names<Optimizer::Method> method_names = {{Optimizer::Method::adam, "adam"},
                                               {Optimizer::Method::adamw, "adamw"},
                                               {Optimizer::Method::sgd, "sgd"}};
const Names<Schedule::Kind> schedule_names = {{Schedule::Kind::steps, "steps"},
                                              {Schedule::Kind::cosine, "cosine"},
                                              {Schedule::Kind::exponential, "exponential"}};
const Names<Seen> seen_names = {
    {Seen::data_values, "data_values"},   {Seen::collocation_values, "collocation_values"},
    {Seen::point_values, "point_values"}, {Seen::data_gradients, "data_gradients"},
    {Seen::parameters, "parameters"},     {Seen::weights, "weights"}};
const Names<Factorization> factorization_names = {{Factorization::joint, "joint"},
                                                  {Factorization::blocks, "blocks"},
                                                  {Factorization::full, "full"},
                                                  {Factorization::correlated, "correlated"}};
const Names<Bandwidth> bandwidth_names = {{Bandwidth::median, "median"},
                                          {Bandwidth::scaled_median, "scaled_median"},
                                          {Bandwidth::silverman, "silverman"},
                                          {Bandwidth::scott, "scott"}};
const Names<OnDivergence> divergence_names = {
    {OnDivergence::drop, "drop"}, {OnDivergence::restart, "restart"}, {OnDivergence::stop, "stop"}};
const Names<DType> dtype_names = {{DType::f32, "f32"}, {DType::f64, "f64"}};

const Names<PriorSettings::Kind> prior_names = {{PriorSettings::Kind::none, "none"},
                                                {PriorSettings::Kind::positive, "positive"},
                                                {PriorSettings::Kind::uniform, "uniform"},
                                                {PriorSettings::Kind::normal, "normal"},
                                                {PriorSettings::Kind::log_normal, "log_normal"}};

// --- Each struct is described once, to a visitor that is called with the key and the value of each
// setting, then what else is known of it: the names of an enumeration, the smallest whole number,
// the numbers that make sense. One visitor reads JSON, the other writes it.

template <class Visitor>
void describe(Visitor& visit, Schedule& schedule, const Numbers& first = not_negative) {
  visit("kind", schedule.kind, schedule_names);
  visit("value", schedule.value, first);
  visit("warm_up", schedule.warm_up);
  if (schedule.kind == Schedule::Kind::steps) {
    visit("steps", schedule.steps);
  } else {
    visit("last", schedule.last, not_negative);
    visit("begin", schedule.begin);
    visit("end", schedule.end);
  }
}

template <class Visitor>
void describe(Visitor& visit, Network& network) {
  visit("hidden", network.hidden, 1);
  visit("activation", network.activation, activation_names);
  visit("initializer", network.initializer, initializer_names);
  visit("input_low", network.input_low);
  visit("input_high", network.input_high);
  visit("outputs", network.output_range);
  visit("fourier_features", network.fourier_features);
  visit("fourier_scale", network.fourier_scale, positive);
  visit("fourier_seed", network.fourier_seed);
}

template <class Visitor>
void describe(Visitor& visit, Collocation& collocation) {
  visit("kind", collocation.kind, collocation_names);
  visit("points", collocation.points, 1);
  visit("resample_every", collocation.resample_every);
  visit("per_member", collocation.per_member);
  visit("candidates", collocation.candidates, 1);
  visit("power", collocation.power, positive);
}

template <class Visitor>
void describe(Visitor& visit, Optimizer& optimizer) {
  visit("method", optimizer.method, method_names);
  visit("rate", optimizer.rate, positive);
  visit("beta1", optimizer.beta1, below_one);
  visit("beta2", optimizer.beta2, below_one);
  visit("epsilon", optimizer.epsilon, positive);
  visit("momentum", optimizer.momentum, below_one);
  visit("weight_decay", optimizer.weight_decay, not_negative);
  double clip = optimizer.clip_norm.value_or(0);
  visit("clip_norm", clip, not_negative);
  optimizer.clip_norm = clip == 0 ? std::nullopt : std::optional(clip);
}

template <class Visitor>
void describe(Visitor& visit, Repulsion& repulsion) {
  visit("seen", repulsion.seen, seen_names);
  visit("factorization", repulsion.factorization, factorization_names);
  visit("bandwidth", repulsion.density.bandwidth, bandwidth_names);
  visit("leave_one_out", repulsion.density.leave_one_out);
  visit("block", repulsion.density.block);
  visit("weight", repulsion.weight, not_negative);
  visit("start", repulsion.start);
  visit("points", repulsion.points);
}

// What L-BFGS does at the end.
struct Polish {
  std::int64_t& steps;
  Lbfgs& lbfgs;
};

template <class Visitor>
void describe(Visitor& visit, Polish& polish) {
  visit("steps", polish.steps);
  visit("history", polish.lbfgs.history, 1);
  visit("trials", polish.lbfgs.trials, 1);
}

template <class Visitor>
void describe(Visitor& visit, PriorSettings& prior) {
  using Kind = PriorSettings::Kind;
  visit("kind", prior.kind, prior_names);
  if (prior.kind == Kind::uniform) {
    visit("low", prior.low);
    visit("high", prior.high);
    visit("width", prior.width);
  }
  if (prior.kind == Kind::normal || prior.kind == Kind::log_normal) {
    visit("mean", prior.mean);
    visit("sd", prior.sd);
  }
}

template <class Visitor>
void describe(Visitor& visit, Samples& measured) {
  visit("x", measured.x);
  visit("y", measured.y);
}

template <class Visitor>
void describe(Visitor& visit, Domain& domain) {
  visit("low", domain.low);
  visit("high", domain.high);
}

template <class Visitor>
void describe(Visitor& visit, RunConfig& config) {
  EnsembleOptions& ensemble = config.ensemble;
  visit("experiment", config.experiment, experiment_names);
  visit("variant", config.variant);
  visit("run", config.run);
  visit("data_seed", config.data_seed, largest_data_seed);
  visit("noise_sd", config.noise_sd, positive);
  visit("data", config.measured);
  visit("domain", config.domain);
  visit("priors", config.priors);
  visit("seed", ensemble.seed);
  visit("members", ensemble.members, 1);
  visit("iterations", config.training.iterations, 1);
  visit("chunk", config.training.chunk);
  visit("on_divergence", config.training.on_divergence, divergence_names);
  visit("dtype", ensemble.dtype, dtype_names);
  visit("devices", ensemble.devices, 1);
  visit("network", ensemble.network);
  visit("collocation", ensemble.collocation);
  visit("optimizer", ensemble.optimizer);
  Polish polish = {config.training.polish, ensemble.lbfgs};
  visit("polish", polish);
  visit("data_weight", ensemble.data_weight, not_negative);
  visit("residual_weight", ensemble.residual_weight, not_negative);
  visit("prior_weight", ensemble.prior_weight, not_negative);
  visit("repulsion", ensemble.repulsion);
}

/// Overwrites those settings that an object of JSON has.
class Reader {
 public:
  explicit Reader(JsonReader& object) : object_(object) {}

  template <class T>
  void operator()(const std::string& key, T& value) {
    if constexpr (requires { object_.read(key, value); }) {
      object_.read(key, value);
    } else {
      JsonReader part = object_.object(key);
      Reader reader(part);
      describe(reader, value);
      part.finish();
    }
  }
  /// With what is known of it.
  template <class T, class Known>
  requires requires(JsonReader& object, T& value, const Known& known) {
    object.read("", value, known);
  }
  void operator()(const std::string& key, T& value, const Known& known) {
    object_.read(key, value, known);
  }
  template <class T, class Enum>
  void operator()(const std::string& key, T& value, const Names<Enum>& names) {
    object_.read(key, value, std::span<const std::pair<Enum, std::string>>(names));
  }
  // null: not set.
  template <class T, class... Known>
  void operator()(const std::string& key, std::optional<T>& value, const Known&... known) {
    if (!object_.has(key)) return;
    value.reset();
    if (!object_.at(key).is_null()) (*this)(key, value.emplace(), known...);
  }
  void operator()(const std::string& key, std::pair<double, double>& range) {
    std::vector<double> numbers;
    object_.read(key, numbers);
    if (numbers.size() != 2) {
      refuse(object_.path_of(key), object_.at(key).dump() + " is not [low, high]");
    }
    range = {numbers[0], numbers[1]};
  }
  template <class T>
  void operator()(const std::string& key, std::map<std::string, T>& values) {
    JsonReader parts = object_.object(key);
    if (!object_.has(key)) return;
    values.clear();
    Reader reader(parts);
    for (const auto& [name, part] : object_.at(key).items()) reader(name, values[name]);
  }
  // A number stays the same, an object changes.
  void operator()(const std::string& key, Schedule& schedule, const Numbers& first) {
    if (!object_.has(key)) return;
    schedule = Schedule();
    const json& found = object_.at(key);
    if (found.is_number()) {
      object_.read(key, schedule.value, first);
    } else if (!found.is_object()) {
      refuse_type(object_.path_of(key), found, "neither a number nor a schedule {...}");
    } else {
      JsonReader part = object_.object(key);
      Reader reader(part);
      describe(reader, schedule, first);
      part.finish();
    }
    schedule.check(object_.path_of(key).c_str());
  }
  void operator()(const std::string& key, std::vector<Schedule::Step>& steps) {
    if (!object_.has(key)) return;
    steps.clear();
    for (const json& step : object_.array_at(key)) {
      std::string path = element_path(object_.path_of(key), steps.size());
      if (!step.is_array() || step.size() != 2) {
        refuse(path,
               step.dump() + " is not [iteration, value]: the value holds after the iteration");
      }
      steps.push_back({whole_number_at(element_path(path, 0), step[0]),
                       number_at(element_path(path, 1), step[1], not_negative)});
    }
  }

 private:
  JsonReader& object_;
};

/// Collects settings in an object of JSON.
class Writer {
 public:
  template <class T, class... Known>
  void operator()(const std::string& key, T& value, const Known&... known) {
    object_[key] = written(value, known...);
  }
  template <class T>
  static json written(T& value) {
    if constexpr (std::is_constructible_v<json, T>) {
      return value;
    } else {
      Writer part;
      describe(part, value);
      return part.object_;
    }
  }

 private:
  template <class T>
  static json written(T& value, const Numbers& /*allowed*/) {
    return written(value);
  }
  template <class T>
  static json written(T& value, std::uint64_t /*limit*/) {
    return written(value);
  }
  template <class Enum>
  static json written(Enum value, const Names<Enum>& names) {
    return name_in(names, value);
  }
  template <class Enum>
  static json written(const std::vector<Enum>& values, const Names<Enum>& names) {
    json result = json::array();
    for (Enum value : values) result.push_back(name_in(names, value));
    return result;
  }
  template <class T>
  static json written(std::optional<T>& value) {
    return value ? written(*value) : json();
  }
  template <class T>
  static json written(std::map<std::string, T>& values) {
    json result = json::object();
    for (auto& [name, value] : values) result[name] = written(value);
    return result;
  }
  static json written(Schedule& schedule) {
    bool constant = schedule.kind == Schedule::Kind::steps && schedule.steps.empty();
    if (constant && schedule.warm_up == 0) return schedule.value;
    return written<Schedule>(schedule);
  }
  static json written(std::vector<Schedule::Step>& steps) {
    json result = json::array();
    for (const Schedule::Step& step : steps) result.push_back({step.after, step.value});
    return result;
  }

  json object_ = json::object();
};

// --- What no single setting can tell

void complete_measurements(Samples& measured, const ExperimentData& like, const std::string& path) {
  measured.inputs = like.train.inputs;
  measured.outputs = like.train.outputs;
  measured.points = measured.x.size() / measured.inputs;
  if (measured.points == 0) refuse(path, "there are no points. Give x and y, row by row");
  if (measured.x.size() != measured.points * measured.inputs ||
      measured.y.size() != measured.points * measured.outputs) {
    refuse(path, std::to_string(measured.x.size()) + " numbers in x and " +
                     std::to_string(measured.y.size()) + " in y do not fit points of " +
                     std::to_string(measured.inputs) + " inputs with " +
                     std::to_string(measured.outputs) + " outputs");
  }
}

// What the library finds wrong with settings, told with their path.
void check_at(const std::string& path, const std::function<void()>& check) {
  try {
    check();
  } catch (const SettingError& error) {
    refuse(path + "." + error.setting(), error.what());
  } catch (const Error& error) {
    refuse(path, error.what());
  }
}

// Settings of what is not there would change nothing.
void check_idle(const RunConfig& config, const std::string& path) {
  if (config.measured && config.data_seed) {
    refuse(path + ".data_seed",
           std::to_string(*config.data_seed) +
               " would make new data, but data are given. Leave one of them out");
  }
  const Lbfgs &chosen = config.ensemble.lbfgs, standard;
  if (config.training.polish > 0) return;
  const char* idle = chosen.history != standard.history ? "history"
                     : chosen.trials != standard.trials ? "trials"
                                                        : nullptr;
  if (idle == nullptr) return;
  refuse(path + ".polish." + idle,
         "there are no steps of polish. Give \"steps\", or leave this out");
}

void check_domain(const Domain& domain, const ExperimentData& like, const std::string& path) {
  std::size_t inputs = like.domain_low.size();
  if (domain.low.size() != inputs || domain.high.size() != inputs) {
    refuse(path, std::to_string(domain.low.size()) + " numbers in low and " +
                     std::to_string(domain.high.size()) +
                     " in high. Give one of each for each of " + std::to_string(inputs) +
                     " inputs");
  }
  for (std::size_t i = 0; i < inputs; i++) {
    if (domain.low[i] < domain.high[i]) continue;
    refuse(path, "input " + std::to_string(i) + " ranges from " + formatted("%g", domain.low[i]) +
                     " to " + formatted("%g", domain.high[i]) + ". Give low below high");
  }
}

// Predictions are stored over all of it, where it has one input; else where the scores are taken.
// Of one's own measurements no truth is known.
void set_domain(ExperimentData& data, const Domain& domain, bool has_truth) {
  data.domain_low = domain.low;
  data.domain_high = domain.high;
  if (domain.low.size() != 1) return;
  for (std::size_t i = 0; i < data.plot.points; i++) {
    double part = static_cast<double>(i) / static_cast<double>(data.plot.points - 1);
    data.plot.x[i] = domain.low[0] + part * (domain.high[0] - domain.low[0]);
  }
  data.plot.truth =
      has_truth ? exact_solution(data.experiment, data.plot.x) : std::vector<double>();
}

void check_priors(const std::map<std::string, PriorSettings>& priors,
                  const std::vector<std::string>& parameters, const std::string& path) {
  for (const auto& [name, prior] : priors) {
    if (std::find(parameters.begin(), parameters.end(), name) == parameters.end()) {
      refuse_unknown(path, "parameter", name, parameters);
    }
    check_at(path + "." + name, [&prior = prior] { prior.prior(); });
  }
}

bool is_known(Experiment experiment, const std::string& variant) {
  std::vector<std::string> names = variants_of(experiment);
  return std::find(names.begin(), names.end(), variant) != names.end();
}

}  // namespace

Experiment experiment_named(const std::string& name) {
  std::vector<std::string> names;
  std::string listed;
  for (const auto& [experiment, known] : experiment_names) {
    if (known == name) return experiment;
    names.push_back(known);
    listed += (listed.empty() ? "" : ", ") + known;
  }
  std::string near = nearest_name(name, names);
  throw Error("there is no experiment and no file \"" + name + "\"; there are " + listed +
              (near.empty() ? "" : ". Did you mean " + near + "?"));
}

RunConfig variant_config(Experiment experiment, const std::string& variant,
                         std::optional<std::int64_t> iterations) {
  bool known = std::any_of(all_experiments.begin(), all_experiments.end(),
                           [&](Experiment any) { return is_known(any, variant); });
  if (!known) {
    refuse_unknown(std::string(name_of(experiment)), "variant", variant, variants_of(experiment));
  }
  RunConfig config;
  Training training = training_of(experiment, variant, iterations);
  config.experiment = experiment;
  config.variant = variant;
  config.ensemble = training.options;
  config.training.iterations = training.iterations;
  return config;
}

RunConfig with_variant(const RunConfig& config, const std::string& variant) {
  bool known = is_known(config.experiment, config.variant);
  const json before = to_json(variant_config(config.experiment, known ? config.variant : "full"));
  const json chosen = to_json(variant_config(config.experiment, variant));
  json settings = to_json(config);
  for (const char* key : {"variant", "repulsion"}) settings[key] = chosen[key];
  for (const char* place : {"/iterations", "/optimizer/rate", "/residual_weight"}) {
    json::json_pointer at(place);
    if (chosen[at] != before[at]) settings[at] = chosen[at];
  }
  return config_from_json(settings);
}

RunConfig with_iterations(const RunConfig& config, std::int64_t iterations) {
  std::string variant = is_known(config.experiment, config.variant) ? config.variant : "full";
  const json before =
      to_json(variant_config(config.experiment, variant, config.training.iterations));
  const json after = to_json(variant_config(config.experiment, variant, iterations));
  json settings = to_json(config);
  settings["iterations"] = iterations;
  for (const char* place : {"/optimizer/rate", "/residual_weight"}) {
    json::json_pointer at(place);
    if (settings[at] == before[at]) settings[at] = after[at];
  }
  return config_from_json(settings);
}

RunConfig config_from_json(const json& value, const std::string& path) {
  JsonReader object(value, path);
  Reader reader(object);
  RunConfig config;
  if (!object.has("experiment")) {
    refuse(path,
           "there is no \"experiment\". Say which equation is meant: exponential, "
           "oscillator, advection or lotka_volterra");
  }
  const json::json_pointer method("/optimizer/method");
  if (value.contains(method) && value.at(method) == "lbfgs") {
    refuse(path + ".optimizer.method",
           "L-BFGS is for the end of a training, where nothing is noisy. Give \"polish\": "
           "{\"steps\": 200} beside an optimizer");
  }
  reader("experiment", config.experiment, experiment_names);
  reader("variant", config.variant);
  // A name of one's own is for choices that are spelled out.
  bool known = is_known(config.experiment, config.variant);
  if (!known && !value.contains("repulsion")) {
    refuse_unknown(path + ".variant", "\"repulsion\" that says what it is, and no variant",
                   config.variant, variants_of(config.experiment));
  }
  reader("iterations", config.training.iterations, 1);
  std::optional<std::int64_t> iterations;
  if (value.contains("iterations")) iterations = config.training.iterations;
  config = variant_config(config.experiment, known ? config.variant : "full", iterations);
  describe(reader, config);
  object.finish();
  if (!config.data_seed && config.run >= published_runs) {
    refuse(path + ".run",
           std::to_string(config.run) +
               " is not a published run, which are 0 to 4. Give a data_seed for new data");
  }
  check_idle(config, path);
  ExperimentData like = published_data(config.experiment, 0);
  if (config.measured) complete_measurements(*config.measured, like, path + ".data");
  check_priors(config.priors, like.parameter_names, path + ".priors");
  if (config.domain) check_domain(*config.domain, like, path + ".domain");
  Problem problem;
  check_at(path + ".domain", [&] { problem = problem_of(config); });
  const EnsembleOptions& ensemble = config.ensemble;
  check_at(path + ".data", [&] { problem.check(); });
  check_at(path + ".network", [&] { network_for(problem, ensemble.network).check(); });
  check_at(path + ".collocation", [&] { ensemble.collocation.check(problem.inputs()); });
  check_at(path + ".optimizer", [&] { ensemble.optimizer.check(); });
  check_at(path, [&] { ensemble.check(problem); });
  return config;
}

RunConfig config_from_file(const std::string& command, const std::filesystem::path& path) {
  auto text = read_file_if_there(path);
  if (!text) throw Error(command + ": cannot read " + path.string());
  try {
    json value = parse_settings(*text);
    if (value.contains("settings")) return config_from_json(value.at("settings"), "$.settings");
    return config_from_json(value);
  } catch (const NoJson& error) {
    throw Error(command + ": " + path.string() + " is no JSON: " + error.what());
  } catch (const Error& error) {
    throw Error(command + ": " + path.string() + ": " + error.what());
  }
}

RunConfig config_named(const std::string& command, const std::string& experiment_or_file,
                       const std::string& variant, std::optional<std::int64_t> iterations) {
  if (!std::filesystem::is_regular_file(experiment_or_file)) {
    return variant_config(experiment_named(experiment_or_file), variant.empty() ? "full" : variant,
                          iterations);
  }
  RunConfig config = config_from_file(command, experiment_or_file);
  if (!variant.empty()) config = with_variant(config, variant);
  return iterations ? with_iterations(config, *iterations) : config;
}

json to_json(const RunConfig& config) {
  RunConfig copy = config;
  return Writer::written(copy);
}

Prior PriorSettings::prior() const {
  switch (kind) {
    case Kind::none:
      return {};
    case Kind::positive:
      return Prior::positive();
    case Kind::uniform:
      return Prior::uniform(low, high, width);
    case Kind::normal:
      return Prior::normal(mean, sd);
    case Kind::log_normal:
      return Prior::log_normal(mean, sd);
  }
  throw Error("config: a prior of no kind");
}

ExperimentData data_of(const RunConfig& config) {
  ExperimentData data;
  if (config.data_seed) {
    DataOptions options;
    options.seed = static_cast<std::uint32_t>(*config.data_seed);
    options.run = static_cast<int>(config.run);
    options.noise_sd = config.noise_sd;
    data = make_data(config.experiment, options);
  } else {
    data = published_data(config.experiment, static_cast<int>(config.run));
  }
  if (config.noise_sd) data.noise_sd = *config.noise_sd;
  if (config.measured) {
    data.train = *config.measured;
    data.train.truth.clear();
  }
  if (config.domain) set_domain(data, *config.domain, !config.measured);
  return data;
}

Problem problem_of(const RunConfig& config) {
  Problem problem = sturnus::problem_of(data_of(config));
  for (Parameter& parameter : problem.parameters) {
    auto chosen = config.priors.find(parameter.name);
    if (chosen != config.priors.end()) parameter.prior = chosen->second.prior();
  }
  return problem;
}

}  // namespace sturnus::app
