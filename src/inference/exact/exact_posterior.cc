#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>

#include "src/inference/exact/amplitudes.h"
#include "src/inference/exact/bracketed_newton.h"
#include "src/inference/exact/piecewise_density.h"
#include "src/inference/exact/truncated_normal.h"
#include "src/inference/problems/numpy_random.h"

namespace sturnus {
namespace {

/// Mass of nodes that predictions of two-parameter models leave out, to be quick. Their f is
/// bounded; a growing exponential weighs its tail so much that nothing may be left out.
constexpr double left_out_of_two = 1e-8;
/// f(t) = sum_j amplitude_j basis_j(t; lambda); absent amplitudes have a basis of zero.
struct Model {
  std::vector<std::string> names;
  std::vector<PriorInterval> amplitude_priors;
  std::vector<PriorInterval> lambda_priors;
  Pair (*basis)(double t, const Pair& lambda);
};

Pair exponential_basis(double t, const Pair& lambda) { return {std::exp(lambda[0] * t), 0}; }

Pair free_phase_basis(double t, const Pair& lambda) {
  auto [omega, zeta] = lambda;
  double angle = omega * std::sqrt(1 - zeta * zeta) * t;
  double decay = std::exp(-zeta * omega * t);
  return {decay * std::sin(angle), decay * std::cos(angle)};
}

Pair fixed_phase_basis(double t, const Pair& lambda) { return {free_phase_basis(t, lambda)[0], 0}; }

/// A node of lambda, with the posterior of the amplitudes there.
struct LambdaNode {
  double weight;
  Pair lambda;
  AmplitudeParts amplitudes;
};

/// What to look at in the amplitudes c: g(lambda) . c.
using Direction = std::function<Pair(const Pair& lambda)>;

/// One of the amplitudes.
Direction unit(std::size_t amplitude) {
  Pair direction = {0, 0};
  direction[amplitude] = 1;
  return [direction](const Pair&) { return direction; };
}

/// A mixture of cut normals.
struct Mixture {
  std::vector<double> weights;
  std::vector<TruncatedNormal> parts;

  double cdf(double x) const {
    double sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) sum += weights[i] * parts[i].cdf(x);
    return sum;
  }
  double density(double x) const {
    double sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) sum += weights[i] * parts[i].density(x);
    return sum;
  }
  double quantile(double probability, MeanSd moments) const {
    if (moments.sd == 0) return moments.mean;
    double low = moments.mean - moments.sd, high = moments.mean + moments.sd;
    while (cdf(low) > probability) low -= high - low;
    while (cdf(high) < probability) high += high - low;
    auto excess = [&](double x) { return std::pair(cdf(x) - probability, density(x)); };
    return bracketed_newton(excess, low, high);
  }
};

void check(const char* function, const Measurements& data, const Model& model) {
  auto fail = [&](const std::string& message) {
    throw Error(std::string(function) + ": " + message);
  };
  if (data.t.empty() || data.t.size() != data.y.size()) {
    fail("there are " + std::to_string(data.t.size()) + " times and " +
         std::to_string(data.y.size()) +
         " values. Give one value for each time, and at least one.");
  }
  for (std::size_t i = 0; i < data.t.size(); ++i) {
    if (!std::isfinite(data.t[i]) || !std::isfinite(data.y[i])) {
      fail("measurement " + std::to_string(i) + " is " + std::to_string(data.y[i]) + " at time " +
           std::to_string(data.t[i]) + ". Leave out what is not finite.");
    }
  }
  if (!(data.sigma > 0) || !std::isfinite(data.sigma)) {
    fail("sigma is " + std::to_string(data.sigma) +
         ", and an exact posterior needs known noise. Give its "
         "standard deviation, positive and finite.");
  }
  auto check_prior = [&](const std::string& name, const PriorInterval& prior) {
    if (!(prior.low < prior.high) || !std::isfinite(prior.low) || !std::isfinite(prior.high)) {
      fail("the prior of " + name + " is [" + std::to_string(prior.low) + ", " +
           std::to_string(prior.high) + "]. Give two finite bounds, the lower one first.");
    }
  };
  std::size_t place = 0;
  for (const PriorInterval& prior : model.amplitude_priors) {
    check_prior(model.names[place++], prior);
  }
  for (const PriorInterval& prior : model.lambda_priors) check_prior(model.names[place++], prior);
}

double largest_time(std::span<const double> t) {
  double largest = 0;
  for (double time : t) largest = std::max(largest, std::abs(time));
  return largest;
}

void check_oscillator(const PriorInterval& omega, const PriorInterval& zeta) {
  if (omega.low < 0 || zeta.low < 0 || zeta.high >= 1) {
    throw Error("oscillator: the priors are omega in [" + std::to_string(omega.low) + ", " +
                std::to_string(omega.high) + "] and zeta in [" + std::to_string(zeta.low) + ", " +
                std::to_string(zeta.high) + "]. An oscillator has omega >= 0 and 0 <= zeta < 1.");
  }
}

