// An unfinished training in a file: its state and its log.
#pragma once

#include <sturnus/inference/ensembles/training.h>

#include <nlohmann/json.hpp>

#include "src/app/kept_work.h"

namespace sturnus::app {

struct SavedTraining {
  EnsembleState state;
  TrainingLog log;
};

/// <folder>/training.part.
KeptWork kept_training(const RunPlaces& places, const nlohmann::json& settings);

void save_training(const KeptWork& kept, const SavedTraining& training);

/// What was kept, or the start of a training where nothing was. Throws Error as KeptWork does.
SavedTraining load_training(const KeptWork& kept, const Ensemble& ensemble);

/// The log as JSON, a list for each quantity.
nlohmann::json to_json(const TrainingLog& log);

}  // namespace sturnus::app
