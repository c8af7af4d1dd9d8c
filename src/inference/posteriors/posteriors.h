// Posteriors to sample, as models: those of the published experiments, whose exact posteriors are
// in exact_posterior.h, and two of the public collection posteriordb, whose moments are known.
//
//   ExperimentData data = published_data(Experiment::oscillator, 0);
//   Draws draws = sample(oscillator_model({data.train.x, data.train.y, data.noise_sd}));
#pragma once

#include <sturnus/inference/chains/smc.h>
#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/inference/models/model.h>
#include <sturnus/inference/problems/experiment_data.h>

#include <cstdint>
#include <span>
#include <vector>

namespace sturnus {

/// f(t) = f0 exp(lambda t), measured with normal noise; priors are uniform. All models of measured
/// data throw Error, naming the measurement, where one is not finite, and unless the noise is
/// positive.
struct Exponential {
  Array f0, lambda;
};
Model<Exponential> exponential_model(const Measurements& data, const ExponentialPrior& prior = {});
Array curve(const Exponential& p, const Array& t);
/// The same of measured values that may be traced.
Model<Exponential> exponential_model(std::span<const double> t, const Array& y, double sigma,
                                     const ExponentialPrior& prior);

/// f(t) = f0 exp(-zeta omega t) sin(w t) with w = omega sqrt(1 - zeta^2).
struct Oscillation {
  Array f0, omega, zeta;
};
Model<Oscillation> oscillator_model(const Measurements& data, const OscillatorPrior& prior = {});
Array curve(const Oscillation& p, const Array& t);
Model<Oscillation> oscillator_model(std::span<const double> t, const Array& y, double sigma,
                                    const OscillatorPrior& prior);

/// f(t) = exp(-zeta omega t) (sine sin(w t) + cosine cos(w t)): the phase is free.
struct FreePhaseOscillation {
  Array sine, cosine, omega, zeta;
};
Model<FreePhaseOscillation> oscillator_model(const Measurements& data, const FreePhasePrior& prior);
Array curve(const FreePhaseOscillation& p, const Array& t);

/// x' = alpha x - beta x y, y' = -gamma y + delta x y, both measured with normal noise. `start` is
/// (x, y) at the first measurement. Priors are uniform, on intervals of positive numbers.
struct LotkaVolterra {
  Array start;  // [2]
  Array alpha, beta, gamma, delta;
};
struct LotkaVolterraPrior {
  PriorInterval start = {0, 20};
  PriorInterval lambda = {0, 6};
};
/// In logarithms of all parameters; the density is 0 where the prior ends. Throws Error unless
/// there are two outputs at each of increasing times, and 0 <= low < high of the prior.
Model<LotkaVolterra> lotka_volterra_model(const Samples& data, double sigma,
                                          const LotkaVolterraPrior& prior = {});
/// x and y, [times, 2], at increasing times of which the first is that of `start`.
Array curve(const LotkaVolterra& p, std::span<const double> times);
/// That prior in the model's free numbers. Throws Error unless 0 <= low < high.
Reference lotka_volterra_reference(const LotkaVolterraPrior& prior = {});

/// The effects of coaching in eight schools (D. Rubin, 1981): y_i normal(theta_i, sd_i),
/// theta_i = mu + tau offsets_i, offsets_i normal(0, 1), mu normal(0, 5), tau half-Cauchy(5).
struct EightSchools {
  Array mu, tau;
  Array offsets;  // [8]
};
Model<EightSchools> eight_schools_model();
/// The effects by school, 1 to 8, and their standard errors.
Samples eight_schools_data();
std::vector<double> eight_schools_errors();
/// That model, with theta among what is drawn.
Target eight_schools();

/// Hares and lynxes by the pelts that Hudson's Bay Company traded, 1900 to 1920, in thousands:
/// the equations of Lotka and Volterra with theta = (alpha, beta, gamma, delta) from z_init in 1900
/// on, measured with log-normal noise sigma. theta normal around 1, 0.05, 1, 0.05 with sd 0.5,
/// 0.05, 0.5, 0.05; z_init log-normal(log 10, 1), sigma log-normal(-1, 1).
struct HareLynx {
  Array theta;          // [4]
  Array z_init, sigma;  // [2]: of hares, of lynxes
};
Model<HareLynx> hare_lynx_model();
/// The pelts, by year.
Samples hare_lynx_data();
/// Hares and lynxes, [years, 2], in increasing years from 1900 on, of which the first is that of
/// `z_init`.
Array curve(const HareLynx& p, std::span<const double> years);

/// Free numbers [chains, size] to begin at. Each chain looks for them by itself: of 5 `candidates`
/// places, uniform within 2 of 0, the one of highest density, then of `candidates` within 1 of that
/// one, and so on, `rounds` times. Wide priors put most places where a density is all but zero, and
/// so flat or so steep that chains would learn wrong step sizes there. The first round decides on
/// the mode: one of all but no weight, a false frequency, is often wider than the right one.
/// Throws Error for less than 1 of each, and for more than most_chains.
Array promising_starts(const Target& target, std::int64_t chains, std::uint64_t seed,
                       std::int64_t candidates = 200, std::int64_t rounds = 5);

}  // namespace sturnus
