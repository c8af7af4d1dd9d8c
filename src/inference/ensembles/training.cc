#include <sturnus/functional/doubles.h>
#include <sturnus/inference/ensembles/training.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>

namespace sturnus {
namespace {

MeanSd moments_of_finite(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  double nan = std::numeric_limits<double>::quiet_NaN();
  return values.empty() ? MeanSd{nan, nan} : mean_sd(values);
}

double mean_of_finite(const Array& x) { return moments_of_finite(to_doubles(x)).mean; }

TrainingRecord record_of(const Ensemble& ensemble, const EnsembleState& state) {
  return {.iteration = state.iteration.item<std::int32_t>(),
          .data = mean_of_finite(state.loss.data()),
          .residual = mean_of_finite(state.loss.residual()),
          .prior = mean_of_finite(state.loss.prior()),
          .repulsion = mean_of_finite(state.loss.repulsion()),
          .lambda = to_doubles(ensemble.lambda(state))};
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

// The last step may leave a member without a finite loss, which no further iteration would tell.
void note_lost(const Ensemble& ensemble, EnsembleState& state) {
  Array lost = !is_finite(sum(ensemble.loss(state).all, 1));
  state.diverged_at = where((state.diverged_at < 0) & lost, state.iteration, state.diverged_at);
}

void stop_if_lost(const EnsembleState& state) {
  std::vector<Divergence> lost = new_divergences(state, {});
  if (lost.empty()) return;
  throw Error("train: the loss of member " + std::to_string(lost[0].member) +
              " was not finite at iteration " + std::to_string(lost[0].iteration) +
              ". Lower the learning rate or clip gradients, or let diverged members be dropped "
              "or restarted");
}

// Chunks end at multiples of their length, wherever a training was interrupted.
std::int64_t next_look(std::int64_t done, const TrainingOptions& options) {
  bool polishes = done >= options.iterations;
  std::int64_t begin = polishes ? options.iterations : 0;
  std::int64_t length = polishes ? options.polish : options.iterations;
  std::int64_t chunk = options.chunk > 0 ? options.chunk : std::max<std::int64_t>(1, length / 100);
  return begin + std::min(length, ((done - begin) / chunk + 1) * chunk);
}

}  // namespace

void train(const Ensemble& ensemble, EnsembleState& state, TrainingLog& log,
           const TrainingOptions& options,
           const std::function<bool(const EnsembleState&, const TrainingLog&)>& look) {
  bool stops = options.on_divergence == OnDivergence::stop;
  // One that was stopped before stays so.
  if (stops) stop_if_lost(state);
  std::int64_t end = options.iterations + options.polish;
  std::int64_t done = state.iteration.item<std::int32_t>();
  // Beforehand, so that neither counts as time of the training.
  ensemble.compile();
  if (options.polish > 0) ensemble.compile_polish();
  while (done < end) {
    bool polishes = done >= options.iterations;
    std::int64_t next = next_look(done, options);
    auto start = std::chrono::steady_clock::now();
    state = polishes ? ensemble.polish(state, next - done) : ensemble.advance(state, next - done);
    state.parameters.await();
    (polishes ? log.polish_seconds : log.seconds) +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    done = next;
    log.records.push_back(record_of(ensemble, state));
    if (done >= options.iterations) note_lost(ensemble, state);
    std::vector<Divergence> diverged = new_divergences(state, log);
    log.divergences.insert(log.divergences.end(), diverged.begin(), diverged.end());
    if (stops) stop_if_lost(state);
    // One that begins anew at the end would be untrained among the results.
    bool restarts = options.on_divergence == OnDivergence::restart && done < options.iterations;
    if (!diverged.empty() && restarts) state = ensemble.restart(state, state.diverged_at >= 0);
    if (look && !look(state, log)) {
      note_lost(ensemble, state);
      return;
    }
    if (!restarts && surviving_members(state).empty()) return;
  }
}

MeanSd lambda_moments(const TrainingRecord& record, std::size_t parameter, std::size_t parameters) {
  std::vector<double> values;
  for (std::size_t i = parameter; i < record.lambda.size(); i += parameters) {
    values.push_back(record.lambda[i]);
  }
  return moments_of_finite(std::move(values));
}

std::vector<std::int64_t> surviving_members(const EnsembleState& state) {
  std::vector<std::int64_t> result;
  auto at = state.diverged_at.to_vector<std::int32_t>();
  for (std::size_t i = 0; i < at.size(); i++) {
    if (at[i] < 0) result.push_back(static_cast<std::int64_t>(i));
  }
  return result;
}

std::optional<Drift> drift_of(const TrainingLog& log, std::int64_t members,
                              const std::vector<std::int64_t>& surviving) {
  if (log.records.empty()) return std::nullopt;
  const std::vector<TrainingRecord>& all = log.records;
  std::int64_t end = all.back().iteration;
  // Records after the iteration `from`, up to `to`.
  auto between = [&](std::int64_t from, std::int64_t to) {
    auto until = [](std::int64_t i, const TrainingRecord& r) { return i < r.iteration; };
    return std::span(std::upper_bound(all.begin(), all.end(), from, until),
                     std::upper_bound(all.begin(), all.end(), to, until));
  };
  std::int64_t tenth = end / 10;
  auto before = between(end - 2 * tenth, end - tenth), last = between(end - tenth, end);
  if (std::min(before.size(), last.size()) < 10) return std::nullopt;

  auto mean_of = [](auto records, const auto& number) {
    double total = 0;
    for (const TrainingRecord& r : records) total += number(r);
    return total / static_cast<double>(records.size());
  };
  auto count = static_cast<std::size_t>(members);
  std::size_t parameters = all.back().lambda.size() / count;
  // The last step may have lost a member and left its parameters finite.
  TrainingRecord ensemble = all.back();
  for (std::size_t i = 0; i < ensemble.lambda.size() && !surviving.empty(); i++) {
    auto member = static_cast<std::int64_t>(i / parameters);
    if (std::find(surviving.begin(), surviving.end(), member) != surviving.end()) continue;
    ensemble.lambda[i] = std::numeric_limits<double>::quiet_NaN();
  }
  Drift drift = {std::vector<double>(count, 0)};
  for (std::size_t p = 0; p < parameters; p++) {
    double sd = lambda_moments(ensemble, p, parameters).sd;
    for (std::size_t i = 0; i < count; i++) {
      auto own = [&](const TrainingRecord& r) { return r.lambda[i * parameters + p]; };
      double now = mean_of(last, own);
      double change = std::abs(now - mean_of(before, own)) / (sd > 0 ? sd : std::abs(now));
      // Not std::max, which takes NaN for the smaller one.
      if (!(change <= drift.parameters[i])) drift.parameters[i] = change;
    }
  }
  auto loss = [](const TrainingRecord& r) { return r.data + r.residual + r.prior; };
  drift.loss = mean_of(last, loss) / mean_of(before, loss) - 1;
  return drift;
}

}  // namespace sturnus
