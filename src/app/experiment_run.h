// One run of an experiment from settings to scores, with everything that happens to it.
#pragma once

#include <sturnus/inference/evaluation.h>

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
/// `"finished": false`. What cannot be written is warned of, and the training kept if there is room
/// for it. With `against`, chains draw the posterior too, and the result tells how far the ensemble
/// is from it (chain_baseline.h); the training is kept until they have.
/// Throws Error when the folder holds an unfinished training and `resume` is not asked for.
nlohmann::json run(const RunConfig& config, const RunPlaces& places, std::ostream& progress,
                   const std::optional<ChainSettings>& against = {});

/// The scores of a result as a table for a terminal.
void print_scores(std::ostream& out, const nlohmann::json& result);

}  // namespace sturnus::app
