// The posterior that an ensemble aims at, drawn by Markov chains or by tempering, to measure the
// ensemble against.
#pragma once

#include <sturnus/inference/ensembles/evaluation.h>
#include <sturnus/inference/problems/experiment_data.h>

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "src/app/chain_settings.h"
#include "src/app/config.h"
#include "src/app/kept_work.h"

namespace sturnus::app {

/// Throws Error when the settings ask for a posterior that the method cannot draw: one with other
/// priors than the published, by tempering others than Lotka-Volterra's.
void check_baseline(const RunConfig& config, const std::string& method);

/// Draws every posterior of the data (of the oscillator two: with the phase known, and free), and
/// tells how far the ensemble is from each. All that is known of the chains goes to folders beside
/// the ensemble's files, <method> or <method>-<phase>; the draws of tempering to tempering.json.
nlohmann::json against_chains(const RunConfig& config, const ExperimentData& data,
                              const Predictions& ensemble, const ChainSettings& settings,
                              const RunPlaces& places, std::ostream& progress);

/// The distances as a table for a terminal.
void print_baseline(std::ostream& out, const nlohmann::json& against);

}  // namespace sturnus::app
