// Langevin dynamics on a posterior that is known exactly; kernels_test.cc has it on Gaussians.
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/langevin.h>
#include <sturnus/inference/variational/variational.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/shape.h>

#include "tests/inference/posterior_tests.h"
#include "tests/runtime/cpu.h"

namespace sturnus {
namespace {

TEST(Mala, FindsTheQuantilesOfTheExponentialPosterior) {
  ExperimentData experiment = published_data(Experiment::exponential, 0);
  Measurements data = measurements_of(experiment);
  Model<Exponential> target = exponential_model(data);
  Gaussian mode = start_at_mode(target, promising_starts(target, 8, 0));
  VariationalFit fit(target, {.family = GaussianFamily::full_rank,
                              .optimizer = {.rate = 0.02},
                              .start = mode,
                              .units = mode.factor});
  Metric metric = {fit.gaussian(fit.advance(fit.init(), 3000)).factor};

  const std::int64_t chains = 8, warmup = 1000, count = 20000;
  Mala mala;
  auto chain = [&](const Key& key) {
    auto body = [&](const Mala::State& state, const Array& i) {
      Mala::State next =
          mala.step(fold_in(key, i), target.log_density, state, Array(0.9, DType::f64), metric)
              .first;
      return std::pair(next, target.parameters(next.position));
    };
    return scan(body, mala.init(target.log_density, mode.mean), arange(warmup + count)).second;
  };
  Array all = jit([&](const Key& keys) { return vmap(chain)(keys); })(split(key(1), chains));
  Draws draws;
  draws.names = target.names;
  draws.values = slice(all, {0, warmup, 0}, {chains, warmup + count, 2});
  expect_exact(chain_draws({draws}), ExactPosterior::exponential(data));
}

}  // namespace
}  // namespace sturnus
