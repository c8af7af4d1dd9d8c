// Coaching in eight schools (D. Rubin, 1981): a model is a plain struct and a function of it, and
// NUTS draws from its posterior.
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/sturnus.h>

#include <cmath>
#include <iostream>

using namespace sturnus;

// School i gains mean + spread offsets_i points. The offsets are standard normal numbers: gains
// around a mean would make a funnel, where the spread is small.
struct Schools {
  Array mean, spread;
  Array offsets;  // [8]
};

Array log_joint(const Schools& s) {
  Array measured = array({28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0});
  Array error = array({15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0});
  Array gain = s.mean + s.spread * s.offsets;
  return normal_log_density(s.mean, 0.0, 5.0) + half_cauchy_log_density(s.spread, 5.0) +
         sum(normal_log_density(s.offsets, 0.0, 1.0)) +
         sum(normal_log_density(measured, gain, error));
}

int main() {
  Model schools(log_joint, Schools{0.0, 0.0, zeros({8})}, {{".spread", Bijection::positive()}});
  ChainDraws draws = chain_draws({sample(schools, {.chains = 4, .target_accept = 0.95})});

  std::vector<ParameterSummary> rows = summarize(draws);
  std::cout << summary_table(rows);
  for (const std::string& sentence : warnings(rows, draws.statistics)) {
    std::cout << "Warning: " << sentence << "\n";
  }
  std::cout << "posteriordb has a mean of 4.4 +- 3.3 and a spread of 3.6 +- 3.2\n";
  bool agrees = std::abs(rows[0].mean - 4.4) < 0.5 && std::abs(rows[1].mean - 3.6) < 0.5;
  return agrees ? 0 : 1;
}
