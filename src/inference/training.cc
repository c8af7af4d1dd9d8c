#include <sturnus/inference/training.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace sturnus {
namespace {

std::vector<double> to_doubles(const Array& x) {
  if (x.dtype() == DType::f64) {
    auto values = x.to_vector<double>();
    return {values.begin(), values.end()};
  }
  auto values = x.to_vector<float>();
  return {values.begin(), values.end()};
}

double mean_of_finite(const Array& x) {
  double sum = 0;
  int count = 0;
  for (double value : to_doubles(x)) {
    if (std::isfinite(value)) {
      sum += value;
      count++;
    }
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

TrainingRecord record_of(const EnsembleState& state) {
  return {.iteration = state.iteration.item<std::int32_t>(),
          .data = mean_of_finite(state.loss.data),
          .residual = mean_of_finite(state.loss.residual),
          .prior = mean_of_finite(state.loss.prior),
          .repulsion = mean_of_finite(state.loss.repulsion),
          .lambda = to_doubles(state.members.lambda)};
}

// Members that diverged since `log` last heard of any.
std::vector<Divergence> new_divergences(const EnsembleState& state, const TrainingLog& log) {
  std::vector<Divergence> result;
  auto at = state.diverged_at.to_vector<std::int32_t>();
  for (std::size_t i = 0; i < at.size(); i++) {
    Divergence found = {static_cast<std::int64_t>(i), at[i]};
    bool known = std::any_of(log.divergences.begin(), log.divergences.end(), [&](const auto& d) {
      return d.member == found.member && d.iteration == found.iteration;
    });
    if (at[i] >= 0 && !known) result.push_back(found);
  }
  return result;
}

}  // namespace

void train(const Ensemble& ensemble, EnsembleState& state, TrainingLog& log,
           const TrainingOptions& options,
           const std::function<bool(const EnsembleState&, const TrainingLog&)>& look) {
  std::int64_t chunk =
      options.chunk > 0 ? options.chunk : std::max<std::int64_t>(1, options.iterations / 100);
  std::int64_t done = state.iteration.item<std::int32_t>();
  ensemble.compile();
  while (done < options.iterations) {
    // Chunks end at multiples of their length, wherever a training was interrupted.
    std::int64_t next = std::min(options.iterations, (done / chunk + 1) * chunk);
    auto start = std::chrono::steady_clock::now();
    state = ensemble.advance(state, next - done);
    state.diverged_at.await();
    log.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    done = next;
    log.records.push_back(record_of(state));
    std::vector<Divergence> diverged = new_divergences(state, log);
    log.divergences.insert(log.divergences.end(), diverged.begin(), diverged.end());
    if (!diverged.empty() && options.on_divergence == OnDivergence::stop) {
      throw Error("train: the loss of member " + std::to_string(diverged[0].member) +
                  " was not finite at iteration " + std::to_string(diverged[0].iteration) +
                  ". Lower the learning rate or clip gradients, or let diverged members be dropped "
                  "or restarted");
    }
    if (!diverged.empty() && options.on_divergence == OnDivergence::restart) {
      state = ensemble.restart(state, state.diverged_at >= 0);
    }
    if (look && !look(state, log)) return;
  }
}

std::vector<std::int64_t> surviving_members(const EnsembleState& state) {
  std::vector<std::int64_t> result;
  auto at = state.diverged_at.to_vector<std::int32_t>();
  for (std::size_t i = 0; i < at.size(); i++) {
    if (at[i] < 0) result.push_back(static_cast<std::int64_t>(i));
  }
  return result;
}

std::vector<double> parameter_drift(const TrainingLog& log, std::int64_t members) {
  auto count = static_cast<std::size_t>(members);
  std::vector<double> drift(count, 0);
  if (log.records.empty() || members < 1) return drift;
  const std::vector<double>& last = log.records.back().lambda;
  std::size_t parameters = last.size() / count;
  std::size_t from = log.records.size() - std::max<std::size_t>(1, log.records.size() / 10);
  for (std::size_t p = 0; p < parameters; p++) {
    double sum = 0, squares = 0, finite = 0;
    for (std::size_t i = 0; i < count; i++) {
      double value = last[i * parameters + p];
      if (!std::isfinite(value)) continue;
      sum += value;
      squares += value * value;
      finite++;
    }
    double mean = finite > 0 ? sum / finite : 0;
    double sd = finite > 1 ? std::sqrt(std::max(0.0, squares / finite - mean * mean)) : 0;
    for (std::size_t i = 0; i < count; i++) {
      for (std::size_t r = from; r < log.records.size(); r++) {
        double change =
            std::abs(last[i * parameters + p] - log.records[r].lambda[i * parameters + p]);
        drift[i] = std::max(drift[i], sd > 0 ? change / sd : change);
      }
    }
  }
  return drift;
}

}  // namespace sturnus
