// The posterior of the wind against its closed form: all measurements together are normal, with
// the covariance sigma^2 + sd^2 X X^T, where X has a column for the offset and for each sine and
// cosine at that wind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/inference/posteriors/advection_posterior.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tests/inference/host.h"
#include "tests/inference/posterior_tests.h"

namespace sturnus {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double pi = std::numbers::pi;
constexpr std::size_t amplitudes = 9;

/// The lower triangle l with l l^T = a.
Matrix factor_of(const Matrix& a) {
  Matrix l(a.rows, a.rows);
  for (std::size_t i = 0; i < a.rows; i++) {
    for (std::size_t j = 0; j <= i; j++) {
      double rest = a(i, j);
      for (std::size_t k = 0; k < j; k++) rest -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(rest) : rest / l(j, j);
    }
  }
  return l;
}

/// l^-1 b.
Doubles solved(const Matrix& l, const Doubles& b) {
  Doubles x = b;
  for (std::size_t i = 0; i < x.size(); i++) {
    for (std::size_t k = 0; k < i; k++) x[i] -= l(i, k) * x[k];
    x[i] /= l(i, i);
  }
  return x;
}

double product(const Doubles& a, const Doubles& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); i++) total += a[i] * b[i];
  return total;
}

double basis_at(double t, double x, double beta, std::size_t column) {
  if (column == 0) return 1;
  double angle = 2 * pi * static_cast<double>((column - 1) % 4 + 1) * (x - beta * t);
  return column <= 4 ? std::sin(angle) : std::cos(angle);
}

/// What is known given a wind; amplitudes have the standard deviation 1 before.
struct GivenWind {
  double log_likelihood = 0;  // of all measurements, amplitudes integrated out
  Doubles mean, variance;     // of the amplitudes
};

GivenWind given_wind(const ExperimentData& data, double beta) {
  const Samples& train = data.train;
  Matrix covariance(train.points, train.points);
  std::vector<Doubles> columns(amplitudes, Doubles(train.points));
  for (std::size_t i = 0; i < train.points; i++) {
    for (std::size_t k = 0; k < amplitudes; k++) {
      columns[k][i] = basis_at(train.x[2 * i], train.x[2 * i + 1], beta, k);
    }
  }
  for (std::size_t i = 0; i < train.points; i++) {
    covariance(i, i) = data.noise_sd * data.noise_sd;
    for (std::size_t j = 0; j <= i; j++) {
      for (const Doubles& column : columns) covariance(i, j) += column[i] * column[j];
    }
  }
  Matrix l = factor_of(covariance);
  Doubles whitened = solved(l, train.y);
  GivenWind result;
  result.log_likelihood = -0.5 * product(whitened, whitened) -
                          0.5 * static_cast<double>(train.points) * std::log(2 * pi);
  for (std::size_t i = 0; i < train.points; i++) result.log_likelihood -= std::log(l(i, i));
  for (const Doubles& column : columns) {
    Doubles w = solved(l, column);
    result.mean.push_back(product(w, whitened));
    result.variance.push_back(1 - product(w, w));
  }
  return result;
}

Array free_numbers(double beta, const Doubles& z) {
  Doubles free = {std::log(beta / (1 - beta))};
  free.insert(free.end(), z.begin(), z.end());
  return device_array(free, {static_cast<std::int64_t>(free.size())});
}

TEST(AdvectionPosterior, IsTheClosedFormTimesStandardNormalNumbers) {
  ExperimentData data = published_data(Experiment::advection, 1);
  Target target = advection_posterior(data.train, data.noise_sd);
  ASSERT_EQ(target.size, 10);
  EXPECT_EQ(target.names.front(), "beta");
  EXPECT_EQ(target.names.back(), "cosine[3]");
  for (double beta : {0.05, 0.2, 0.7}) {
    for (const Doubles& z : {Doubles(amplitudes, 0.0), random_numbers(amplitudes, 5)}) {
      double expected = given_wind(data, beta).log_likelihood + std::log(beta * (1 - beta)) -
                        0.5 * product(z, z) -
                        0.5 * static_cast<double>(amplitudes) * std::log(2 * pi);
      EXPECT_NEAR(target.log_density(free_numbers(beta, z)).item<double>(), expected,
                  1e-8 * std::abs(expected))
          << beta;
    }
  }
}

