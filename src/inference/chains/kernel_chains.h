// Markov chains of kernels whose transitions all take the same time: HMC, MALA and the random walk.
// All chains are one program, and walk in step.
//
//   KernelSampler sampler(model, {.chains = 4}, {.kernel = ChainKernel::hmc, .leapfrogs = 16});
//   auto [state, draws] = sampler.advance(sampler.init(), 100);
#pragma once

#include <sturnus/inference/chains/sampling.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace sturnus {

enum class ChainKernel { hmc, mala, random_walk };

/// The length of HMC's steps varies by a fifth from one trajectory to the next, so that none comes
/// back to where it began again and again.
inline constexpr double hmc_step_jitter = 0.2;

struct KernelOptions {
  ChainKernel kernel = ChainKernel::hmc;
  std::int64_t leapfrogs = 16;  ///< Of each trajectory of HMC.
};

/// As Sampler is for NUTS, with the same windows, metrics and rules for step sizes. A random walk
/// proposes steps of `step size` times the metric; 0.234 is a good acceptance to aim at. It never
/// asks for a derivative of the density, so that need not have one. For MALA 0.574 is a good one.
class KernelSampler {
 public:
  /// Throws Error for settings that make no sense. `options.max_depth` means nothing here.
  KernelSampler(Target target, SamplingOptions options, KernelOptions kernel = {});

  /// The chains before their first transition. Throws Error when a chain finds no place to begin.
  ChainState init() const;
  /// The chains after so many more transitions, and what these drew (that of the warm-up included).
  /// A random walk and MALA have depth, leapfrogs and energy 0; a walk knows no slopes. Uses up the
  /// given state. However many are made at a time, the bits are the same; 0 compiles the program
  /// and draws nothing. Throws Error for a negative number, and for a flat density, as Sampler.
  std::pair<ChainState, Draws> advance(ChainState state, std::int64_t transitions) const;
  /// What one transition gives, without values: nothing is compiled or run.
  std::pair<ChainState, Draws> like() const;
  /// `advance` as one program: (state, transitions) -> (state, draws).
  Lowered lower() const;

 private:
  struct Implementation;
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace sturnus
