// One run of Markov chains from a posterior to its summary, with everything that happens to it.
#pragma once

#include <sturnus/inference/models/model.h>
#include <sturnus/inference/posteriors/measured_curves.h>
#include <sturnus/inference/results/draws.h>
#include <sturnus/inference/results/summary.h>

#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/app/chain_program.h"
#include "src/app/chain_settings.h"
#include "src/app/kept_work.h"

namespace sturnus::app {

struct PosteriorToSample {
  std::string name;  // files are called after it
  Target target;
  std::optional<MeasuredCurve> curve;
  nlohmann::json about;     // the settings that say which posterior it is
  std::size_t weights = 0;  // so many of its last parameters are weights of a network
  ChainStarts starts = {};  // empty: promising_starts
};

struct ChainRun {
  nlohmann::json result;  // as result.json has it
  ChainDraws draws;
  std::vector<ParameterSummary> rows;  // of what is told, see told_draws.h
  std::vector<std::filesystem::path> files;
};

/// Draws, summarises and writes result.json, report.html, <name>_1.csv, ... and draws.nc. Progress
/// goes to `progress`. The chains are kept in <folder>/sampling.part after every chunk, until all
/// that is written: a process that ends before can be gone on with, and draws the same. When it is
/// interrupted, what was drawn is summarised, and the result has `"finished": false`. What cannot
/// be written is warned of.
/// Throws Error when settings make no sense, when the folder holds unfinished chains that are not
/// to be, or cannot be, continued, and when fewer than 4 draws were made.
ChainRun run_chains(const PosteriorToSample& posterior, const ChainSettings& settings,
                    const RunPlaces& places, std::ostream& progress);

/// The summary as a table for a terminal, with warnings, times and the names of the files.
void print_chains(std::ostream& out, const ChainRun& run);

}  // namespace sturnus::app
