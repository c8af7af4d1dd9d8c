// A wave carried by an unknown wind: a partial differential equation, with points that are drawn
// anew on the device in every iteration.
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct Wind {
  Array speed;
};

// u_t + speed u_x is the derivative along (1, speed): one sweep through the network, not two.
Array residual(const Field& u, const Array& tx, const Wind& wind) {
  return jvp(u, tx, stack({ones_like(wind.speed), wind.speed})).second;
}

int main() {
  Problem problem = problem_of(published_data(Experiment::advection, 0));
  problem.equation = residual;
  Ensemble ensemble(
      problem,
      {.members = 5,
       .network = {.hidden = {32, 32}},
       .collocation = {.kind = Collocation::Kind::sobol, .points = 64, .resample_every = 1},
       .residual_weight = 0.5,
       .repulsion = published_repulsion("lambda")});
  EnsembleState state = ensemble.advance(ensemble.init(), 3000);
  Array speed = ensemble.lambda(state);
  std::cout << "speed " << mean(speed) << " +- " << stddev(speed) << ", truth 0.2\n"
            << "data term " << mean(state.loss.data()) << "\n";
  return mean(state.loss.data()).item<float>() < 0.3f ? 0 : 1;
}
