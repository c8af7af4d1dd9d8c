// A density of two modes, one with a fifth of it: chains stay in the mode where they begin, but
// particles that come from a wide density over ever sharper ones weigh both, and have the evidence.
#include <sturnus/inference/chains/smc.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/sturnus.h>

#include <cmath>
#include <iostream>

using namespace sturnus;

struct Place {
  Array x;  // [2]
};

// 0.2 N((-4, 0), 0.5) + 0.8 N((4, 0), 0.5), with an integral of exp(3) in all.
Array log_density(const Place& p) {
  auto mode = [&](double weight, double center) {
    return std::log(weight) + normal_log_density(p.x(0), center, 0.5) +
           normal_log_density(p.x(1), 0.0, 0.5);
  };
  return 3.0 + logaddexp(mode(0.2, -4), mode(0.8, 4));
}

int main() {
  Model two_modes(log_density, Place{zeros({2})});
  SmcResult found = smc(two_modes, Reference::normal(2, 5.0), {.particles = 2000, .moves = 20});

  double left = mean(convert(found.particles(ellipsis, 0) < 0.0, DType::f64)).item<double>();
  std::cout << found.temperatures.size() << " temperatures\n"
            << "left mode     " << left << ", truth 0.2\n"
            << "log evidence  " << found.log_evidence << ", truth 3\n";
  return std::abs(left - 0.2) < 0.06 && std::abs(found.log_evidence - 3) < 0.3 ? 0 : 1;
}
