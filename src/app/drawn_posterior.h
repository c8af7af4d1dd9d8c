// Draws of a posterior that is not known exactly: drawn once, kept in a file, and what ensembles
// are measured against.
#pragma once

#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/matrix_view.h>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "src/app/chain_settings.h"

namespace sturnus::app {

struct DrawnPosterior {
  nlohmann::json about;  // what is known of how it was drawn, with a summary
  Matrix rows;           // draws of all parameters, at most 5000
  Matrix test, f;        // of the rows, at the data's test points and plot points
  Matrix lambda;
};

/// As many rows of a posterior are kept.
inline constexpr std::size_t kept_posterior_draws = 5000;

/// Advection's posterior by NUTS: what `file` has, if it is of these settings and data; else it is
/// drawn, and kept there. Nothing is kept where the file's name is empty. Throws Error when the
/// chains do not agree: their largest R-hat is not below 1.01.
DrawnPosterior advection_by_nuts(const ExperimentData& data, const ChainSettings& settings,
                                 const std::filesystem::path& file, std::ostream& progress);

/// How far an ensemble is from it: w_f, w_lambda, and floor_w_f, floor_w_lambda, what as many of
/// the draws score (mean and sd).
nlohmann::json distance_to(const DrawnPosterior& posterior, MatrixView f, MatrixView lambda);

/// The published scores of as many of the draws as an ensemble has members, as mean_scores gives
/// them, and the floors as w_f and w_lambda.
nlohmann::json scores_of_draws(const DrawnPosterior& posterior, const ExperimentData& data,
                               std::size_t members);

/// Scores of ensembles that are `members` of the draws each: the mean over 200 of them that have no
/// draw in common, or as many as there are ("sets"). `test` has the draws at the test points.
nlohmann::json mean_scores(const ExperimentData& data, MatrixView test, MatrixView lambda,
                           std::size_t members);
inline constexpr std::size_t most_sets = 200;

}  // namespace sturnus::app
