// The data of the four published experiments, and new data of the same kind, as plain arrays.
//
// Nothing is stored. The published measurements are an exact solution plus the stream of NumPy's
// legacy generator from a known seed, and that stream is thirty lines of code; so the published
// runs and new ones come from one function, and need neither files nor tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sturnus {

/// exponential     f' = lambda f, f(0) = 1
/// oscillator      f'' + 2 zeta omega f' + omega^2 f = 0, f(0) = 0, amplitude 1
/// advection       u_t + beta u_x = 0 on a ring of length 1; inputs are (t, x)
/// lotka_volterra  x' = alpha x - beta x y, y' = -gamma y + delta x y, start (10, 5); outputs (x,
/// y)
enum class Experiment { exponential, oscillator, advection, lotka_volterra };

inline constexpr std::array all_experiments = {Experiment::exponential, Experiment::oscillator,
                                               Experiment::advection, Experiment::lotka_volterra};
/// The published tables average over runs 0 to 4.
inline constexpr int published_runs = 5;

/// "exponential", "oscillator", "advection", "lotka_volterra".
std::string_view name_of(Experiment experiment);

/// Points and what is known there, all row-major.
struct Samples {
  std::size_t points = 0;
  std::size_t inputs = 1;
  std::size_t outputs = 1;
  std::vector<double> x;      // points x inputs
  std::vector<double> truth;  // points x outputs, without noise
  std::vector<double> y;      // points x outputs, measured; empty where nothing was
};

/// An initial state of the advection family: sign * [|.|] sum_k amplitude_k sin(2 pi k count_k x /
/// L + phase_k), k = 1..4, L = 1023/1024, perhaps cut to a smooth window. The default is trajectory
/// 4 of the family's published random key, the one all five runs measure.
struct AdvectionProfile {
  std::array<double, 4> amplitude = {0.21520317, 0.7000748, 0.8777058, 0.754845};
  std::array<double, 4> phase = {0.9551233, 3.3911088, 1.4786062, 5.2848964};
  /// How often each wave number was drawn, two draws in all.
  std::array<int, 4> count = {1, 0, 1, 0};
  double sign = -1;
  bool absolute = false;
  /// Left and right edge of the window.
  std::optional<std::array<double, 2>> window = {};

  /// u(0, x) for x on the ring.
  double operator()(double x) const;
  /// A new member of the family.
  static AdvectionProfile random(std::uint32_t seed);
};

/// One run of an experiment.
struct ExperimentData {
  Experiment experiment = Experiment::exponential;
  std::vector<std::string> parameter_names;
  std::vector<double> parameters;  // the true ones
  double noise_sd = 0;
  /// Where the equation is imposed: one bound per input.
  std::vector<double> domain_low;
  std::vector<double> domain_high;
  Samples train;
  Samples test;
  /// Where predictions are stored and W(f) is taken: 200 equispaced points of the domain, or the
  /// test grid for advection. No measurements.
  Samples plot;
};

struct DataOptions {
  std::uint32_t seed = 0;
  /// Runs share one stream: run r is what follows the noise of runs 0 to r - 1.
  int run = 0;
  /// Standard deviation of the noise; as published if not given.
  std::optional<double> noise_sd = {};
  /// Used by advection only.
  AdvectionProfile profile = {};
};

/// Measurements of an experiment with noise (and, for advection, places) from `options.seed`.
ExperimentData make_data(Experiment experiment, const DataOptions& options);

/// The data of a published run, 0 to 4: make_data with the published seed.
ExperimentData published_data(Experiment experiment, int run);

/// The exact solution at points given row-major, for the true parameters: points x outputs.
std::vector<double> exact_solution(Experiment experiment, std::span<const double> x,
                                   const AdvectionProfile& profile = {});

}  // namespace sturnus
