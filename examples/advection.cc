// A wave carried by an unknown wind: a partial differential equation, with points that are drawn
// anew on the device in every iteration.
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/sturnus.h>

#include <cmath>
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
  // A wind backwards and one of 1.5 are minima of the loss too, which members that start near them
  // do not leave.
  problem.parameters[0].start = {{0, 1}};
  Ensemble ensemble(
      problem,
      {.members = 5,
       .network = {.hidden = {32, 32}},
       .collocation = {.kind = Collocation::Kind::sobol, .points = 64, .resample_every = 1},
       .residual_weight = 0.1,
       .repulsion = published_repulsion("lambda")});
  EnsembleState state = ensemble.advance(ensemble.init(), 3000);
  Array speed = ensemble.lambda(state);
  std::cout << "speed " << mean(speed) << " +- " << stddev(speed) << ", truth 0.2\n"
            << "data term " << mean(state.loss.data()) << ", the noise has 0.01\n";
  return std::abs(mean(speed).item<float>() - 0.2f) < 0.02f ? 0 : 1;
}
