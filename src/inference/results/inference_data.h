// Results as ArviZ's InferenceData in a NetCDF-4 file, which Python (arviz.from_netcdf, xarray), R
// (ncdf4) and Julia (InferenceObjects) read.
#pragma once

#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/inference/results/draws.h>
#include <sturnus/inference/results/matrix_view.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sturnus {

/// A named array, row-major. Arrays of draws begin with the dimensions "chain" and "draw".
struct DataVariable {
  std::string name;
  std::vector<std::string> dims;
  std::vector<std::size_t> shape;  // one extent per dimension
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<bool>> values;
};

/// Variables that belong together. A variable that has the name of a dimension says where its
/// points are; dimensions without one get 0, 1, 2, ...
struct DataGroup {
  std::string name;  // "posterior", "sample_stats", "posterior_predictive", "observed_data", ...
  std::vector<DataVariable> variables;
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct InferenceData {
  std::vector<DataGroup> groups;
};

/// Groups posterior and sample_stats, the latter with ArviZ's names: lp, acceptance_rate,
/// step_size, tree_depth, n_steps, diverging, energy. Dimensions of a parameter beta are chain,
/// draw, beta_dim_0, ... Throws Error if shapes do not fit.
InferenceData inference_data(const ChainDraws& draws);

/// Adds what was measured, y in group observed_data; where, x in constant_data; and what was
/// predicted of it, y in posterior_predictive. Rows of `predicted` are draws, chain by chain.
/// Throws Error if shapes do not fit.
void add_measurements(InferenceData& data, const Samples& measured, MatrixView predicted,
                      std::size_t chains);

/// Writes the file whole or not at all: it is built in memory and then takes the place of what was
/// there. Each group gets the attributes inference_library and inference_library_version; no time,
/// so that equal results are equal files. Throws Error if dimensions disagree, a name cannot be
/// written, or there is no room or no right. For one thread at a
/// time, as the NetCDF library is.
void write_inference_data(const std::filesystem::path& path, const InferenceData& data);

}  // namespace sturnus
