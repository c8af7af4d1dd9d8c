// Your own equation: how fast does a cup of coffee cool, and how warm is the room? Newton's law
// T' = -k (T - room), eight readings of a poor thermometer, and an ensemble whose spread says how
// sure one can be of k, of the room, and of the temperature at any time.
#include <sturnus/inference/ensembles/ensemble.h>
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct Cooling {
  Array k, room;
};

int main() {
  Problem coffee = {
      .name = "coffee",
      .equation =
          [](const Field& temperature, const Array& t, const Cooling& c) {
            return grad(temperature)(t) + c.k * (temperature(t) - c.room);
          },
      .parameters = {{.name = "k", .prior = Prior::positive()},
                     {.name = "room", .prior = Prior::normal(2.0, 0.5), .start = {{1.5, 2.5}}}},
      .low = {0},
      .high = {6},
      // Tens of degrees and of minutes: networks like numbers near 1.
      .data = measurements({0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0},
                           {9.1, 7.3, 6.2, 5.2, 4.2, 3.4, 2.8, 2.4}),
      .noise_sd = 0.1,
  };
  Ensemble ensemble(coffee, {.members = 16,
                             .network = {.hidden = {16, 16}},
                             .collocation = {.points = 40},
                             .repulsion = published_repulsion("factorized")});
  EnsembleState state = ensemble.advance(ensemble.init(), 4000);

  Array lambda = ensemble.lambda(state);
  std::cout << "k, room   " << mean(lambda, 0) << " +- " << stddev(lambda, 0) << "\n";
  Array t = array({0, 2, 4, 6}), f = ensemble.predict(state, t);
  std::cout << "at " << t << "\n    " << mean(f, 0) << "\n +- " << stddev(f, 0) << "\n";

  // Newton's law with k = 0.5 and a room of 2 made the readings.
  float off = max(abs(mean(lambda, 0) - array({0.5, 2.0}))).item<float>();
  return off < 0.3f ? 0 : 1;
}
