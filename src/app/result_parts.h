// Parts of a result.json that runs of ensembles and of chains have in common.
#pragma once

#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/matrix_view.h>
#include <sturnus/inference/results/summary.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace sturnus::app {

/// Version and commit of this program, and under "runtime" those of what it runs on: the platform
/// and its version, the plugin's PJRT API, StableHLO and what it says of itself, the kind of the
/// default device and its attributes.
nlohmann::json describe_program();

/// By parameter: mean, mcse, sd, mad, q05 to q95, hdi90, rhat, ess_bulk, ess_tail.
nlohmann::json describe_summary(const std::vector<ParameterSummary>& rows);

/// A number of a result, NaN where it was written as null.
double number_or_nan(const nlohmann::json& value);

/// The largest R-hat and the least bulk ESS, the entries "rhat" and "ess_bulk": NaN if one of the
/// parameters has none, for then nothing is known of how well the chains mixed.
nlohmann::json describe_worst(const std::vector<ParameterSummary>& rows);
/// The same of what describe_summary made.
nlohmann::json describe_worst(const nlohmann::json& summary);

/// Rows of `width` numbers.
nlohmann::json in_rows(const std::vector<double>& values, std::size_t width);
nlohmann::json in_rows(MatrixView matrix);
/// From what in_rows made.
Matrix matrix_of(const nlohmann::json& rows);

/// Points and measured values, which have noise of that standard deviation.
nlohmann::json describe_data(const Samples& data, double noise_sd);

/// Quantiles over rows of a function at points `x`: for each output `x`, `q05`, `q25`, ..., `q95`.
nlohmann::json describe_bands(const std::vector<double>& x, MatrixView rows, std::size_t outputs);

/// How far an ensemble is from draws of a posterior: w_f and w_lambda, and floor_w_f and
/// floor_w_lambda, what as many of the draws score (mean and sd).
nlohmann::json describe_distance(MatrixView members_f, MatrixView draws_f,
                                 MatrixView members_lambda, MatrixView draws_lambda);

}  // namespace sturnus::app
