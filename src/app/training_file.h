// An unfinished training of an ensemble in a file.
#pragma once

#include <sturnus/inference/training.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace sturnus::app {

struct SavedTraining {
  EnsembleState state;
  TrainingLog log;
};

/// Warns of what cannot be written.
void save_training(const std::filesystem::path& path, const nlohmann::json& settings,
                   const SavedTraining& training);

/// Throws Error when the file is damaged or no such file, or when it belongs to other settings:
/// the message then names the first that differs.
SavedTraining load_training(const std::filesystem::path& path, const nlohmann::json& settings,
                            const EnsembleState& like);

/// The log as JSON, a list for each quantity.
nlohmann::json to_json(const TrainingLog& log);

}  // namespace sturnus::app
