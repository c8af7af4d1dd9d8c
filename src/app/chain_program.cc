#include "src/app/chain_program.h"

#include <sturnus/functional/doubles.h>
#include <sturnus/inference/chains/kernel_chains.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/checkpoint.h>
#include <sturnus/ops/creation.h>
#include <sturnus/runtime/error.h>

#include <numeric>
#include <optional>
#include <string>

#include "src/app/json_reader.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

enum class Method { nuts, hmc, mala, random_walk };

Method method_of(const ChainSettings& settings) {
  using Choice = std::pair<std::string, Method>;
  const std::vector<Choice> methods = {{"nuts", Method::nuts},
                                       {"hmc", Method::hmc},
                                       {"mala", Method::mala},
                                       {"random_walk", Method::random_walk}};
  return one_named("sample", "method", settings.method, methods, &Choice::first).second;
}

// An option that the method does not have would be ignored.
void check_option(const ChainSettings& settings, const char* option,
                  const std::optional<std::int64_t>& given, const char* method) {
  if (!given || settings.method == method) return;
  refuse("sample", "--" + std::string(option) + " " + std::to_string(*given) +
                       " is for the method " + method + ", but the method is " + settings.method +
                       ". Leave --" + option + " out, or give --method " + method);
}

SamplingOptions options_of(const ChainSettings& settings) {
  using Choice = std::pair<std::string, MetricKind>;
  const std::vector<Choice> metrics = {
      {"unit", MetricKind::unit}, {"diagonal", MetricKind::diagonal}, {"dense", MetricKind::dense}};
  check_option(settings, "max-depth", settings.max_depth, "nuts");
  check_option(settings, "leapfrogs", settings.leapfrogs, "hmc");
  if (settings.draws < 4) {
    refuse("sample", std::to_string(settings.draws) +
                         " draws of each chain, but R-hat and effective sample sizes need 4. Give "
                         "--draws at least 4");
  }
  return {.chains = settings.chains,
          .warmup = settings.warmup,
          .draws = settings.draws,
          .seed = settings.seed,
          .metric = one_named("sample", "metric", metric(settings), metrics, &Choice::first).second,
          .target_accept = target_acceptance(settings),
          .max_depth = max_depth(settings)};
}

// A chunk with room for so many draws.
Draws of_length(const Draws& like, std::int64_t count) {
  return tree_map(
      [&](const Array& a) {
        Shape shape = a.shape();
        shape[1] = count;
        return zeros(shape, a.dtype());
      },
      like);
}

}  // namespace

ChainProgram chain_program(const Target& target, const ChainSettings& settings,
                           const ChainStarts& starts) {
  Method method = method_of(settings);
  SamplingOptions options = options_of(settings);
  auto program_of = [&](const auto& sampler_with) -> ChainProgram {
    auto init = [=] {
      SamplingOptions begun = options;
      begun.start = starts ? starts(options.chains, options.seed)
                           : promising_starts(target, options.chains, options.seed);
      return sampler_with(begun).init();
    };
    auto sampler = sampler_with(options);
    auto advance = [=](ChainState state, std::int64_t count) {
      return sampler.advance(std::move(state), count);
    };
    return {init, advance, [=] { return sampler.like(); }};
  };
  if (method == Method::nuts) {
    return program_of([=](const SamplingOptions& o) { return Sampler(target, o); });
  }
  ChainKernel kernel = method == Method::hmc    ? ChainKernel::hmc
                       : method == Method::mala ? ChainKernel::mala
                                                : ChainKernel::random_walk;
  KernelOptions of_kernel = {.kernel = kernel, .leapfrogs = leapfrogs(settings)};
  return program_of([=](const SamplingOptions& o) { return KernelSampler(target, o, of_kernel); });
}

std::vector<Matrix> inverse_metrics(const ChainState& state) {
  const Array& factor = state.adaptation.metric.factor;  // L of L L^T, with an axis of chains
  const Shape& shape = factor.shape();
  std::vector<double> values = to_doubles(factor);
  std::vector<Matrix> result;
  if (shape.size() == 1) return result;
  auto size = static_cast<std::size_t>(shape[1]);
  auto rows = shape.size() == 2 ? std::size_t{1} : size;
  for (std::size_t at = 0; at < values.size(); at += rows * size) {
    MatrixView l = {values.data() + at, rows, size};
    Matrix metric(rows, size);
    for (std::size_t i = 0; i < rows; i++) {
      for (std::size_t j = 0; j < size; j++) {
        if (rows == 1) {
          metric(i, j) = l(i, j) * l(i, j);
        } else {
          auto a = l.row(i), b = l.row(j);
          metric(i, j) = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
        }
      }
    }
    result.push_back(metric);
  }
  return result;
}

KeptWork kept_sampling(const RunPlaces& places, const json& settings) {
  return {places, "sample", "sampling", settings};
}

void save_sampling(const KeptWork& kept, const Sampling& sampling) {
  std::vector<std::int64_t> lengths;
  for (const Draws& chunk : sampling.chunks) lengths.push_back(chunk.values.shape()[1]);
  kept.save({{"chunks", lengths},
             {"transitions", sampling.transitions},
             {"warmup_divergences", sampling.warmup_divergences},
             {"divergences", sampling.divergences},
             {"warmup_s", sampling.warmup_seconds},
             {"sampling_s", sampling.sampling_seconds}},
            tree_leaves(std::pair(sampling.state, sampling.chunks)));
}

Sampling load_sampling(const KeptWork& kept, const ChainProgram& program) {
  std::optional<Sampling> found;
  kept.load([&](const json& notes, std::string_view arrays) {
    auto [state, draw] = program.like();
    std::pair<ChainState, std::vector<Draws>> like = {state, {}};
    for (std::int64_t length : notes.at("chunks")) like.second.push_back(of_length(draw, length));
    auto [kept_state, chunks] = tree_from_bytes(like, arrays);
    found = {kept_state,
             chunks,
             notes.at("transitions"),
             notes.at("warmup_divergences"),
             notes.at("divergences"),
             notes.at("warmup_s"),
             notes.at("sampling_s")};
  });
  return found ? *found : Sampling{program.init(), {}};
}

}  // namespace sturnus::app