Matrix columns_sorted(const Matrix& draws) {
  Matrix columns(draws.cols, draws.rows);
  for (std::size_t j = 0; j < draws.cols; ++j) {
    double* column = &columns(j, 0);
    for (std::size_t i = 0; i < draws.rows; ++i) column[i] = draws(i, j);
    std::sort(column, column + draws.rows);
  }
  return columns;
}

double mean_distance(MatrixView sorted_a, MatrixView sorted_b) {
  double sum = 0;
  for (std::size_t j = 0; j < sorted_a.rows; ++j) {
    sum += wasserstein_sorted(sorted_a.row(j), sorted_b.row(j));
  }
  return sum / static_cast<double>(sorted_a.rows);
}

}  // namespace

class ExactPosterior::Implementation {
 public:
  Implementation(const char* function, Model model, const Measurements& data)
      : model_((check(function, data, model), std::move(model))),
        t_(data.t.begin(), data.t.end()),
        y_(data.y.begin(), data.y.end()),
        sigma_(data.sigma),
        density_(integrate_lambda()) {
    double n = static_cast<double>(y_.size());
    log_evidence_ = density_.log_total() - n * std::log(sigma_ * std::sqrt(2 * std::numbers::pi));
    for (const auto* priors : {&model_.amplitude_priors, &model_.lambda_priors}) {
      for (const PriorInterval& prior : *priors) log_evidence_ -= std::log(prior.high - prior.low);
    }
    bool two = model_.lambda_priors.size() == 2;
    double left_out = two ? left_out_of_two : 0;
    std::vector<PiecewiseDensity::Node> nodes = density_.nodes(two ? 20 : 30, left_out);
    for (const PiecewiseDensity::Node& node : nodes) {
      // What a light node leaves out counts as little as the node does.
      double share = std::min(0.5, left_out / (node.weight * static_cast<double>(nodes.size())));
      nodes_.push_back({node.weight, node.x, amplitudes_at(node.x).parts(share)});
    }
    for (std::size_t i = 0; i < amplitudes(); ++i) moments_.push_back(moments(unit(i)));
    for (std::size_t i = 0; i < model_.lambda_priors.size(); ++i) {
      moments_.push_back(lambda_moments(i));
    }
  }

  const Model& model() const { return model_; }
  std::size_t amplitudes() const { return model_.amplitude_priors.size(); }
  double log_evidence() const { return log_evidence_; }
  const PiecewiseDensity& lambda() const { return density_; }
  MeanSd moments_of(std::size_t parameter) const { return moments_[parameter]; }

  void check_parameter(const char* function, std::size_t parameter) const {
    if (parameter >= model_.names.size()) {
      throw Error(std::string(function) + ": parameter " + std::to_string(parameter) + " of " +
                  std::to_string(model_.names.size()) +
                  ". They count from 0, in the order of names().");
    }
  }

  /// The posterior of g(lambda) . c.
  Mixture mixture(const Direction& g) const {
    Mixture result;
    for (const LambdaNode& node : nodes_) {
      Pair direction = g(node.lambda);
      for (const AmplitudePart& part : node.amplitudes.along(direction)) {
        result.weights.push_back(node.weight * part.weight);
        result.parts.push_back(part.along(direction));
      }
    }
    return result;
  }

  MeanSd moments(const Direction& g) const {
    double mean = 0;
    for (const LambdaNode& node : nodes_) {
      mean += node.weight * dot(g(node.lambda), node.amplitudes.mean);
    }
    double variance = 0;
    for (const LambdaNode& node : nodes_) {
      Pair direction = g(node.lambda);
      double offset = dot(direction, node.amplitudes.mean) - mean;
      variance += node.weight * (node.amplitudes.covariance.along(direction) + offset * offset);
    }
    return {mean, std::sqrt(std::max(0.0, variance))};
  }

  /// g such that g . c is f(t).
  Direction basis_at(double t) const {
    return [this, t](const Pair& lambda) { return model_.basis(t, lambda); };
  }

  /// The posterior of the amplitudes at one lambda.
  Amplitudes amplitudes_at(const Pair& lambda) const {
    std::vector<Pair> basis(t_.size());
    for (std::size_t i = 0; i < t_.size(); ++i) basis[i] = model_.basis(t_[i], lambda);
    return Amplitudes(basis, y_, sigma_, model_.amplitude_priors);
  }

