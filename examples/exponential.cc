// Growth at an unknown rate, from ten measurements that are off by 2: the published experiment,
// shortened, against the exact posterior.
#include <sturnus/inference/ensembles/evaluation.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

int main() {
  ExperimentData data = published_data(Experiment::exponential, 0);
  Training training = published_training(Experiment::exponential, "lambda");
  training.options.members = 20;
  training.options.residual_weight = Schedule::stepwise(5, {{2000, 25}});

  Ensemble ensemble(problem_of(data), training.options);
  EnsembleState state = ensemble.advance(ensemble.init(), 4000);

  Array lambda = ensemble.lambda(state);
  ExactPosterior exact = *exact_posterior_of(data);
  std::cout << "ensemble  lambda = " << mean(lambda) << " +- " << stddev(lambda) << "\n"
            << "exact     lambda = " << exact.mean(1) << " +- " << exact.sd(1) << "\n";
  double off = std::abs(mean(lambda).item<float>() - exact.mean(1));
  return off < 2 * exact.sd(1) ? 0 : 1;
}
