#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/sampling.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/models/ode.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/subscript.h>
#include <sturnus/ops/take.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace sturnus {
namespace {

Array vector_of(std::span<const double> values) {
  return array(std::vector<double>(values.begin(), values.end()),
               {static_cast<std::int64_t>(values.size())}, DType::f64);
}

/// Throws Error in the name of `model` unless there are `outputs` values at each time, all finite,
/// and noise that is positive.
void check_measured(const std::string& model, std::span<const double> t, std::span<const double> y,
                    std::size_t outputs, double sigma) {
  if (t.empty() || y.size() != outputs * t.size()) {
    throw Error(model + ": " + std::to_string(t.size()) + " times and " + std::to_string(y.size()) +
                " measured values. Give at least one time, and " + std::to_string(outputs) +
                (outputs == 1 ? " value" : " values") + " at each");
  }
  for (std::size_t i = 0; i < y.size(); i++) {
    double time = t[i / outputs];
    if (std::isfinite(time) && std::isfinite(y[i])) continue;
    throw Error(model + ": measurement " + std::to_string(i) + " is " + std::to_string(y[i]) +
                " at time " + std::to_string(time) + ". Leave out what is not finite");
  }
  if (!(sigma > 0) || !std::isfinite(sigma)) {
    throw Error(model + ": the noise has the standard deviation " + std::to_string(sigma) +
                ". Give a positive, finite one");
  }
}

Array log_prior(const Array& x, const PriorInterval& interval) {
  return sum(uniform_log_density(x, interval.low, interval.high));
}

Bijection inside(const PriorInterval& interval) {
  return Bijection::interval(interval.low, interval.high);
}

/// Throws Error in the name of `function` unless the prior is of intervals of positive numbers.
void check_positive(const std::string& function, const LotkaVolterraPrior& prior) {
  for (const auto& [name, interval] : {std::pair("start", prior.start), {"lambda", prior.lambda}}) {
    if (interval.low >= 0 && interval.low < interval.high && std::isfinite(interval.high)) continue;
    throw Error(function + ": the prior of " + name + " is from " + std::to_string(interval.low) +
                " to " + std::to_string(interval.high) +
                ". Give two finite numbers that are not negative, the first below the second");
  }
}

Array log_prior(const LotkaVolterra& p, const LotkaVolterraPrior& prior) {
  return log_prior(p.start, prior.start) +
         log_prior(stack({p.alpha, p.beta, p.gamma, p.delta}), prior.lambda);
}

/// In logarithms, in which the posterior is a straight ridge; the prior's ends are walls. Smooth
/// maps of an interval bend it, most of all near the ends.
Model<LotkaVolterra> positive_model(std::function<Array(const LotkaVolterra&)> log_joint) {
  return {std::move(log_joint),
          {zeros({2}), 0.0, 0.0, 0.0, 0.0},
          {{".start", Bijection::positive()},
           {".alpha", Bijection::positive()},
           {".beta", Bijection::positive()},
           {".gamma", Bijection::positive()},
           {".delta", Bijection::positive()}}};
}

/// Times of measurements with steps of a solver between them, none longer than `longest`.
struct StepGrid {
  StepGrid(std::span<const double> measured, double longest) {
    std::vector<double> all = {measured[0]}, places = {0};
    for (std::size_t i = 1; i < measured.size(); i++) {
      double length = measured[i] - measured[i - 1], steps = std::ceil(length / longest - 1e-9);
      for (double k = 1; k <= steps; k++) all.push_back(measured[i - 1] + length * k / steps);
      places.push_back(static_cast<double>(all.size() - 1));
    }
    times = vector_of(all);
    rows = convert(vector_of(places), DType::i32);
  }
  Array times;
  Array rows;  // of `times`, those with measurements
};

// With these steps the logarithm of the published data's posteriors is right to 0.01 where the
// posteriors are.
constexpr double predator_prey_step = 0.01;
constexpr int predator_prey_substeps = 5;

/// x' = x (alpha - beta y), y' = -y (gamma - delta x) at `times`, [times, 2]. Both are numbers of
/// their own, since a solver's steps are then one loop over the chains.
Array predator_prey(const Array& start, const Array& alpha, const Array& beta, const Array& gamma,
                    const Array& delta, const Array& times, bool unroll) {
  auto slope = [&](const Array&, const std::pair<Array, Array>& z) {
    auto& [x, y] = z;
    return std::pair(x * (alpha - beta * y), y * (delta * x - gamma));
  };
  auto [x, y] = rk4(slope, std::pair(start(0), start(1)), times,
                    {.substeps = predator_prey_substeps, .unroll = unroll});
  return stack({x, y}, 1);
}

// Of the places that promising_starts looks at first, a fifth at a time: a network's density at all
// of them at once would take gigabytes.
constexpr std::int64_t first_looks = 5;

// Between two times of a grid.
constexpr double longest_step = predator_prey_step * predator_prey_substeps;

Array solution(const LotkaVolterra& p, const StepGrid& grid) {
  // On a CPU chains are three times as quick so.
  Array f = predator_prey(p.start, p.alpha, p.beta, p.gamma, p.delta, grid.times, true);
  return take(f, grid.rows);
}

// With 5 steps a year, the logarithm of the posterior is right to 1e-3 where the posterior is.
// These few are quicker as a loop, by a third, and compile a fifth quicker.
Array solution(const HareLynx& p, const Array& years) {
  const Array& theta = p.theta;
  return predator_prey(p.z_init, theta(0), theta(1), theta(2), theta(3), years, false);
}

}  // namespace

