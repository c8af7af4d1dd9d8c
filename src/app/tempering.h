// The posterior of Lotka-Volterra data by tempering, which holds where chains do not.
#pragma once

#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/draws.h>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "src/app/drawn_posterior.h"

namespace sturnus::app {

/// The quantiles of a summary, by name.
inline const std::vector<std::pair<std::string, double>> described_quantiles = {
    {"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}};

/// As describe_summary, and the standard errors of sd and quantiles: mcse_sd, mcse_q05, ...
nlohmann::json describe_with_errors(const ChainDraws& draws);

struct TemperingSettings {
  std::int64_t particles = 1024, walkers = 64, draws = 1000;
  std::uint64_t seed = 0;
};

nlohmann::json to_json(const TemperingSettings& settings);

/// Throws Error, in the name of `command`, when it is another experiment than Lotka-Volterra.
void check_tempering(const std::string& command, Experiment experiment);

/// What `file` has, if it is of these settings and data; else it is drawn, and kept there. Nothing
/// is kept where the file's name is empty. Rows are start, alpha, beta, gamma, delta; `about` has
/// summary, log_evidence, temperatures, accept, walkers_accept, floor (of 25 draws), seconds.
DrawnPosterior tempered(const ExperimentData& data, const TemperingSettings& settings,
                        const std::filesystem::path& file, std::ostream& progress);

}  // namespace sturnus::app
