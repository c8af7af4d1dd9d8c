#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/nuts.h>
#include <sturnus/inference/chains/warmup.h>
#include <sturnus/inference/posteriors/calibration.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/tree_where.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <tuple>
#include <utility>

namespace sturnus {
namespace {

void check(const CalibrationOptions& options) {
  bool fits = options.replicates > 0 && options.warmup >= 20 && options.draws > 0 &&
              options.thin > 0 && options.target_accept > 0 && options.target_accept < 1;
  if (fits) return;
  throw Error("calibrate: " + std::to_string(options.replicates) + " replicates of " +
              std::to_string(options.warmup) + " transitions of warm-up and " +
              std::to_string(options.draws) + " draws, one of " + std::to_string(options.thin) +
              " each, with a target acceptance of " + std::to_string(options.target_accept) +
              ". Give at least 20 of warm-up, 1 of the others and an acceptance between 0 and 1");
}

/// A chain with the windows, searches and averages of the library's warm-up. Not a Sampler, whose
/// chains share one density: here each replicate has data, and so a density, of its own.
class LearningChain {
 public:
  LearningChain(LogDensity log_density, const CalibrationOptions& options)
      : log_density_(std::move(log_density)),
        averaging_{.target = options.target_accept},
        windows_(warmup_windows(options.warmup)),
        warmup_(options.warmup) {}

  struct State {
    Nuts::State at;
    Metric metric;
    DualAveraging::State averaging;
    RunningMoments::State moments;
  };

  State warmed_up(const Key& key, const Array& start) const {
    std::int64_t size = start.shape()[0];
    auto [for_steps, for_first, for_search] = split<3>(key);
    State begin = {nuts_.init(log_density_, start),
                   {eye(size, DType::f64)},
                   {},
                   moments_.init(size, DType::f64)};
    begin = with_first_step(for_first, begin);
    auto learn = [&, &steps = for_steps, &search = for_search](const Array& i, const State& s) {
      State next = s;
      Nuts::Info info;
      std::tie(next.at, info) =
          nuts_.step(fold_in(steps, i), log_density_, s.at, exp(s.averaging.log_step), s.metric);
      next.averaging = averaging_.update(s.averaging, info.accept);
      Array collects = (i >= windows_.begin) & (i < windows_.end), closes(false);
      next.moments = tree_where(collects, moments_.add(s.moments, next.at.position), s.moments);
      for (std::int64_t last : windows_.last) closes = closes | (i == last);
      auto renew = [&](const State& learned) {
        State renewed = learned;
        renewed.metric = moments_.metric(learned.moments);
        renewed.moments = moments_.init(size, DType::f64);
        return with_first_step(fold_in(search, i), renewed);
      };
      return cond(
          closes, renew, [](const State& learned) { return learned; }, next);
    };
    return fori_loop(0, warmup_, learn, begin);
  }

  /// `thin` transitions with the step size that was learned, and how many of them diverged.
  std::pair<State, Array> drawn(const Key& key, const State& state, std::int64_t thin) const {
    auto go_on = [&](const Array& i, const std::pair<Nuts::State, Array>& so_far) {
      auto [at, info] = nuts_.step(fold_in(key, i), log_density_, so_far.first,
                                   exp(state.averaging.log_average), state.metric);
      return std::pair(at, so_far.second + convert(info.divergent, DType::i32));
    };
    State next = state;
    Array divergent;
    std::tie(next.at, divergent) = fori_loop(0, thin, go_on, std::pair(state.at, Array(0)));
    return {next, divergent};
  }

 private:
  State with_first_step(const Key& key, const State& state) const {
    State next = state;
    StepSearch::State begin = search_.init(Array(1.0, DType::f64));
    next.averaging = averaging_.init(
        search_.find(key, Array(0), log_density_, state.metric, state.at, begin).first.size);
    return next;
  }

  LogDensity log_density_;
  Nuts nuts_ = {.max_depth = 7};
  StepSearch search_;
  DualAveraging averaging_;
  RunningMoments moments_ = {.kind = MetricKind::dense};
  WarmupWindows windows_;
  std::int64_t warmup_;
};

struct Replicate {
  Array ranks;      // [parameters]
  Array divergent;  // how many
  Array start;      // the log density where the chain began
};

Replicate replicate(const Key& key, const Simulator& simulator, const CalibrationOptions& options) {
  auto [for_truth, for_data, for_start, for_warmup, for_draws] = split<5>(key);
  Array truth = simulator.prior(for_truth);
  Target target = simulator.posterior(simulator.data(for_data, truth));
  LearningChain chain(target.log_density, options);
  LearningChain::State state = chain.warmed_up(for_warmup, simulator.prior(for_start));
  Array true_parameters = target.parameters(truth);
  using Count = std::tuple<LearningChain::State, Array, Array>;
  auto count = [&, &keys = for_draws](const Array& i, const Count& so_far) {
    auto [next, divergent] = chain.drawn(fold_in(keys, i), std::get<0>(so_far), options.thin);
    Array below = target.parameters(next.at.position) < true_parameters;
    return Count(next, std::get<1>(so_far) + convert(below, DType::i32),
                 std::get<2>(so_far) + divergent);
  };
  Array none = zeros(true_parameters.shape(), DType::i32);
  auto [end, ranks, divergent] = fori_loop(0, options.draws, count, Count(state, none, Array(0)));
  return {ranks, divergent, target.log_density(simulator.prior(for_start))};
}

/// The probability that Kolmogorov's distance of n numbers from their distribution is larger,
/// 2 sum_k (-1)^(k-1) exp(-2 k^2 x^2), by M. Stephens' x = (sqrt n + 0.12 + 0.11 / sqrt n)
/// distance.
double kolmogorov_p(double distance, double n) {
  double x = (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n)) * distance, p = 0;
  if (x < 0.2) return 1;
  for (int k = 1; k <= 50; k++) p += (k % 2 == 1 ? 2 : -2) * std::exp(-2 * k * k * x * x);
  return std::clamp(p, 0.0, 1.0);
}

Array uniform_in(const Key& key, const PriorInterval& interval) {
  return uniform(key, {}, interval.low, interval.high, DType::f64);
}

/// Measurements at the published times with the published noise.
template <class Parameters>
std::function<Array(const Key&, const Array&)> measured(const ExperimentData& data,
                                                        const Model<Parameters>& model) {
  Array t = array(data.train.x, {static_cast<std::int64_t>(data.train.points)}, DType::f64);
  return [=, sigma = data.noise_sd](const Key& key, const Array& free) {
    return curve(model.constrain(free), t) + sigma * normal(key, t.shape(), DType::f64);
  };
}

}  // namespace

