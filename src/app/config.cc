#include "src/app/config.h"

#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "src/app/json_reader.h"

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
                                                  {Factorization::full, "full"}};
const Names<Bandwidth> bandwidth_names = {{Bandwidth::median, "median"},
                                          {Bandwidth::scaled_median, "scaled_median"},
                                          {Bandwidth::silverman, "silverman"},
                                          {Bandwidth::scott, "scott"}};
const Names<OnDivergence> divergence_names = {
    {OnDivergence::drop, "drop"}, {OnDivergence::restart, "restart"}, {OnDivergence::stop, "stop"}};
const Names<DType> dtype_names = {{DType::f32, "f32"}, {DType::f64, "f64"}};

template <class Enum>
std::span<const std::pair<Enum, std::string>> span_of(const Names<Enum>& names) {
  return names;
}

// --- A schedule is a number, or an object
void read(JsonReader& parent, const std::string& key, Schedule& schedule) {
  if (!parent.has(key)) return;
  if (parent.at(key).is_number()) {
    schedule = Schedule(parent.at(key).get<double>());
    return;
  }
  JsonReader reader = parent.object(key);
  schedule = Schedule();
  reader.read("kind", schedule.kind, span_of(schedule_names));
  reader.read("value", schedule.value);
  reader.read("last", schedule.last);
  reader.read("begin", schedule.begin);
  reader.read("end", schedule.end);
  reader.read("warm_up", schedule.warm_up);
  if (reader.has("steps")) {
    const json& steps = reader.at("steps");
    for (const json& step : steps) {
      bool fits =
          step.is_array() && step.size() == 2 && step[0].is_number_integer() && step[1].is_number();
      if (!fits) {
        refuse(reader.path_of("steps"),
               step.dump() + " is not [iteration, value]: the value holds after the iteration");
      }
      schedule.steps.push_back({step[0].get<std::int64_t>(), step[1].get<double>()});
    }
  }
  reader.finish();
}

json to_json(const Schedule& schedule) {
  bool constant = schedule.kind == Schedule::Kind::steps && schedule.steps.empty();
  if (constant && schedule.warm_up == 0) return schedule.value;
  json result = {{"kind", name_in(schedule_names, schedule.kind)},
                 {"value", schedule.value},
                 {"warm_up", schedule.warm_up}};
  if (schedule.kind == Schedule::Kind::steps) {
    result["steps"] = json::array();
    for (const Schedule::Step& step : schedule.steps) {
      result["steps"].push_back({step.after, step.value});
    }
  } else {
    result["last"] = schedule.last;
    result["begin"] = schedule.begin;
    result["end"] = schedule.end;
  }
  return result;
}

// --- Parts of the ensemble
void read(JsonReader reader, Network& network) {
  reader.read("hidden", network.hidden);
  reader.read("activation", network.activation, span_of(activation_names));
  reader.read("initializer", network.initializer, span_of(initializer_names));
  reader.read("input_low", network.input_low);
  reader.read("input_high", network.input_high);
  reader.read("output_low", network.output_low);
  reader.read("output_high", network.output_high);
  reader.read("fourier_features", network.fourier_features);
  reader.read("fourier_scale", network.fourier_scale);
  reader.read("fourier_seed", network.fourier_seed);
  reader.finish();
}

json to_json(const Network& network) {
  return {{"hidden", network.hidden},
          {"activation", name_in(activation_names, network.activation)},
          {"initializer", name_in(initializer_names, network.initializer)},
          {"input_low", network.input_low},
          {"input_high", network.input_high},
          {"output_low", network.output_low},
          {"output_high", network.output_high},
          {"fourier_features", network.fourier_features},
          {"fourier_scale", network.fourier_scale},
          {"fourier_seed", network.fourier_seed}};
}

void read(JsonReader reader, Collocation& collocation) {
  reader.read("kind", collocation.kind, span_of(collocation_names));
  reader.read("points", collocation.points, 1);
  reader.read("resample_every", collocation.resample_every);
  reader.read("per_member", collocation.per_member);
  reader.read("candidates", collocation.candidates, 1);
  reader.read("power", collocation.power);
  reader.finish();
}

