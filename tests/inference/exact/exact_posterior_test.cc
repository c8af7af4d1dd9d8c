#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/exact/exact_posterior.h>
#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/runtime/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/inference/exact/exact_posterior_values.h"

namespace sturnus {
namespace {

using testing::HasSubstr;

ExperimentData data_of(Kind kind, int run) {
  return published_data(
      kind == Kind::exponential ? Experiment::exponential : Experiment::oscillator, run);
}

Measurements measurements_of(const ExperimentData& data) {
  return {data.train.x, data.train.y, data.noise_sd};
}

/// The posterior of a published run under its default prior, built once.
const ExactPosterior& posterior_of(Kind kind, int run) {
  static std::map<std::pair<Kind, int>, ExactPosterior> built;
  auto found = built.find({kind, run});
  if (found != built.end()) return found->second;
  ExperimentData data = data_of(kind, run);
  Measurements measurements = measurements_of(data);
  ExactPosterior posterior = kind == Kind::exponential ? ExactPosterior::exponential(measurements)
                             : kind == Kind::fixed
                                 ? ExactPosterior::oscillator(measurements)
                                 : ExactPosterior::oscillator(measurements, FreePhasePrior());
  return built.emplace(std::pair(kind, run), std::move(posterior)).first->second;
}

ExactPosterior build(const RecordedPosterior& recorded) {
  if (recorded.is_default_prior) return posterior_of(recorded.kind, recorded.run);
  ExperimentData data = data_of(recorded.kind, recorded.run);
  auto [f0, lambda] = std::pair(recorded.priors[0], recorded.priors[1]);
  return ExactPosterior::exponential(
      measurements_of(data), {.f0 = {f0.low, f0.high}, .lambda = {lambda.low, lambda.high}});
}

/// The largest distance of a sample's distribution function from the given one
/// (Kolmogorov-Smirnov).
double distance_from(std::vector<double> sample, const std::function<double(double)>& cdf) {
  std::sort(sample.begin(), sample.end());
  double n = static_cast<double>(sample.size()), distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    distance = std::max(distance, std::abs(cdf(sample[i]) - (static_cast<double>(i) + 0.5) / n));
  }
  return distance;
}

double share_below(const std::vector<double>& sample, double x) {
  auto below =
      std::count_if(sample.begin(), sample.end(), [x](double value) { return value <= x; });
  return static_cast<double>(below) / static_cast<double>(sample.size());
}

std::vector<double> column(const Matrix& matrix, std::size_t col) {
  std::vector<double> values;
  for (std::size_t i = 0; i < matrix.rows; ++i) values.push_back(matrix(i, col));
  return values;
}

TEST(ExactPosterior, AgreesWithBruteForceInScipy) {
  for (const RecordedPosterior& recorded : recorded_posteriors) {
    SCOPED_TRACE(recorded.name);
    ExactPosterior posterior = build(recorded);
    EXPECT_NEAR(posterior.log_evidence(), recorded.log_evidence, 1e-8);
    ASSERT_EQ(posterior.names().size(), recorded.marginals.size());
    for (std::size_t i = 0; i < recorded.marginals.size(); ++i) {
      const auto& [mean, sd, x, cdf] = recorded.marginals[i];
      EXPECT_NEAR(posterior.mean(i), mean, 1e-7 * sd) << posterior.names()[i];
      EXPECT_NEAR(posterior.sd(i), sd, 1e-6 * sd) << posterior.names()[i];
      EXPECT_NEAR(posterior.cdf(i, x), cdf, 1e-7) << posterior.names()[i];
      EXPECT_NEAR(posterior.quantile(i, cdf), x, 1e-6 * sd) << posterior.names()[i];
    }
    for (const auto& [t, mean, sd] : recorded.predictions) {
      EXPECT_NEAR(posterior.predictive_mean(t), mean, 1e-6 * sd) << t;
      EXPECT_NEAR(posterior.predictive_sd(t), sd, 1e-6 * sd) << t;
    }
  }
}

// With lambda all but known, the model is linear with normal noise: everything has a closed form.
TEST(ExactPosterior, OfAKnownExponentIsTheNormalOfLinearRegression) {
  ExperimentData data = data_of(Kind::exponential, 0);
  ExactPosterior posterior = ExactPosterior::exponential(
      measurements_of(data), {.f0 = {-100, 100}, .lambda = {0.3 - 1e-9, 0.3 + 1e-9}});
  double gg = 0, gy = 0, yy = 0;
  for (std::size_t i = 0; i < data.train.points; ++i) {
    double g = std::exp(0.3 * data.train.x[i]), y = data.train.y[i];
    gg += g * g / 4;
    gy += g * y / 4;
    yy += y * y / 4;
  }
  double mean = gy / gg, sd = 1 / std::sqrt(gg);
  EXPECT_NEAR(posterior.mean(0), mean, 1e-7);
  EXPECT_NEAR(posterior.sd(0), sd, 1e-8);
  EXPECT_NEAR(posterior.quantile(0, 0.975), mean + 1.959963984540054 * sd, 1e-7);
  EXPECT_NEAR(posterior.density(0, mean + sd),
              std::exp(-0.5) / (sd * std::sqrt(2 * std::numbers::pi)), 1e-6);
  EXPECT_NEAR(posterior.predictive_mean(12), mean * std::exp(3.6), 1e-5);
  EXPECT_NEAR(posterior.predictive_sd(12), sd * std::exp(3.6), 1e-5);
  EXPECT_NEAR(posterior.predictive_quantiles(12, std::vector<double>{0.1})[0],
              (mean - 1.2815515655446004 * sd) * std::exp(3.6), 1e-5);
  double log_evidence = 0.5 * mean * gy - 0.5 * yy -
                        10 * std::log(2 * std::sqrt(2 * std::numbers::pi)) +
                        std::log(sd * std::sqrt(2 * std::numbers::pi) / 200);
  EXPECT_NEAR(posterior.log_evidence(), log_evidence, 1e-7);
  EXPECT_NEAR(posterior.mean(1), 0.3, 1e-9);
  EXPECT_NEAR(posterior.sd(1), 2e-9 / std::sqrt(12), 1e-13);  // flat over so narrow a prior
}

TEST(ExactPosterior, OfAKnownOscillatorIsTheNormalOfLinearRegression) {
  ExperimentData data = data_of(Kind::free, 3);
  FreePhasePrior prior;
  prior.omega = {1, 1 + 1e-9};
  prior.zeta = {0.1, 0.1 + 1e-9};
  ExactPosterior posterior = ExactPosterior::oscillator(measurements_of(data), prior);
  double ss = 0, sc = 0, cc = 0, sy = 0, cy = 0;
  for (std::size_t i = 0; i < data.train.points; ++i) {
    double t = data.train.x[i], y = data.train.y[i];
    double s = std::exp(-0.1 * t) * std::sin(std::sqrt(0.99) * t),
           c = std::exp(-0.1 * t) * std::cos(std::sqrt(0.99) * t);
    ss += s * s;
    sc += s * c;
    cc += c * c;
    sy += s * y;
    cy += c * y;
  }
  double determinant = ss * cc - sc * sc;
  double sine = (cc * sy - sc * cy) / determinant, cosine = (ss * cy - sc * sy) / determinant;
  EXPECT_NEAR(posterior.mean(0), sine, 1e-7);
  EXPECT_NEAR(posterior.mean(1), cosine, 1e-7);
  EXPECT_NEAR(posterior.sd(0), 0.1 * std::sqrt(cc / determinant), 1e-8);
  EXPECT_NEAR(posterior.sd(1), 0.1 * std::sqrt(ss / determinant), 1e-8);
  double s = std::exp(-0.8) * std::sin(std::sqrt(0.99) * 8),
         c = std::exp(-0.8) * std::cos(std::sqrt(0.99) * 8);
  double variance = 0.01 * (s * s * cc - 2 * s * c * sc + c * c * ss) / determinant;
  EXPECT_NEAR(posterior.predictive_mean(8), s * sine + c * cosine, 1e-7);
  EXPECT_NEAR(posterior.predictive_sd(8), std::sqrt(variance), 1e-8);
  // Draws keep the correlation: the prediction's sd comes from them too.
  PosteriorDraws draws = posterior.draws(20000, 1);
  double seen = mean_sd(column(posterior.predict(draws, std::vector<double>{8.0}), 0)).sd;
  EXPECT_NEAR(seen, std::sqrt(variance), 4 * std::sqrt(variance / 40000));
}

// Where there is much information the posterior is the normal of Fisher's information.
TEST(ExactPosterior, OfPreciseDataIsTheNormalOfTheInformationMatrix) {
  const double sigma = 1e-5;
  ExperimentData data = make_data(Experiment::oscillator, {.seed = 3, .noise_sd = sigma});
  ExactPosterior posterior = ExactPosterior::oscillator(measurements_of(data));
  // Derivatives of f by f0, omega, zeta at the truth, by central differences.
  auto f = [](std::array<double, 3> p, double t) {
    return p[0] * std::exp(-p[2] * p[1] * t) * std::sin(p[1] * std::sqrt(1 - p[2] * p[2]) * t);
  };
  double information[3][3] = {};
  for (double t : data.train.x) {
    std::array<double, 3> gradient;
    for (std::size_t k = 0; k < 3; ++k) {
      std::array<double, 3> up = {1, 1, 0.1}, down = up;
      up[k] += 1e-5;
      down[k] -= 1e-5;
      gradient[k] = (f(up, t) - f(down, t)) / 2e-5;
    }
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k)
        information[j][k] += gradient[j] * gradient[k] / (sigma * sigma);
    }
  }
  auto& m = information;
  double determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  std::array<double, 3> variance = {(m[1][1] * m[2][2] - m[1][2] * m[2][1]) / determinant,
                                    (m[0][0] * m[2][2] - m[0][2] * m[2][0]) / determinant,
                                    (m[0][0] * m[1][1] - m[0][1] * m[1][0]) / determinant};
  std::array<double, 3> truth = {1, 1, 0.1};
  for (std::size_t i = 0; i < 3; ++i) {
    double sd = std::sqrt(variance[i]);
    EXPECT_NEAR(posterior.sd(i), sd, 0.01 * sd) << posterior.names()[i];
    EXPECT_NEAR(posterior.mean(i), truth[i], 4 * sd) << posterior.names()[i];
  }
}

