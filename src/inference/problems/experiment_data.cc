#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "src/inference/problems/numpy_random.h"

namespace sturnus {
namespace {

constexpr std::size_t plot_points = 200;

// The advection grid: 1024 cells, frames every 0.01; the data use every 50th cell and 10th frame,
// the test every 30th cell and 6th frame.
constexpr std::uint32_t train_places = 21;
constexpr std::size_t advection_train_points = 64;
constexpr std::size_t test_frames = 34;
constexpr std::size_t test_cells = 35;
double cell_centre(std::size_t cell) { return (static_cast<double>(cell) + 0.5) / 1024; }
double frame_time(std::size_t frame) { return static_cast<double>(frame) * 0.01; }

struct Settings {
  std::string_view name;
  std::uint32_t seed;
  std::size_t inputs;
  std::size_t outputs;
  double noise_sd;
  std::vector<std::string> parameter_names;
  std::vector<double> parameters;
  std::vector<double> domain_low;
  std::vector<double> domain_high;
};

const Settings& settings_of(Experiment experiment) {
  static const std::array<Settings, all_experiments.size()> settings = {{
      {"exponential", 42, 1, 1, 2, {"lambda"}, {0.3}, {0}, {15}},
      {"oscillator", 0, 1, 1, 0.1, {"omega", "zeta"}, {1, 0.1}, {0}, {25}},
      {"advection", 42, 2, 1, 0.1, {"beta"}, {0.2}, {0, 0}, {2, 1}},
      {"lotka_volterra",
       42,
       1,
       2,
       1,
       {"alpha", "beta", "gamma", "delta"},
       {1.5, 1, 3, 1},
       {0},
       {10}},
  }};
  return settings.at(static_cast<std::size_t>(experiment));
}

/// n equispaced values including both ends.
void append_linspace(std::vector<double>& values, double low, double high, std::size_t n) {
  double step = (high - low) / static_cast<double>(n - 1);
  for (std::size_t i = 0; i + 1 < n; ++i) values.push_back(low + static_cast<double>(i) * step);
  values.push_back(high);
}

std::vector<double> linspace(double low, double high, std::size_t n) {
  std::vector<double> values;
  append_linspace(values, low, high, n);
  return values;
}

std::vector<double> train_times(Experiment experiment) {
  if (experiment == Experiment::exponential) return linspace(0, 10, 10);
  std::vector<double> times;
  if (experiment == Experiment::oscillator) {
    append_linspace(times, 0, 6, 5);
    append_linspace(times, 15, 20, 5);
  } else {
    append_linspace(times, 0, 4, 7);
    append_linspace(times, 8, 10, 5);
  }
  return times;
}

std::vector<double> test_times(Experiment experiment) {
  if (experiment == Experiment::exponential) return linspace(0, 10, 20);
  if (experiment == Experiment::oscillator) return linspace(0, 20, 20);
  return linspace(0, 10, 7);
}

std::vector<double> advection_train_places(NumpyRandom& random) {
  std::array<std::uint32_t, advection_train_points> frames, cells;
  for (auto& frame : frames) frame = 10 * random.integer(train_places);
  for (auto& cell : cells) cell = 50 * random.integer(train_places);
  std::vector<double> places;
  for (std::size_t i = 0; i < advection_train_points; ++i) {
    places.insert(places.end(), {frame_time(frames[i]), cell_centre(cells[i])});
  }
  return places;
}

std::vector<double> advection_test_places() {
  std::vector<double> places;
  for (std::size_t frame = 0; frame < test_frames; ++frame) {
    for (std::size_t cell = 0; cell < test_cells; ++cell) {
      places.insert(places.end(), {frame_time(6 * frame), cell_centre(30 * cell)});
    }
  }
  return places;
}

/// One step by the solution's Taylor series, whose coefficients follow from the equation one by
/// one.
std::array<double, 2> lotka_volterra_step(std::array<double, 2> state, double step,
                                          std::span<const double> parameters) {
  constexpr std::size_t order = 16;
  std::array<double, order + 1> x, y;
  x[0] = state[0];
  y[0] = state[1];
  double power = 1;
  for (std::size_t k = 0; k < order; ++k) {
    double product = 0;  // coefficient k of x y
    for (std::size_t i = 0; i <= k; ++i) product += x[i] * y[k - i];
    double next = static_cast<double>(k + 1);
    x[k + 1] = (parameters[0] * x[k] - parameters[1] * product) / next;
    y[k + 1] = (-parameters[2] * y[k] + parameters[3] * product) / next;
    power *= step;
    state[0] += power * x[k + 1];
    state[1] += power * y[k + 1];
  }
  return state;
}

std::vector<double> lotka_volterra_solution(std::span<const double> times,
                                            std::span<const double> parameters) {
  std::vector<std::size_t> forward(times.size());
  std::iota(forward.begin(), forward.end(), std::size_t{0});
  std::sort(forward.begin(), forward.end(), [&](auto a, auto b) { return times[a] < times[b]; });
  std::array<double, 2> state = {10, 5};
  double reached = 0;
  std::vector<double> solution(2 * times.size());
  for (std::size_t i : forward) {
    // The series converges within about 0.3 of the spikes; steps of 0.02 are exact to rounding.
    double steps = std::ceil((times[i] - reached) / 0.02);
    for (double step = 0; step < steps; ++step) {
      state = lotka_volterra_step(state, (times[i] - reached) / steps, parameters);
    }
    reached = times[i];
    std::copy(state.begin(), state.end(), &solution[2 * i]);
  }
  return solution;
}

Samples samples_at(std::vector<double> x, Experiment experiment, const AdvectionProfile& profile) {
  const Settings& settings = settings_of(experiment);
  Samples samples;
  samples.inputs = settings.inputs;
  samples.outputs = settings.outputs;
  samples.points = x.size() / settings.inputs;
  samples.truth = exact_solution(experiment, x, profile);
  samples.x = std::move(x);
  return samples;
}

void measure(Samples& samples, double noise_sd, NumpyRandom& random) {
  samples.y = samples.truth;
  for (double& y : samples.y) y += noise_sd * random.normal();
}

}  // namespace

std::string_view name_of(Experiment experiment) { return settings_of(experiment).name; }

double AdvectionProfile::operator()(double x) const {
  double sum = 0;
  for (std::size_t k = 0; k < amplitude.size(); ++k) {
    double wave_number =
        2 * std::numbers::pi * static_cast<double>(k + 1) * count[k] / (1023.0 / 1024);
    sum += amplitude[k] * std::sin(wave_number * x + phase[k]);
  }
  if (absolute) sum = std::abs(sum);
  if (window) {
    auto [left, right] = *window;
    sum *= 0.5 * (std::tanh((x - left) / 0.01) - std::tanh((x - right) / 0.01));
  }
  return sign * sum;
}

AdvectionProfile AdvectionProfile::random(std::uint32_t seed) {
  NumpyRandom random(seed);
  AdvectionProfile profile;
  profile.count = {};
  for (int draw = 0; draw < 2; ++draw) ++profile.count[random.integer(4)];
  for (double& amplitude : profile.amplitude) amplitude = random.uniform();
  for (double& phase : profile.phase) phase = 2 * std::numbers::pi * random.uniform();
  profile.absolute = random.uniform() < 0.1;
  profile.sign = random.integer(2) == 0 ? -1 : 1;
  if (random.uniform() < 0.1) {
    double left = 0.1 + 0.35 * random.uniform();
    double right = 0.55 + 0.35 * random.uniform();
    profile.window = {left, right};
  }
  return profile;
}

std::vector<double> exact_solution(Experiment experiment, std::span<const double> x,
                                   const AdvectionProfile& profile) {
  const Settings& settings = settings_of(experiment);
  if (x.size() % settings.inputs != 0) {
    throw Error("exact_solution: " + std::to_string(x.size()) + " coordinates, and a point of " +
                std::string(settings.name) + " has " + std::to_string(settings.inputs) +
                ". Give whole points, row-major.");
  }
  for (std::size_t i = 0; i < x.size(); i += settings.inputs) {
    if (!(x[i] >= 0 && x[i] <= 1e4)) {
      throw Error("exact_solution: time " + std::to_string(x[i]) + " of point " +
                  std::to_string(i / settings.inputs) +
                  " is outside [0, 10000]. Give times after the start.");
    }
  }
  const std::vector<double>& parameters = settings.parameters;
  if (experiment == Experiment::lotka_volterra) return lotka_volterra_solution(x, parameters);
  std::vector<double> solution;
  for (std::size_t i = 0; i < x.size(); i += settings.inputs) {
    double t = x[i];
    if (experiment == Experiment::exponential) {
      solution.push_back(std::exp(parameters[0] * t));
    } else if (experiment == Experiment::oscillator) {
      double omega = parameters[0], zeta = parameters[1];
      solution.push_back(std::exp(-zeta * omega * t) *
                         std::sin(omega * std::sqrt(1 - zeta * zeta) * t));
    } else {
      double start = x[i + 1] - parameters[0] * t;
      solution.push_back(profile(start - std::floor(start)));
    }
  }
  return solution;
}

ExperimentData make_data(Experiment experiment, const DataOptions& options) {
  if (options.run < 0) {
    throw Error("make_data: run is " + std::to_string(options.run) + ". Runs count from 0.");
  }
  const Settings& settings = settings_of(experiment);
  double noise_sd = options.noise_sd.value_or(settings.noise_sd);
  if (!(noise_sd >= 0) || !std::isfinite(noise_sd)) {
    throw Error("make_data: noise_sd is " + std::to_string(noise_sd) +
                ". A standard deviation is finite and not negative.");
  }
  ExperimentData data;
  data.experiment = experiment;
  data.parameter_names = settings.parameter_names;
  data.parameters = settings.parameters;
  data.noise_sd = noise_sd;
  data.domain_low = settings.domain_low;
  data.domain_high = settings.domain_high;

  bool advection = experiment == Experiment::advection;
  data.test = samples_at(advection ? advection_test_places() : test_times(experiment), experiment,
                         options.profile);
  data.plot = advection ? data.test
                        : samples_at(linspace(data.domain_low[0], data.domain_high[0], plot_points),
                                     experiment, options.profile);
  if (!advection) data.train = samples_at(train_times(experiment), experiment, options.profile);
  NumpyRandom random(options.seed);
  for (int run = 0; run <= options.run; ++run) {
    if (advection) {
      data.train = samples_at(advection_train_places(random), experiment, options.profile);
    }
    measure(data.train, noise_sd, random);
    measure(data.test, noise_sd, random);
  }
  return data;
}

ExperimentData published_data(Experiment experiment, int run) {
  if (run < 0 || run >= published_runs) {
    throw Error("published_data: run is " + std::to_string(run) + ", the published runs are 0 to " +
                std::to_string(published_runs - 1) + ". Use make_data for new data.");
  }
  return make_data(experiment, {.seed = settings_of(experiment).seed, .run = run});
}

}  // namespace sturnus
