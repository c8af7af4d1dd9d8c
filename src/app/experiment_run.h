// One run of an experiment from settings to scores, with everything that happens to it.
#pragma once

#include <sturnus/inference/ensembles/evaluation.h>
#include <sturnus/runtime/error.h>

#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/app/chain_settings.h"
#include "src/app/config.h"
#include "src/app/kept_work.h"
#include "src/app/result_parts.h"

namespace sturnus::app {

/// What run throws when no member is left, of which there is nothing to score.
class AllDiverged : public Error {
 public:
  AllDiverged(std::string reason, const std::string& message)
      : Error(message), reason_(std::move(reason)) {}
  /// Who and when; what() says more.
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// Trains, evaluates and describes as result.json does, which is written. Progress goes to
/// `progress`. When the training is interrupted it is kept in the folder, and the result has
/// `"finished": false`; one that has ended is kept until its scores are written. What cannot be
/// written is warned of. With `against`, chains draw the posterior too, and the result tells how
/// far the ensemble is from it (chain_baseline.h); the training is kept until they have. When they
/// are interrupted the result is there without them.
/// Throws Error when the folder holds an unfinished training and `resume` is not asked for, and
/// AllDiverged.
nlohmann::json run(const RunConfig& config, const RunPlaces& places, std::ostream& progress,
                   const std::optional<ChainSettings>& against = {});

/// The entries "sturnus", "device", "settings" and "data" of result.json.
nlohmann::json describe_run(const nlohmann::json& settings, const ExperimentData& data);

/// What some members or draws predict: `predict` gives f of all of them at points, `lambda` is
/// [all, parameters].
Predictions predictions_of(const ExperimentData& data,
                           const std::function<Array(const Array& points)>& predict,
                           const Array& lambda, const std::vector<std::int64_t>& members);

/// Its part at the points of `samples`, which have that element type: a row for each.
Matrix predicted_rows(const Samples& samples,
                      const std::function<Array(const Array& points)>& predict, DType dtype,
                      const std::vector<std::int64_t>& members);

/// The entries "metrics", "lambda", "predictions" and "exact" of result.json. `exact`: exact
/// posteriors are those of the priors in use.
nlohmann::json describe_results(const ExperimentData& data, const Predictions& predictions,
                                bool exact);

/// A member whose loss was not finite, and what became of it: members that survive, and those that
/// are told of again later, were begun anew; the others are not in the results.
struct LostMember {
  std::int64_t member = 0;
  nlohmann::json iteration;
  bool is_dropped = false;
};

/// From "members" of a result, of which parts may be missing.
std::vector<LostMember> lost_members(const nlohmann::json& members);

/// How far a training still moves at its end, see Drift.
struct Movement {
  std::size_t members = 0;  // that survive
  /// Above this a member moves, and one of which nothing is known counts as moving.
  double limit = 0;
  std::vector<std::pair<std::int64_t, double>> moving;
  std::vector<std::int64_t> unknown;
  std::vector<double> known;  // of the others and those that move, in order
  double loss = 0;            // not finite: not known

  bool loss_moves() const;
  /// In `unit`, which is of the ensemble's width unless a single member has none.
  double shown(double drift) const { return members > 1 ? drift : 100 * drift; }
  const char* unit() const { return members > 1 ? " standard deviations of the ensemble" : " %"; }
};

/// From "members" of a result; nothing where the training was too short to tell.
std::optional<Movement> movement_of(const nlohmann::json& members);

/// From where to where it is told.
constexpr const char* told_tenths = "from the tenth of the training before the last to the last";

/// The scores of a result as tables for a terminal.
void print_scores(std::ostream& out, const nlohmann::json& result);
/// How its training went: members that diverged and what became of them, whether the others have
/// come to rest, and times.
void print_training(std::ostream& out, const nlohmann::json& result);

}  // namespace sturnus::app
