// One run of an experiment from settings to scores, with everything that happens to it.
#pragma once

#include <sturnus/inference/ensembles/evaluation.h>

#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/app/chain_settings.h"
#include "src/app/config.h"
#include "src/app/kept_work.h"
#include "src/app/result_parts.h"

namespace sturnus::app {

/// Trains, evaluates and describes as result.json does, which is written. Progress goes to
/// `progress`. When the training is interrupted it is kept in the folder, and the result has
/// `"finished": false`; one that has ended is kept until its scores are written. What cannot be
/// written is warned of. With `against`, chains draw the posterior too, and the result tells how
/// far the ensemble is from it (chain_baseline.h); the training is kept until they have. When they
/// are interrupted the result is there without them.
/// Throws Error when the folder holds an unfinished training and `resume` is not asked for.
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

/// The scores of a result as tables for a terminal.
void print_scores(std::ostream& out, const nlohmann::json& result);
/// How its training went: members that diverged and what became of them, whether the others have
/// come to rest, and times.
void print_training(std::ostream& out, const nlohmann::json& result);

}  // namespace sturnus::app
