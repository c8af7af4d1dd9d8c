#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/runtime/error.h>

#include <string>

namespace sturnus {

SmcResult lotka_volterra_particles(const Samples& data, double sigma, const SmcOptions& options,
                                   const LotkaVolterraPrior& prior) {
  return smc(lotka_volterra_model(data, sigma, prior), lotka_volterra_reference(prior), options);
}

TemperedPosterior tempered_lotka_volterra(const Samples& data, double sigma,
                                          const TemperedOptions& options,
                                          const LotkaVolterraPrior& prior) {
  Target target = lotka_volterra_model(data, sigma, prior);
  std::int64_t least = least_walkers(target.size);
  if (options.walkers < least || options.walkers > options.smc.particles) {
    throw Error("tempered_lotka_volterra: " + std::to_string(options.walkers) + " walkers of " +
                std::to_string(options.smc.particles) + " particles. Give at least " +
                std::to_string(least) + " walkers, and at least as many particles");
  }
  SmcResult tempering = lotka_volterra_particles(data, sigma, options.smc, prior);
  Array start = tempering.particles(Slice{0, options.walkers});
  WalkResult walk = walk_ensemble(target, start, options.walk);
  return {tempering, chain_draws(target.names, walk.values), walk.accept};
}

}  // namespace sturnus
