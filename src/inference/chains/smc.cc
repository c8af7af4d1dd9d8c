#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/smc.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/cumulative.h>
#include <sturnus/ops/index.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/take.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <limits>
#include <string>

namespace sturnus {
namespace {

// Of one program: more would be a slip of the keyboard.
constexpr std::int64_t most_particles = 1'000'000;

void check(const Target& target, const SmcOptions& options) {
  std::int64_t least = least_walkers(target.size);
  bool fits = target.size > 0 && options.particles >= least &&
              options.particles <= most_particles && options.moves > 0 && options.ess > 0 &&
              options.ess < 1 && options.max_temperatures > 0;
  if (fits) return;
  throw Error("smc: " + std::to_string(options.particles) + " particles of " +
              std::to_string(target.size) + " free numbers, " + std::to_string(options.moves) +
              " moves, an effective share of " + std::to_string(options.ess) + " and " +
              std::to_string(options.max_temperatures) + " temperatures. Give " +
              std::to_string(least) + " to " + std::to_string(most_particles) +
              " particles, at least 1 move and 1 temperature, and a share between 0 and 1");
}

void check(const Target& target, const Reference& reference) {
  ArrayType drawn = eval_shape(reference.draw, key(0)).type();
  if (drawn.shape == Shape{target.size}) return;
  throw ShapeError("smc: the reference draws " + drawn.str() + ", but the model has " +
                   std::to_string(target.size) + " free numbers. Give a reference of " +
                   ArrayType{drawn.dtype, {target.size}}.str());
}

/// log of target / reference; nothing where that is not a number.
Array log_ratio(const Array& target, const Array& reference) {
  Array ratio = target - reference;
  return where(is_finite(ratio), ratio, -std::numeric_limits<double>::infinity());
}

Array log_weights(const Array& ratios, const Array& step) {
  return where(is_finite(ratios), step * ratios, ratios);
}

/// The longest step of the temperature that leaves the effective number (sum w)^2 / sum w^2 above a
/// share of the particles that count.
Array next_step(const Array& ratios, const Array& longest, double share) {
  Array enough = log(share * sum(convert(is_finite(ratios), DType::f64)));
  auto is_short = [&](const Array& step) {
    Array w = log_weights(ratios, step);
    return 2.0 * logsumexp(w) - logsumexp(2.0 * w) >= enough;
  };
  using Bracket = std::pair<Array, Array>;
  auto halve = [&](const Array&, const Bracket& b) {
    Array middle = 0.5 * (b.first + b.second), low = is_short(middle);
    return Bracket(where(low, middle, b.first), where(low, b.second, middle));
  };
  auto search = [&] {
    return fori_loop(0, 50, halve, Bracket(zeros_like(longest), longest)).first;
  };
  return cond(
      is_short(longest), [&] { return longest; }, search);
}

/// Systematic resampling: which particle each of equally many becomes.
Array resampled(const Key& key, const Array& weights) {
  std::int64_t count = weights.shape()[0];
  Array comb = (arange(count, DType::f64) + uniform(key, {}, 0.0, 1.0, DType::f64)) /
               static_cast<double>(count);
  Array below = expand_dims(cumsum(weights), 0) < expand_dims(comb, 1);
  return minimum(sum(convert(below, DType::i32), 1), Array(count - 1, DType::i32));
}

struct Particles {
  Array positions, target, reference;
};

struct Tempering {
  Array round, temperature, log_evidence;
  Particles particles;
  Array temperatures, accept;  // [max_temperatures]
};

}  // namespace

Reference Reference::normal(std::int64_t size, double sd) {
  return {[=](const Key& key) { return sd * sturnus::normal(key, {size}, DType::f64); },
          [=](const Array& x) { return sum(normal_log_density(x, 0.0, sd)); }};
}

SmcResult smc(const Target& target, const Reference& reference, const SmcOptions& options) {
  check(target, options);
  check(target, reference);
  const auto least = static_cast<int>(least_walkers(target.size));
  auto particles_at = [&](const Array& positions) {
    return Particles{positions, vmap(target.log_density)(positions),
                     vmap(reference.log_density)(positions)};
  };
  auto heat = [&](const Key& key, const Tempering& so_far) {
    const Particles& now = so_far.particles;
    auto [for_comb, for_moves] = split(fold_in(key, so_far.round));
    Array ratios = log_ratio(now.target, now.reference);
    Array longest = 1.0 - so_far.temperature, step = next_step(ratios, longest, options.ess);
    Array weights = log_weights(ratios, step);
    Array total = logsumexp(weights);
    Array chosen = resampled(for_comb, exp(weights - total));
    // The sum of both might be rounded to less than 1.
    Array temperature = where(step == longest, Array(1.0, DType::f64), so_far.temperature + step);
    LogDensity between = [&](const Array& x) {
      return (1.0 - temperature) * reference.log_density(x) + temperature * target.log_density(x);
    };
    auto move = [&, &for_moves = for_moves](
                    const Array& i, const std::pair<DifferentialEvolution::State, Array>& s) {
      auto [next, info] = options.kernel.step(fold_in(for_moves, i), between, s.first);
      return std::pair(next, s.second + info.accept);
    };
    auto start = std::pair(options.kernel.init(between, take(now.positions, chosen)),
                           Array(0.0, DType::f64));
    auto [end, accept] = fori_loop(0, options.moves, move, start);
    auto noted = [&](const Array& all, const Array& value) {
      return dynamic_update_slice(all, reshape(value, {1}), {so_far.round});
    };
    return Tempering{so_far.round + 1,
                     temperature,
                     so_far.log_evidence + total - std::log(static_cast<double>(options.particles)),
                     particles_at(end.positions),
                     noted(so_far.temperatures, temperature),
                     noted(so_far.accept, accept / static_cast<double>(options.moves))};
  };
  auto run = [&](const Key& key) {
    auto [for_start, for_rounds] = split(key);
    Array none(0.0, DType::f64), row = zeros({options.max_temperatures}, DType::f64);
    Tempering start = {
        Array(0), none,
        none,     particles_at(vmap(reference.draw)(split(for_start, options.particles))),
        row,      row};
    auto counts = [](const Particles& p) { return is_finite(log_ratio(p.target, p.reference)); };
    // Copies of fewer lie in a part of the space, which no differences of theirs leave.
    Array begun = sum(convert(counts(start.particles), DType::i32));
    auto go_on = [&](const Tempering& t) {
      return (t.temperature < 1.0) & (t.round < options.max_temperatures) & (begun >= least) &
             any(counts(t.particles));
    };
    Tempering end = while_loop(
        go_on, [&, &keys = for_rounds](const Tempering& t) { return heat(keys, t); }, start);
    return std::pair(begun, end);
  };
  auto [begun, end] = jit(run)(key(options.seed));

  auto rounds = static_cast<std::size_t>(end.round.item<int>());
  double temperature = end.temperature.item<double>();
  if (int finite = begun.item<int>(); finite < least) {
    throw Error("smc: the log density is finite at " +
                (finite == 0 ? "none" : std::to_string(finite)) + " of the " +
                std::to_string(options.particles) + " draws of the reference, but the moves of " +
                std::to_string(target.size) + " free numbers need " + std::to_string(least) +
                ". Give more particles, or a reference nearer to the density");
  }
  if (temperature < 1) {
    throw Error("smc: temperature " + std::to_string(temperature) + " after " +
                std::to_string(rounds) +
                " temperatures, but the last should be 1. Allow more of them, or give a reference "
                "nearer to the density");
  }
  SmcResult result = {end.particles.positions, end.particles.target,
                      end.log_evidence.item<double>(), to_doubles(end.temperatures),
                      to_doubles(end.accept)};
  result.temperatures.resize(rounds);
  result.accept.resize(rounds);
  return result;
}

}  // namespace sturnus
