// The numbers of the published tables: mean and standard deviation over five runs.
#pragma once

#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/metrics.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sturnus::app {

/// The names of scores as in result.json.
using ScoreTable = std::map<std::string, MeanSd>;

/// The published scores of a variant; those that were not published are missing.
ScoreTable published_scores(Experiment experiment, std::string_view variant);

/// Why a score of ours lies apart from the published one at the published settings: a sentence,
/// and where it is checked.
struct Reason {
  std::string_view text;
  std::string_view section;  // of docs/ensembles.md, as a link names it
  bool is_of_draws = false;  // the sentence goes on with the scores of draws of the posterior
};

/// The reason for a score of the variants, which was checked for all of them; nothing where none is
/// known.
std::optional<Reason> why_apart(Experiment experiment, std::string_view score);

}  // namespace sturnus::app