json to_json(const Collocation& collocation) {
  return {{"kind", name_in(collocation_names, collocation.kind)},
          {"points", collocation.points},
          {"resample_every", collocation.resample_every},
          {"per_member", collocation.per_member},
          {"candidates", collocation.candidates},
          {"power", collocation.power}};
}

void read(JsonReader reader, Optimizer& optimizer) {
  reader.read("method", optimizer.method, span_of(method_names));
  read(reader, "rate", optimizer.rate);
  reader.read("beta1", optimizer.beta1);
  reader.read("beta2", optimizer.beta2);
  reader.read("epsilon", optimizer.epsilon);
  reader.read("momentum", optimizer.momentum);
  reader.read("weight_decay", optimizer.weight_decay);
  double clip = optimizer.clip_norm.value_or(0);
  reader.read("clip_norm", clip);
  optimizer.clip_norm = clip == 0 ? std::nullopt : std::optional(clip);
  reader.finish();
}

json to_json(const Optimizer& optimizer) {
  return {{"method", name_in(method_names, optimizer.method)},
          {"rate", to_json(optimizer.rate)},
          {"beta1", optimizer.beta1},
          {"beta2", optimizer.beta2},
          {"epsilon", optimizer.epsilon},
          {"momentum", optimizer.momentum},
          {"weight_decay", optimizer.weight_decay},
          {"clip_norm", optimizer.clip_norm.value_or(0)}};
}

void read(JsonReader reader, Repulsion& repulsion) {
  reader.read("seen", repulsion.seen, span_of(seen_names));
  reader.read("factorization", repulsion.factorization, span_of(factorization_names));
  reader.read("bandwidth", repulsion.density.bandwidth, span_of(bandwidth_names));
  reader.read("leave_one_out", repulsion.density.leave_one_out);
  reader.read("block", repulsion.density.block);
  reader.read("weight", repulsion.weight);
  reader.read("start", repulsion.start);
  reader.read("points", repulsion.points);
  reader.finish();
}

json to_json(const Repulsion& repulsion) {
  json seen = json::array();
  for (Seen what : repulsion.seen) seen.push_back(name_in(seen_names, what));
  return {{"seen", seen},
          {"factorization", name_in(factorization_names, repulsion.factorization)},
          {"bandwidth", name_in(bandwidth_names, repulsion.density.bandwidth)},
          {"leave_one_out", repulsion.density.leave_one_out},
          {"block", repulsion.density.block},
          {"weight", repulsion.weight},
          {"start", repulsion.start},
          {"points", repulsion.points}};
}

// --- Data of one's own
void read(JsonReader& parent, const ExperimentData& like, std::optional<Samples>& measured) {
  if (!parent.has("data")) return;
  JsonReader reader = parent.object("data");
  Samples samples;
  samples.inputs = like.train.inputs;
  samples.outputs = like.train.outputs;
  reader.read("x", samples.x);
  reader.read("y", samples.y);
  reader.finish();
  std::string path = parent.path_of("data");
  samples.points = samples.x.size() / samples.inputs;
  if (samples.points == 0) refuse(path, "there are no points. Give x and y, row by row");
  if (samples.x.size() != samples.points * samples.inputs ||
      samples.y.size() != samples.points * samples.outputs) {
    refuse(path, std::to_string(samples.x.size()) + " numbers in x and " +
                     std::to_string(samples.y.size()) + " in y do not fit points of " +
                     std::to_string(samples.inputs) + " inputs with " +
                     std::to_string(samples.outputs) + " outputs");
  }
  measured = samples;
}