// Where there is no information the posterior is the prior.
TEST(ExactPosterior, OfUselessDataIsThePrior) {
  const std::vector<double> t = {1.0, 2.0}, y = {0.1, -0.2};
  ExactPosterior posterior = ExactPosterior::oscillator({t, y, 1e4}, FreePhasePrior());
  const std::array<PriorInterval, 4> priors = {{{-5, 5}, {-5, 5}, {0, 3}, {0, 0.9}}};
  for (std::size_t i = 0; i < 4; ++i) {
    double length = priors[i].high - priors[i].low;
    EXPECT_NEAR(posterior.mean(i), 0.5 * (priors[i].low + priors[i].high), 1e-5) << i;
    EXPECT_NEAR(posterior.sd(i), length / std::sqrt(12), 1e-5) << i;
    EXPECT_NEAR(posterior.cdf(i, priors[i].low + 0.3 * length), 0.3, 1e-5) << i;
    EXPECT_NEAR(posterior.density(i, priors[i].low + 0.7 * length), 1 / length, 1e-5) << i;
    EXPECT_LT(distance_from(column(i < 2 ? posterior.draws(4000, 2).amplitudes
                                         : posterior.draws(4000, 2).lambda,
                                   i % 2),
                            [&](double x) { return (x - priors[i].low) / length; }),
              1.95 / std::sqrt(4000));
  }
}

