// The members of an ensemble as draws of a posterior, for ArviZ.
#pragma once

#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/inference_data.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sturnus::app {

/// A number for each member, by name.
using MemberStatistics = std::vector<std::pair<std::string, std::vector<double>>>;

/// One chain with a draw for each member: its parameters (rows of `lambda`), and measurements as it
/// predicts them: its function at the points of the data (rows of `f`), with noise. Group
/// sample_stats has `statistics`, and log_likelihood: that of the data given the function.
InferenceData member_draws(const ExperimentData& data, const Matrix& lambda, const Matrix& f,
                           std::uint64_t seed, const MemberStatistics& statistics = {});

}  // namespace sturnus::app
