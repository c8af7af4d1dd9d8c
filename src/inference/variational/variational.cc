#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/doubles.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/graph.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/optimizers/lbfgs.h>
#include <sturnus/inference/variational/variational.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/rearrange.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/take.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace sturnus {
namespace {

// As many iterations may fail before the first that does not.
constexpr std::int32_t patience = 100;

constexpr double part_seconds = 5;
constexpr std::int64_t first_part = 100;  // nothing is known of the fit's speed before it
constexpr double fastest_growth = 4;      // of parts

Array inverse_softplus(const Array& s) { return s + log(-expm1(-s)); }

Array first(const Array& x) { return squeeze(x, {0}); }

/// Whether that holds for each number, as far as they are known.
bool all_of(const Array& x, bool (*holds)(double)) {
  if (internal::Trace::open() || !x.concrete()) return true;
  std::vector<double> values = to_doubles(x);
  return std::all_of(values.begin(), values.end(), holds);
}

void check(const Target& target, const VariationalOptions& options) {
  auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error("VariationalFit: " + message);
  };
  require(target.size > 0, "a model without parameters. Give it some");
  require(options.draws > 0,
          std::to_string(options.draws) + " draws of each iteration. Give at least 1");
  require(options.dtype == DType::f32 || options.dtype == DType::f64,
          "element type " + std::string(name_of(options.dtype)) + ". Use f32 or f64");
  options.optimizer.check();
  require(!options.units || options.units->shape() == Shape{target.size},
          "the units are " + (options.units ? options.units->type().str() : "") +
              ", but there are " + std::to_string(target.size) + " free numbers. Give " +
              ArrayType{options.dtype, {target.size}}.str());
  auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  if (options.units && !all_of(*options.units, positive)) {
    require(false, "the units are " + to_string(*options.units) + ". Give positive, finite ones");
  }
  if (!options.start) return;
  const Gaussian& start = *options.start;
  Shape vector = {target.size}, matrix = {target.size, target.size};
  bool may_correlate = options.family == GaussianFamily::full_rank;
  bool fits = start.factor.shape() == vector || (may_correlate && start.factor.shape() == matrix);
  require(start.mean.shape() == vector && fits,
          "the start has a mean " + start.mean.type().str() + " and a factor " +
              start.factor.type().str() + ", but there are " + std::to_string(target.size) +
              " free numbers. Give " + ArrayType{options.dtype, vector}.str() +
              (may_correlate ? " for both, or a factor " + ArrayType{options.dtype, matrix}.str()
                             : " for both"));
  auto finite = [](double x) { return std::isfinite(x); };
  if (!all_of(start.mean, finite)) {
    require(false, "the start has the mean " + to_string(start.mean) + ". Give finite numbers");
  }
  bool is_matrix = start.factor.rank() == 2;
  if (!all_of(start.factor, finite) ||
      !all_of(is_matrix ? diagonal(start.factor) : start.factor, positive)) {
    require(false, "the start has the factor " + to_string(start.factor) +
                       ". Give finite numbers, and positive standard deviations" +
                       (is_matrix ? " on its diagonal" : ""));
  }
}

void check_countable(const std::string& function, std::int64_t iterations, std::int64_t done = 0) {
  if (iterations <= most_iterations - done) return;
  throw Error(function + ": " + std::to_string(iterations) + " iterations" +
              (done > 0 ? " after " + std::to_string(done) : "") +
              ", which a fit cannot count. Give at most " + std::to_string(most_iterations - done));
}

/// How many iterations to make at a time after so many took so long; `part` were allowed.
std::int64_t next_part(std::int64_t iterations, double seconds, std::int64_t part) {
  double paced = part_seconds / std::max(seconds, 1e-9) * static_cast<double>(iterations);
  double most = std::min(fastest_growth * static_cast<double>(part), double{most_iterations});
  return std::max<std::int64_t>(1, std::llround(std::min(paced, most)));
}

}  // namespace

VariationalLoss negative_elbo(LogDensity log_density) {
  return [f = std::move(log_density)](const Gaussian& q, const Array& draws, const Array&) {
    return -mean(vmap(f)(draws)) - entropy(q);
  };
}

