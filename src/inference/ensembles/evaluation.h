// Everything that is said of a trained ensemble, in one place.
#pragma once

#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/matrix_view.h>
#include <sturnus/inference/results/metrics.h>

#include <optional>
#include <string>
#include <vector>

namespace sturnus {

/// What an ensemble, a chain or a variational posterior says: one row per member or draw.
struct Predictions {
  Matrix test;    // test points x outputs, point by point
  Matrix plot;    // plot points x outputs
  Matrix lambda;  // parameters
};

/// Distances to an exact posterior, and what as many exact draws would score.
struct DistanceToExact {
  std::string name;  // "fixed_phase", "free_phase", or "exact" where there is one only
  double w_f = 0, w_lambda = 0;
  MeanSd floor_w_f, floor_w_lambda;
};

/// The published scores, and beside them what these miss.
struct Evaluation {
  double rmse = 0;
  KdeScore logl_per_n;
  double abs_dlambda = 0;
  KdeScore logl_lambda;
  /// Exponential: one. Oscillator: first the published chain's, which knows f(0) = 0, then the one
  /// that a network told no initial value aims at. None where the posterior is not known exactly.
  std::vector<DistanceToExact> exact;

  double predictive_log_density = 0;
  double crps_f = 0, crps_lambda = 0;
  std::vector<BandScore> bands_f;
  MeanSd predictive_spread;  // of the members' standard deviations at the test points
};

/// The exact posterior of an experiment's data with the published priors; `free_phase` is for the
/// oscillator alone. Nothing where it is not known.
std::optional<ExactPosterior> exact_posterior_of(const ExperimentData& data,
                                                 bool free_phase = false);

struct EvaluationOptions {
  std::size_t reference_draws = 5000;  ///< As many as the published chain has.
  int floor_repetitions = 20;          ///< 0: no floors.
  bool exact = true;  ///< Compares with exact posteriors, which have the published priors.
};

/// Scores of predictions. Throws Error for shapes that do not fit the data, or fewer than 2 rows.
Evaluation evaluate(const ExperimentData& data, const Predictions& predictions,
                    const EvaluationOptions& options = {});

}  // namespace sturnus
