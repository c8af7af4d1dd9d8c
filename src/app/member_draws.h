// The members of an ensemble as draws of a posterior, for ArviZ.
#pragma once

#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/inference_data.h>

#include <cstdint>

namespace sturnus::app {

/// One chain with a draw for each member: its parameters (rows of `lambda`), and measurements as it
/// predicts them: its function at the points of the data (rows of `f`), with noise.
InferenceData member_draws(const ExperimentData& data, const Matrix& lambda, const Matrix& f,
                           std::uint64_t seed);

}  // namespace sturnus::app