VariationalLoss path_negative_elbo(LogDensity log_density) {
  return [f = std::move(log_density)](const Gaussian& q, const Array& draws, const Array&) {
    Gaussian constant = {stop_gradient(q.mean), stop_gradient(q.factor)};
    return mean(sturnus::log_density(constant, draws) - vmap(f)(draws));
  };
}

VariationalLoss likelihood_and_divergence(LogDensity log_likelihood, Gaussian prior) {
  return [f = std::move(log_likelihood), prior = std::move(prior)](
             const Gaussian& q, const Array& draws, const Array&) {
    return divergence(q, prior) - mean(vmap(f)(draws));
  };
}

struct VariationalFit::Implementation {
  Implementation(Target given, VariationalOptions chosen, VariationalLoss wanted)
      : target(std::move(given)), options(std::move(chosen)), loss(std::move(wanted)) {
    log_density = [this](const Array& x) { return convert(target.log_density(x), options.dtype); };
    if (!loss) loss = negative_elbo(log_density);
  }

  const Target target;
  const VariationalOptions options;
  VariationalLoss loss;
  LogDensity log_density;

  Array units() const {
    return options.units ? convert(*options.units, options.dtype)
                         : ones({target.size}, options.dtype);
  }

  Arrays start() const {
    std::int64_t size = target.size;
    Gaussian q = options.start.value_or(
        Gaussian{zeros({size}, options.dtype), full({size}, 0.1, options.dtype)});
    Array factor = convert(q.factor, options.dtype);
    Array sd = factor.rank() == 2 ? diagonal(factor) : factor;
    Arrays parameters = {convert(q.mean, options.dtype) / units(), inverse_softplus(sd / units())};
    if (options.family == GaussianFamily::full_rank) {
      parameters.push_back(factor.rank() == 2 ? tril(factor / expand_dims(sd, 1), -1)
                                              : zeros({size, size}, options.dtype));
    }
    for (Array& p : parameters) p = expand_dims(p, 0);
    return parameters;
  }

  Gaussian gaussian(const Arrays& parameters) const {
    Array mean = units() * first(parameters[0]), sd = units() * softplus(first(parameters[1]));
    if (options.family == GaussianFamily::mean_field) return {mean, sd};
    Array unit = eye(target.size, options.dtype) + tril(first(parameters[2]), -1);
    return {mean, expand_dims(sd, 1) * unit};
  }

  /// Standard normal numbers.
  Array noise(const Key& key, std::int64_t draws) const {
    return normal(key, {draws, target.size}, options.dtype);
  }

  Array estimate(const Arrays& parameters, const Array& z, const Array& iteration) const {
    Gaussian q = gaussian(parameters);
    return convert(loss(q, transported(q, z), iteration), options.dtype);
  }

  VariationalState init(const Key& key) const {
    Arrays parameters = start();
    return {.parameters = parameters,
            .optimizer = options.optimizer.init(parameters),
            .iteration = Array(0),
            .skipped = Array(0),
            .key = key,
            .elbo = Array(std::numeric_limits<double>::quiet_NaN(), options.dtype),
            .loss = Array(0.0, options.dtype),
            .counted = Array(0)};
  }

  struct Loop {
    Arrays parameters;
    OptimizerState optimizer;
    Array iteration, skipped;
    Array total;  // of the losses that are finite
    Array z;      // of the next iteration: drawn once here, not anew by all that use it
  };

  Loop step(const Loop& s, const Key& key) const {
    auto objective = [&](const Arrays& p) { return estimate(p, s.z, s.iteration); };
    auto [value, gradient] = value_and_grad(objective)(s.parameters);
    Array finite = is_finite(value);
    for (const Array& g : gradient) finite = finite & all(is_finite(g));
    Optimizer::Step moved =
        options.optimizer.step(s.parameters, gradient, s.optimizer, s.iteration);
    auto choose = [&](const auto& yes, const auto& no) {
      return tree_map([&](const Array& a, const Array& b) { return where(finite, a, b); }, yes, no);
    };
    return {choose(moved.parameters, s.parameters),
            choose(moved.state, s.optimizer),
            s.iteration + 1,
            s.skipped + convert(!finite, DType::i32),
            s.total + where(finite, value, 0.0),
            noise(fold_in(key, s.iteration + 1), options.draws)};
  }