CalibrationResult calibrate(const Simulator& simulator, const CalibrationOptions& options) {
  check(options);
  auto one = [&](const Key& key) { return replicate(key, simulator, options); };
  auto all = [&](const Key& key) { return vmap(one)(split(key, options.replicates)); };
  Replicate found = jit(all)(key(options.seed));

  CalibrationResult result;
  result.draws = static_cast<int>(options.draws);
  std::vector<double> starts = to_doubles(found.start), ranks = to_doubles(found.ranks);
  for (std::size_t i = 0; i < starts.size(); i++) {
    if (std::isfinite(starts[i])) continue;
    throw Error("calibrate: the log density of replicate " + std::to_string(i) + " is " +
                std::to_string(starts[i]) +
                " at a draw of the prior. Give a posterior that is finite where the prior is, and "
                "data of a size that numbers can have");
  }
  for (double d : to_doubles(found.divergent)) result.divergences += static_cast<int>(d);
  Array like = zeros({simulator.prior(key(0)).shape()[0]}, DType::f64);
  result.names = simulator.posterior(simulator.data(key(0), like)).names;
  result.ranks.resize(ranks.size() / starts.size());
  for (std::size_t i = 0; i < ranks.size(); i++) {
    result.ranks[i % result.ranks.size()].push_back(static_cast<int>(ranks[i]));
  }
  return result;
}

RankTest test_uniformity(std::span<const int> ranks, int draws, int bins) {
  bool fits = !ranks.empty() && draws > 0 && bins >= 2 && (draws + 1) % bins == 0;
  for (int rank : ranks) fits = fits && rank >= 0 && rank <= draws;
  if (!fits) {
    throw Error("test_uniformity: " + std::to_string(ranks.size()) + " ranks among " +
                std::to_string(draws) + " draws in " + std::to_string(bins) +
                " bins. Give ranks of 0 to " + std::to_string(draws) +
                ", and bins that divide one more than the draws");
  }
  auto n = static_cast<double>(ranks.size());
  std::vector<double> counts(static_cast<std::size_t>(draws) + 1);
  for (int rank : ranks) counts[static_cast<std::size_t>(rank)]++;
  RankTest result;
  double so_far = 0, in_bin = 0, expected = n / bins;
  std::size_t width = counts.size() / static_cast<std::size_t>(bins);
  for (std::size_t i = 0; i < counts.size(); i++) {
    so_far += counts[i] / n;
    in_bin += counts[i];
    double uniform = static_cast<double>(i + 1) / static_cast<double>(counts.size());
    result.distance = std::max(result.distance, std::abs(so_far - uniform));
    if ((i + 1) % width != 0) continue;
    result.chi_square += (in_bin - expected) * (in_bin - expected) / expected;
    in_bin = 0;
  }
  result.chi_square_p = boost::math::gamma_q(0.5 * (bins - 1), 0.5 * result.chi_square);
  result.distance_p = kolmogorov_p(result.distance, n);
  return result;
}

Simulator exponential_simulator(double believed_noise) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  ExponentialPrior prior = {.f0 = {0.5, 1.5}, .lambda = {0, 0.4}};
  auto posterior = [=](const Array& y) {
    return exponential_model(data.train.x, y, believed_noise * data.noise_sd, prior);
  };
  auto model = posterior(zeros({static_cast<std::int64_t>(data.train.points)}, DType::f64));
  auto draw = [=](const Key& key) {
    auto [a, b] = split(key);
    return model.unconstrain({uniform_in(a, prior.f0), uniform_in(b, prior.lambda)});
  };
  return {draw, measured(data, model), posterior};
}

Simulator oscillator_simulator(double believed_noise) {
  ExperimentData data = published_data(Experiment::oscillator, 0);
  OscillatorPrior prior = {.f0 = {0.5, 1.5}, .omega = {0.9, 1.1}, .zeta = {0.02, 0.2}};
  auto posterior = [=](const Array& y) {
    return oscillator_model(data.train.x, y, believed_noise * data.noise_sd, prior);
  };
  auto model = posterior(zeros({static_cast<std::int64_t>(data.train.points)}, DType::f64));
  auto draw = [=](const Key& key) {
    auto [a, b, c] = split<3>(key);
    return model.unconstrain(
        {uniform_in(a, prior.f0), uniform_in(b, prior.omega), uniform_in(c, prior.zeta)});
  };
  return {draw, measured(data, model), posterior};
}

}  // namespace sturnus
