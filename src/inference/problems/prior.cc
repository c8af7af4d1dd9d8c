#include <sturnus/inference/problems/prior.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <string>
#include <utility>

namespace sturnus {
namespace {

void require_positive(const char* prior, double sd) {
  if (!(sd > 0 && std::isfinite(sd))) {
    throw Error(std::string(prior) + ": the standard deviation is " + std::to_string(sd) +
                ". It must be positive and finite");
  }
}

void require_finite(const char* prior, double mean) {
  if (!std::isfinite(mean)) {
    throw Error(std::string(prior) + ": the mean is " + std::to_string(mean) +
                ". It must be finite");
  }
}

Array wall(const Array& x) { return 1000.0 * square(minimum(x, 0.0)); }

}  // namespace

Prior Prior::positive() { return Prior(wall); }

Prior Prior::uniform(double low, double high, double width) {
  double step = width > 0 ? width : (high - low) / 100;
  // high - low is not finite where an end is not.
  if (!(low < high && width >= 0 && std::isfinite(high - low) && std::isfinite(step))) {
    throw Error(
        "Prior::uniform: from " + std::to_string(low) + " to " + std::to_string(high) +
        ", steps of width " + std::to_string(width) +
        ". All must be finite, as the distance between the ends; the first must be below the "
        "second, and no width negative");
  }
  // -log sigmoid(z) = softplus(-z)
  return Prior([low, high, step](const Array& x) {
    return softplus((low - x) / step) + softplus((x - high) / step);
  });
}

Prior Prior::normal(double mean, double sd) {
  require_finite("Prior::normal", mean);
  require_positive("Prior::normal", sd);
  return Prior([mean, sd](const Array& x) { return 0.5 * square((x - mean) / sd); });
}

Prior Prior::log_normal(double mean, double sd) {
  require_finite("Prior::log_normal", mean);
  require_positive("Prior::log_normal", sd);
  return Prior([mean, sd](const Array& x) {
    Array log_x = log(maximum(x, 1e-6));
    return 0.5 * square((log_x - mean) / sd) + log_x + wall(x);
  });
}

Prior Prior::density(std::function<Array(const Array&)> log_density) {
  return Prior([log_density = std::move(log_density)](const Array& x) { return -log_density(x); });
}

}  // namespace sturnus
