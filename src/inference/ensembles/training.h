// Long trainings in chunks: between two of them the host looks, tells and may stop.
#pragma once

#include <sturnus/inference/ensembles/ensemble.h>
#include <sturnus/inference/results/metrics.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sturnus {

/// What happens to a member whose loss is no longer finite: it is left out of the results, it
/// begins anew with another network while iterations are left, or the training stops.
enum class OnDivergence { drop, restart, stop };

struct TrainingOptions {
  std::int64_t iterations = 15000;
  /// Iterations between two looks, steps of the polish too; 0: a hundredth of all of each.
  std::int64_t chunk = 0;
  OnDivergence on_divergence = OnDivergence::drop;
  /// Steps of L-BFGS after the iterations, see Ensemble::polish; best in f64.
  std::int64_t polish = 0;
};

/// Means over the members at the end of a chunk.
struct TrainingRecord {
  std::int64_t iteration = 0;
  double data = 0, residual = 0, prior = 0, repulsion = 0;
  /// Parameters of every member, row by row; not finite for those that diverged.
  std::vector<double> lambda;
};

struct Divergence {
  std::int64_t member = 0;
  std::int64_t iteration = 0;
};

/// How a training went, apart from its state.
struct TrainingLog {
  std::vector<TrainingRecord> records;
  std::vector<Divergence> divergences;
  /// Spent in the device's programs: on iterations, and on steps of the polish.
  double seconds = 0, polish_seconds = 0;
};

/// Advances `state` to `options.iterations` and polishes it, chunk by chunk, appending to `log`.
/// After each chunk `look` is called with both and decides whether to go on; what was done is kept
/// either way. At the end members that the last step lost are noted as lost too. When none is left
/// and none is begun anew, the training ends there. One that is stopped and continued has the bits
/// of one that was not.
/// Throws Error when a member is lost, now or before, and `on_divergence` says stop; state and log
/// then hold what was done.
void train(const Ensemble& ensemble, EnsembleState& state, TrainingLog& log,
           const TrainingOptions& options,
           const std::function<bool(const EnsembleState&, const TrainingLog&)>& look = {});

/// Mean and standard deviation of one of so many parameters over the members where it is finite;
/// not finite when there are none.
MeanSd lambda_moments(const TrainingRecord& record, std::size_t parameter, std::size_t parameters);

/// Members whose loss stayed finite, by number.
std::vector<std::int64_t> surviving_members(const EnsembleState& state);

/// How far a training still moves, from the mean over the tenth of its iterations before the last
/// tenth to the mean over the last: means, since at a constant rate members go to and fro.
struct Drift {
  /// Of each member, the largest of its parameters', in standard deviations of the ensemble; where
  /// there is a single member, and where all agree, in parts of the parameter. Not finite for
  /// members that were not, at one of the records: also for those begun anew since.
  std::vector<double> parameters;
  /// Of the mean loss without the repulsion, in parts of it.
  double loss = 0;
};

/// Nothing when either tenth has fewer than 10 records, as 100 or more iterations have in chunks of
/// a hundredth: then it is not known. The ensemble is the `surviving` members; empty: all whose
/// parameters are finite.
std::optional<Drift> drift_of(const TrainingLog& log, std::int64_t members,
                              const std::vector<std::int64_t>& surviving = {});

/// A training has settled when it drifts by less. At such a pace as many iterations again, ten
/// tenths, would change the loss by a tenth; members need four tenths for the width of the
/// ensemble.
constexpr double settled_loss = 0.01;
constexpr double settled_parameters(std::int64_t members) { return members > 1 ? 0.25 : 0.01; }

}  // namespace sturnus
