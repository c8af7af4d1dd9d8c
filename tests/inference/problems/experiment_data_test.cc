#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/inference/problems/experiment_data_values.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

std::vector<double> noise_of(const Samples& samples, double noise_sd) {
  std::vector<double> noise;
  for (std::size_t i = 0; i < samples.y.size(); ++i) {
    noise.push_back((samples.y[i] - samples.truth[i]) / noise_sd);
  }
  return noise;
}

void expect_noise(const Samples& samples, double noise_sd, std::span<const double> expected) {
  std::vector<double> noise = noise_of(samples, noise_sd);
  ASSERT_EQ(noise.size(), expected.size());
  // The noise is what is left of y, so it has the rounding of y.
  for (std::size_t i = 0; i < noise.size(); ++i)
    EXPECT_NEAR(noise[i], expected[i], 2e-14 / noise_sd) << i;
}

TEST(PublishedData, HasThePublishedNoise) {
  for (int run = 0; run < published_runs; ++run) {
    SCOPED_TRACE(run);
    ExperimentData data = published_data(Experiment::exponential, run);
    expect_noise(data.train, 2, exponential_train_noise[run]);
    expect_noise(data.test, 2, exponential_test_noise[run]);
    data = published_data(Experiment::oscillator, run);
    expect_noise(data.train, 0.1, oscillator_train_noise[run]);
    expect_noise(data.test, 0.1, oscillator_test_noise[run]);
    data = published_data(Experiment::lotka_volterra, run);
    expect_noise(data.train, 1, lotka_volterra_train_noise[run]);
    expect_noise(data.test, 1, lotka_volterra_test_noise[run]);
    data = published_data(Experiment::advection, run);
    expect_noise(data.train, 0.1, advection_train_noise[run]);
    double sum = 0, weighted = 0;
    std::vector<double> noise = noise_of(data.test, 0.1);
    for (std::size_t i = 0; i < noise.size(); ++i) {
      sum += noise[i];
      weighted += noise[i] * static_cast<double>(i + 1);
    }
    EXPECT_NEAR(sum, advection_test_digest[run][0], 1e-9);
    EXPECT_NEAR(weighted, advection_test_digest[run][1], 1e-6);
  }
}

TEST(PublishedData, HasThePublishedPlaces) {
  struct Case {
    Experiment experiment;
    std::vector<double> train, test;
  };
  const std::vector<Case> cases = {
      {Experiment::exponential,
       {0, 10.0 / 9, 20.0 / 9, 30.0 / 9, 40.0 / 9, 50.0 / 9, 60.0 / 9, 70.0 / 9, 80.0 / 9, 10},
       {}},
      {Experiment::oscillator, {0, 1.5, 3, 4.5, 6, 15, 16.25, 17.5, 18.75, 20}, {}},
      {Experiment::lotka_volterra,
       {0, 2.0 / 3, 4.0 / 3, 2, 8.0 / 3, 10.0 / 3, 4, 8, 8.5, 9, 9.5, 10},
       {0, 5.0 / 3, 10.0 / 3, 5, 20.0 / 3, 25.0 / 3, 10}},
  };
  for (const Case& c : cases) {
    ExperimentData data = published_data(c.experiment, 0);
    EXPECT_THAT(data.train.x, testing::Pointwise(testing::DoubleNear(1e-14), c.train));
    if (!c.test.empty()) {
      EXPECT_THAT(data.test.x, testing::Pointwise(testing::DoubleNear(1e-14), c.test));
    }
    ASSERT_EQ(data.plot.points, 200u);
    EXPECT_EQ(data.plot.x.front(), data.domain_low[0]);
    EXPECT_EQ(data.plot.x.back(), data.domain_high[0]);
    EXPECT_TRUE(data.plot.y.empty());
  }
  for (int run = 0; run < published_runs; ++run) {
    ExperimentData data = published_data(Experiment::advection, run);
    ASSERT_EQ(data.train.points, 64u);
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_NEAR(data.train.x[2 * i], 0.1 * advection_train_frame[run][i], 1e-14);
      EXPECT_EQ(data.train.x[2 * i + 1], (50 * advection_train_cell[run][i] + 0.5) / 1024);
    }
    ASSERT_EQ(data.test.points, 1190u);
    EXPECT_EQ(data.test.x[2], 0);  // frames are the slow index
    EXPECT_EQ(data.test.x[3], 30.5 / 1024);
    EXPECT_DOUBLE_EQ(data.test.x[2 * 1189], 1.98);
    EXPECT_EQ(data.test.x[2 * 1189 + 1], 1020.5 / 1024);
    EXPECT_EQ(data.plot.x, data.test.x);
    EXPECT_TRUE(data.plot.y.empty());
  }
}

