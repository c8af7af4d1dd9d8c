#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/inference/variational/network_variational.h>

#include <cmath>

#include "tests/inference/host.h"

namespace sturnus {
namespace {

Problem oscillator() { return problem_of(published_data(Experiment::oscillator, 3)); }

TEST(NetworkVariational, HasThePublishedSettings) {
  NetworkVariational network(oscillator(), published_network_variational());
  const VariationalOptions& options = network.fit().options();
  EXPECT_EQ(network.fit().target().size, 901 + 2);
  EXPECT_EQ(options.draws, 5);
  EXPECT_EQ(options.optimizer.rate.value, 0.01);
  EXPECT_EQ(options.family, GaussianFamily::mean_field);
  // Standard deviations softplus(u), u uniform within 1 / sqrt(fan in): 20 but for the first layer.
  Doubles sd = doubles(options.start->factor);
  for (std::size_t i = 0; i < sd.size(); i++) {
    double reach = i < 40 || i >= 901 ? 1 : 1 / std::sqrt(20.0);
    double raw = std::log(std::expm1(sd[i]));
    EXPECT_LE(std::abs(raw), reach + 1e-5) << i;
  }
  NetworkVariationalOptions published = published_network_variational();
  auto weights = [&](int iteration) {
    Array at(iteration);
    return std::pair(doubles(published.residual_weight.at(at))[0],
                     doubles(published.divergence_weight.at(at))[0]);
  };
  EXPECT_EQ(weights(15000), std::pair(1.0, 0.0));
  EXPECT_EQ(weights(18000), std::pair(5.0, 0.0));
  EXPECT_EQ(weights(18001).first, 5);
  EXPECT_NEAR(weights(18001).second, 1e-4, 1e-10);
}

// Of sd_q = 0.2, sd_p = 0.5, means 0.3 and 0: with sd_q^2 it would be 0.04 in place of 0.2.
TEST(NetworkVariational, TheSlipIsThePublishedOne) {
  Gaussian q = {device_array({0.3}, {1}), device_array({0.2}, {1})};
  Gaussian p = {device_array({0}, {1}), device_array({0.5}, {1})};
  double logs = std::log(0.5 / 0.2), twice = 2 * 0.25;
  EXPECT_NEAR(doubles(published_divergence(q, p))[0], logs + (0.2 + 0.09) / twice - 0.5, 1e-12);
  EXPECT_NEAR(doubles(divergence(q, p))[0], logs + (0.04 + 0.09) / twice - 0.5, 1e-12);
}

// With next to no noise in the weights, the loss is that of the network at the means: evaluated
// here through `predict`, and the equation by differences of it.
TEST(NetworkVariational, TheLossIsThatOfItsParts) {
  NetworkVariationalOptions options = published_network_variational();
  options.network.hidden = {6};
  options.points = 7;
  options.residual_weight = 3;
  options.divergence_weight = 0.25;
  options.prior_sd = 2;
  options.fit.dtype = DType::f64;
  Problem problem = oscillator();
  NetworkVariational network(problem, options);
  VariationalState state = network.fit().init();
  state.parameters[1] = state.parameters[1] * 0.0 - 30.0;  // sd = exp(-30)
  Member m = network.draw(state, 1);
  auto f = [&](const Doubles& t) {
    auto count = static_cast<std::int64_t>(t.size());
    return doubles(network.predict(m, device_array(t, {count})));
  };
  Doubles at_data = f(problem.data.x);
  double data = 0, equation = 0;
  for (std::size_t i = 0; i < at_data.size(); i++) {
    data += std::pow(at_data[i] - problem.data.y[i], 2);
  }
  Doubles lambda = doubles(m.lambda);
  const double h = 1e-3;
  for (int i = 0; i < 7; i++) {
    double t = 25.0 * i / 6;
    Doubles v = f({t - h, t, t + h});
    double slope = (v[2] - v[0]) / (2 * h), bend = (v[2] - 2 * v[1] + v[0]) / (h * h);
    double r = bend + 2 * lambda[1] * lambda[0] * slope + lambda[0] * lambda[0] * v[1];
    equation += r * r / 7;
  }
  Gaussian q = network.fit().gaussian(state);
  Gaussian prior = {q.mean * 0.0, q.mean * 0.0 + 2.0};
  double kl = doubles(divergence(q, prior))[0];
  EXPECT_NEAR(doubles(network.fit().loss(state, 1))[0], data + 3 * equation + 0.25 * kl, 1e-5 * kl);
  EXPECT_NEAR(doubles(network.fit().target().log_density(q.mean))[0], -data - 3 * equation, 1e-4);
}

TEST(NetworkVariational, LearnsTheDataAndHasTheSameBits) {
  NetworkVariationalOptions options = published_network_variational();
  options.network.hidden = {10};
  options.points = 20;
  NetworkVariational network(oscillator(), options);
  const VariationalFit& fit = network.fit();
  VariationalState start = fit.init();
  double before = doubles(fit.loss(start, 20))[0];
  VariationalState end = fit.advance(fit.advance(fit.init(), 100), 400);
  EXPECT_LT(doubles(fit.loss(end, 20))[0], 0.5 * before);
  VariationalState whole = fit.advance(fit.init(), 500);
  EXPECT_EQ(bytes_of(end.parameters[0]), bytes_of(whole.parameters[0]));
  Member draws = network.draw(end, 7);
  EXPECT_EQ(draws.lambda.shape(), (Shape{7, 2}));
  EXPECT_EQ(network.predict(draws, device_array({0, 1, 2}, {3}, DType::f32)).shape(),
            (Shape{7, 3}));
}

TEST(NetworkVariational, SaysWhatIsWrong) {
  auto message = [](const NetworkVariationalOptions& options) {
    try {
      NetworkVariational(oscillator(), options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(message({.points = 0}), "NetworkVariational: 0 points. Give at least 1");
  EXPECT_EQ(message({.prior_sd = 0}),
            "NetworkVariational: a prior_sd of 0.000000. Give a positive number");
}

}  // namespace
}  // namespace sturnus
