// What posteriors say of the function that was measured: for bands, predictive checks, distances.
#pragma once

#include <sturnus/inference/models/model.h>
#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/draws.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sturnus {

/// A function whose parameters have a posterior, and its measurements. Parameters come as one
/// vector, as Target::parameters gives them.
struct MeasuredCurve {
  /// Measurements of values, with the noise that standard normal numbers of their shape make.
  using Noise =
      std::function<Array(const Array& parameters, const Array& values, const Array& normal)>;

  Samples data;
  double noise_sd = 0;  ///< 0 where the noise is not the same everywhere.
  Samples plot;         ///< Where to draw the function; the truth, where it is known.
  /// At increasing times, or at rows of as many inputs as the data have: [times], or [times,
  /// outputs].
  std::function<Array(const Array& parameters, std::span<const double> times)> values;
  Noise measured;
  std::string input = "t";                   ///< What the times are, for axes.
  std::vector<std::string> outputs = {"f"};  ///< What the values are.
  bool continuous = true;                    ///< Whether there is anything between the points.
};

/// The same noise everywhere.
MeasuredCurve::Noise with_normal_noise(double sd);

/// A posterior of the data of an experiment, with the published priors.
struct CurvePosterior {
  Target target;
  MeasuredCurve curve;
};

/// The posterior of an experiment's data; `free_phase` is for the oscillator alone. Throws Error
/// for advection, a function of time and place: its posterior is in advection_posterior.h.
CurvePosterior curve_posterior(const ExperimentData& data, bool free_phase = false);

/// The curve of hares and lynxes.
MeasuredCurve hare_lynx_curve();

/// The effects in eight schools, of draws of eight_schools(). They are known at all schools
/// together: asked for others, it throws Error.
MeasuredCurve eight_schools_curve();

/// The curve of every row of parameters: rows x (times x outputs), point by point.
Matrix curves(const MeasuredCurve& curve, MatrixView parameters, std::span<const double> times);
/// Of every draw, chain by chain.
Matrix curves(const MeasuredCurve& curve, const ChainDraws& draws, std::span<const double> times);

/// New measurements at such times, one set for every row of parameters, or every draw.
Matrix predicted_measurements(const MeasuredCurve& curve, MatrixView parameters,
                              std::span<const double> times, std::uint64_t seed);
Matrix predicted_measurements(const MeasuredCurve& curve, const ChainDraws& draws,
                              std::span<const double> times, std::uint64_t seed);

}  // namespace sturnus
