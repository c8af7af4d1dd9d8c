// A damped oscillator with unknown frequency and damping, measured at ten times with a gap in
// between: the equation as one writes it, nested derivatives included.
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/ensembles/training.h>
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct Spring {
  Array omega, zeta;
};

Array residual(const Field& f, const Array& t, const Spring& s) {
  auto df = grad(f);
  auto ddf = grad(df);
  return ddf(t) + 2.0 * s.zeta * s.omega * df(t) + square(s.omega) * f(t);
}

int main() {
  ExperimentData data = published_data(Experiment::oscillator, 2);
  Problem problem = {
      .name = "oscillator",
      .equation = residual,
      .parameters =
          {{.name = "omega", .prior = Prior::positive(), .truth = 1.0, .start = {{0.5, 1.5}}},
           {.name = "zeta", .prior = Prior::positive(), .truth = 0.1, .start = {{0.0, 0.5}}}},
      .low = {0},
      .high = {25},
      .data = data.train,
      .noise_sd = data.noise_sd};
  // Members find the data first, then they part.
  Repulsion repulsion = published_repulsion("lambda");
  repulsion.start = 2000;
  Ensemble ensemble(problem, {.members = 10,
                              .network = {.hidden = {20, 20}},
                              .collocation = {.points = 60},
                              .residual_weight = Schedule::stepwise(1, {{2500, 5}}),
                              .repulsion = repulsion});
  EnsembleState state = ensemble.init();
  TrainingLog log;
  train(ensemble, state, log, {.iterations = 5000, .chunk = 1000},
        [&](const EnsembleState& s, const TrainingLog& so_far) {
          const TrainingRecord& now = so_far.records.back();
          std::cout << now.iteration << "  data " << now.data << "  residual " << now.residual
                    << "  omega, zeta " << mean(ensemble.lambda(s), 0) << "\n";
          return true;
        });
  Array lambda = ensemble.lambda(state);
  std::cout << "omega, zeta  " << mean(lambda, 0) << " +- " << stddev(lambda, 0)
            << "   truth 1, 0.1\n";
  return abs(mean(lambda, 0)[0] - 1.0).item<float>() < 0.15f ? 0 : 1;
}
