// What results say of draws, whether chains made them or a Gaussian: parts of a result.json, and
// files for ArviZ.
#pragma once

#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/results/draws.h>
#include <sturnus/inference/results/inference_data.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/app/told_draws.h"

namespace sturnus::app {

/// Some of the draws of some of what is told, by chain, to draw figures of.
nlohmann::json describe_shown(const ChainDraws& draws, const ToldDraws& told);

/// The entries "data" and "predictions": measurements, the function over draws, and new
/// measurements of it, `predictions.draws` says over how many: 4000 of all chains, or all where
/// there are fewer. None where nothing was measured.
nlohmann::json describe_predictions(const std::optional<MeasuredCurve>& curve,
                                    const ChainDraws& draws, std::uint64_t seed);

/// Draws, and measurements with predictions of them where there are any.
InferenceData inference_data_of(const ChainDraws& draws, const std::optional<MeasuredCurve>& curve,
                                std::uint64_t seed);

/// The same as a file beside what is kept of the draws in `kept`, "tempering.nc" of
/// "tempering.json"; none where that has no name. If it cannot be written, the log says so.
void write_draws_beside(const std::filesystem::path& kept, const ChainDraws& draws,
                        const std::optional<MeasuredCurve>& curve, std::uint64_t seed);

}  // namespace sturnus::app
