#include "src/app/chain_run.h"

#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/kernel_chains.h>
#include <sturnus/inference/results/diagnostics.h>
#include <sturnus/inference/results/inference_data.h>
#include <sturnus/inference/results/metrics.h>
#include <sturnus/inference/results/stan_csv.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <utility>

#include "src/app/chain_chunks.h"
#include "src/app/chain_program.h"
#include "src/app/chain_report.h"
#include "src/app/clock.h"
#include "src/app/draw_parts.h"
#include "src/app/plotly_script.h"
#include "src/app/progress.h"
#include "src/app/result_parts.h"
#include "src/app/told_draws.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// As many are printed; result.json has all.
constexpr std::size_t printed_rows = 40;

double mean_of(const Matrix& matrix) {
  double total = 0;
  for (double value : matrix.values) total += value;
  return total / static_cast<double>(std::max<std::size_t>(1, matrix.values.size()));
}

std::int64_t count_of(const Matrix& flags) {
  return std::count_if(flags.values.begin(), flags.values.end(), [](double f) { return f != 0; });
}

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

// --- Chains

void advance(Sampling& sampling, const ChainProgram& program, const ChainSettings& settings,
             ChainChunks& chunks, std::ostream& progress) {
  bool warm = sampling.transitions < settings.warmup;
  std::int64_t count = chunks.next(sampling.transitions);
  auto begun = Clock::now();
  auto [state, draws] = program.advance(std::move(sampling.state), count);
  SamplerStatistics said = chain_draws({draws}).statistics;
  double& seconds = warm ? sampling.warmup_seconds : sampling.sampling_seconds;
  double took = seconds_since(begun);
  seconds += took;
  chunks.took(count, took);
  sampling.state = state;
  sampling.transitions += count;
  std::int64_t& divergent = warm ? sampling.warmup_divergences : sampling.divergences;
  divergent += count_of(said.divergent);
  if (!warm) sampling.chunks.push_back(draws);
  progress << (warm ? "warm-up" : "draws") << "  " << sampling.transitions << "/"
           << settings.warmup + settings.draws << "  " << text("%.1f s", seconds) << "  divergent "
           << divergent << "  acceptance " << text("%.2f", mean_of(said.acceptance))
           << "  step size " << text("%.3g", mean_of(said.step_size));
  if (settings.method == "nuts") progress << "  depth " << text("%.1f", mean_of(said.tree_depth));
  progress << std::endl;
}

// What was drawn; statistics that the method does not know are left out.
ChainDraws drawn(const Sampling& sampling, const std::string& method) {
  ChainDraws draws = chain_draws(sampling.chunks);
  if (method != "nuts") draws.statistics.tree_depth = {};
  if (method == "random_walk" || method == "mala") {
    draws.statistics.leapfrog_steps = draws.statistics.energy = draws.statistics.divergent = {};
  }
  return draws;
}

// --- What is said of them

// Stan's first row. Chains in modes of different heights disagree in it, whatever the parameters
// say.
std::vector<ParameterSummary> with_log_density(const ChainRun& run) {
  std::vector<ParameterSummary> rows = {summarize("lp__", run.draws.statistics.log_density)};
  rows.insert(rows.end(), run.rows.begin(), run.rows.end());
  return rows;
}

// What the sampler did in each chain; what the method does not know is left out.
json describe_chains(const SamplerStatistics& said, int max_depth) {
  json result = {{"acceptance", json::array()}, {"step_size", json::array()}};
  for (std::size_t chain = 0; chain < said.acceptance.rows; chain++) {
    auto row = [&](const Matrix& matrix) { return MatrixView(matrix).row(chain); };
    auto count_at_least = [&](const Matrix& matrix, double least) {
      auto values = row(matrix);
      return std::count_if(values.begin(), values.end(), [=](double v) { return v >= least; });
    };
    result["acceptance"].push_back(mean_sd(row(said.acceptance)).mean);
    result["step_size"].push_back(row(said.step_size).back());
    if (!said.divergent.values.empty()) {
      result["divergences"].push_back(count_at_least(said.divergent, 1));
    }
    if (!said.tree_depth.values.empty()) {
      result["deepest_trees"].push_back(count_at_least(said.tree_depth, max_depth));
    }
  }
  if (!said.energy.values.empty()) result["ebfmi"] = ebfmi(said.energy);
  return result;
}

json describe(const PosteriorToSample& posterior, const json& settings, const Sampling& sampling,
              double compile_seconds, const ChainRun& run, const ToldDraws& told) {
  const SamplerStatistics& said = run.draws.statistics;
  int max_depth = settings.value("max_depth", default_max_depth);
  double least = describe_worst(run.rows).at("ess_bulk");
  std::vector<std::string> warned = warnings(with_log_density(run), said, max_depth);
  if (settings.at("method") != "random_walk") {  // which knows no slopes
    std::string flat = flatness_warning(posterior.target, sampling.state);
    if (!flat.empty()) warned.push_back(flat);
  }
  json result = {
      {"sturnus", describe_program()},
      {"device", default_device().description().text},
      {"settings", settings},
      {"draws", run.draws.draws},
      {"summary", describe_summary(with_log_density(run))},
      {"divergences", {{"warmup", sampling.warmup_divergences}, {"draws", sampling.divergences}}},
      {"by_chain", describe_chains(said, max_depth)},
      {"warnings", warned},
      {"chains", describe_shown(run.draws, told)},
      {"timing",
       {{"compile_s", compile_seconds},
        {"warmup_s", sampling.warmup_seconds},
        {"sampling_s", sampling.sampling_seconds},
        {"ess_bulk_per_s", least / sampling.sampling_seconds}}}};
  if (!told.weights.is_null()) result["weights"] = told.weights;
  result.update(describe_predictions(posterior.curve, run.draws, settings.at("seed")));
  return result;
}