// Draws and measurements at rows (t, x), as the sum of its waves has them.
TEST(AdvectionPosterior, ItsCurveIsTheWaveWhereItWasMeasured) {
  ExperimentData data = published_data(Experiment::advection, 2);
  MeasuredCurve curve = advection_curve(data);
  EXPECT_EQ(curve.data.y, data.train.y);
  EXPECT_EQ(curve.plot.truth, data.train.truth);
  Doubles z = random_numbers(amplitudes, 3);
  z.insert(z.begin(), 0.3);  // beta
  Matrix parameters(1, z.size());
  parameters.values = z;
  Matrix f = curves(curve, parameters, curve.plot.x);
  ASSERT_EQ(f.cols, data.train.points);
  for (std::size_t i = 0; i < f.cols; i++) {
    double expected = 0;
    for (std::size_t k = 0; k < amplitudes; k++) {
      expected += z[1 + k] * basis_at(data.train.x[2 * i], data.train.x[2 * i + 1], 0.3, k);
    }
    EXPECT_NEAR(f(0, i), expected, 1e-12) << i;
  }
  EXPECT_EQ(predicted_measurements(curve, parameters, curve.plot.x, 1).cols, data.train.points);
}

TEST(AdvectionPosterior, ItsParametersHaveTheirConditionalMoments) {
  ExperimentData data = published_data(Experiment::advection, 0);
  Target target = advection_posterior(data.train, data.noise_sd);
  GivenWind expected = given_wind(data, 0.2);
  Doubles mean = doubles(target.parameters(free_numbers(0.2, Doubles(amplitudes, 0.0))));
  EXPECT_NEAR(mean[0], 0.2, 1e-14);
  // Amplitudes are linear in z: the squares of all slopes add up to the variance.
  Doubles variance(amplitudes, 0.0);
  for (std::size_t i = 0; i < amplitudes; i++) {
    Doubles z(amplitudes, 0.0);
    z[i] = 1;
    Doubles moved = doubles(target.parameters(free_numbers(0.2, z)));
    for (std::size_t k = 0; k < amplitudes; k++) {
      variance[k] += std::pow(moved[1 + k] - mean[1 + k], 2);
    }
  }
  for (std::size_t k = 0; k < amplitudes; k++) {
    EXPECT_NEAR(mean[1 + k], expected.mean[k], 1e-9) << k;
    EXPECT_NEAR(variance[k], expected.variance[k], 1e-9) << k;
  }
}

TEST(AdvectionPosterior, TheWaveMovesAndIsThePublishedOne) {
  ExperimentData data = published_data(Experiment::advection, 0);
  // -A sin(a + p) = -A cos p sin a - A sin p cos a, for waves 1 and 3; the others are constants.
  const AdvectionProfile profile;
  Doubles sine(4, 0.0), cosine(4, 0.0);
  double offset = 0;
  for (std::size_t k = 0; k < 4; k++) {
    double in_phase = -profile.amplitude[k] * std::cos(profile.phase[k]);
    double out_of_phase = -profile.amplitude[k] * std::sin(profile.phase[k]);
    if (profile.count[k] == 1) {
      sine[k] = in_phase;
      cosine[k] = out_of_phase;
    } else {
      offset += out_of_phase;
    }
  }
  Advection truth = {Array(0.2, DType::f64), Array(offset, DType::f64), device_array(sine, {4}),
                     device_array(cosine, {4})};
  auto at = [&](const Doubles& x) {
    return doubles(curve(truth, device_array(x, {static_cast<std::int64_t>(x.size() / 2), 2})));
  };
  Doubles u = at(data.train.x);
  ASSERT_EQ(u.size(), data.train.points);
  for (std::size_t i = 0; i < u.size(); i++) EXPECT_NEAR(u[i], data.train.truth[i], 0.02) << i;
  Doubles moved = at({0, 0.3, 1.5, 0.6, 0, 1.3});
  EXPECT_NEAR(moved[1], moved[0], 1e-12);
  EXPECT_NEAR(moved[2], moved[0], 1e-12);
}

