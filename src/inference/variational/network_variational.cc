#include <sturnus/functional/doubles.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/ravel.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/variational/network_variational.h>
#include <sturnus/ops/activation.h>
#include <sturnus/ops/arithmetic.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/runtime/error.h>

#include <limits>
#include <string>
#include <utility>

namespace sturnus {
namespace {

NetworkVariationalOptions completed(const Problem& problem, NetworkVariationalOptions options) {
  problem.check();
  auto require = [](bool condition, const std::string& message) {
    if (!condition) throw Error("NetworkVariational: " + message);
  };
  require(options.points > 0, std::to_string(options.points) + " points. Give at least 1");
  require(options.prior_sd > 0,
          "a prior_sd of " + std::to_string(options.prior_sd) + ". Give a positive number");
  options.residual_weight.check("NetworkVariational, residual_weight");
  options.divergence_weight.check("NetworkVariational, divergence_weight");
  options.network = network_for(problem, options.network);
  options.network.check();
  return options;
}

Member random_member(const Problem& problem, const Network& network, const Key& key) {
  auto parameters = static_cast<std::int64_t>(problem.parameters.size());
  auto [for_network, for_lambda] = split(key);
  return {network.init(for_network), uniform(for_lambda, {parameters}, -1.0, 1.0)};
}

/// What data and equation say of one network and its parameters.
struct Misfit {
  Problem problem;
  Network network;
  Array measured_at, measured, points;
  Schedule residual_weight;

  Misfit(const Problem& given, const NetworkVariationalOptions& options)
      : problem(given), network(options.network), residual_weight(options.residual_weight) {
    DType dtype = options.fit.dtype;
    std::int64_t inputs = problem.inputs();
    auto count = static_cast<std::int64_t>(problem.data.points);
    measured_at = array(problem.data.x, inputs == 1 ? Shape{count} : Shape{count, inputs}, dtype);
    measured = array(problem.data.y, {static_cast<std::int64_t>(problem.data.y.size())}, dtype);
    points = collocation_points({.points = options.points}, problem.low, problem.high, key(0), {},
                                dtype);
  }

  /// sum (f - y)^2 + weight mean r^2.
  Array operator()(const Member& m, const Array& iteration) const {
    Field f = [&](const Array& x) { return network(m.network, x); };
    Array r = vmap([&](const Array& x) { return problem.equation(f, x, m.lambda); })(points);
    Array weight = residual_weight.at(iteration, r.dtype());
    Array equation = sum(square(r)) / static_cast<double>(points.shape()[0]);
    return sum(square(reshape(vmap(f)(measured_at), {-1}) - measured)) + weight * equation;
  }
};

Model<Member> model_of(const Misfit& misfit) {
  Member like = eval_shape([&] { return random_member(misfit.problem, misfit.network, key(0)); });
  return Model<Member>(
      [misfit](const Member& m) {
        return -misfit(m, Array(std::numeric_limits<std::int32_t>::max()));
      },
      tree_map([](const Array& a) { return zeros(a.shape(), a.dtype()); }, like));
}

VariationalFit fit_of(const Misfit& misfit, const Model<Member>& model,
                      const NetworkVariationalOptions& options) {
  VariationalOptions fit = options.fit;
  auto [for_mean, for_sd] = split(fold_in(key(fit.seed), 1));
  auto numbers = [&](const Key& k) {
    return ravel(random_member(misfit.problem, misfit.network, k)).first;
  };
  fit.family = GaussianFamily::mean_field;
  fit.start = Gaussian{numbers(for_mean), softplus(numbers(for_sd))};

  Gaussian prior = {zeros({model.size}, fit.dtype),
                    full({model.size}, options.prior_sd, fit.dtype)};
  auto kl = options.published_slip ? published_divergence : divergence;
  auto loss = [=](const Gaussian& q, const Array& draws, const Array& iteration) {
    auto one = [&](const Array& x) { return misfit(model.constrain(x), iteration); };
    Array weight = options.divergence_weight.at(iteration, q.mean.dtype());
    return mean(vmap(one)(draws)) + weight * kl(q, prior);
  };
  return VariationalFit(model, fit, loss);
}

}  // namespace

Array published_divergence(const Gaussian& q, const Gaussian& p) {
  Array shift = q.mean - p.mean;
  return sum(log(p.factor / q.factor) + (q.factor + square(shift)) / (2.0 * square(p.factor)) -
             0.5);
}

NetworkVariationalOptions published_network_variational() {
  NetworkVariationalOptions options;
  options.network = {
      .hidden = {20, 20, 20}, .input_low = {0}, .input_high = {20}, .output_range = {{-1, 1}}};
  options.residual_weight = Schedule::stepwise(1, {{15000, 5}});
  options.divergence_weight = Schedule::stepwise(0, {{18000, 1e-4}});
  return options;
}

NetworkVariational::NetworkVariational(const Problem& problem,
                                       const NetworkVariationalOptions& options)
    : network_(completed(problem, options).network),
      model_(model_of(Misfit(problem, completed(problem, options)))),
      fit_(fit_of(Misfit(problem, completed(problem, options)), model_, options)) {}

Member NetworkVariational::draw(const VariationalState& state, std::int64_t count) const {
  Array numbers = squeeze(fit_.draw(state, count).draws.values, {0});
  return jit(vmap([this](const Array& x) { return model_.constrain(x); }))(numbers);
}

Array NetworkVariational::predict(const Member& draws, const Array& points) const {
  auto at_points = [&](const Member& m, const Array& x) {
    return vmap([&](const Array& point) { return network_(m.network, point); })(x);
  };
  return jit(vmap(at_points, {.in_axes = {0, none}}))(draws, points);
}

}  // namespace sturnus