TEST(ExactPosterior, MarginalsAreConsistent) {
  for (Kind kind : {Kind::exponential, Kind::fixed, Kind::free}) {
    const ExactPosterior& posterior = posterior_of(kind, 1);
    for (std::size_t i = 0; i < posterior.names().size(); ++i) {
      SCOPED_TRACE(posterior.names()[i]);
      // Simpson between two quantiles, clear of the edges where priors cut.
      double low = posterior.quantile(i, 0.02), high = posterior.quantile(i, 0.85);
      const int panels = 200;
      std::vector<double> grid;
      for (int k = 0; k <= panels; ++k) grid.push_back(low + (high - low) * k / panels);
      std::vector<double> density = posterior.density(i, grid);
      double integral = 0;
      for (std::size_t k = 0; k < panels; k += 2) {
        integral += (high - low) / panels / 3 * (density[k] + 4 * density[k + 1] + density[k + 2]);
      }
      EXPECT_NEAR(integral, 0.83, 1e-7);
      for (double p : {1e-4, 0.05, 0.5, 0.95}) {
        EXPECT_NEAR(posterior.cdf(i, posterior.quantile(i, p)), p, 1e-9) << p;
      }
    }
  }
}

TEST(ExactPosterior, PredictionsAgreeWithImportanceSampling) {
  // Another algorithm: draws of (sine, omega, zeta) from a broad normal about the mean, weighted by
  // likelihood times prior over proposal.
  const ExactPosterior& posterior = posterior_of(Kind::fixed, 0);
  ExperimentData data = data_of(Kind::fixed, 0);
  std::mt19937_64 bits(1);
  std::normal_distribution<double> normal;
  auto f = [](const std::array<double, 3>& p, double t) {
    return p[0] * std::exp(-p[2] * p[1] * t) * std::sin(p[1] * std::sqrt(1 - p[2] * p[2]) * t);
  };
  const std::vector<double> probabilities = {0.05, 0.25, 0.5, 0.75, 0.95};
  const std::vector<double> times = {2.0, 10.0, 22.0};
  std::vector<std::vector<double>> quantiles;
  for (double t : times) quantiles.push_back(posterior.predictive_quantiles(t, probabilities));
  std::vector<double> below(times.size() * probabilities.size(), 0.0);
  double total = 0, squares = 0;
  for (int draw = 0; draw < 400000; ++draw) {
    std::array<double, 3> p;
    double log_weight = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      double z = normal(bits);
      p[i] = posterior.mean(i) + 1.5 * posterior.sd(i) * z;
      log_weight += 0.5 * z * z;
    }
    if (p[0] < 0 || p[0] > 1.5 || p[1] < 0 || p[1] > 3 || p[2] < 0 || p[2] > 0.9) continue;
    for (std::size_t i = 0; i < data.train.points; ++i) {
      double z = (data.train.y[i] - f(p, data.train.x[i])) / data.noise_sd;
      log_weight -= 0.5 * z * z;
    }
    double weight = std::exp(log_weight);
    total += weight;
    squares += weight * weight;
    for (std::size_t j = 0; j < times.size(); ++j) {
      double value = f(p, times[j]);
      for (std::size_t k = 0; k < probabilities.size(); ++k) {
        below[j * probabilities.size() + k] += value <= quantiles[j][k] ? weight : 0;
      }
    }
  }
  double effective = total * total / squares;
  ASSERT_GT(effective, 10000);
  for (std::size_t j = 0; j < times.size(); ++j) {
    for (std::size_t k = 0; k < probabilities.size(); ++k) {
      double p = probabilities[k];
      EXPECT_NEAR(below[j * probabilities.size() + k] / total, p,
                  5 * std::sqrt(p * (1 - p) / effective))
          << times[j];
      EXPECT_NEAR(posterior.predictive_cdf(times[j], quantiles[j][k]), p, 1e-9);
    }
  }
}

