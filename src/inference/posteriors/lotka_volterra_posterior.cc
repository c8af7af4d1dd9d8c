#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/runtime/error.h>

#include <string>

namespace sturnus {

TemperedPosterior tempered_lotka_volterra(const Samples& data, double sigma,
                                          const TemperedOptions& options,
                                          const LotkaVolterraPrior& prior) {
  Target target = lotka_volterra_model(data, sigma, prior);
  SmcResult tempering = smc(target, lotka_volterra_reference(prior), options.smc);
  Array start = tempering.particles(Slice{0, options.walkers});
  WalkResult walk = walk_ensemble(target, start, options.walk);
  return {tempering, chain_draws(target.names, walk.values), walk.accept};
}

Matrix rows_of(const ChainDraws& draws, std::size_t count) {
  std::size_t available = draws.chains * draws.draws;
  if (count == 0 || count > available) {
    throw Error("rows_of: " + std::to_string(count) + " rows of " + std::to_string(available) +
                " draws. Give 1 to " + std::to_string(available));
  }
  std::size_t width = 0;
  for (const ParameterDraws& p : draws.parameters) width += p.values.size() / available;
  Matrix result(count, width);
  std::size_t column = 0;
  for (const ParameterDraws& p : draws.parameters) {
    std::size_t columns = p.values.size() / available;
    for (std::size_t i = 0; i < count; i++) {
      std::size_t row = i * available / count;
      for (std::size_t k = 0; k < columns; k++) {
        result(i, column + k) = p.values[row * columns + k];
      }
    }
    column += columns;
  }
  return result;
}

}  // namespace sturnus