// --- Files

std::vector<fs::path> write_files(const fs::path& folder, const PosteriorToSample& posterior,
                                  const ChainSettings& settings, const ChainState& state,
                                  const ChainRun& run) {
  std::vector<fs::path> files = {folder / "result.json", folder / "report.html"};
  write_file(files[0], run.result.dump() + "\n");
  write_file(files[1], chain_report_html(run.result, plotly_script()));
  StanCsvRun about = {.model = posterior.name,
                      .method = settings.method,
                      .warmup = static_cast<std::size_t>(settings.warmup),
                      .target_acceptance = target_acceptance(settings),
                      .max_tree_depth = static_cast<int>(max_depth(settings)),
                      .leapfrogs = static_cast<int>(leapfrogs(settings)),
                      .step_size_jitter = hmc_step_jitter,
                      .seed = settings.seed,
                      .inverse_metric = inverse_metrics(state),
                      .warmup_seconds = run.result.at("timing").at("warmup_s"),
                      .sampling_seconds = run.result.at("timing").at("sampling_s")};
  for (const fs::path& file : write_stan_csv(folder, run.draws, about)) files.push_back(file);
  files.push_back(folder / "draws.nc");
  write_inference_data(files.back(), inference_data_of(run.draws, posterior.curve, settings.seed));
  return files;
}

}  // namespace

ChainRun run_chains(const PosteriorToSample& posterior, const ChainSettings& settings,
                    const RunPlaces& places, std::ostream& progress) {
  json all_settings = posterior.about;
  all_settings.update(to_json(settings));
  KeptWork kept = kept_sampling(places, all_settings);
  auto begun = Clock::now();
  ChainProgram program = chain_program(posterior.target, settings, posterior.starts);
  Sampling sampling = load_sampling(kept, program);
  std::int64_t resumed_at = sampling.transitions, end = settings.warmup + settings.draws;
  if (resumed_at < end) sampling.state = program.advance(std::move(sampling.state), 0).first;
  double compile_seconds = seconds_since(begun);

  InterruptGuard guard;
  ChainChunks chunks(settings, posterior.target.size);
  while (sampling.transitions < end && !guard.interrupted()) {
    advance(sampling, program, settings, chunks, progress);
    save_sampling(kept, sampling);
  }
  std::int64_t made = std::max<std::int64_t>(0, sampling.transitions - settings.warmup);
  if (made < 4) {
    throw Error("sample: interrupted after " + std::to_string(made) +
                " draws of each chain, which are too few to say anything. Go on with --resume");
  }

  ChainRun run;
  run.draws = drawn(sampling, settings.method);
  ToldDraws told = told_draws(run.draws, posterior.weights, posterior.curve);
  run.rows = told.rows;
  run.result = describe(posterior, all_settings, sampling, compile_seconds, run, told);
  bool finished = sampling.transitions == end;
  run.result["finished"] = finished;
  run.result["timing"]["resumed_at"] = resumed_at;
  if (places.folder.empty()) return run;
  try {
    run.files = write_files(places.folder, posterior, settings, sampling.state, run);
    if (finished) kept.remove();
  } catch (const Error& error) {
    // The caller can still tell the summary, and --resume what was drawn.
    log(LogLevel::warning, "the result could not be written: " + std::string(error.what()) +
                               ". Mend that, then add --resume");
  }
  return run;
}

void print_chains(std::ostream& out, const ChainRun& run) {
  std::vector<ParameterSummary> rows = with_log_density(run);
  std::size_t printed = std::min(printed_rows, rows.size());
  out << summary_table(std::span(rows).first(printed), run.result.at("timing").at("sampling_s"));
  if (printed < rows.size()) {
    out << "and " << rows.size() - printed << " more, which are in result.json\n";
  }
  std::string weights = weights_text(run.result.value("weights", json()));
  if (!weights.empty()) out << weights << '\n';
  for (const json& sentence : run.result.at("warnings")) {
    out << "\nWarning: " << sentence.get<std::string>() << '\n';
  }
  if (!run.result.at("finished").get<bool>()) {
    out << "\nInterrupted after " << run.draws.draws
        << " draws of each chain; the summary is that of these. Go on with --resume.\n";
  }
  const json& timing = run.result.at("timing");
  out << text("\ncompiled in %.1f s", timing.at("compile_s"))
      << text(", warmed up in %.1f s", timing.at("warmup_s"))
      << text(", drawn in %.1f s", timing.at("sampling_s"))
      << text(": %.0f effective draws per second\n\n", timing.at("ess_bulk_per_s"));
  for (const fs::path& file : run.files) out << file.string() << '\n';
}

}  // namespace sturnus::app
