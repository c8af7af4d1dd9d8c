// The Gaussian nearest to a posterior, with and without correlations, beside the closed form: a
// line through points whose noise is known has a Gaussian posterior.
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/inference/variational/variational.h>
#include <sturnus/sturnus.h>

#include <iostream>

using namespace sturnus;

struct Line {
  Array intercept, slope;
};

int main() {
  const double noise = 0.3, prior_sd = 5;
  Array x = array({0.0, 1.0, 2.0, 3.0, 4.0, 5.0});
  Array y = array({1.1, 1.4, 2.1, 2.4, 3.1, 3.4});
  Model line(
      [&](const Line& l) {
        return normal_log_density(l.intercept, 0.0, prior_sd) +
               normal_log_density(l.slope, 0.0, prior_sd) +
               sum(normal_log_density(y, l.intercept + l.slope * x, noise));
      },
      Line{0.0, 0.0});

  auto fitted = [&](GaussianFamily family) {
    Gaussian start = start_at_mode(line, zeros({1, 2}, DType::f64));
    VariationalFit fit(line, {.family = family,
                              .optimizer = {.rate = Schedule::cosine(0.05, 5e-4, 0, 3000)},
                              .start = start,
                              .units = start.factor});
    VariationalState state = fit.advance(fit.init(), 3000);
    VariationalDraws drawn = fit.draw(state, 2000);
    std::cout << summary_table(summarize(chain_draws({drawn.draws}))) << "elbo " << state.elbo
              << ", efficiency of the weights " << weight_efficiency(drawn.log_weights) << "\n\n";
    return weight_efficiency(drawn.log_weights);
  };
  std::cout << "mean field, too narrow:\n";
  double without = fitted(GaussianFamily::mean_field);
  std::cout << "full rank:\n";
  double with = fitted(GaussianFamily::full_rank);

  // The inverse covariance is X^T X / noise^2 + 1 / prior_sd^2.
  Array columns = stack({ones_like(x), x}, 1);
  Array precision = matmul(swapaxes(columns, 0, 1), columns) / (noise * noise) +
                    eye(2, DType::f64) / (prior_sd * prior_sd);
  std::cout << "closed form: sd " << sqrt(diagonal(inverse(precision))) << "\n";
  return with > 0.98 && without < 0.7 ? 0 : 1;
}