TEST(AdvectionPosterior, ChainsAgreeWithQuadrature) {
  ExperimentData data = published_data(Experiment::advection, 0);
  Target target = advection_posterior(data.train, data.noise_sd);
  // The posterior is 0.1976 +- 0.0018, and smooth: a sum over equal steps is its integral.
  double total = 0;
  Doubles mean(amplitudes + 1, 0.0), square = mean;
  double largest = given_wind(data, 0.1976).log_likelihood;
  for (double beta = 0.18; beta < 0.216; beta += 0.0005) {
    GivenWind given = given_wind(data, beta);
    double weight = std::exp(given.log_likelihood - largest);
    total += weight;
    mean[0] += weight * beta;
    square[0] += weight * beta * beta;
    for (std::size_t k = 0; k < amplitudes; k++) {
      mean[1 + k] += weight * given.mean[k];
      square[1 + k] += weight * (given.variance[k] + given.mean[k] * given.mean[k]);
    }
  }
  ChainDraws chains = four_chains(target, 300);
  std::size_t row = 0;
  for (const ParameterDraws& parameter : chains.parameters) {
    for (const ParameterElement& element : elements(parameter)) {
      Matrix x = chains_of(chains, parameter, element);
      double expected = mean[row] / total;
      double sd = std::sqrt(square[row] / total - expected * expected);
      EXPECT_LT(rhat(x), 1.03) << parameter.name;
      EXPECT_NEAR(sample_mean(x), expected, 4 * mcse_mean(x)) << parameter.name;
      EXPECT_NEAR(sample_sd(x), sd, 4 * mcse_sd(x)) << parameter.name;
      EXPECT_LT(mcse_mean(x), 0.1 * sd) << parameter.name;
      row++;
    }
  }
  EXPECT_EQ(row, amplitudes + 1);
}

TEST(AdvectionPosterior, RefusesWhatMakesNoSense) {
  Samples data = published_data(Experiment::advection, 0).train;
  Samples curve = published_data(Experiment::oscillator, 0).train;
  EXPECT_THAT([&] { advection_posterior(curve, 0.1); },
              ThrowsMessage<Error>(HasSubstr("Give t and x of each point")));
  EXPECT_THAT([&] { advection_posterior(data, 0); },
              ThrowsMessage<Error>(HasSubstr("Give positive, finite numbers")));
  EXPECT_THAT([&] { advection_posterior(data, 0.1, {.waves = 0}); },
              ThrowsMessage<Error>(HasSubstr("and 0 waves")));
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { advection_posterior(data, infinity); },
              ThrowsMessage<Error>(HasSubstr("noise inf, amplitudes of 1.000000 and 4 waves")));
  EXPECT_THAT([&] { advection_posterior(data, 0.1, {.amplitude_sd = infinity}); },
              ThrowsMessage<Error>(HasSubstr("amplitudes of inf")));
  Samples small = {.points = 2, .inputs = 2, .x = {0, 0.1, 0.5, 0.7}, .truth = {}, .y = {1, 2}};
  Samples unknown = small, far = small;
  unknown.y[1] = nan;
  far.x[3] = infinity;
  EXPECT_THAT([&] { advection_posterior(unknown, 0.1); },
              ThrowsMessage<Error>("advection_posterior: measurement 1 is nan at t = 0.500000 and "
                                   "x = 0.700000. Leave out what is not finite"));
  EXPECT_THAT([&] { advection_posterior(far, 0.1); },
              ThrowsMessage<Error>("advection_posterior: measurement 1 is 2.000000 at t = 0.500000 "
                                   "and x = inf. Leave out what is not finite"));
}

// More rows than are computed at once, and two waves.
TEST(AdvectionCurves, AreThoseOfEachRow) {
  Samples at = {.points = 3, .inputs = 2, .x = {0, 0.1, 0.5, 0.7, 2, 0.9}, .truth = {}, .y = {}};
  Matrix rows(130, 6);
  for (std::size_t i = 0; i < rows.values.size(); i++) {
    rows.values[i] = std::sin(static_cast<double>(i));
  }
  Matrix u = advection_curves(rows, at);
  ASSERT_EQ(u.rows, 130u);
  ASSERT_EQ(u.cols, 3u);
  for (std::size_t i : {0u, 99u, 100u, 129u}) {
    for (std::size_t point = 0; point < 3; point++) {
      double s = at.x[2 * point + 1] - rows(i, 0) * at.x[2 * point], expected = rows(i, 1);
      for (std::size_t k = 0; k < 2; k++) {
        double angle = 2 * pi * static_cast<double>(k + 1) * s;
        expected += rows(i, 2 + k) * std::sin(angle) + rows(i, 4 + k) * std::cos(angle);
      }
      EXPECT_NEAR(u(i, point), expected, 1e-12) << i << " " << point;
    }
  }
}

}  // namespace
}  // namespace sturnus
