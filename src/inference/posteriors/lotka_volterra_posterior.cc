#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/ops/subscript.h>

namespace sturnus {

SmcResult lotka_volterra_particles(const Samples& data, double sigma, const SmcOptions& options,
                                   const LotkaVolterraPrior& prior) {
  return smc(lotka_volterra_model(data, sigma, prior), lotka_volterra_reference(prior), options);
}

TemperedPosterior tempered_lotka_volterra(const Samples& data, double sigma,
                                          const TemperedOptions& options,
                                          const LotkaVolterraPrior& prior) {
  Target target = lotka_volterra_model(data, sigma, prior);
  SmcResult tempering = lotka_volterra_particles(data, sigma, options.smc, prior);
  Array start = tempering.particles(Slice{0, options.walkers});
  WalkResult walk = walk_ensemble(target, start, options.walk);
  return {tempering, chain_draws(target.names, walk.values), walk.accept};
}

}  // namespace sturnus