TEST(ExactPosterior, DrawsFollowIt) {
  const std::size_t n = 10000;
  const double limit =
      1.95 / std::sqrt(static_cast<double>(n));  // exceeded once in a thousand seeds
  for (Kind kind : {Kind::exponential, Kind::fixed, Kind::free}) {
    const ExactPosterior& posterior = posterior_of(kind, 0);
    PosteriorDraws draws = posterior.draws(n, 11);
    std::size_t amplitudes = posterior.amplitudes();
    for (std::size_t i = 0; i < posterior.names().size(); ++i) {
      if (i >= amplitudes) {
        auto cdf = [&](double x) { return posterior.cdf(i, x); };
        EXPECT_LT(distance_from(column(draws.lambda, i - amplitudes), cdf), limit);
      } else {
        std::vector<double> sample = column(draws.amplitudes, i);
        for (double p : {0.1, 0.5, 0.9})
          EXPECT_NEAR(share_below(sample, posterior.quantile(i, p)), p, limit);
      }
    }
    // The joint distribution too: predictions mix all parameters.
    const std::vector<double> times = {3.0, 12.0};
    Matrix f = posterior.predict(draws, times);
    for (std::size_t j = 0; j < times.size(); ++j) {
      MeanSd seen = mean_sd(column(f, j));
      double sd = posterior.predictive_sd(times[j]);
      EXPECT_NEAR(seen.mean, posterior.predictive_mean(times[j]), 4 * sd / std::sqrt(n));
      std::vector<double> sample = column(f, j);
      const std::vector<double> probabilities = {0.1, 0.5, 0.9};
      std::vector<double> quantiles = posterior.predictive_quantiles(times[j], probabilities);
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(share_below(sample, quantiles[k]), probabilities[k], limit) << times[j];
      }
    }
  }
}

