#include <gtest/gtest.h>
#include <sturnus/functional/control_flow.h>
#include <sturnus/functional/jit.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/optimizers/lbfgs.h>
#include <sturnus/inference/posteriors/lotka_volterra_posterior.h>
#include <sturnus/inference/posteriors/posteriors.h>
#include <sturnus/inference/results/diagnostics.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/ops/creation.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/inference/host.h"
#include "tests/inference/posterior_tests.h"
#include "tests/inference/posteriors/eight_schools_moments.h"

namespace sturnus {
namespace {

constexpr double pi = 3.14159265358979323846;

double log_normal_of(double x, double mean, double sd) {
  return -0.5 * std::pow((x - mean) / sd, 2) - std::log(sd) - 0.5 * std::log(2 * pi);
}

// A model's log density at free numbers, less the volume of its bijections, is its joint density.
// `joint` computes that from the parameters in a row.
template <class M>
void expect_joint(const M& model, const Doubles& free, double log_volume,
                  const std::function<double(const Doubles&)>& joint) {
  Array y = device_array(free, {static_cast<std::int64_t>(free.size())});
  double expected = joint(doubles(model.parameters(y))) + log_volume;
  EXPECT_NEAR(model.log_density(y).template item<double>(), expected,
              1e-9 * (1 + std::abs(expected)));
}

// log |dx/dy| of low + width sigmoid(y).
double interval_volume(const Doubles& free, const Doubles& widths) {
  double total = 0;
  for (std::size_t i = 0; i < free.size(); i++) {
    double s = 1 / (1 + std::exp(-free[i]));
    total += std::log(widths[i] * s * (1 - s));
  }
  return total;
}

double sum_of(const Doubles& values) {
  double total = 0;
  for (double value : values) total += value;
  return total;
}

TEST(Posteriors, ExponentialIsPriorTimesLikelihood) {
  ExperimentData data = published_data(Experiment::exponential, 1);
  auto model = exponential_model(measurements_of(data));
  EXPECT_EQ(model.names, (std::vector<std::string>{"f0", "lambda"}));
  for (const Doubles& free : {Doubles{0.1, 0.05}, Doubles{-1.2, -0.7}}) {
    expect_joint(model, free, interval_volume(free, {20, 20}), [&](const Doubles& p) {
      double total = -2 * std::log(20);
      for (std::size_t i = 0; i < data.train.points; i++) {
        total +=
            log_normal_of(data.train.y[i], p[0] * std::exp(p[1] * data.train.x[i]), data.noise_sd);
      }
      return total;
    });
  }
}

TEST(Posteriors, OscillatorsArePriorTimesLikelihood) {
  ExperimentData data = published_data(Experiment::oscillator, 2);
  auto likelihood = [&](double sine, double cosine, double omega, double zeta) {
    double total = 0, w = omega * std::sqrt(1 - zeta * zeta);
    for (std::size_t i = 0; i < data.train.points; i++) {
      double t = data.train.x[i];
      double f = std::exp(-zeta * omega * t) * (sine * std::sin(w * t) + cosine * std::cos(w * t));
      total += log_normal_of(data.train.y[i], f, data.noise_sd);
    }
    return total;
  };
  Doubles free = {0.4, -0.7, -1.5};
  expect_joint(
      oscillator_model(measurements_of(data)), free, interval_volume(free, {1.5, 3, 0.9}),
      [&](const Doubles& p) { return likelihood(p[0], 0, p[1], p[2]) - std::log(1.5 * 3 * 0.9); });
  free = {0.4, -0.2, -0.7, -1.5};
  expect_joint(oscillator_model(measurements_of(data), FreePhasePrior()), free,
               interval_volume(free, {10, 10, 3, 0.9}), [&](const Doubles& p) {
                 return likelihood(p[0], p[1], p[2], p[3]) - std::log(10 * 10 * 3 * 0.9);
               });
}

// The equations of Lotka and Volterra with far smaller steps than the models take.
Doubles population(double x, double y, const Doubles& lambda, const Doubles& times) {
  using State = std::array<double, 2>;
  auto slope = [&](State s) {
    return State{lambda[0] * s[0] - lambda[1] * s[0] * s[1],
                 -lambda[2] * s[1] + lambda[3] * s[0] * s[1]};
  };
  auto moved = [](State s, double h, State k) { return State{s[0] + h * k[0], s[1] + h * k[1]}; };
  State s = {x, y};
  Doubles result = {x, y};
  const int steps = 400;
  for (std::size_t i = 1; i < times.size(); i++) {
    double h = (times[i] - times[i - 1]) / steps;
    for (int j = 0; j < steps; j++) {
      State k1 = slope(s), k2 = slope(moved(s, h / 2, k1)), k3 = slope(moved(s, h / 2, k2)),
            k4 = slope(moved(s, h, k3));
      for (std::size_t c = 0; c < 2; c++) s[c] += h / 6 * (k1[c] + 2 * (k2[c] + k3[c]) + k4[c]);
    }
    result.insert(result.end(), s.begin(), s.end());
  }
  return result;
}

TEST(Posteriors, LotkaVolterraSolvesItsEquation) {
  ExperimentData data = published_data(Experiment::lotka_volterra, 0);
  auto model = lotka_volterra_model(data.train, data.noise_sd);
  auto at = [](double x, double y, const Doubles& l) {
    return LotkaVolterra{device_array({x, y}, {2}), Array(l[0], DType::f64),
                         Array(l[1], DType::f64), Array(l[2], DType::f64), Array(l[3], DType::f64)};
  };
  struct Place {
    double x, y;
    Doubles lambda;
  };
  // The true parameters, and those of a long chain.
  for (const Place& p : {Place{10, 5, {1.5, 1, 3, 1}}, Place{10.4, 4.5, {1.64, 1.1, 3.26, 1.25}}}) {
    Doubles f = population(p.x, p.y, p.lambda, data.train.x);
    double expected = -2 * std::log(20) - 4 * std::log(6);
    for (std::size_t i = 0; i < f.size(); i++) {
      expected += log_normal_of(data.train.y[i], f[i], data.noise_sd);
    }
    Array free = model.unconstrain(at(p.x, p.y, p.lambda));
    double volume = sum_of(doubles(free));  // of logarithms
    EXPECT_NEAR(model.log_density(free).item<double>(), expected + volume, 0.01);
  }
  Samples backwards = data.train;
  std::swap(backwards.x[0], backwards.x[1]);
  EXPECT_THROW(lotka_volterra_model(backwards, 1), Error);
  EXPECT_THROW(lotka_volterra_model(published_data(Experiment::oscillator, 0).train, 1), Error);
}

TEST(Posteriors, NameTheMeasurementThatIsNotFinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  auto message = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  using Make = std::function<void(const Doubles& t, const Doubles& y, double sigma)>;
  struct Case {
    std::string name;
    std::size_t outputs;
    Make make;
  };
  const std::vector<Case> models = {
      {"exponential_model", 1,
       [](auto& t, auto& y, double s) {
         exponential_model({t, y, s});
       }},
      {"oscillator_model", 1,
       [](auto& t, auto& y, double s) {
         oscillator_model({t, y, s});
       }},
      {"oscillator_model", 1,
       [](auto& t, auto& y, double s) {
         oscillator_model({t, y, s}, FreePhasePrior());
       }},
      {"lotka_volterra_model", 2, [](auto& t, auto& y, double s) {
         lotka_volterra_model({.points = t.size(), .outputs = 2, .x = t, .truth = {}, .y = y}, s);
       }}};
  for (const Case& model : models) {
    Doubles t = {0, 1, 2}, y(3 * model.outputs, 0.5), bad_y = y, bad_t = {0, 1, nan};
    EXPECT_EQ(message([&] { model.make(t, y, 0.5); }), "nothing was thrown");
    bad_y[1] = infinity;
    EXPECT_EQ(message([&] { model.make(t, bad_y, 0.5); }),
              model.name + ": measurement 1 is inf at time " +
                  std::to_string(t[1 / model.outputs]) + ". Leave out what is not finite");
    EXPECT_EQ(message([&] { model.make(bad_t, y, 0.5); }),
              model.name + ": measurement " + std::to_string(2 * model.outputs) +
                  " is 0.500000 at time nan. Leave out what is not finite");
    for (double sigma : {0.0, -1.0, nan, infinity}) {
      EXPECT_EQ(message([&] { model.make(t, y, sigma); }),
                model.name + ": the noise has the standard deviation " + std::to_string(sigma) +
                    ". Give a positive, finite one");
    }
  }
  EXPECT_EQ(message([] {
              exponential_model({Doubles{1, 2}, Doubles{1}, 1});
            }),
            "exponential_model: 2 times and 1 measured values. Give at least one time, and 1 value "
            "at each");
}

TEST(Posteriors, EightSchoolsAreThoseOfRubin) {
  Target target = eight_schools();
  ASSERT_EQ(target.names.size(), 18u);
  EXPECT_EQ(target.names.back(), "theta[7]");
  const Doubles y = {28, 8, -3, 7, -1, 1, 18, 12}, sd = {15, 10, 16, 11, 9, 11, 10, 18};
  Doubles free = random_numbers(10, 3);
  expect_joint(target, free, free[1], [&](const Doubles& p) {
    double mu = p[0], tau = p[1];
    EXPECT_NEAR(tau, std::exp(free[1]), 1e-12);
    double total = log_normal_of(mu, 0, 5) + std::log(2 / (pi * 5 * (1 + tau * tau / 25)));
    for (std::size_t i = 0; i < 8; i++) {
      EXPECT_NEAR(p[10 + i], mu + tau * p[2 + i], 1e-12);
      total += log_normal_of(p[2 + i], 0, 1) + log_normal_of(y[i], p[10 + i], sd[i]);
    }
    return total;
  });
}

TEST(Posteriors, EightSchoolsHaveTheMomentsOfPosteriordb) {
  expect_moments(four_chains(eight_schools(), 1000, 0.95), eight_schools_moments(), 1.02);
}

TEST(Posteriors, HaresAndLynxesAreThoseOfHudsonsBay) {
  auto model = hare_lynx_model();
  const Doubles pelts = {30,   4,    47.2, 6.1,  70.2, 9.8,  77.4, 35.2, 36.3, 59.4, 20.6,
                         41.7, 18.1, 19,   21.4, 13,   22,   8.3,  25.4, 9.1,  27.1, 7.4,
                         40.3, 8,    57,   12.3, 76.6, 19.5, 52.3, 45.7, 19.5, 51.1, 11.2,
                         29.7, 7.6,  15.8, 14.6, 9.7,  16.2, 10.1, 24.7, 8.6};
  Doubles years;
  for (int i = 0; i <= 20; i++) years.push_back(i);
  auto log_normal = [](double x, double mean, double sd) {
    return log_normal_of(std::log(x), mean, sd) - std::log(x);
  };
  for (const Doubles& p : {Doubles{0.547, 0.0277, 0.8, 0.0241, 34, 5.9, 0.25, 0.25},
                           Doubles{0.6, 0.03, 0.7, 0.02, 30, 7, 0.5, 0.3}}) {
    HareLynx place = {device_array({p[0], p[1], p[2], p[3]}, {4}), device_array({p[4], p[5]}, {2}),
                      device_array({p[6], p[7]}, {2})};
    Doubles z = population(p[4], p[5], {p[0], p[1], p[2], p[3]}, years);
    double expected = log_normal_of(p[0], 1, 0.5) + log_normal_of(p[1], 0.05, 0.05) +
                      log_normal_of(p[2], 1, 0.5) + log_normal_of(p[3], 0.05, 0.05);
    for (std::size_t k = 0; k < 2; k++) {
      expected += log_normal(p[4 + k], std::log(10), 1) + log_normal(p[6 + k], -1, 1);
    }
    for (std::size_t i = 0; i < z.size(); i++) {
      expected += log_normal(pelts[i], std::log(z[i]), p[6 + i % 2]);
    }
    Array free = model.unconstrain(place);
    EXPECT_NEAR(model.log_density(free).item<double>(), expected + sum_of(doubles(free)), 1e-3);
  }
}

// Of places within 2 of 0 hardly one in a thousand is as good.
TEST(Posteriors, PromisingStartsAreNearTheMode) {
  ExperimentData data = published_data(Experiment::exponential, 1);
  auto model = exponential_model(measurements_of(data));
  auto exact = ExactPosterior::exponential(measurements_of(data));
  Array middle =
      model.unconstrain({Array(exact.mean(0), DType::f64), Array(exact.mean(1), DType::f64)});
  double highest = model.log_density(middle).item<double>();
  auto worst_of = [&](const Array& starts) {
    double worst = highest;
    Doubles x = doubles(starts);
    for (std::size_t i = 0; i < x.size(); i += 2) {
      Array place = device_array({x[i], x[i + 1]}, {2});
      worst = std::min(worst, model.log_density(place).item<double>());
    }
    return worst;
  };
  Array starts = promising_starts(model, 20, 3);
  EXPECT_EQ(starts.type().str(), "f64[20,2]");
  EXPECT_GT(worst_of(starts), highest - 20);
  EXPECT_LT(worst_of(promising_starts(model, 20, 3, 10, 1)), highest - 20);
  EXPECT_EQ(bytes_of(starts), bytes_of(promising_starts(model, 20, 3)));
  EXPECT_NE(bytes_of(starts), bytes_of(promising_starts(model, 20, 4)));
  Doubles x = doubles(starts);
  EXPECT_NE(x[0], x[2]);
}

// Of 200 places within 2 of 0, one time in 50 the best is of a false frequency, where the density
// is e^25 times smaller: none of so many chains may begin there.
TEST(Posteriors, PromisingStartsAreInTheRightMode) {
  for (int run : {1, 2}) {
    ExperimentData data = published_data(Experiment::oscillator, run);
    Target target = oscillator_model(measurements_of(data), FreePhasePrior());
    Array starts = promising_starts(target, 400, 5);
    auto height = [&](const Array& x) { return -vmap(target.log_density)(x); };
    Array highest = jit([&](const Array& places) {
      Lbfgs lbfgs;
      auto climb = [&](const Array&, const Lbfgs::State& s) { return lbfgs.step(height, s); };
      return -fori_loop(Array(0), Array(200), climb, lbfgs.init(height, places)).value;
    })(starts);
    Doubles modes = doubles(highest);
    auto [low, high] = std::minmax_element(modes.begin(), modes.end());
    EXPECT_GT(*low, *high - 1) << run;
  }
}

TEST(Posteriors, PromisingStartsNeedSomethingToLookAt) {
  auto model = eight_schools_model();
  for (auto [chains, candidates, rounds] :
       {std::array<std::int64_t, 3>{0, 10, 1}, {99999999999, 10, 1}, {4, 0, 1}, {4, 10, 0}}) {
    try {
      promising_starts(model, chains, 0, candidates, rounds);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "promising_starts: " + std::to_string(chains) + " chains, " +
                                  std::to_string(candidates) + " candidates and " +
                                  std::to_string(rounds) +
                                  " rounds. Give at least 1 of each, and at most 1000000 chains");
    }
  }
}

TEST(Posteriors, LotkaVolterraHasAPriorOfPositiveNumbers) {
  Samples data = published_data(Experiment::lotka_volterra, 0).train;
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  auto message = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  for (PriorInterval bad : {PriorInterval{-1, 2}, {2, 2}, {3, 2}, {0, infinity}, {nan, 1}}) {
    for (const char* name : {"start", "lambda"}) {
      LotkaVolterraPrior prior;
      (name == std::string("start") ? prior.start : prior.lambda) = bad;
      std::string says = std::string(": the prior of ") + name + " is from " +
                         std::to_string(bad.low) + " to " + std::to_string(bad.high) +
                         ". Give two finite numbers that are not negative, the first below the "
                         "second";
      EXPECT_EQ(message([&] { lotka_volterra_model(data, 1, prior); }),
                "lotka_volterra_model" + says);
      EXPECT_EQ(message([&] { lotka_volterra_reference(prior); }),
                "lotka_volterra_reference" + says);
    }
  }
  TemperedOptions many = {.smc = {.particles = 128}, .walkers = 200};
  EXPECT_EQ(message([&] { tempered_lotka_volterra(data, 1, many); }),
            "tempered_lotka_volterra: 200 walkers of 128 particles. Give at least 14 walkers, and "
            "at least as many particles");
}

TEST(ChainDraws, ElementsBecomeParametersAndChunksOneChain) {
  Draws draws;
  draws.names = {"mean", "groups[0].w[0,0]", "groups[0].w[0,1]", "theta[0]", "theta[1]"};
  auto chunk = [&](std::int64_t count, double first) {
    Doubles values;
    for (std::int64_t i = 0; i < 2 * count * 5; i++)
      values.push_back(first + static_cast<double>(i));
    draws.values = device_array(values, {2, count, 5});
    Array stat = zeros({2, count}, DType::f64), whole = zeros({2, count}, DType::i32);
    draws.stats = {stat, stat + first, stat, whole, whole + 3, stat > 0.0, stat};
    return draws;
  };
  ChainDraws all = chain_draws({chunk(2, 0), chunk(1, 100)});
  EXPECT_EQ(all.chains, 2u);
  EXPECT_EQ(all.draws, 3u);
  ASSERT_EQ(all.parameters.size(), 3u);
  EXPECT_EQ(all.parameters[0].name, "mean");
  EXPECT_TRUE(all.parameters[0].shape.empty());
  EXPECT_EQ(all.parameters[0].values, (Doubles{0, 5, 100, 10, 15, 105}));
  EXPECT_EQ(all.parameters[1].name, "groups_0_w");
  EXPECT_EQ(all.parameters[1].shape, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(all.parameters[2].values, (Doubles{3, 4, 8, 9, 103, 104, 13, 14, 18, 19, 108, 109}));
  EXPECT_EQ(all.statistics.acceptance.values, (Doubles{0, 0, 100, 0, 0, 100}));
  EXPECT_EQ(all.statistics.leapfrog_steps.values, Doubles(6, 3));
  EXPECT_NO_THROW(check_draws("test", all));
  EXPECT_THROW(chain_draws({}), Error);
}

TEST(PosteriorChains, ExponentialAgreesWithTheExactPosterior) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  expect_exact(exponential_model(measurements_of(data)),
               ExactPosterior::exponential(measurements_of(data)), 500);
}

// The slow tests have ten times as many draws.
TEST(PosteriorChains, FewOfHaresAndLynxesHaveTheMomentsOfPosteriordb) {
  expect_moments(four_chains(hare_lynx_model(), 500, 0.95), hare_lynx_moments, 1.05);
}

// With fewer candidates for its start, one of these chains stayed at a false frequency.
TEST(PosteriorChains, NoChainStaysAtAFalseFrequency) {
  ExperimentData data = published_data(Experiment::oscillator, 2);
  FreePhasePrior prior;
  expect_exact(four_chains(oscillator_model(measurements_of(data), prior), 1000, 0.8, 2),
               ExactPosterior::oscillator(measurements_of(data), prior));
}

TEST(PosteriorChains, OscillatorAgreesWithTheExactPosterior) {
  ExperimentData data = published_data(Experiment::oscillator, 0);
  expect_exact(oscillator_model(measurements_of(data)),
               ExactPosterior::oscillator(measurements_of(data)), 1000);
}

}  // namespace
}  // namespace sturnus
