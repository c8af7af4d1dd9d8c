#include "src/app/variational_run.h"

#include <sturnus/inference/results/checkpoint.h>
#include <sturnus/inference/results/metrics.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/log.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "src/app/clock.h"
#include "src/app/json_reader.h"
#include "src/app/progress.h"
#include "src/app/table.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

constexpr double seconds_between_saves = 30;

json to_json(const VariationalLog& log) {
  json result = {{"iteration", json::array()},
                 {"elbo", json::array()},
                 {"skipped", json::array()},
                 {"seconds", log.seconds}};
  for (const VariationalRecord& record : log.records) {
    result["iteration"].push_back(record.iteration);
    result["elbo"].push_back(record.elbo);
    result["skipped"].push_back(record.skipped);
  }
  return result;
}

VariationalLog log_from_json(const json& value) {
  VariationalLog log;
  for (std::size_t i = 0; i < value.at("iteration").size(); i++) {
    const json& elbo = value.at("elbo")[i];
    log.records.push_back(
        {value.at("iteration")[i].get<std::int64_t>(),
         elbo.is_null() ? std::numeric_limits<double>::quiet_NaN() : elbo.get<double>(),
         value.at("skipped")[i].get<std::int64_t>()});
  }
  log.seconds = value.at("seconds");
  return log;
}

std::string said(const VariationalRecord& now) {
  std::string text = formatted("elbo %.6g", now.elbo);
  if (now.skipped > 0) text += "  " + std::to_string(now.skipped) + " not finite";
  return text;
}

}  // namespace

KeptWork kept_fit(const RunPlaces& places, const json& settings) {
  return {places, "vi", "fit", settings};
}

void keep(const KeptWork& kept, const Fitted& fitted) {
  kept.save(to_json(fitted.log), tree_leaves(fitted.state));
}

void write_results(std::ostream& out, const KeptWork& kept, const Fitted& fitted,
                   const std::vector<ResultFile>& files) {
  try {
    for (const ResultFile& file : files) file.write(file.path);
  } catch (const Error& error) {
    keep(kept, fitted);
    log(LogLevel::warning, "the result could not be written: " + std::string(error.what()) +
                               ". Mend that, then add --resume");
    return;
  }
  if (fitted.finished) kept.remove();
  for (const ResultFile& file : files) out << file.path.string() << '\n';
}

Fitted run_fit(const VariationalFit& fit, const std::string& title, std::int64_t iterations,
               const KeptWork& kept, std::ostream& progress) {
  Fitted fitted;
  fitted.state = fit.init();
  kept.load([&](const json& log, std::string_view arrays) {
    fitted.state = tree_from_bytes(fitted.state, arrays);
    fitted.log = log_from_json(log);
  });
  fitted.resumed_at = fitted.state.iteration.item<std::int32_t>();
  auto start = Clock::now();
  fitted.state = fit.advance(fitted.state, 0);
  fitted.compile_seconds = seconds_since(start);

  Progress line(progress, title, iterations);
  InterruptGuard guard;
  auto last_save = Clock::now();
  auto save = [&] {
    keep(kept, fitted);
    last_save = Clock::now();
  };
  advance_in_chunks(fit, fitted.state, fitted.log, iterations, 0, [&](const VariationalLog& log) {
    const VariationalRecord& now = log.records.back();
    line.show(now.iteration, log.seconds, said(now));
    if (seconds_since(last_save) > seconds_between_saves) save();
    fitted.finished = now.iteration >= iterations;
    return !guard.interrupted();
  });
  line.finish();
  if (!fitted.finished) save();
  return fitted;
}

json describe(const Fitted& fitted) {
  double iterations = fitted.log.records.empty() ? 0 : fitted.log.records.back().iteration;
  return {{"finished", fitted.finished},
          {"history", to_json(fitted.log)},
          {"timing",
           {{"compile_s", fitted.compile_seconds},
            {"fit_s", fitted.log.seconds},
            {"ms_per_iteration", 1e3 * fitted.log.seconds / std::max(1.0, iterations)},
            {"resumed_at", fitted.resumed_at}}}};
}

void print_end(std::ostream& out, const Fitted& fitted, const std::vector<std::string>& warned) {
  for (const std::string& sentence : warned) out << "\nWarning: " << sentence << '\n';
  if (!fitted.finished) {
    out << "\nInterrupted at iteration " << fitted.log.records.back().iteration
        << "; this is the Gaussian of that moment. Go on with --resume.\n";
  }
  out << formatted("\nelbo %.6g in the last iterations", fitted.log.records.back().elbo)
      << formatted(", compiled in %.1f s", fitted.compile_seconds)
      << formatted(", fitted in %.1f s\n\n", fitted.log.seconds);
}

std::int64_t iterations_of(const VariationalRequest& request, std::int64_t otherwise) {
  std::int64_t iterations = at_least("vi", "iterations", request.iterations.value_or(otherwise), 1);
  if (iterations <= most_iterations) return iterations;
  refuse("vi", std::to_string(iterations) +
                   " iterations, which a fit cannot count. Give --iterations at most " +
                   std::to_string(most_iterations));
}

std::filesystem::path folder_of(const VariationalRequest& request) {
  return request.out.empty() ? std::filesystem::path("results") / ("vi-" + request.problem)
                             : request.out;
}

std::vector<std::string> warnings(const VariationalLog& log) {
  std::vector<std::string> result;
  if (log.records.empty()) return result;
  const VariationalRecord& last = log.records.back();
  if (last.skipped > 0) {
    result.push_back(std::to_string(last.skipped) + " of " + std::to_string(last.iteration) +
                     " iterations made no step, since the bound or its slope was not finite.");
  }
  // Two stretches at the end, compared by what their chunks scatter.
  std::size_t length = log.records.size() / 10;
  if (length < 3) return result;
  auto stretch = [&](std::size_t from_end) {
    std::vector<double> values;
    for (std::size_t i = 0; i < length; i++) {
      values.push_back(log.records[log.records.size() - from_end * length + i].elbo);
    }
    return mean_sd(values);
  };
  MeanSd before = stretch(2), now = stretch(1);
  double error = std::hypot(before.sd, now.sd) / std::sqrt(static_cast<double>(length));
  if (now.mean - before.mean > std::max(0.1, 4 * error)) {
    result.push_back("The bound still rises: " + formatted("%.6g", before.mean) + ", then " +
                     formatted("%.6g", now.mean) + " at the end. Give more --iterations.");
  }
  return result;
}

}  // namespace sturnus::app