TEST(ExactPosterior, DrawsAreAFunctionOfTheSeed) {
  const ExactPosterior& posterior = posterior_of(Kind::fixed, 1);
  PosteriorDraws few = posterior.draws(10, 5), many = posterior.draws(30, 5),
                 other = posterior.draws(10, 6);
  EXPECT_TRUE(
      std::equal(few.lambda.values.begin(), few.lambda.values.end(), many.lambda.values.begin()));
  EXPECT_TRUE(std::equal(few.amplitudes.values.begin(), few.amplitudes.values.end(),
                         many.amplitudes.values.begin()));
  EXPECT_NE(few.lambda.values, other.lambda.values);
}

TEST(ExactPosterior, KnowsTheFixedPhase) {
  const ExactPosterior& posterior = posterior_of(Kind::fixed, 0);
  EXPECT_EQ(posterior.predictive_mean(0), 0);
  EXPECT_EQ(posterior.predictive_sd(0), 0);
  EXPECT_EQ(posterior.predictive_quantiles(0, std::vector<double>{0.1, 0.9}),
            (std::vector<double>{0, 0}));
  EXPECT_EQ(posterior.predictive_cdf(0, -1e-9), 0);
  EXPECT_NEAR(posterior.predictive_cdf(0, 0), 1, 1e-12);
  EXPECT_GT(posterior_of(Kind::free, 0).predictive_sd(0), 0.05);
}

// The mean over the five published runs that long Metropolis chains gave.
TEST(WassersteinFloor, IsThatOfLongChains) {
  double w_f = 0, w_lambda = 0;
  for (int run = 0; run < published_runs; ++run) {
    std::vector<double> times = data_of(Kind::exponential, run).plot.x;
    WassersteinFloor floor = posterior_of(Kind::exponential, run)
                                 .floor(50, times, {.repetitions = 20, .reference_draws = 2000});
    w_f += floor.w_f.mean / published_runs;
    w_lambda += floor.w_lambda.mean / published_runs;
    EXPECT_GT(floor.w_f.sd, 0);
  }
  EXPECT_NEAR(w_f, 0.67, 0.08);
  EXPECT_NEAR(w_lambda, 0.0079, 0.0008);
}

TEST(WassersteinFloor, FallsWithTheRootOfTheNumberOfDraws) {
  const ExactPosterior& posterior = posterior_of(Kind::exponential, 0);
  const std::vector<double> times = {2.0, 8.0};
  double few =
      posterior.floor(25, times, {.repetitions = 200, .reference_draws = 20000}).w_lambda.mean;
  double many =
      posterior.floor(400, times, {.repetitions = 200, .reference_draws = 20000}).w_lambda.mean;
  EXPECT_NEAR(few / many, 4, 0.5);
}

