// Long trainings in chunks: between two of them the host looks, tells and may stop.
#pragma once

#include <sturnus/inference/ensembles/ensemble.h>
#include <sturnus/inference/results/metrics.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sturnus {

/// What happens to a member whose loss is no longer finite: it is left out of the results, it
/// begins anew with another network while iterations are left, or the training stops.
enum class OnDivergence { drop, restart, stop };

struct TrainingOptions {
  std::int64_t iterations = 15000;
  /// Iterations between two looks; 0: a hundredth of all.
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
  /// Spent in the device's program.
  double seconds = 0;
};

/// Advances `state` to `options.iterations`, chunk by chunk, and polishes it, appending to `log`.
/// After each chunk, and the polish, `look` is called with both and decides whether to go on; what
/// was done is kept either way. At the end members that the last step lost are noted as lost too.
/// A training that is stopped and continued has the bits of one that was not.
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

/// How far each member's parameters still move: the largest change over the last tenth of the
/// records, in standard deviations of the ensemble (absolute, if there is one member).
std::vector<double> parameter_drift(const TrainingLog& log, std::int64_t members);

}  // namespace sturnus
