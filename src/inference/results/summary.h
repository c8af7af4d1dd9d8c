// A table of posterior summaries, and sentences on what is wrong with the chains behind it.
#pragma once

#include <sturnus/inference/results/diagnostics.h>
#include <sturnus/inference/results/draws.h>
#include <sturnus/inference/results/matrix_view.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sturnus {

/// One row of the table; diagnostics.h says what each number is.
struct ParameterSummary {
  std::string name;
  double mean = 0;
  double mcse = 0;  // of the mean
  double sd = 0;
  double q05 = 0;
  double q25 = 0;
  double q50 = 0;
  double q75 = 0;
  double q95 = 0;
  double ess_bulk = 0;
  double ess_tail = 0;
  double rhat = 0;
  std::size_t chains = 0;
  Interval hdi90 = {};  // the shortest interval of 90 % of the draws
  double mad = 0;       // as wide as sd where the draws are normal
};

/// The summary of one scalar, chains x draws. Throws Error as the diagnostics do.
ParameterSummary summarize(std::string name, MatrixView chains);

/// One row per scalar, in Stan's order: "beta[1,1]", "beta[2,1]", ... Throws Error if shapes do not
/// fit.
std::vector<ParameterSummary> summarize(const ChainDraws& draws);

/// The table as aligned text, a line per scalar under a line of headings. Draws that took so many
/// seconds have a column of bulk ESS per second, as Stan's.
std::string summary_table(std::span<const ParameterSummary> rows, double seconds = 0);

/// What makes the draws doubtful, one sentence or two per kind of trouble, each with what to do:
/// R-hat above 1.01, bulk or tail ESS below 100 per chain, scalars without diagnostics, divergent
/// draws, trees at their largest depth, and E-BFMI below 0.3. Empty if nothing is.
std::vector<std::string> warnings(std::span<const ParameterSummary> rows,
                                  const SamplerStatistics& statistics = {},
                                  int max_tree_depth = 10);

}  // namespace sturnus
