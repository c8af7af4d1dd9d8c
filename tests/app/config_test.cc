#include "src/app/config.h"

#include <gtest/gtest.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(Config, SettingsSurviveJson) {
  for (Experiment experiment : all_experiments) {
    for (const std::string& variant : published_variants()) {
      json first = to_json(variant_config(experiment, variant));
      EXPECT_EQ(to_json(config_from_json(first)), first) << first;
    }
  }
}

// Other than the default, all of them; of an optimiser what adamw has.
json everything_changed() {
  return {{"experiment", "lotka_volterra"},
          {"variant", "mine"},
          {"run", 7},
          {"data_seed", 3},
          {"noise_sd", 0.5},
          {"seed", 11},
          {"members", 3},
          {"iterations", 17},
          {"chunk", 5},
          {"on_divergence", "restart"},
          {"dtype", "f64"},
          {"devices", 3},
          {"network",
           {{"hidden", {4, 5}},
            {"activation", "gelu"},
            {"initializer", "lecun"},
            {"input_low", {-1.0}},
            {"input_high", {2.0}},
            {"outputs", {-3.0, 4.0}},
            {"fourier_features", 6},
            {"fourier_scale", 0.5},
            {"fourier_seed", 9}}},
          {"collocation",
           {{"kind", "adaptive"},
            {"points", 12},
            {"resample_every", 4},
            {"per_member", true},
            {"candidates", 40},
            {"power", 1.5}}},
          {"optimizer",
           {{"method", "adamw"},
            {"rate",
             {{"kind", "cosine"},
              {"value", 0.1},
              {"last", 0.01},
              {"begin", 0},
              {"end", 9},
              {"warm_up", 3}}},
            {"beta1", 0.8},
            {"beta2", 0.9},
            {"epsilon", 1e-6},
            {"momentum", 0.0},
            {"weight_decay", 0.1},
            {"clip_norm", 2.0}}},
          {"polish", {{"steps", 8}, {"history", 5}, {"trials", 9}}},
          {"data_weight", 0.5},
          {"residual_weight",
           {{"kind", "steps"}, {"value", 2.0}, {"steps", {{5, 3.0}, {9, 4.0}}}, {"warm_up", 0}}},
          {"prior_weight",
           {{"kind", "exponential"},
            {"value", 2.0},
            {"last", 0.5},
            {"begin", 1},
            {"end", 7},
            {"warm_up", 0}}},
          {"repulsion",
           {{"seen", {"weights", "point_values"}},
            {"factorization", "joint"},
            {"bandwidth", "scott"},
            {"leave_one_out", true},
            {"block", 2},
            {"weight", {{"kind", "steps"}, {"value", 0.3}, {"steps", {{6, 1.0}}}, {"warm_up", 2}}},
            {"start", 4},
            {"points", {0.5, 1.5}}}},
          {"priors",
           {{"alpha", {{"kind", "uniform"}, {"low", 1.0}, {"high", 3.0}, {"width", 0.5}}},
            {"beta", {{"kind", "normal"}, {"mean", 2.0}, {"sd", 0.5}}},
            {"gamma", {{"kind", "log_normal"}, {"mean", -1.0}, {"sd", 2.0}}},
            {"delta", {{"kind", "none"}}}}},
          {"data", {{"x", {1.0, 99.0}}, {"y", {1.0, 2.0, 3.0, 4.0}}}},
          {"domain", {{"low", {-5.0}}, {"high", {100.0}}}}};
}