  VariationalState advance(const VariationalState& state, const Array& iterations) const {
    Loop start = {state.parameters, state.optimizer,
                  state.iteration,  state.skipped,
                  state.loss,       noise(fold_in(state.key, state.iteration), options.draws)};
    auto body = [&](const Array&, const Loop& s) { return step(s, state.key); };
    Loop end = fori_loop(Array(0), iterations, body, start);
    Array counted = state.counted + iterations - (end.skipped - state.skipped);
    return {.parameters = end.parameters,
            .optimizer = end.optimizer,
            .iteration = end.iteration,
            .skipped = end.skipped,
            .key = state.key,
            .elbo = -end.total / convert(counted, options.dtype),
            .loss = end.total,
            .counted = counted};
  }

  struct FreeDraws {
    Array values, log_density, log_weights;
  };
  FreeDraws draw(const Arrays& parameters, const Array& z) const {
    Gaussian q = gaussian(parameters);
    Array free = transported(q, z);
    Array density = vmap(log_density)(free);
    return {vmap(target.parameters)(free), density, density - sturnus::log_density(q, free)};
  }

  /// Keys for the iterations, for draws and for estimates.
  Key key_for(std::int64_t purpose) const { return key_at(split(key(options.seed), 3), purpose); }

  // --- Compiled, once each
  struct Advance {
    const Implementation* self;
    VariationalState operator()(const VariationalState& s, const Array& n) const {
      return self->advance(s, n);
    }
  };
  const Jitted<Advance> advance_program =
      jit(Advance{this}, {.donate = {0}, .device = options.device});
};

VariationalFit::VariationalFit(Target target, VariationalOptions options, VariationalLoss loss) {
  check(target, options);
  implementation_ = std::make_shared<const Implementation>(std::move(target), std::move(options),
                                                           std::move(loss));
}

const Target& VariationalFit::target() const { return implementation_->target; }
const VariationalOptions& VariationalFit::options() const { return implementation_->options; }

VariationalState VariationalFit::init() const {
  const Implementation& self = *implementation_;
  return jit([&] { return self.init(self.key_for(0)); }, {.device = self.options.device})();
}

VariationalState VariationalFit::advance(VariationalState state, std::int64_t iterations,
                                         bool elbo_goes_on) const {
  if (iterations < 0) {
    throw Error("VariationalFit::advance: " + std::to_string(iterations) +
                " iterations. Give a number that is not negative");
  }
  check_countable("VariationalFit::advance", iterations, state.iteration.item<std::int32_t>());
  if (!elbo_goes_on) {
    state.loss = Array(0.0, implementation_->options.dtype);
    state.counted = Array(0);
  }
  VariationalState next = implementation_->advance_program(state, Array(iterations));
  auto done = next.iteration.item<std::int32_t>();
  if (done >= patience && next.skipped.item<std::int32_t>() == done) {
    double density = to_doubles(jit(implementation_->log_density)(gaussian(next).mean))[0];
    throw Error("VariationalFit::advance: in none of " + std::to_string(done) +
                " iterations were the loss and its slope finite; in the middle of the start the "
                "log density is " +
                (std::isnan(density) ? "nan" : std::to_string(density)) +
                ". Begin where it is finite, as start_at_mode does, with less spread, or constrain "
                "the parameters");
  }
  return next;
}

Gaussian VariationalFit::gaussian(const VariationalState& state) const {
  const Implementation& self = *implementation_;
  return jit([&](const Arrays& p) { return self.gaussian(p); })(state.parameters);
}

VariationalDraws VariationalFit::draw(const VariationalState& state, std::int64_t count) const {
  if (count < 1) {
    throw Error("VariationalFit::draw: " + std::to_string(count) + " draws. Give at least 1");
  }
  const Implementation& self = *implementation_;
  auto draw = [&](const Arrays& p, const Array& z) { return self.draw(p, z); };
  auto drawn = jit(draw, {.device = self.options.device})(state.parameters,
                                                          self.noise(self.key_for(1), count));
  std::vector<double> densities = to_doubles(drawn.log_density);
  bool flat = count > 1 && std::all_of(densities.begin(), densities.end(),
                                       [&](double d) { return d == densities[0]; });
  if (flat && std::isfinite(densities[0])) {
    throw Error("VariationalFit::draw: the log density is " + std::to_string(densities[0]) +
                " at all of " + std::to_string(count) +
                " draws: it is flat, and no Gaussian is near it. Give every parameter a prior");
  }
  VariationalDraws result;
  result.draws.names = self.target.names;
  result.draws.values = expand_dims(drawn.values, 0);
  result.draws.stats.log_density = expand_dims(drawn.log_density, 0);
  result.log_weights = drawn.log_weights;
  return result;
}

