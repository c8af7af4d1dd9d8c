// The posterior of a wave that an unknown wind carries round a ring.
//
//   ExperimentData data = published_data(Experiment::advection, 0);
//   Target target = advection_posterior(data.train, data.noise_sd);
//   Draws draws = sample(target, {.start = promising_starts(target, 4, 0)});
#pragma once

#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/inference/models/model.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/matrix_view.h>

#include <cstdint>

namespace sturnus {

/// The solution u(t, x) = u0(x - beta t) of u_t + beta u_x = 0 on a ring of length 1, where
///   u0(s) = offset + sum_{k = 1, ..., waves} sine_k sin(2 pi k s) + cosine_k cos(2 pi k s).
/// Four waves make the published initial states, unless one drew the same wave number twice, up to
/// the thousandth by which their waves are shorter than the ring.
struct Advection {
  Array beta, offset;
  Array sine, cosine;  // [waves]
};
/// u at rows (t, x): [points].
Array curve(const Advection& p, const Array& points);

struct AdvectionPrior {
  PriorInterval beta = {0, 1};
  double amplitude_sd = 1;  ///< Offset, sines and cosines are normal around 0.
  std::int64_t waves = 4;
};

/// u measured with normal noise. Given beta, the amplitudes are normal: their free numbers are
/// standard normal numbers z, amplitudes = mean + R^-T z with R R^T the inverse of their
/// covariance. So a walk meets the density of beta alone, and never the many false winds that each
/// set of amplitudes would have it believe. Parameters are those of Advection. Throws Error unless
/// data are one output at rows (t, x), all finite, the noise is positive, and there are waves.
Target advection_posterior(const Samples& data, double sigma, const AdvectionPrior& prior = {});

/// u of every row of parameters, as that target gives them, at the points of `at`: rows x points.
Matrix advection_curves(MatrixView parameters, const Samples& at);

/// The wave of that posterior's draws, at rows (t, x). To be drawn where it was measured, one
/// measurement after another.
MeasuredCurve advection_curve(const ExperimentData& data, const AdvectionPrior& prior = {});

}  // namespace sturnus