TEST(Config, EverySettingCanBeChanged) {
  json changed = everything_changed();
  changed["data"] = nullptr;  // not beside data that are made, which begin at 0
  changed["domain"]["low"] = {0.0};
  EXPECT_EQ(to_json(config_from_json(changed)), changed);
  for (const char* own : {"data", "domain"}) changed[own] = everything_changed()[own];
  changed["data_seed"] = nullptr;
  changed["run"] = 2;
  EXPECT_EQ(to_json(config_from_json(changed)), changed);
  changed["optimizer"].update(
      {{"method", "sgd"}, {"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}, {"momentum", 0.5}});
  EXPECT_EQ(to_json(config_from_json(changed)), changed);
}

TEST(Config, ADomainTakesDataBeyondThePublishedOne) {
  json settings = {{"experiment", "exponential"}, {"domain", {{"low", {0}}, {"high", {40}}}}};
  ExperimentData data = data_of(config_from_json(settings));
  EXPECT_EQ(data.domain_high, std::vector<double>{40});
  EXPECT_EQ(data.plot.x.front(), 0);
  EXPECT_EQ(data.plot.x.back(), 40);
  EXPECT_DOUBLE_EQ(data.plot.truth.back(), std::exp(12));
  settings["data"] = {{"x", {-3, 30}}, {"y", {1, 2}}};
  settings["domain"]["low"] = {-3};
  RunConfig config = config_from_json(settings);
  EXPECT_EQ(problem_of(config).low, std::vector<double>{-3});
  EXPECT_TRUE(data_of(config).plot.truth.empty());
  Ensemble ensemble(problem_of(config), config.ensemble);
  EXPECT_EQ(ensemble.options().network.input_high, std::vector<double>{40});
}

// What a variant ties to the number of iterations changes with it; what is said stays.
TEST(Config, IterationsMoveTheSchedulesOfTheirVariant) {
  auto steps = [](const RunConfig& config) {
    return to_json(config).at("residual_weight").at("steps");
  };
  json settings = {{"experiment", "exponential"}, {"variant", "full"}, {"iterations", 200}};
  RunConfig short_one = config_from_json(settings);
  EXPECT_EQ(steps(short_one), json({{150, 10.0}, {180, 25.0}}));
  EXPECT_EQ(steps(with_iterations(short_one, 10000)), json({{7500, 10.0}, {9000, 25.0}}));
  EXPECT_EQ(to_json(with_iterations(variant_config(Experiment::oscillator, "correlated"), 77)),
            to_json(variant_config(Experiment::oscillator, "correlated", 77)));
  settings["residual_weight"] = {{"steps", {{7, 2}}}};
  EXPECT_EQ(steps(with_iterations(config_from_json(settings), 5000)), json({{7, 2.0}}));
}

// Whatever tells one variant from another is taken.
TEST(Config, ChangesFromAnyVariantToAnyOther) {
  for (Experiment experiment : all_experiments) {
    for (const std::string& before : variants_of(experiment)) {
      for (const std::string& chosen : variants_of(experiment)) {
        EXPECT_EQ(to_json(with_variant(variant_config(experiment, before), chosen)),
                  to_json(variant_config(experiment, chosen)))
            << before << " -> " << chosen;
      }
    }
  }
}

TEST(Config, KeepsItsOwnSettingsUnderAnotherVariant) {
  json own = {{"experiment", "oscillator"},
              {"variant", "mine"},
              {"members", 6},
              {"iterations", 17},
              {"residual_weight", 7.0},
              {"optimizer", {{"rate", 0.5}, {"beta1", 0.8}}},
              {"repulsion", {{"seen", {"weights"}}, {"bandwidth", "scott"}}}};
  json expected = to_json(config_from_json(own));
  expected["variant"] = "lambda";
  expected["repulsion"] = to_json(variant_config(Experiment::oscillator, "lambda"))["repulsion"];
  EXPECT_EQ(to_json(with_variant(config_from_json(own), "lambda")), expected);

  json correlated = to_json(variant_config(Experiment::oscillator, "correlated"));
  expected["variant"] = "correlated";
  for (const char* key : {"repulsion", "iterations", "residual_weight"}) {
    expected[key] = correlated[key];
  }
  expected["optimizer"]["rate"] = correlated["optimizer"]["rate"];
  EXPECT_EQ(to_json(with_variant(config_from_json(own), "correlated")), expected);
}

TEST(Config, NamesTheVariantsThatThereAre) {
  auto message = [](Experiment experiment, const char* variant) -> std::string {
    try {
      variant_config(experiment, variant);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(Experiment::oscillator, "corelated"),
            "oscillator: there is no variant \"corelated\"; there are none, f, lambda, joint, "
            "factorized, full, correlated. Did you mean \"correlated\"?");
  EXPECT_EQ(message(Experiment::advection, "fall"),
            "advection: there is no variant \"fall\"; there are none, f, lambda, joint, "
            "factorized, full. Did you mean \"full\"?");
  EXPECT_NE(message(Experiment::advection, "correlated").find("no finite number of constants"),
            std::string::npos);
}

struct BadConfig {
  const char* settings;
  const char* message;
};

// The first cells of the rows of all tables of a page, and what stands beside each.
std::map<std::string, std::string> rows_of_tables(const std::string& page) {
  std::map<std::string, std::string> rows;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    std::size_t end = line.find(" | "), next = line.find(" | ", end + 1);
    std::string names = line.substr(2, end - 2);
    for (std::size_t i = 0; (i = names.find('`', i)) != names.npos;) {
      std::size_t close = names.find('`', i + 1);
      rows[names.substr(i + 1, close - i - 1)] = line.substr(end + 3, next - end - 3);
      i = close + 1;
    }
  }
  return rows;
}

// All keys, by their path but for those of schedules and priors, which stand once.
void for_each_key(const json& settings, const std::string& path,
                  const std::function<void(const std::string&, const json&)>& see) {
  for (const auto& [key, value] : settings.items()) {
    std::string place = path.empty() ? key : path + "." + key;
    see(place, value);
    if (key == "priors") {
      for (const json& prior : value) for_each_key(prior, "", see);
    } else if (value.is_object()) {
      for_each_key(value, value.contains("warm_up") ? "" : place, see);
    }
  }
}

TEST(Config, EverySettingStandsInItsPageWithItsDefault) {
  auto rows = rows_of_tables(read_file(std::getenv("STURNUS_SETTINGS_PAGE")));
  for_each_key(everything_changed(), "", [&](const std::string& place, const json& value) {
    bool is_group = value.is_object() && !value.contains("warm_up") && place != "priors" &&
                    place != "data" && place != "domain";
    EXPECT_EQ(rows.count(place), is_group ? 0u : 1u) << place;
  });
  json defaults = to_json(variant_config(Experiment::oscillator, "full"));
  defaults.erase("residual_weight");  // whose steps are not those of any schedule
  for_each_key(defaults, "", [&](const std::string& place, const json& value) {
    std::string said = rows[place];
    std::replace(said.begin(), said.end(), '`', '"');
    json parsed = json::parse(said, nullptr, false);
    EXPECT_TRUE(parsed.is_discarded() || parsed == value) << place << ": " << value;
  });
}

// What would silently do nothing.
TEST(Config, RefusesSettingsThatChangeNothing) {
  struct Idle {
    const char* settings;
    const char* path;
  };
  for (const Idle& idle : {
           Idle{R"({"collocation": {"kind": "adaptive"}})", "$.collocation.resample_every: "},
           Idle{R"({"collocation": {"resample_every": 5}})", "$.collocation.resample_every: "},
           Idle{R"({"collocation": {"candidates": 50}})", "$.collocation.candidates: "},
           Idle{R"({"network": {"fourier_scale": 2}})", "$.network.fourier_scale: "},
           Idle{R"({"network": {"fourier_seed": 2}})", "$.network.fourier_seed: "},
           Idle{R"({"polish": {"history": 3}})", "$.polish.history: "},
           Idle{R"({"polish": {"trials": 3}})", "$.polish.trials: "},
           Idle{R"({"data_seed": 3, "data": {"x": [0, 1], "y": [1, 2]}})", "$.data_seed: "},
           Idle{R"({"collocation": {"kind": "sobol", "power": 3}})", "$.collocation.power: "},
           Idle{R"({"repulsion": {"points": [1]}})", "$.repulsion.points: "},
           Idle{R"({"repulsion": {"seen": ["point_values"], "points": [26]}})",
                "$.repulsion.points: "},
           Idle{R"({"repulsion": {"seen": ["parameters", "parameters"]}})", "$.repulsion.seen: "},
           Idle{R"({"variant": "correlated", "repulsion": {"bandwidth": "scott"}})",
                "$.repulsion.bandwidth: "},
           Idle{R"({"variant": "correlated", "repulsion": {"leave_one_out": true}})",
                "$.repulsion.leave_one_out: "},
           Idle{R"({"variant": "correlated", "repulsion": {"block": 5}})", "$.repulsion.block: "},
           Idle{R"({"optimizer": {"momentum": 0.9}})", "$.optimizer.momentum: "},
           Idle{R"({"optimizer": {"method": "sgd", "beta1": 0.5}})", "$.optimizer.beta1: "},
           Idle{R"({"optimizer": {"method": "sgd", "beta2": 0.5}})", "$.optimizer.beta2: "},
           Idle{R"({"optimizer": {"method": "sgd", "epsilon": 1}})", "$.optimizer.epsilon: "},
       }) {
    json settings = json::parse(idle.settings);
    settings["experiment"] = "oscillator";
    try {
      config_from_json(settings);
      ADD_FAILURE() << "was taken: " << settings;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind(idle.path, 0), 0u) << error.what();
    }
  }
}

class BadConfigTest : public testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigTest, SaysWhereAndWhat) {
  try {
    config_from_json(json::parse(GetParam().settings));
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Config, BadConfigTest,
    testing::Values(
        BadConfig{R"([1])", "$: [1] is not an object {...}"},
        BadConfig{R"({})",
                  "$: there is no \"experiment\". Say which equation is meant: exponential, "
                  "oscillator, advection or lotka_volterra"},
        BadConfig{R"({"experiment": "oscilator"})",
                  "$.experiment: \"oscilator\" is none of exponential, oscillator, "
                  "damped_oscillator, advection, lotka_volterra. Did you mean \"oscillator\"?"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"learning_rate": 1}})",
                  "$.optimizer: there is no setting \"learning_rate\"; there are method, rate, "
                  "beta1, beta2, epsilon, momentum, weight_decay, clip_norm"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"rat": 1}})",
                  "$.optimizer: there is no setting \"rat\"; there are method, rate, beta1, beta2, "
                  "epsilon, momentum, weight_decay, clip_norm. Did you mean \"rate\"?"},
        BadConfig{R"({"experiment": "oscillator", "members": "many"})",
                  "$.members: \"many\" is not a whole number"},
        BadConfig{R"({"experiment": "oscillator", "members": 0})",
                  "$.members: 0 is too small. Give at least 1"},
        BadConfig{R"({"experiment": "oscillator", "variant": "mine"})",
                  "$.variant: there is no \"repulsion\" that says what it is, and no variant "
                  "\"mine\"; there are none, f, lambda, joint, factorized, full, correlated. "
                  "Did you mean \"none\"?"},
        BadConfig{R"({"experiment": "advection", "variant": "factorised"})",
                  "$.variant: there is no \"repulsion\" that says what it is, and no variant "
                  "\"factorised\"; there are none, f, lambda, joint, factorized, full. Did you "
                  "mean \"factorized\"?"},
        BadConfig{
            R"({"experiment": "oscillator", "run": 5})",
            "$.run: 5 is not a published run, which are 0 to 4. Give a data_seed for new data"},
        BadConfig{R"({"experiment": "oscillator", "noise_sd": 0})",
                  "$.noise_sd: 0 makes no sense. Give a number that is positive"},
        BadConfig{R"({"experiment": "oscillator", "data_seed": 4294967296})",
                  "$.data_seed: 4294967296 is too large. Give at most 4294967295"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"beta1": 2}})",
                  "$.optimizer.beta1: 2 makes no sense. Give a number that is at least 0 and below "
                  "1"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"beta2": -0.5}})",
                  "$.optimizer.beta2: -0.5 makes no sense. Give a number that is at least 0 and "
                  "below 1"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"momentum": 1}})",
                  "$.optimizer.momentum: 1 makes no sense. Give a number that is at least 0 and "
                  "below 1"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"epsilon": 0}})",
                  "$.optimizer.epsilon: 0 makes no sense. Give a number that is positive"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"weight_decay": -1}})",
                  "$.optimizer.weight_decay: -1 makes no sense. Give a number that is at least 0"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"clip_norm": -1}})",
                  "$.optimizer.clip_norm: -1 makes no sense. Give a number that is at least 0"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"rate": 0}})",
                  "$.optimizer.rate: 0 makes no sense. Give a number that is positive"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"rate": {"value": -0.1}}})",
                  "$.optimizer.rate.value: -0.1 makes no sense. Give a number that is positive"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"method": "adm"}})",
                  "$.optimizer.method: \"adm\" is none of adam, adamw, sgd. Did you mean "
                  "\"adam\"?"},
        BadConfig{
            R"({"experiment": "oscillator", "optimizer": {"method": "lbfgs"}})",
            "$.optimizer.method: L-BFGS is for the end of a training, where nothing is noisy. "
            "Give \"polish\": {\"steps\": 200} beside an optimizer"},
        BadConfig{R"({"experiment": "oscillator", "polish": {"steps": 9, "history": 0}})",
                  "$.polish.history: 0 is too small. Give at least 1"},
        BadConfig{R"({"experiment": "oscillator", "polish": {"steps": -1}})",
                  "$.polish.steps: -1 is too small. Give at least 0"},
        BadConfig{R"({"experiment": "oscillator", "residual_weight": -1})",
                  "$.residual_weight: -1 makes no sense. Give a number that is at least 0"},
        BadConfig{R"({"experiment": "oscillator", "residual_weight": {"steps": null}})",
                  "$.residual_weight.steps: null is not a list [...]"},
        BadConfig{R"({"experiment": "oscillator", "residual_weight": {"steps": [[5, 1], [3, 2]]}})",
                  "$.residual_weight: the step after iteration 3 stands behind that after 5. Give "
                  "steps in order, one for each iteration"},
        BadConfig{
            R"({"experiment": "oscillator", "residual_weight": {"steps": [[5, 1], [6, -2]]}})",
            "$.residual_weight.steps[1][1]: -2 makes no sense. Give a number that is at least "
            "0"},
        BadConfig{R"({"experiment": "oscillator", "residual_weight": {"steps": [[1.5, 1]]}})",
                  "$.residual_weight.steps[0][0]: 1.5 is not a whole number"},
        BadConfig{
            R"({"experiment": "oscillator", "residual_weight":
                      {"kind": "cosine", "last": 1, "begin": 7, "end": 5}})",
            "$.residual_weight: a schedule ends at iteration 5, which is not after its begin, "
            "7"},
        BadConfig{R"({"experiment": "oscillator", "repulsion": {"weight": -1}})",
                  "$.repulsion.weight: -1 makes no sense. Give a number that is at least 0"},
        BadConfig{R"({"experiment": "oscillator", "repulsion": {"seen": ["point_values"]}})",
                  "$.repulsion.points: Ensemble: repulsion at points, of which 0 numbers are "
                  "given. Give 1 for each point"},
        BadConfig{R"({"experiment": "oscillator", "network": {"hidden": [20, 0]}})",
                  "$.network.hidden[1]: 0 is too small. Give at least 1"},
        BadConfig{
            R"({"experiment": "oscillator", "network": {"outputs": [2, 1]}})",
            "$.network: Network: outputs range from 2.000000 to 1.000000. The lower bound must "
            "be below the upper one"},
        BadConfig{R"({"experiment": "oscillator", "network": {"fourier_scale": 0}})",
                  "$.network.fourier_scale: 0 makes no sense. Give a number that is positive"},
        BadConfig{R"({"experiment": "oscillator", "collocation": {"points": -3}})",
                  "$.collocation.points: -3 is too small. Give at least 1"},
        BadConfig{R"({"experiment": "oscillator", "collocation": {"power": 0}})",
                  "$.collocation.power: 0 makes no sense. Give a number that is positive"},
        BadConfig{
            R"({"experiment": "oscillator", "collocation":
                      {"kind": "adaptive", "points": 50, "candidates": 20}})",
            "$.collocation: Collocation: 50 adaptive points of 20 candidates, power 2.000000. "
            "Give more candidates than points, and a positive power"},
        BadConfig{R"({"experiment": "oscillator", "members": 1})",
                  "$.members: Ensemble: repulsion with 1 member, which has nobody to keep away "
                  "from. Give more members or the variant none"},
        BadConfig{R"({"experiment": "oscillator", "variant": "correlated", "members": 5})",
                  "$.members: Ensemble: 5 members, of each of which the correlated density sees 4 "
                  "numbers. Give at least 6, or let it see less"},
        BadConfig{R"({"experiment": "oscillator", "members": 4, "devices": 3})",
                  "$.devices: Ensemble: 4 members on 3 devices. Give a number of devices that "
                  "divides the number of members"},
        BadConfig{R"({"experiment": "oscillator", "domain": {"low": [0], "high": [0]}})",
                  "$.domain: input 0 ranges from 0 to 0. Give low below high"},
        BadConfig{
            R"({"experiment": "oscillator", "domain": {"low": [0]}})",
            "$.domain: 1 numbers in low and 0 in high. Give one of each for each of 1 inputs"},
        BadConfig{R"({"experiment": "oscillator", "domain": {"low": [-1], "high": [30]}})",
                  "$.domain: exact_solution: time -1.000000 of point 0 is outside [0, 10000]. Give "
                  "times after the start."},
        BadConfig{
            R"({"experiment": "oscillator", "prior_weight": {"value": 1, "steps": [[3, -1]]}})",
            "$.prior_weight.steps[0][1]: -1 makes no sense. Give a number that is at least "
            "0"},
        BadConfig{R"({"experiment": "oscillator", "data": {"x": [99], "y": [1]}})",
                  "$.data: problem oscillator: measurement 0 lies at 99.000000, outside the domain "
                  "from 0.000000 to 25.000000. Leave it out, or widen the domain"},
        BadConfig{R"({"experiment": "oscillator", "network": {"hidden": [20, "a"]}})",
                  "$.network.hidden[1]: \"a\" is not a whole number"},
        BadConfig{R"({"experiment": "oscillator", "repulsion": {"seen": ["lambda"]}})",
                  "$.repulsion.seen[0]: \"lambda\" is none of data_values, collocation_values, "
                  "point_values, data_gradients, parameters, weights"},
        BadConfig{
            R"({"experiment": "oscillator", "residual_weight": {"steps": [[1]]}})",
            "$.residual_weight.steps[0]: [1] is not [iteration, value]: the value holds after the "
            "iteration"},
        BadConfig{
            R"({"experiment": "oscillator", "residual_weight": {"kind": "cosine", "steps": []}})",
            "$.residual_weight: there is no setting \"steps\"; there are kind, value, warm_up, "
            "last, begin, end"},
        BadConfig{R"({"experiment": "oscillator", "iterations": 3000000000})",
                  "$.iterations: 3000000000 is too large. Give at most 2147483647"},
        BadConfig{R"({"experiment": "oscillator", "iterations": 18446744073709551615})",
                  "$.iterations: 18446744073709551615 is too large. Give at most 2147483647"},
        BadConfig{R"({"experiment": "oscillator", "optimizer": {"rate": "fast"}})",
                  "$.optimizer.rate: \"fast\" is neither a number nor a schedule {...}"},
        BadConfig{R"({"experiment": "oscillator", "prior_weight": null})",
                  "$.prior_weight: null is neither a number nor a schedule {...}"},
        BadConfig{R"({"experiment": "oscillator", "residual_weight": [1]})",
                  "$.residual_weight: [1] is neither a number nor a schedule {...}"},
        BadConfig{R"({"experiment": "oscillator", "members": 70000})",
                  "$.members: Ensemble: 70000 members, whose pairs a median bandwidth ranks. Give "
                  "at most 65536, or the bandwidth silverman or scott"},
        BadConfig{
            R"({"experiment": "oscillator", "network": {"hidden": [2000000000, 2000000000]}})",
            "$.network.hidden: Network: 2000000000 x 2000000000 weights between neighbouring "
            "layers. Give widths whose product is at most 2147483647"},
        BadConfig{R"({"experiment": "oscillator", "network": {"fourier_features": 2000000000}})",
                  "$.network.fourier_features: Network: 4000000000 x 20 weights between "
                  "neighbouring layers. Give widths whose product is at most 2147483647"},
        BadConfig{R"({"experiment": "oscillator", "data": {"x": [1, 2], "y": [1, 1e300]}})",
                  "$.data: Ensemble: measurement 1 is 1e+300, whose square f32 does not hold. "
                  "Scale the data, or give \"dtype\": \"f64\""},
        BadConfig{R"({"experiment": "oscillator", "noise_sd": 1e200, "dtype": "f64"})",
                  "$.noise_sd: Ensemble: the noise has standard deviation 1e+200, whose square f64 "
                  "does not hold. Scale the data"},
        BadConfig{R"({"experiment": "oscillator", "chunk": 1.5})",
                  "$.chunk: 1.5 is not a whole number"},
        BadConfig{R"({"experiment": "oscillator", "seed": -1})",
                  "$.seed: -1 is not a whole number that is not negative"},
        BadConfig{R"({"experiment": "oscillator", "network": [20, 20]})",
                  "$.network: [20,20] is not an object {...}"},
        BadConfig{R"({"experiment": "oscillator", "network": {"outputs": [1]}})",
                  "$.network.outputs: [1] is not [low, high]"},
        BadConfig{R"({"experiment": "oscillator", "network": {"outputs": 1}})",
                  "$.network.outputs: 1 is not a list [...]"},
        BadConfig{R"({"experiment": "oscillator", "collocation": {"per_member": 1}})",
                  "$.collocation.per_member: 1 is not true or false"},
        BadConfig{R"({"experiment": "oscillator", "priors": {"omga": {"kind": "positive"}}})",
                  "$.priors: there is no parameter \"omga\"; there are omega, zeta. Did you mean "
                  "\"omega\"?"},
        BadConfig{R"({"experiment": "oscillator", "priors": {"zeta": {"kind": "beta"}}})",
                  "$.priors.zeta.kind: \"beta\" is none of none, positive, uniform, normal, "
                  "log_normal"},
        BadConfig{
            R"({"experiment": "oscillator", "priors": {"zeta": {"kind": "normal", "low": 1}}})",
            "$.priors.zeta: there is no setting \"low\"; there are kind, mean, sd"},
        BadConfig{
            R"({"experiment": "oscillator", "priors": {"zeta": {"kind": "normal", "sd": 0}}})",
            "$.priors.zeta: Prior::normal: the standard deviation is 0.000000. It must be "
            "positive and finite"},
        BadConfig{R"({"experiment": "oscillator", "data": {"x": [], "y": []}})",
                  "$.data: there are no points. Give x and y, row by row"},
        BadConfig{R"({"experiment": "oscillator", "data": {"x": [1, 2], "y": [1]}})",
                  "$.data: 2 numbers in x and 1 in y do not fit points of 1 inputs with 1 outputs"},
        BadConfig{R"({"experiment": "oscillator", "data": {"x": [1, "b"], "y": [1, 2]}})",
                  "$.data.x[1]: \"b\" is not a number"}));