bool is_published(const std::string& variant) {
  const auto& names = published_variants();
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

RunConfig published_config(Experiment experiment, const std::string& variant) {
  RunConfig config;
  Training training = published_training(experiment, variant);
  config.experiment = experiment;
  config.variant = variant;
  config.ensemble = training.options;
  config.training.iterations = training.iterations;
  return config;
}

RunConfig config_from_json(const json& value) {
  JsonReader reader(value, "$");
  RunConfig config;
  if (!reader.has("experiment")) {
    refuse("$",
           "there is no \"experiment\". Say which equation is meant: exponential, "
           "oscillator, advection or lotka_volterra");
  }
  reader.read("experiment", config.experiment, span_of(experiment_names));
  reader.read("variant", config.variant);
  // A name of one's own is for choices that are spelled out.
  bool published = is_published(config.variant);
  if (!published && !value.contains("repulsion")) {
    refuse("$.variant", "\"" + config.variant +
                            "\" is none of the published variants, and no "
                            "\"repulsion\" says what it is");
  }
  std::string variant = config.variant;
  config = published_config(config.experiment, published ? variant : "full");
  config.variant = variant;
  reader.read("run", config.run);
  if (reader.has("data_seed") && !reader.at("data_seed").is_null()) {
    std::uint64_t seed = 0;
    reader.read("data_seed", seed);
    config.data_seed = seed;
  }
  if (reader.has("noise_sd") && !reader.at("noise_sd").is_null()) {
    double noise = 0;
    reader.read("noise_sd", noise);
    if (!(noise > 0)) refuse("$.noise_sd", std::to_string(noise) + " is not positive");
    config.noise_sd = noise;
  }
  reader.read("seed", config.ensemble.seed);
  reader.read("members", config.ensemble.members, 1);
  reader.read("iterations", config.training.iterations, 1);
  reader.read("chunk", config.training.chunk);
  reader.read("on_divergence", config.training.on_divergence, span_of(divergence_names));
  reader.read("dtype", config.ensemble.dtype, span_of(dtype_names));
  read(reader.object("network"), config.ensemble.network);
  read(reader.object("collocation"), config.ensemble.collocation);
  read(reader.object("optimizer"), config.ensemble.optimizer);
  read(reader, "residual_weight", config.ensemble.residual_weight);
  read(reader.object("repulsion"), config.ensemble.repulsion);
  if (!config.data_seed && config.run >= published_runs) {
    refuse("$.run", std::to_string(config.run) +
                        " is not a published run, which are 0 to 4. Give a data_seed for new data");
  }
  read(reader, data_of(config), config.measured);
  reader.finish();
  return config;
}

RunConfig config_from_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw Error("run: cannot read " + path.string());
  json value;
  try {
    value = json::parse(file, nullptr, true, true);
  } catch (const json::parse_error& error) {
    throw Error("run: " + path.string() + " is no JSON: " + error.what());
  }
  try {
    return config_from_json(value.contains("settings") ? value.at("settings") : value);
  } catch (const Error& error) {
    throw Error("run: " + path.string() + ": " + error.what());
  }
}

json to_json(const RunConfig& config) {
  json result = {{"experiment", name_of(config.experiment)},
                 {"variant", config.variant},
                 {"run", config.run},
                 {"data_seed", config.data_seed ? json(*config.data_seed) : json()},
                 {"noise_sd", config.noise_sd ? json(*config.noise_sd) : json()},
                 {"seed", config.ensemble.seed},
                 {"members", config.ensemble.members},
                 {"iterations", config.training.iterations},
                 {"chunk", config.training.chunk},
                 {"on_divergence", name_in(divergence_names, config.training.on_divergence)},
                 {"dtype", name_in(dtype_names, config.ensemble.dtype)},
                 {"network", to_json(config.ensemble.network)},
                 {"collocation", to_json(config.ensemble.collocation)},
                 {"optimizer", to_json(config.ensemble.optimizer)},
                 {"residual_weight", to_json(config.ensemble.residual_weight)},
                 {"repulsion", to_json(config.ensemble.repulsion)}};
  if (config.measured) result["data"] = {{"x", config.measured->x}, {"y", config.measured->y}};
  return result;
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
  return data;
}

}  // namespace sturnus::app