TEST(PublishedData, SaysWhatItIs) {
  struct Case {
    Experiment experiment;
    const char* name;
    std::size_t inputs, outputs, train, test;
    std::vector<double> parameters;
    double noise_sd;
  };
  const std::vector<Case> cases = {
      {Experiment::exponential, "exponential", 1, 1, 10, 20, {0.3}, 2},
      {Experiment::oscillator, "oscillator", 1, 1, 10, 20, {1, 0.1}, 0.1},
      {Experiment::advection, "advection", 2, 1, 64, 1190, {0.2}, 0.1},
      {Experiment::lotka_volterra, "lotka_volterra", 1, 2, 12, 7, {1.5, 1, 3, 1}, 1},
  };
  ASSERT_EQ(cases.size(), all_experiments.size());
  for (const Case& c : cases) {
    ExperimentData data = published_data(c.experiment, 4);
    EXPECT_EQ(name_of(c.experiment), c.name);
    EXPECT_EQ(data.parameters, c.parameters);
    EXPECT_EQ(data.parameter_names.size(), c.parameters.size());
    EXPECT_EQ(data.noise_sd, c.noise_sd);
    EXPECT_EQ(data.domain_low.size(), c.inputs);
    EXPECT_EQ(data.domain_high.size(), c.inputs);
    for (const auto& [samples, points] :
         {std::pair(data.train, c.train), std::pair(data.test, c.test)}) {
      EXPECT_EQ(samples.points, points) << c.name;
      EXPECT_EQ(samples.x.size(), points * c.inputs) << c.name;
      EXPECT_EQ(samples.truth.size(), points * c.outputs) << c.name;
      EXPECT_EQ(samples.y.size(), points * c.outputs) << c.name;
    }
  }
}

TEST(ExactSolution, OfLotkaVolterraIsScipys) {
  std::vector<double> times;
  for (const auto& row : lotka_volterra_orbit) times.insert(times.begin(), row[0]);  // backwards
  std::vector<double> orbit = exact_solution(Experiment::lotka_volterra, times);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto& expected = lotka_volterra_orbit[times.size() - 1 - i];
    EXPECT_NEAR(orbit[2 * i], expected[1], 2e-12 * expected[1]) << times[i];
    EXPECT_NEAR(orbit[2 * i + 1], expected[2], 2e-12 * expected[2]) << times[i];
  }
}

TEST(ExactSolution, OfLotkaVolterraConservesItsInvariant) {
  std::vector<double> times;
  for (int i = 0; i <= 100; ++i) times.push_back(i);
  std::vector<double> orbit = exact_solution(Experiment::lotka_volterra, times);
  auto invariant = [](double x, double y) { return x - 3 * std::log(x) + y - 1.5 * std::log(y); };
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(invariant(orbit[2 * i], orbit[2 * i + 1]), invariant(10, 5), 1e-11) << times[i];
  }
}

TEST(ExactSolution, SolvesItsEquation) {
  // Central differences of the solution, put into the equation.
  const double h = 1e-4;
  for (double t : {0.7, 3.3, 9.1}) {
    auto at = [&](Experiment experiment, std::vector<double> x) {
      return exact_solution(experiment, x)[0];
    };
    auto f = [&](double time) { return at(Experiment::exponential, {time}); };
    EXPECT_NEAR((f(t + h) - f(t - h)) / (2 * h), 0.3 * f(t), 1e-6);
    auto g = [&](double time) { return at(Experiment::oscillator, {time}); };
    double slope = (g(t + h) - g(t - h)) / (2 * h),
           curvature = (g(t + h) - 2 * g(t) + g(t - h)) / (h * h);
    EXPECT_NEAR(curvature + 0.2 * slope + g(t), 0, 1e-6);
    auto u = [&](double time, double x) { return at(Experiment::advection, {time, x}); };
    double time = t / 5, x = 0.77;
    double u_t = (u(time + h, x) - u(time - h, x)) / (2 * h),
           u_x = (u(time, x + h) - u(time, x - h)) / (2 * h);
    EXPECT_NEAR(u_t + 0.2 * u_x, 0, 1e-4);
  }
}