TEST(Config, UnknownExperimentGetsTheNearestName) {
  try {
    experiment_named("lotka");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no experiment and no file \"lotka\""),
              std::string::npos);
  }
  EXPECT_EQ(experiment_named("damped_oscillator"), Experiment::oscillator);
}

TEST(Config, PriorsReplaceThePublishedOnes) {
  RunConfig config = config_from_json(
      {{"experiment", "oscillator"}, {"priors", {{"zeta", {{"kind", "normal"}, {"sd", 0.5}}}}}});
  Problem problem = problem_of(config);
  ASSERT_EQ(problem.parameters[1].name, "zeta");
  Array x = array({-1});
  EXPECT_EQ(to_doubles(problem.parameters[0].prior.penalty(x)), std::vector<double>{1000});
  EXPECT_EQ(to_doubles(problem.parameters[1].prior.penalty(x)), std::vector<double>{2});
}

// Without a range the data have one; that of the network itself can be asked for.
TEST(Config, AGivenRangeOfOutputsCountsAsSet) {
  json settings = {{"experiment", "oscillator"}, {"network", {{"outputs", {-1, 1}}}}};
  auto range_of = [](const RunConfig& config) {
    return Ensemble(problem_of(config), config.ensemble).options().network.output_range.value();
  };
  EXPECT_EQ(range_of(config_from_json(settings)), std::pair(-1.0, 1.0));
  settings["network"]["outputs"] = json();
  RunConfig config = config_from_json(settings);
  const std::vector<double> y = data_of(config).train.y;
  EXPECT_EQ(range_of(config), std::pair(*std::min_element(y.begin(), y.end()),
                                        *std::max_element(y.begin(), y.end())));
}

