// Foxes and rabbits: two functions, two equations, four unknown parameters. Each member is one
// network with two outputs.
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct Species {
  Array alpha, beta, gamma, delta;
};

Array residual(const Field& f, const Array& t, const Species& s) {
  auto [now, change] = jvp(f, t, ones_like(t));
  Array x = now[0], y = now[1];
  return stack({change[0] - x * (s.alpha - s.beta * y),     // rabbits
                change[1] + y * (s.gamma - s.delta * x)});  // foxes
}

int main() {
  ExperimentData data = published_data(Experiment::lotka_volterra, 0);
  Problem problem = problem_of(data);
  problem.equation = residual;
  Ensemble ensemble(problem, {.members = 8,
                              .network = {.hidden = {20, 20, 20}},
                              .collocation = {.points = 50},
                              .residual_weight = 0.05,  // a tenth of the published one
                              .repulsion = published_repulsion("factorized")});
  EnsembleState state = ensemble.advance(ensemble.init(), 6000);

  Array lambda = ensemble.lambda(state), truth = array({1.5f, 1.0f, 3.0f, 1.0f});
  Array found = mean(lambda, 0), spread = stddev(lambda, 0);
  std::cout << "alpha, beta, gamma, delta  " << found << " +- " << spread << "\n"
            << "truth                      " << truth << "\n"
            << "data term " << mean(ensemble.loss(state).data()) << "\n";
  // 24 measurements leave much open: the truth is to lie where the members are.
  return max(abs(found - truth) / spread).item<float>() < 1.5f ? 0 : 1;
}
