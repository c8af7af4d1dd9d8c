// A variational fit from its first iteration to its last, with everything that happens to it.
#pragma once

#include <sturnus/inference/variational/variational.h>

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/app/commands.h"
#include "src/app/kept_work.h"

namespace sturnus::app {

struct Fitted {
  VariationalState state;
  VariationalLog log;
  bool finished = true;
  double compile_seconds = 0;
  std::int64_t resumed_at = 0;
};

/// <folder>/fit.part.
KeptWork kept_fit(const RunPlaces& places, const nlohmann::json& settings);

/// Fits in chunks, with a line of progress. When it is interrupted it is kept, and the result is
/// not `finished`. Throws Error when an unfinished fit is kept there and `resume` is not asked for,
/// or when it belongs to other settings.
Fitted run_fit(const VariationalFit& fit, const std::string& title, std::int64_t iterations,
               const KeptWork& kept, std::ostream& progress);

/// What --resume goes on with, also after the last iteration.
void keep(const KeptWork& kept, const Fitted& fitted);

struct ResultFile {
  std::filesystem::path path;
  std::function<void(const std::filesystem::path&)> write;
};
/// Writes the files one after another and tells their names; a finished fit is then no longer kept.
/// What cannot be written is warned of, and the fit kept.
void write_results(std::ostream& out, const KeptWork& kept, const Fitted& fitted,
                   const std::vector<ResultFile>& files);

/// The entries "finished", "history" and "timing" of result.json.
nlohmann::json describe(const Fitted& fitted);

/// What makes a fit doubtful, with what to do: iterations that were not finite, a bound that still
/// rises.
std::vector<std::string> warnings(const VariationalLog& log);

/// Warnings, whether the fit was interrupted, and times.
void print_end(std::ostream& out, const Fitted& fitted, const std::vector<std::string>& warned);

/// --iterations, or so many. Throws Error for less than 1 and more than most_iterations.
std::int64_t iterations_of(const VariationalRequest& request, std::int64_t otherwise);

/// Where the files of a request go.
std::filesystem::path folder_of(const VariationalRequest& request);

}  // namespace sturnus::app