Array VariationalFit::loss(const VariationalState& state, std::int64_t draws) const {
  const Implementation& self = *implementation_;
  auto estimate = [&](const Arrays& p, const Array& z, const Array& iteration) {
    return self.estimate(p, z, iteration);
  };
  return jit(estimate, {.device = self.options.device})(
      state.parameters, self.noise(self.key_for(2), draws), state.iteration);
}

Lowered VariationalFit::lower() const {
  const Implementation& self = *implementation_;
  VariationalState like = eval_shape([&] { return self.init(self.key_for(0)); });
  return self.advance_program.lower(like, Array(1));
}

Gaussian start_at_mode(const Target& target, const Array& from, std::int64_t steps) {
  if (from.rank() != 2 || from.shape()[1] != target.size) {
    throw ShapeError("start_at_mode: the places are " + from.type().str() + ", but there are " +
                     std::to_string(target.size) + " free numbers. Give [places, " +
                     std::to_string(target.size) + "]");
  }
  return jit([&](const Array& places) {
    Lbfgs lbfgs;
    auto height = [&](const Array& x) { return -vmap(target.log_density)(x); };
    auto climb = [&](const Array&, const Lbfgs::State& s) { return lbfgs.step(height, s); };
    Lbfgs::State end = fori_loop(Array(0), Array(steps), climb, lbfgs.init(height, places));
    Array value = where(is_finite(end.value), end.value, std::numeric_limits<double>::max());
    Array mode = take(end.x, argmin(value));
    // By central differences of the slope: not every density has a second derivative.
    const double reach = 1e-4;
    Array moves = reach * eye(target.size, mode.dtype());
    auto slopes = [&](const Array& x) { return diagonal(vmap(grad(target.log_density))(x)); };
    Array curvature = (slopes(mode - moves) - slopes(mode + moves)) / (2 * reach);
    return Gaussian{mode, 1.0 / sqrt(maximum(nan_to(curvature, 1.0), 1.0))};
  })(from);
}

void advance_in_chunks(const VariationalFit& fit, VariationalState& state, VariationalLog& log,
                       std::int64_t iterations, std::int64_t chunk,
                       const std::function<bool(const VariationalLog&)>& look) {
  check_countable("advance_in_chunks", iterations);
  bool in_parts = chunk <= 0;
  if (in_parts) chunk = std::max<std::int64_t>(1, iterations / 100);
  std::int64_t done = state.iteration.item<std::int32_t>();
  std::int64_t part = in_parts ? first_part : chunk;
  while (done < iterations) {
    // Chunks end at multiples of their length, wherever a fit was interrupted.
    std::int64_t next = std::min({iterations, (done / chunk + 1) * chunk, done + part});
    bool goes_on = in_parts && done % chunk != 0 && !log.records.empty() &&
                   log.records.back().iteration == done;
    auto start = std::chrono::steady_clock::now();
    state = fit.advance(state, next - done, goes_on);
    state.elbo.await();
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    log.seconds += seconds;
    if (in_parts) part = next_part(next - done, seconds, part);
    done = next;
    if (goes_on) log.records.pop_back();
    log.records.push_back({done, to_doubles(state.elbo)[0], state.skipped.item<std::int32_t>()});
    if (look && !look(log)) return;
  }
}

double weight_efficiency(const Array& log_weights) {
  std::vector<double> logs = to_doubles(log_weights);
  double largest = *std::max_element(logs.begin(), logs.end());
  double total = 0, squares = 0;
  for (double w : logs) {
    total += std::exp(w - largest);
    squares += std::exp(2 * (w - largest));
  }
  return total * total / (squares * static_cast<double>(logs.size()));
}

}  // namespace sturnus
