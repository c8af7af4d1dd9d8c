// The posterior of Lotka-Volterra data by tempering, which holds where chains do not: drawn once,
// kept in a file, and what ensembles are measured against.
#pragma once

#include <sturnus/inference/ensembles/evaluation.h>
#include <sturnus/inference/problems/experiment_data.h>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

namespace sturnus::app {

struct TemperingSettings {
  std::int64_t particles = 1024, walkers = 64, draws = 1000;
  std::uint64_t seed = 0;
};

nlohmann::json to_json(const TemperingSettings& settings);

struct Tempered {
  /// summary, log_evidence, temperatures, accept, walkers_accept, floor (of 25 draws), seconds.
  nlohmann::json about;
  Matrix rows;       // of the draws at most 5000: start, alpha, beta, gamma, delta
  Matrix f, lambda;  // of the rows, f at the data's plot points
};

/// Throws Error, in the name of `command`, when it is another experiment than Lotka-Volterra.
void check_tempering(const std::string& command, Experiment experiment);

/// What `file` has, if it is of these settings and data; else it is drawn, and kept there. Nothing
/// is kept where the file's name is empty.
Tempered tempered(const ExperimentData& data, const TemperingSettings& settings,
                  const std::filesystem::path& file, std::ostream& progress);

/// How far an ensemble is from it: w_f, w_lambda, and floor_w_f, floor_w_lambda, what as many of
/// the draws score (mean and sd).
nlohmann::json distance_to(const Tempered& posterior, MatrixView f, MatrixView lambda);

/// As many of the draws as an ensemble has members, scored as the ensemble is.
nlohmann::json scores_of_draws(const Tempered& posterior, const ExperimentData& data,
                               std::size_t members);

}  // namespace sturnus::app