Array curve(const Exponential& p, const Array& t) { return p.f0 * exp(p.lambda * t); }

Model<Exponential> exponential_model(const Measurements& data, const ExponentialPrior& prior) {
  check_measured("exponential_model", data.t, data.y, 1, data.sigma);
  return exponential_model(data.t, vector_of(data.y), data.sigma, prior);
}

Model<Exponential> exponential_model(std::span<const double> times, const Array& y, double sigma,
                                     const ExponentialPrior& prior) {
  Array t = vector_of(times);
  auto log_joint = [=](const Exponential& p) {
    return log_prior(p.f0, prior.f0) + log_prior(p.lambda, prior.lambda) +
           sum(normal_log_density(y, curve(p, t), sigma));
  };
  return {log_joint, {0.0, 0.0}, {{".f0", inside(prior.f0)}, {".lambda", inside(prior.lambda)}}};
}

Array curve(const Oscillation& p, const Array& t) {
  Array w = p.omega * sqrt(1.0 - square(p.zeta));
  return p.f0 * exp(-p.zeta * p.omega * t) * sin(w * t);
}

Model<Oscillation> oscillator_model(const Measurements& data, const OscillatorPrior& prior) {
  check_measured("oscillator_model", data.t, data.y, 1, data.sigma);
  return oscillator_model(data.t, vector_of(data.y), data.sigma, prior);
}

Model<Oscillation> oscillator_model(std::span<const double> times, const Array& y, double sigma,
                                    const OscillatorPrior& prior) {
  Array t = vector_of(times);
  auto log_joint = [=](const Oscillation& p) {
    return log_prior(p.f0, prior.f0) + log_prior(p.omega, prior.omega) +
           log_prior(p.zeta, prior.zeta) + sum(normal_log_density(y, curve(p, t), sigma));
  };
  return {
      log_joint,
      {0.0, 0.0, 0.0},
      {{".f0", inside(prior.f0)}, {".omega", inside(prior.omega)}, {".zeta", inside(prior.zeta)}}};
}

Array curve(const FreePhaseOscillation& p, const Array& t) {
  Array w = p.omega * sqrt(1.0 - square(p.zeta));
  return exp(-p.zeta * p.omega * t) * (p.sine * sin(w * t) + p.cosine * cos(w * t));
}