// What N_e exact draws score in all published metrics, against long Metropolis chains again: mean
// over the five runs of the exponential, and how much the mean may differ (a fifth root of its
// spread).
TEST(ExactPosterior, ScoresAsLongChainsDo) {
  std::array<double, 4> scores = {};
  const int repetitions = 20;
  for (int run = 0; run < published_runs; ++run) {
    ExperimentData data = data_of(Kind::exponential, run);
    const ExactPosterior& posterior = posterior_of(Kind::exponential, run);
    for (std::uint32_t seed = 0; seed < repetitions; ++seed) {
      PosteriorDraws draws = posterior.draws(50, seed);
      Matrix f = posterior.predict(draws, data.test.x);
      const double weight = 1.0 / (repetitions * published_runs);
      scores[0] += weight * rmse(f, data.test.truth);
      scores[1] += weight * logl_per_n(f, data.test.y, data.test.points).value;
      scores[2] += weight * abs_dlambda(draws.lambda, data.parameters);
      scores[3] += weight * logl_lambda(draws.lambda, data.parameters).value;
    }
  }
  EXPECT_NEAR(scores[0], 0.657, 0.03);
  EXPECT_NEAR(scores[1], -9.9, 1.5);
  EXPECT_NEAR(scores[2], 0.029, 0.003);
  EXPECT_NEAR(scores[3], 1.81, 0.1);
}

TEST(ExactPosterior, SaysWhatIsWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> none, t = {0, 1, 2}, y = {1, 2, 3}, bad = {1, nan, 3}, two = {1, 2};
  const ExactPosterior& posterior = posterior_of(Kind::exponential, 0);
  struct Case {
    std::function<void()> call;
    const char* message;
  };
  const std::vector<Case> cases = {
      {[&] {
         ExactPosterior::exponential({none, none, 1});
       },
       "exponential: there are 0 times and 0 values"},
      {[&] {
         ExactPosterior::oscillator({t, two, 1});
       },
       "oscillator: there are 3 times and 2 values"},
      {[&] {
         ExactPosterior::oscillator({t, bad, 1});
       },
       "measurement 1 is nan at time 1"},
      {[&] {
         ExactPosterior::exponential({t, y, 0});
       },
       "sigma is 0"},
      {[&] {
         ExactPosterior::exponential({t, y, nan});
       },
       "sigma is nan"},
      {[&] {
         ExactPosterior::exponential({t, y, 1}, {.f0 = {2, 1}});
       },
       "the prior of f0 is [2"},
      {[&] {
         ExactPosterior::exponential({t, y, 1}, {.lambda = {-500, 500}});
       },
       "overflow exp(lambda t)"},
      {[&] {
         ExactPosterior::oscillator({t, y, 1}, OscillatorPrior{.zeta = {0, 1}});
       },
       "0 <= zeta < 1"},
      {[&] {
         ExactPosterior::oscillator({t, y, 1}, FreePhasePrior{.omega = {-1, 1}});
       },
       "omega >= 0"},
      {[&] { posterior.mean(2); }, "mean: parameter 2 of 2"},
      {[&] { posterior.quantile(0, 1); }, "quantile: probability is 1"},
      {[&] { posterior.predictive_quantiles(0, std::vector<double>{0}); },
       "predictive_quantiles: probability is 0"},
      {[&] { posterior.floor(0, t); }, "floor: 0 draws"},
      {[&] { posterior.predict(posterior_of(Kind::fixed, 0).draws(3, 1), t); },
       "predict: draws are 3 x 1"},
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

TEST(ExactPosterior, NeedsOnlyOneMeasurement) {
  const std::vector<double> t = {3.0}, y = {0.4};
  for (double sigma : {0.01, 1.0}) {
    ExactPosterior posterior = ExactPosterior::oscillator({t, y, sigma});
    EXPECT_NEAR(posterior.cdf(1, 3), 1, 1e-12);
    EXPECT_NEAR(posterior.predictive_mean(3), 0.4, 3 * sigma);
    EXPECT_LE(posterior.predictive_sd(3), 1.001 * sigma);
  }
}

}  // namespace
}  // namespace sturnus