 private:
  PiecewiseDensity integrate_lambda() const {
    // The likelihood has no structure finer than the exponent at the last time, lambda t, omega t
    // or zeta omega t: a cell for every 6 of it.
    double rate = largest_time(t_) / 6;
    std::vector<PiecewiseDensity::Axis> axes;
    for (const PriorInterval& prior : model_.lambda_priors) {
      double cells = std::clamp(std::ceil((prior.high - prior.low) * rate), 4.0, 100.0);
      axes.push_back({prior.low, prior.high, static_cast<int>(cells)});
      rate *= prior.high;
    }
    double highest = -std::numeric_limits<double>::infinity();
    auto log_density = [&](double first, double second) {
      double value = amplitudes_at({first, second}).log_integral(highest - 60);
      highest = std::max(highest, value);
      return value;
    };
    // A first look, so that little care goes where the posterior is not.
    const int looks = 20;
    for (int i = 0; i < looks * looks; ++i) {
      auto at = [&](const PiecewiseDensity::Axis& axis, int k) {
        return axis.low + (axis.high - axis.low) * (k + 0.5) / looks;
      };
      log_density(at(axes.front(), i / looks), at(axes.back(), i % looks));
    }
    return PiecewiseDensity(log_density, axes);
  }

  MeanSd lambda_moments(std::size_t axis) const {
    std::vector<PiecewiseDensity::Node> nodes = density_.nodes(10, 0);
    double mean = 0, variance = 0;
    for (const PiecewiseDensity::Node& node : nodes) mean += node.weight * node.x[axis];
    for (const PiecewiseDensity::Node& node : nodes) {
      variance += node.weight * (node.x[axis] - mean) * (node.x[axis] - mean);
    }
    return {mean, std::sqrt(variance)};
  }

  Model model_;
  std::vector<double> t_, y_;
  double sigma_;
  PiecewiseDensity density_;
  double log_evidence_;
  std::vector<LambdaNode> nodes_;
  std::vector<MeanSd> moments_;
};

ExactPosterior::ExactPosterior(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}

ExactPosterior ExactPosterior::exponential(const Measurements& data,
                                           const ExponentialPrior& prior) {
  double growth =
      std::max(std::abs(prior.lambda.low), std::abs(prior.lambda.high)) * largest_time(data.t);
  if (growth > 300) {
    throw Error("exponential: lambda up to " + std::to_string(prior.lambda.high) +
                " and times up to " + std::to_string(largest_time(data.t)) +
                " overflow exp(lambda t). Narrow the prior or rescale time.");
  }
  Model model = {{"f0", "lambda"}, {prior.f0}, {prior.lambda}, exponential_basis};
  return ExactPosterior(
      std::make_shared<const Implementation>("exponential", std::move(model), data));
}

ExactPosterior ExactPosterior::oscillator(const Measurements& data, const OscillatorPrior& prior) {
  check_oscillator(prior.omega, prior.zeta);
  Model model = {{"f0", "omega", "zeta"}, {prior.f0}, {prior.omega, prior.zeta}, fixed_phase_basis};
  return ExactPosterior(
      std::make_shared<const Implementation>("oscillator", std::move(model), data));
}

ExactPosterior ExactPosterior::oscillator(const Measurements& data, const FreePhasePrior& prior) {
  check_oscillator(prior.omega, prior.zeta);
  Model model = {{"sine", "cosine", "omega", "zeta"},
                 {prior.sine, prior.cosine},
                 {prior.omega, prior.zeta},
                 free_phase_basis};
  return ExactPosterior(
      std::make_shared<const Implementation>("oscillator", std::move(model), data));
}

const std::vector<std::string>& ExactPosterior::names() const {
  return implementation_->model().names;
}

std::size_t ExactPosterior::amplitudes() const { return implementation_->amplitudes(); }

double ExactPosterior::log_evidence() const { return implementation_->log_evidence(); }

double ExactPosterior::mean(std::size_t parameter) const {
  implementation_->check_parameter("mean", parameter);
  return implementation_->moments_of(parameter).mean;
}

double ExactPosterior::sd(std::size_t parameter) const {
  implementation_->check_parameter("sd", parameter);
  return implementation_->moments_of(parameter).sd;
}

double ExactPosterior::density(std::size_t parameter, double x) const {
  implementation_->check_parameter("density", parameter);
  if (parameter >= amplitudes()) {
    return implementation_->lambda().density(parameter - amplitudes(), x);
  }
  return implementation_->mixture(unit(parameter)).density(x);
}

std::vector<double> ExactPosterior::density(std::size_t parameter,
                                            std::span<const double> grid) const {
  implementation_->check_parameter("density", parameter);
  std::vector<double> densities;
  for (double x : grid) densities.push_back(density(parameter, x));
  return densities;
}

double ExactPosterior::cdf(std::size_t parameter, double x) const {
  implementation_->check_parameter("cdf", parameter);
  if (parameter >= amplitudes()) return implementation_->lambda().cdf(parameter - amplitudes(), x);
  return implementation_->mixture(unit(parameter)).cdf(x);
}