Model<FreePhaseOscillation> oscillator_model(const Measurements& data,
                                             const FreePhasePrior& prior) {
  check_measured("oscillator_model", data.t, data.y, 1, data.sigma);
  Array t = vector_of(data.t), y = vector_of(data.y);
  auto log_joint = [=, sigma = data.sigma](const FreePhaseOscillation& p) {
    return log_prior(p.sine, prior.sine) + log_prior(p.cosine, prior.cosine) +
           log_prior(p.omega, prior.omega) + log_prior(p.zeta, prior.zeta) +
           sum(normal_log_density(y, curve(p, t), sigma));
  };
  return {log_joint,
          {0.0, 0.0, 0.0, 0.0},
          {{".sine", inside(prior.sine)},
           {".cosine", inside(prior.cosine)},
           {".omega", inside(prior.omega)},
           {".zeta", inside(prior.zeta)}}};
}

Model<LotkaVolterra> lotka_volterra_model(const Samples& data, double sigma,
                                          const LotkaVolterraPrior& prior) {
  check_positive("lotka_volterra_model", prior);
  bool fits = data.points > 0 && data.inputs == 1 && data.outputs == 2 &&
              data.x.size() == data.points && data.y.size() == 2 * data.points;
  if (fits) check_measured("lotka_volterra_model", data.x, data.y, 2, sigma);
  for (std::size_t i = 1; fits && i < data.x.size(); i++) fits = data.x[i - 1] < data.x[i];
  if (!fits) {
    throw Error("lotka_volterra_model: " + std::to_string(data.points) + " points with " +
                std::to_string(data.x.size()) + " inputs and " + std::to_string(data.y.size()) +
                " measured outputs. Give increasing times, and prey and predators at each");
  }
  StepGrid grid(data.x, longest_step);
  Array y = array(data.y, {static_cast<std::int64_t>(data.points), 2}, DType::f64);
  auto log_joint = [=](const LotkaVolterra& p) {
    return log_prior(p, prior) + sum(normal_log_density(y, solution(p, grid), sigma));
  };
  return positive_model(log_joint);
}

Reference lotka_volterra_reference(const LotkaVolterraPrior& prior) {
  check_positive("lotka_volterra_reference", prior);
  auto log_joint = [=](const LotkaVolterra& p) { return log_prior(p, prior); };
  Model<LotkaVolterra> model = positive_model(log_joint);
  auto draw = [=](const Key& key) {
    auto [for_start, for_lambda] = split(key);
    const PriorInterval &start = prior.start, &lambda = prior.lambda;
    Array l = uniform(for_lambda, {4}, lambda.low, lambda.high, DType::f64);
    return model.unconstrain(
        {uniform(for_start, {2}, start.low, start.high, DType::f64), l(0), l(1), l(2), l(3)});
  };
  return {draw, model.log_density};
}

Array curve(const LotkaVolterra& p, std::span<const double> times) {
  return solution(p, StepGrid(times, longest_step));
}

Samples eight_schools_data() {
  return {
      .points = 8, .x = {1, 2, 3, 4, 5, 6, 7, 8}, .truth = {}, .y = {28, 8, -3, 7, -1, 1, 18, 12}};
}

std::vector<double> eight_schools_errors() { return {15, 10, 16, 11, 9, 11, 10, 18}; }

Model<EightSchools> eight_schools_model() {
  Array y = vector_of(eight_schools_data().y), sd = vector_of(eight_schools_errors());
  auto log_joint = [=](const EightSchools& p) {
    return normal_log_density(p.mu, 0.0, 5.0) + half_cauchy_log_density(p.tau, 5.0) +
           sum(normal_log_density(p.offsets, 0.0, 1.0)) +
           sum(normal_log_density(y, p.mu + p.tau * p.offsets, sd));
  };
  return {log_joint, {0.0, 0.0, zeros({8})}, {{".tau", Bijection::positive()}}};
}