TEST(AdvectionProfile, OfThePublishedTrajectoryHasItsKnownRange) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int i = 0; i < 1024; ++i) {
    double u = AdvectionProfile()((i + 0.5) / 1024);
    low = std::min(low, u);
    high = std::max(high, u);
  }
  EXPECT_NEAR(low, -0.251, 5e-4);
  EXPECT_NEAR(high, 1.865, 5e-4);
}

TEST(AdvectionProfile, NewOnesFollowTheFamily) {
  int absolute = 0, windows = 0, positive = 0;
  std::set<double> amplitudes;
  const int n = 2000;
  for (int seed = 0; seed < n; ++seed) {
    AdvectionProfile profile = AdvectionProfile::random(static_cast<std::uint32_t>(seed));
    EXPECT_EQ(profile.count[0] + profile.count[1] + profile.count[2] + profile.count[3], 2);
    absolute += profile.absolute;
    windows += profile.window.has_value();
    positive += profile.sign > 0;
    amplitudes.insert(profile.amplitude[0]);
    if (profile.window) {
      auto [left, right] = *profile.window;
      EXPECT_TRUE(0.1 <= left && left <= 0.45 && 0.55 <= right && right <= 0.9);
      EXPECT_NEAR(profile(0.0), 0, 1e-6);
    }
    if (profile.absolute) {
      EXPECT_GE(profile.sign * profile(0.5), 0);
    }
  }
  EXPECT_EQ(amplitudes.size(), static_cast<std::size_t>(n));
  EXPECT_NEAR(absolute, 0.1 * n, 4 * std::sqrt(0.09 * n));
  EXPECT_NEAR(windows, 0.1 * n, 4 * std::sqrt(0.09 * n));
  EXPECT_NEAR(positive, 0.5 * n, 4 * std::sqrt(0.25 * n));
}

TEST(MakeData, IsAFunctionOfItsSeedAndRun) {
  for (Experiment experiment : all_experiments) {
    auto y = [&](std::uint32_t seed, int run) {
      return make_data(experiment, {.seed = seed, .run = run}).train.y;
    };
    EXPECT_EQ(y(5, 0), y(5, 0)) << name_of(experiment);
    EXPECT_NE(y(5, 0), y(6, 0)) << name_of(experiment);
    EXPECT_NE(y(5, 0), y(5, 1)) << name_of(experiment);
  }
}

TEST(MakeData, ScalesTheNoise) {
  for (Experiment experiment : all_experiments) {
    ExperimentData quiet = make_data(experiment, {.seed = 1, .noise_sd = 0});
    EXPECT_EQ(quiet.train.y, quiet.train.truth) << name_of(experiment);
    ExperimentData loud = make_data(experiment, {.seed = 1, .noise_sd = 3});
    EXPECT_EQ(loud.noise_sd, 3);
    double square = 0;
    for (double noise : noise_of(loud.test, 3))
      square += noise * noise / static_cast<double>(loud.test.y.size());
    EXPECT_NEAR(square, 1, 4 * std::sqrt(2.0 / static_cast<double>(loud.test.y.size())))
        << name_of(experiment);
  }
}

TEST(MakeData, AdvectsTheGivenProfile) {
  AdvectionProfile flat;
  flat.amplitude = {0, 0, 0, 0};
  ExperimentData data = make_data(Experiment::advection, {.seed = 1, .profile = flat});
  for (double u : data.test.truth) EXPECT_EQ(std::abs(u), 0);
}

TEST(ExperimentData, SaysWhatIsWrong) {
  struct Case {
    std::function<void()> call;
    const char* message;
  };
  const std::vector<Case> cases = {
      {[] { published_data(Experiment::exponential, 5); },
       "published_data: run is 5, the published runs are 0 to 4"},
      {[] { published_data(Experiment::exponential, -1); }, "published_data: run is -1"},
      {[] { make_data(Experiment::oscillator, {.run = -2}); }, "make_data: run is -2"},
      {[] { make_data(Experiment::oscillator, {.noise_sd = -1}); }, "make_data: noise_sd is -1"},
      {[] {
         exact_solution(Experiment::advection, std::vector<double>{1, 2, 3});
       },
       "3 coordinates"},
      {[] { exact_solution(Experiment::lotka_volterra, std::vector<double>{-1}); }, "time -1"},
  };
  for (const Case& c : cases) {
    try {
      c.call();
      ADD_FAILURE() << "no error: " << c.message;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
}

}  // namespace
}  // namespace sturnus