TEST(Config, AFileThatIsNoJsonIsRefused) {
  fs::path file = fs::path(testing::TempDir()) / "config_test.json";
  auto refusal = [&] {
    try {
      config_from_file("run", file);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  auto message = [&](const char* text) {
    write_file(file, text);
    return refusal();
  };
  std::string start = "run: " + file.string();
  EXPECT_EQ(message("{").rfind(start + " is no JSON: ", 0), 0u);
  EXPECT_EQ(message("").rfind(start + " is no JSON: ", 0), 0u);
  EXPECT_EQ(message(R"({"experiment": "oscillator", "noise_sd": 1e999})"),
            start + " is no JSON: $.noise_sd: number overflow parsing '1e999'");
  EXPECT_EQ(message(R"({"network": {"hidden": [1, [2]]}, "data": {"x": [1, 2], "y": [{}, NaN]}})"),
            start +
                " is no JSON: $.data.y[1]: parse error at line 1, column 67: syntax error while "
                "parsing value - invalid literal; last read: '\"y\": [{}, N'");
  EXPECT_EQ(message("[]"), start + ": $: [] is not an object {...}");
  // Of a result the settings.
  EXPECT_EQ(message(R"({"settings": {"experiment": "oscillator", "network": {"hiden": [3]}}})")
                .rfind(start + ": $.settings.network: there is no setting \"hiden\"; ", 0),
            0u);
  EXPECT_EQ(message(R"({"settings": {"experiment": "oscillator", "run": 7}})")
                .rfind(start + ": $.settings.run: 7 is not a published run", 0),
            0u);
  EXPECT_EQ(message(R"({"members": 5, "members": 7})"),
            start + ": $.members: this stands twice. Leave one of both out");
  EXPECT_EQ(message(R"({"a": [{"b": 1}, {"b": {"c": 1}, "b": 2}]})"),
            start + ": $.a[1].b: this stands twice. Leave one of both out");
  fs::remove(file);
  EXPECT_EQ(refusal(), "run: cannot read " + file.string());
}

TEST(Config, NewDataComeFromASeed) {
  RunConfig config = variant_config(Experiment::oscillator, "none");
  ExperimentData published = data_of(config);
  config.data_seed = 5;
  EXPECT_NE(data_of(config).train.y, published.train.y);
  config.measured = Samples{.points = 1, .x = {2.0}, .truth = {}, .y = {0.5}};
  EXPECT_EQ(data_of(config).train.y, std::vector<double>{0.5});
}

}  // namespace
}  // namespace sturnus::app