Target eight_schools() {
  Model model = eight_schools_model();
  Target target = model;
  target.parameters = [model](const Array& free) {
    EightSchools p = model.constrain(free);
    return concatenate({model.parameters(free), p.mu + p.tau * p.offsets});
  };
  for (int i = 0; i < 8; i++) target.names.push_back("theta[" + std::to_string(i) + "]");
  return target;
}

Samples hare_lynx_data() {
  const std::vector<double> hares = {30,   47.2, 70.2, 77.4, 36.3, 20.6, 18.1,
                                     21.4, 22,   25.4, 27.1, 40.3, 57,   76.6,
                                     52.3, 19.5, 11.2, 7.6,  14.6, 16.2, 24.7};
  const std::vector<double> lynxes = {4, 6.1,  9.8,  35.2, 59.4, 41.7, 19,   13,  8.3,  9.1, 7.4,
                                      8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6};
  Samples data = {.points = hares.size(), .outputs = 2, .x = {}, .truth = {}, .y = {}};
  for (std::size_t i = 0; i < hares.size(); i++) {
    data.x.push_back(1900 + static_cast<double>(i));
    data.y.insert(data.y.end(), {hares[i], lynxes[i]});
  }
  return data;
}

Model<HareLynx> hare_lynx_model() {
  Samples data = hare_lynx_data();
  Array times = vector_of(data.x);
  Array pelts = array(data.y, {static_cast<std::int64_t>(data.points), 2}, DType::f64);
  Array center = vector_of(std::vector<double>{1, 0.05, 1, 0.05});
  Array spread = vector_of(std::vector<double>{0.5, 0.05, 0.5, 0.05});
  auto log_joint = [=](const HareLynx& p) {
    return sum(normal_log_density(p.theta, center, spread)) +
           sum(log_normal_log_density(p.z_init, std::log(10.0), 1.0)) +
           sum(log_normal_log_density(p.sigma, -1.0, 1.0)) +
           sum(log_normal_log_density(pelts, log(solution(p, times)), p.sigma));
  };
  return {log_joint,
          {zeros({4}), zeros({2}), zeros({2})},
          {{".theta", Bijection::positive()},
           {".z_init", Bijection::positive()},
           {".sigma", Bijection::positive()}}};
}

Array curve(const HareLynx& p, std::span<const double> years) {
  StepGrid grid(years, 1);
  return take(solution(p, grid.times), grid.rows);
}

Array promising_starts(const Target& target, std::int64_t chains, std::uint64_t seed,
                       std::int64_t candidates, std::int64_t rounds) {
  if (chains < 1 || chains > most_chains || candidates < 1 || rounds < 1) {
    throw Error("promising_starts: " + std::to_string(chains) + " chains, " +
                std::to_string(candidates) + " candidates and " + std::to_string(rounds) +
                " rounds. Give at least 1 of each, and at most " + std::to_string(most_chains) +
                " chains");
  }
  auto search = [&](const Key& key) {
    auto look_around = [&](const Array& look, const Array& best) {
      Array round = maximum(look - (first_looks - 1), 0);
      Array reach = 2.0 * exp(-std::log(2.0) * convert(round, DType::f64));
      Array steps =
          reach * uniform(fold_in(key, look), {candidates, target.size}, -1.0, 1.0, DType::f64);
      Array middle = where(round == 0, zeros_like(best), best);
      Array places = concatenate({expand_dims(best, 0), middle + steps});
      Array values = vmap([&](const Array& x) { return target.log_density(x); })(places);
      Array lowest = full({}, std::numeric_limits<double>::lowest(), values.dtype());
      return take(places, argmax(where(is_finite(values), values, lowest)));
    };
    return fori_loop(0, first_looks - 1 + rounds, look_around, zeros({target.size}, DType::f64));
  };
  auto all = [&] { return vmap(search)(split(fold_in(key(seed), 1), chains)); };
  return jit(all)();
}

}  // namespace sturnus