namespace {

void check_probability(const char* function, double probability) {
  if (!(probability > 0 && probability < 1)) {
    throw Error(std::string(function) + ": probability is " + std::to_string(probability) +
                ", and must lie between 0 and 1.");
  }
}

}  // namespace

double ExactPosterior::quantile(std::size_t parameter, double probability) const {
  implementation_->check_parameter("quantile", parameter);
  check_probability("quantile", probability);
  if (parameter >= amplitudes()) {
    return implementation_->lambda().quantile(parameter - amplitudes(), probability);
  }
  return implementation_->mixture(unit(parameter))
      .quantile(probability, implementation_->moments_of(parameter));
}

double ExactPosterior::predictive_mean(double t) const {
  return implementation_->moments(implementation_->basis_at(t)).mean;
}

double ExactPosterior::predictive_sd(double t) const {
  return implementation_->moments(implementation_->basis_at(t)).sd;
}

double ExactPosterior::predictive_cdf(double t, double f) const {
  return implementation_->mixture(implementation_->basis_at(t)).cdf(f);
}

std::vector<double> ExactPosterior::predictive_quantiles(
    double t, std::span<const double> probabilities) const {
  Direction basis = implementation_->basis_at(t);
  Mixture mixture = implementation_->mixture(basis);
  MeanSd moments = implementation_->moments(basis);
  std::vector<double> quantiles;
  for (double probability : probabilities) {
    check_probability("predictive_quantiles", probability);
    quantiles.push_back(mixture.quantile(probability, moments));
  }
  return quantiles;
}

PosteriorDraws ExactPosterior::draws(std::size_t n, std::uint32_t seed) const {
  NumpyRandom random(seed);
  PosteriorDraws result = {Matrix(n, amplitudes()), Matrix(n, names().size() - amplitudes())};
  for (std::size_t i = 0; i < n; ++i) {
    Pair lambda = implementation_->lambda().draw(random);
    Pair amplitude = implementation_->amplitudes_at(lambda).draw(random);
    std::copy_n(lambda.begin(), result.lambda.cols, &result.lambda(i, 0));
    std::copy_n(amplitude.begin(), result.amplitudes.cols, &result.amplitudes(i, 0));
  }
  return result;
}

Matrix ExactPosterior::predict(const PosteriorDraws& draws, std::span<const double> times) const {
  std::size_t lambdas = names().size() - amplitudes();
  if (draws.amplitudes.cols != amplitudes() || draws.lambda.cols != lambdas ||
      draws.amplitudes.rows != draws.lambda.rows) {
    throw Error("predict: draws are " + std::to_string(draws.amplitudes.rows) + " x " +
                std::to_string(draws.amplitudes.cols) + " amplitudes and " +
                std::to_string(draws.lambda.rows) + " x " + std::to_string(draws.lambda.cols) +
                " of lambda, this posterior has " + std::to_string(amplitudes()) + " and " +
                std::to_string(lambdas) + ". Give draws of this posterior.");
  }
  Matrix result(draws.lambda.rows, times.size());
  for (std::size_t i = 0; i < result.rows; ++i) {
    Pair lambda = {}, amplitude = {};
    std::copy_n(&draws.lambda.values[i * lambdas], lambdas, lambda.begin());
    std::copy_n(&draws.amplitudes.values[i * amplitudes()], amplitudes(), amplitude.begin());
    for (std::size_t j = 0; j < times.size(); ++j) {
      result(i, j) = dot(amplitude, implementation_->model().basis(times[j], lambda));
    }
  }
  return result;
}

WassersteinFloor ExactPosterior::floor(std::size_t n, std::span<const double> times,
                                       const FloorOptions& options) const {
  if (n == 0 || times.empty() || options.repetitions < 1 || options.reference_draws == 0) {
    throw Error("floor: " + std::to_string(n) + " draws at " + std::to_string(times.size()) +
                " times against " + std::to_string(options.reference_draws) + " draws, " +
                std::to_string(options.repetitions) + " repetitions. All must be at least 1.");
  }
  PosteriorDraws reference = draws(options.reference_draws, options.seed);
  Matrix reference_lambda = columns_sorted(reference.lambda);
  Matrix reference_f = columns_sorted(predict(reference, times));
  std::vector<double> w_f, w_lambda;
  for (int repetition = 1; repetition <= options.repetitions; ++repetition) {
    PosteriorDraws sample = draws(n, options.seed + static_cast<std::uint32_t>(repetition));
    w_f.push_back(mean_distance(columns_sorted(predict(sample, times)), reference_f));
    w_lambda.push_back(mean_distance(columns_sorted(sample.lambda), reference_lambda));
  }
  return {mean_sd(w_f), mean_sd(w_lambda)};
}

}  // namespace sturnus
