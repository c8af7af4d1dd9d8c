// Times chains of NUTS on a posterior: exponential, oscillator, hare_lynx.
//
//   echo 0 1 2 | sampling_benchmark <posterior>
//
// Prints lines of JSON. The first has seconds of compiling the search for starts and the sampler,
// the data, and where chains begin, so that others can do the same. Then, for each seed of the
// input, there are seconds of that search, of warm-up and of draws, leapfrog steps, the smallest
// bulk ESS and the largest R-hat.
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace sturnus::benchmarks {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Posterior {
  Target target;
  json data;
};

Posterior posterior_named(const std::string& name) {
  if (name == "hare_lynx") return {hare_lynx_model(), {}};
  if (name != "exponential" && name != "oscillator") {
    throw Error("sampling_benchmark: there is no posterior " + name +
                ". Give exponential, oscillator or hare_lynx");
  }
  bool oscillates = name == "oscillator";
  ExperimentData data =
      published_data(oscillates ? Experiment::oscillator : Experiment::exponential, 0);
  Measurements measured = {data.train.x, data.train.y, data.noise_sd};
  json numbers = {{"t", data.train.x}, {"y", data.train.y}, {"sigma", data.noise_sd}};
  if (oscillates) return {oscillator_model(measured), numbers};
  return {exponential_model(measured), numbers};
}

double sum_of(const Matrix& matrix) {
  return std::accumulate(matrix.values.begin(), matrix.values.end(), 0.0);
}

json rows_of(const Array& starts) {
  auto values = starts.to_vector<double>();
  std::vector<std::vector<double>> rows;
  for (auto at = values.begin(); at != values.end(); at += starts.shape()[1]) {
    rows.emplace_back(at, at + starts.shape()[1]);
  }
  return rows;
}

/// A sampler with its programs, and its chains before their first transition.
std::pair<Sampler, ChainState> compiled(const Target& target, const SamplingOptions& options) {
  Sampler sampler(target, options);
  return {sampler, sampler.advance(sampler.init(), 0).first};
}

json sampled(const Target& target, std::uint64_t seed) {
  SamplingOptions options = {.seed = seed};
  auto begun = Clock::now();
  options.start = promising_starts(target, options.chains, seed);
  double search = seconds_since(begun);
  auto [sampler, state] = compiled(target, options);
  begun = Clock::now();
  auto [warm, warmup] = sampler.advance(state, options.warmup);
  warm.at.value.await();
  double warmup_seconds = seconds_since(begun);
  begun = Clock::now();
  ChainDraws draws = chain_draws({sampler.advance(warm, options.draws).second});
  double draw_seconds = seconds_since(begun);

  double least = std::numeric_limits<double>::infinity(), rhat = 0;
  for (const ParameterSummary& row : summarize(draws)) {
    least = std::min(least, row.ess_bulk);
    rhat = std::max(rhat, row.rhat);
  }
  return {{"starts", rows_of(*options.start)},
          {"search_s", search},
          {"warmup_s", warmup_seconds},
          {"draws_s", draw_seconds},
          {"warmup_leapfrogs", sum_of(chain_draws({warmup}).statistics.leapfrog_steps)},
          {"leapfrogs", sum_of(draws.statistics.leapfrog_steps)},
          {"ess", least},
          {"rhat", rhat}};
}

void print(const json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  auto [target, data] = posterior_named(argc > 1 ? argv[1] : "");
  SamplingOptions options;
  auto begun = Clock::now();
  options.start = promising_starts(target, options.chains, options.seed);
  double search = seconds_since(begun);
  begun = Clock::now();
  compiled(target, options);
  double sampler = seconds_since(begun);
  print({{"search_compile_s", search},
         {"compile_s", sampler},
         {"data", data},
         {"starts", rows_of(*options.start)}});
  for (std::uint64_t seed; std::cin >> seed;) print(sampled(target, seed));
  return 0;
}

}  // namespace
}  // namespace sturnus::benchmarks

int main(int argc, char** argv) {
  try {
    return sturnus::benchmarks::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
