// Markov chains of NUTS, all in one program.
//
//   Draws draws = sample(model, {.chains = 4, .warmup = 1000, .draws = 1000});
//   draws.values;           // [chains, draws, parameters], in the order of draws.names
//   draws.stats.divergent;  // [chains, draws]
//
// One pass of the program's loop is one leapfrog step of every chain, each with its own tree and
// its own transition: a chain that is done with one begins the next at once.
#pragma once

#include <sturnus/functional/program.h>
#include <sturnus/inference/chains/nuts.h>
#include <sturnus/inference/chains/warmup.h>
#include <sturnus/inference/models/model.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sturnus {

/// Of one program: more would be a slip of the keyboard.
constexpr std::int64_t most_chains = 1'000'000;

struct SamplingOptions {
  std::int64_t chains = 4;
  std::int64_t warmup = 1000;
  std::int64_t draws = 1000;
  std::uint64_t seed = 0;
  MetricKind metric = MetricKind::diagonal;
  double target_accept = 0.8;
  std::int64_t max_depth = 10;
  /// Where the chains begin, free numbers [chains, size]; without it uniform in (-2, 2), drawn up
  /// to 100 times until density and gradient are finite.
  std::optional<Array> start = {};
  DType dtype = DType::f64;
  std::optional<Device> device = {};
};

/// How each draw came about, [chains, draws]; what a method does not know stays empty.
struct SampleStats {
  Array log_density;  // of the free numbers, up to its constant
  Array accept;       // mean acceptance along the trajectory
  Array step_size;
  Array depth, leapfrogs;  // i32
  Array divergent;         // bool
  Array energy;
};

struct Draws {
  std::vector<std::string> names;
  Array values;  // [chains, draws, parameters]
  SampleStats stats;
};

/// What a chain has learned, and how far it is.
struct Adaptation {
  Array transition;    // i32: how many are done, those of the warm-up included
  Array trajectories;  // i32: those and the trials of step sizes; each has its own random numbers
  Metric metric;
  StepSearch::State step;
  DualAveraging::State averaging;
  RunningMoments::State moments;
};

/// Chains between two transitions. A tree, with an axis of chains in front of every array: it can
/// be flattened, saved, sent to a device.
struct ChainState {
  Key key;
  DensityPoint at;
  Adaptation adaptation;
};

class Sampler {
 public:
  /// Throws Error for settings that make no sense.
  Sampler(Target target, SamplingOptions options);

  const Target& target() const;
  const SamplingOptions& options() const;

  /// The chains before their first transition. Throws Error when a chain finds no place to begin.
  ChainState init() const;
  /// The chains after so many more transitions, and what these drew (that of the warm-up included).
  /// Uses up the given state: its memory is reused. However many are made at a time, the bits are
  /// the same; 0 compiles the program and draws nothing. Throws Error for a negative number, and
  /// for a flat density, on which the warm-up ends with steps beyond those of StepSearch.
  std::pair<ChainState, Draws> advance(ChainState state, std::int64_t transitions) const;
  /// What one transition gives, without values: nothing is compiled or run.
  std::pair<ChainState, Draws> like() const;
  /// `advance` as one program: (state, transitions) -> (state, draws).
  Lowered lower() const;

 private:
  friend class KernelSampler;  // begins as these chains do, and has transitions of its own
  friend Draws sample(const Target&, const SamplingOptions&,
                      const std::function<bool(std::int64_t)>&);
  /// What init gives, without compiling the program of transitions beside it.
  ChainState begin() const;
  /// The same without values.
  ChainState begin_like() const;
  struct Implementation;
  std::shared_ptr<const Implementation> implementation_;
};

/// A warning that names the free numbers by which the log density has the slope 0 at every chain:
/// draws of these are those of a walk without end. Empty where there are none.
std::string flatness_warning(const Target& target, const ChainState& chains);

/// Warm-up and draws of all chains. After each chunk `look`, if given, is called with the number of
/// transitions that are done, and decides whether to go on; what was drawn is returned either way.
/// Throws Error as Sampler does; logs a flatness_warning.
Draws sample(const Target& target, const SamplingOptions& options = {},
             const std::function<bool(std::int64_t done)>& look = {});

}  // namespace sturnus
