#include <gtest/gtest.h>
#include <sturnus/functional/grad.h>
#include <sturnus/functional/vmap.h>
#include <sturnus/inference/chains/chain_draws.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/inference/results/summary.h>
#include <sturnus/inference/variational/variational.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "tests/inference/chains.h"

namespace sturnus {
namespace {

constexpr std::int64_t size = 3;

struct Vector {
  Array x;
};

/// The Gaussian of chains.h, with means 0, 1, 2.
Model<Vector> correlated() {
  Array l = cholesky(device_array(test_covariance(size), {size, size}));
  Array mean = device_array({0, 1, 2}, {size});
  return Model([=](const Vector& v) { return multivariate_normal_log_density(v.x, mean, l); },
               Vector{zeros({size})});
}

Optimizer falling_rate(double rate, double last, std::int64_t iterations) {
  return {.rate = Schedule::exponential(rate, last, 0, iterations)};
}

/// The diagonal of the precision: that of correlations 0.8^|i - j| is tridiagonal.
Doubles precisions() {
  double r = 0.8 * 0.8, end = 1 / (1 - r), middle = (1 + r) / (1 - r);
  return {end / 0.25, middle / 2.25, end / 6.25};
}

TEST(VariationalFit, FullRankBecomesAGaussianTarget) {
  Model<Vector> model = correlated();
  VariationalFit fit(
      model, {.family = GaussianFamily::full_rank, .optimizer = falling_rate(0.05, 1e-3, 4000)},
      path_negative_elbo(model.log_density));
  VariationalState state = fit.advance(fit.advance(fit.init(), 3990), 10);
  Gaussian q = fit.gaussian(state);
  Doubles mean = doubles(q.mean), found = doubles(covariance(q)), exact = test_covariance(size);
  for (std::size_t i = 0; i < mean.size(); i++) EXPECT_NEAR(mean[i], i, 1e-5);
  for (std::size_t i = 0; i < exact.size(); i++) EXPECT_NEAR(found[i], exact[i], 1e-5);
  EXPECT_NEAR(state.elbo.item<double>(), 0, 1e-6);  // the density is normalised
  EXPECT_NEAR(weight_efficiency(fit.draw(state, 100).log_weights), 1, 1e-8);
}

// Independent numbers have the variances 1 / precision_ii, and
// KL = (log det covariance + sum_i log precision_ii) / 2.
TEST(VariationalFit, MeanFieldHasTheDiagonalOfThePrecision) {
  for (bool path : {false, true}) {
    Model<Vector> model = correlated();
    VariationalLoss loss =
        path ? path_negative_elbo(model.log_density) : negative_elbo(model.log_density);
    VariationalFit fit(model, {.draws = 50, .optimizer = falling_rate(0.05, 1e-4, 4000)}, loss);
    VariationalState state = fit.advance(fit.init(), 4000);
    Gaussian q = fit.gaussian(state);
    Doubles mean = doubles(q.mean), sd = doubles(q.factor), precision = precisions();
    double distance =
        0.5 * logdet(device_array(test_covariance(size), {size, size})).item<double>();
    for (std::size_t i = 0; i < mean.size(); i++) {
      double exact = 1 / std::sqrt(precision[i]);
      EXPECT_NEAR(mean[i], i, 0.05 * exact) << path;
      EXPECT_NEAR(sd[i], exact, 0.02 * exact) << path;
      distance += 0.5 * std::log(precision[i]);
    }
    EXPECT_GT(distance, 0.5);
    EXPECT_NEAR(fit.loss(state, 100000).item<double>(), distance, 0.02) << path;
  }
}

/// y = (1, 2, 4) with noise 0.5 around a level with the prior normal(0, 3). The posterior and the
/// evidence are known.
struct Level {
  Array level;
};
constexpr double prior_sd = 3, noise = 0.5, posterior_precision = 1 / 9.0 + 3 / 0.25,
                 posterior_mean = 7 / 0.25 / posterior_precision;
Array log_likelihood(const Array& level) {
  return sum(normal_log_density(device_array({1, 2, 4}, {3}), level, noise));
}
double log_evidence() {
  double precision = 1 / (noise * noise);
  // log p(y | m) + log p(m) - log p(m | y) at m = 0.
  return -0.5 * 21 * precision + 3 * std::log(1 / noise) - std::log(prior_sd) -
         0.5 * std::log(posterior_precision) +
         0.5 * posterior_precision * posterior_mean * posterior_mean -
         1.5 * std::log(2 * std::numbers::pi);
}

void expect_posterior(const Gaussian& q, double tolerance) {
  EXPECT_NEAR(doubles(q.mean)[0], posterior_mean, tolerance);
  EXPECT_NEAR(doubles(q.factor)[0], 1 / std::sqrt(posterior_precision), tolerance);
}

TEST(VariationalFit, TheBoundIsTheEvidenceWhereItCanBe) {
  Model<Level> model(
      [](const Level& l) {
        return normal_log_density(l.level, 0.0, prior_sd) + log_likelihood(l.level);
      },
      Level{0.0});
  VariationalFit fit(model, {.optimizer = falling_rate(0.05, 1e-4, 3000)},
                     path_negative_elbo(model.log_density));
  VariationalState state = fit.advance(fit.init(), 3000);
  expect_posterior(fit.gaussian(state), 1e-6);
  EXPECT_NEAR(-fit.loss(state, 10).item<double>(), log_evidence(), 1e-8);
}

TEST(VariationalFit, LikelihoodAndDivergenceFindTheSame) {
  Model<Level> likelihood([](const Level& l) { return log_likelihood(l.level); }, Level{0.0});
  Gaussian prior = {device_array({0}, {1}), device_array({prior_sd}, {1})};
  VariationalFit fit(likelihood, {.draws = 100, .optimizer = falling_rate(0.05, 1e-4, 3000)},
                     likelihood_and_divergence(likelihood.log_density, prior));
  VariationalState state = fit.advance(fit.init(), 3000);
  expect_posterior(fit.gaussian(state), 0.01);
  EXPECT_NEAR(-fit.loss(state, 100000).item<double>(), log_evidence(), 0.01);
}

/// The slope of f at numbers x, by central differences.
Doubles differences(const std::function<double(const Doubles&)>& f, const Doubles& x) {
  Doubles result;
  for (std::size_t i = 0; i < x.size(); i++) {
    const double step = 1e-5;
    Doubles above = x, below = x;
    above[i] += step;
    below[i] -= step;
    result.push_back((f(above) - f(below)) / (2 * step));
  }
  return result;
}

TEST(VariationalLoss, HasTheSlopesOfItsParameters) {
  LogDensity density = [](const Array& x) { return sum(sin(x)) - sum(square(square(x))); };
  Gaussian prior = {device_array({0.5, -0.5}, {2}), device_array({0.7, 0, 0.2, 0.9}, {2, 2})};
  Array z = device_array(random_numbers(10, 2), {5, 2});
  Doubles at = {0.3, -0.2, 0.8, 0, 0.4, 0.6};
  auto q_of = [](const Array& p) {
    return Gaussian{slice(p, {0}, {2}), reshape(slice(p, {2}, {6}), {2, 2})};
  };
  auto expect_slopes = [&](const VariationalLoss& loss, const VariationalLoss& reference) {
    auto value = [&](const VariationalLoss& f) {
      return [&, f](const Array& p) { return f(q_of(p), transported(q_of(p), z), Array(0)); };
    };
    Doubles slopes = doubles(grad(value(loss))(device_array(at, {6})));
    Doubles expected = differences(
        [&](const Doubles& x) { return value(reference)(device_array(x, {6})).item<double>(); },
        at);
    for (std::size_t i : {0, 1, 2, 4, 5}) EXPECT_NEAR(slopes[i], expected[i], 1e-7) << i;
  };
  expect_slopes(negative_elbo(density), negative_elbo(density));
  expect_slopes(likelihood_and_divergence(density, prior),
                likelihood_and_divergence(density, prior));
  // Along paths of the draws alone: log q stays that of the place where the slope is taken.
  Gaussian here = q_of(device_array(at, {6}));
  expect_slopes(path_negative_elbo(density),
                [&](const Gaussian&, const Array& draws, const Array&) {
                  return mean(log_density(here, draws) - vmap(density)(draws));
                });
}

TEST(VariationalFit, AStepGoesDownTheSlopeOfItsDraws) {
  Model<Vector> model = correlated();
  VariationalFit fit(model,
                     {.draws = 4, .optimizer = {.method = Optimizer::Method::sgd, .rate = 0.01}},
                     negative_elbo(model.log_density));
  VariationalState start = fit.init();
  Array z = normal(fold_in(start.key, 0), {4, size}, DType::f64);
  Doubles mean = doubles(start.parameters[0]), raw = doubles(start.parameters[1]);
  Doubles all = mean;
  all.insert(all.end(), raw.begin(), raw.end());
  auto loss = [&](const Doubles& x) {
    Doubles sd;
    for (std::size_t i = size; i < x.size(); i++) sd.push_back(std::log1p(std::exp(x[i])));
    Gaussian q = {device_array(Doubles(x.begin(), x.begin() + size), {size}),
                  device_array(sd, {size})};
    return negative_elbo(model.log_density)(q, transported(q, z), Array(0)).item<double>();
  };
  Doubles slopes = differences(loss, all);
  double value = loss(all);
  VariationalState next = fit.advance(start, 1);
  Doubles moved = doubles(next.parameters[0]), widened = doubles(next.parameters[1]);
  moved.insert(moved.end(), widened.begin(), widened.end());
  for (std::size_t i = 0; i < all.size(); i++) {
    EXPECT_NEAR(moved[i], all[i] - 0.01 * slopes[i], 1e-7);
  }
  EXPECT_NEAR(next.elbo.item<double>(), -value, 1e-10);
  EXPECT_NEAR(doubles(fit.gaussian(fit.init()).factor)[1], 0.1, 1e-14);
}

TEST(VariationalFit, HasTheSameBitsHoweverItIsCut) {
  VariationalOptions options = {.family = GaussianFamily::full_rank, .draws = 3, .seed = 4};
  VariationalFit fit(correlated(), options);
  VariationalState whole = fit.advance(fit.init(), 50);
  VariationalState parts = fit.advance(fit.advance(fit.init(), 13), 37, true);
  Arrays a = tree_leaves(whole), b = tree_leaves(parts);
  for (std::size_t i = 0; i < a.size(); i++) EXPECT_EQ(bytes_of(a[i]), bytes_of(b[i])) << i;
  EXPECT_EQ(bytes_of(fit.draw(whole, 20).draws.values), bytes_of(fit.draw(parts, 20).draws.values));

  VariationalLog log;
  VariationalState chunks = fit.init();
  auto twice = [](const VariationalLog& l) { return l.records.size() % 2 != 0; };
  advance_in_chunks(fit, chunks, log, 50, 20, twice);
  EXPECT_EQ(chunks.iteration.item<std::int32_t>(), 40);
  advance_in_chunks(fit, chunks, log, 50, 20, twice);
  EXPECT_EQ(bytes_of(chunks.parameters[0]), bytes_of(whole.parameters[0]));
  ASSERT_EQ(log.records.size(), 3);
  EXPECT_EQ(log.records[2].iteration, 50);
  EXPECT_LT(log.records[0].elbo, log.records[2].elbo);

  // Chunks that are made in parts have one record each, as if they had been made at a time.
  auto log_of = [&](const std::function<bool(const VariationalLog&)>& look) {
    VariationalLog records;
    VariationalState state = fit.init();
    while (state.iteration.item<std::int32_t>() < 30000) {
      advance_in_chunks(fit, state, records, 30000, 0, look);
    }
    EXPECT_EQ(records.records.size(), 100);
    std::vector<std::int64_t> at;
    Doubles elbos;
    for (const VariationalRecord& record : records.records) {
      at.push_back(record.iteration);
      elbos.push_back(record.elbo);
    }
    EXPECT_EQ(at.front(), 300);
    EXPECT_EQ(at.back(), 30000);
    return elbos;
  };
  std::int64_t looks = 0;
  Doubles at_once = log_of([&](const VariationalLog&) { return ++looks > 0; });
  EXPECT_GT(looks, 100);  // the first part is shorter than a chunk
  Doubles interrupted =
      log_of([](const VariationalLog& l) { return l.records.back().iteration % 300 == 0; });
  EXPECT_EQ(at_once, interrupted);
  VariationalState first = fit.advance(fit.init(), 300);
  EXPECT_EQ(at_once[0], first.elbo.item<double>());

  options.seed = 5;
  VariationalFit other(correlated(), options);
  EXPECT_NE(bytes_of(other.advance(other.init(), 50).parameters[0]), bytes_of(whole.parameters[0]));
}

struct Scale {
  Array scale;
  std::vector<Array> rest;
};

// A log-normal number has a normal logarithm, so that the fit is exact.
TEST(VariationalFit, DrawsParametersInTheirOwnSpace) {
  Model<Scale> model(
      [](const Scale& s) {
        return log_normal_log_density(s.scale, 0.5, 0.25) +
               sum(normal_log_density(s.rest[0], 0.0, 1.0));
      },
      Scale{1.0, {zeros({2})}}, {{".scale", Bijection::positive()}});
  VariationalFit fit(model, {.optimizer = falling_rate(0.05, 1e-3, 2000)},
                     path_negative_elbo(model.log_density));
  VariationalState state = fit.advance(fit.init(), 2000);
  ChainDraws draws = chain_draws({fit.draw(state, 4000).draws});
  ASSERT_EQ(draws.parameters.size(), 2);
  EXPECT_EQ(draws.parameters[1].name, "rest_0");
  EXPECT_EQ(draws.statistics.log_density.cols, 4000);
  EXPECT_TRUE(draws.statistics.divergent.values.empty());
  std::vector<ParameterSummary> rows = summarize(draws);
  ASSERT_EQ(rows.size(), 3);
  EXPECT_NEAR(rows[0].q50, std::exp(0.5), 0.05);
  EXPECT_NEAR(rows[0].q05, std::exp(0.5 - 1.6449 * 0.25), 0.05);
  EXPECT_NEAR(rows[0].mean, std::exp(0.5 + 0.25 * 0.25 / 2), 5 * rows[0].mcse);
  EXPECT_NEAR(rows[2].sd, 1, 0.05);
  EXPECT_TRUE(warnings(rows, draws.statistics).empty());
}

TEST(VariationalFit, LeavesOutWhatIsNotFinite) {
  // NaN below 0.
  Model<Level> half([](const Level& l) { return log(l.level) - l.level; }, Level{0.0});
  Gaussian start = {device_array({0.3}, {1}), device_array({0.3}, {1})};
  VariationalFit fit(half, {.draws = 2, .start = start});
  VariationalState state = fit.advance(fit.init(), 300);
  EXPECT_GT(state.skipped.item<std::int32_t>(), 5);
  EXPECT_LT(state.skipped.item<std::int32_t>(), 250);
  EXPECT_TRUE(std::isfinite(state.elbo.item<double>()));
  EXPECT_GT(doubles(fit.gaussian(state).mean)[0], 0.3);

  Model<Level> nowhere([](const Level& l) { return log(-square(l.level)); }, Level{0.0});
  VariationalFit hopeless(nowhere, {.start = start});
  VariationalState stuck = hopeless.init();
  VariationalLog log;
  advance_in_chunks(hopeless, stuck, log, 20, 10);
  EXPECT_TRUE(std::isnan(log.records[1].elbo));
  EXPECT_EQ(log.records[1].skipped, 20);
  EXPECT_NEAR(doubles(hopeless.gaussian(stuck).mean)[0], 0.3, 1e-15);
}

TEST(VariationalFit, RefusesToGoOnWhereNothingIsFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  struct Hopeless {
    std::function<Array(const Array&)> log_density;
    std::string says;
  };
  const std::vector<Hopeless> table = {
      {[](const Array& x) { return log(-1.0 - square(x)); }, "the log density is nan"},
      {[=](const Array& x) { return x + infinity; }, "the log density is inf"},
      {[=](const Array& x) { return x - infinity; }, "the log density is -inf"},
      {[](const Array& x) { return uniform_log_density(x, 5.0, 6.0); }, "the log density is -inf"}};
  for (const Hopeless& hopeless : table) {
    Model<Level> model([&](const Level& l) { return hopeless.log_density(l.level); }, Level{0.0});
    VariationalFit fit(model, {});
    VariationalState state = fit.init();
    VariationalLog log;
    try {
      advance_in_chunks(fit, state, log, 1000, 50);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      std::string text = error.what();
      EXPECT_NE(text.find("in none of 100 iterations"), std::string::npos) << text;
      EXPECT_NE(text.find(hopeless.says), std::string::npos) << text;
      EXPECT_NE(text.find("Begin where it is finite"), std::string::npos) << text;
    }
  }
}

TEST(VariationalFit, AFlatDensityIsReported) {
  struct Place {
    Array x;
  };
  Model<Place> flat([](const Place& p) { return sum(0.0 * p.x); }, Place{zeros({2})});
  VariationalFit fit(flat, {});
  VariationalState state = fit.advance(fit.init(), 100);
  try {
    fit.draw(state, 10);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    std::string text = error.what();
    EXPECT_TRUE(text.starts_with("VariationalFit::draw: the log density is 0.000000 at all of 10"))
        << text;
  }
}

TEST(StartAtMode, HasTheCurvatureOfTheHighestMode) {
  Gaussian start = start_at_mode(correlated(), device_array(random_numbers(6, 1, 5), {2, size}));
  Doubles mean = doubles(start.mean), sd = doubles(start.factor), precision = precisions();
  for (std::size_t i = 0; i < mean.size(); i++) {
    EXPECT_NEAR(mean[i], i, 1e-6);
    EXPECT_NEAR(sd[i], std::min(1.0, 1 / std::sqrt(precision[i])), 1e-6);
  }
  Model<Level> two_modes(
      [](const Level& l) {
        return log(0.2 * exp(normal_log_density(l.level, -3.0, 0.1)) +
                   0.8 * exp(normal_log_density(l.level, 3.0, 0.2)));
      },
      Level{0.0});
  Gaussian highest = start_at_mode(two_modes, device_array({-3.2, 2.5}, {2, 1}));
  EXPECT_NEAR(doubles(highest.mean)[0], 3, 1e-6);
  EXPECT_NEAR(doubles(highest.factor)[0], 0.2, 1e-5);
  EXPECT_THROW(start_at_mode(two_modes, device_array({1, 2}, {1, 2})), ShapeError);
}

// In units of 1000 all steps are 1000 times as long.
TEST(VariationalFit, TakesStepsInItsUnits) {
  Model<Level> wide([](const Level& l) { return normal_log_density(l.level, 5000.0, 1000.0); },
                    Level{0.0});
  VariationalOptions options = {.optimizer = falling_rate(0.05, 1e-3, 2000),
                                .units = device_array({1000}, {1})};
  VariationalFit fit(wide, options);
  EXPECT_NEAR(doubles(fit.gaussian(fit.init()).factor)[0], 0.1, 1e-12);
  Gaussian q = fit.gaussian(fit.advance(fit.init(), 2000));
  EXPECT_NEAR(doubles(q.mean)[0], 5000, 30);
  EXPECT_NEAR(doubles(q.factor)[0], 1000, 30);
}

TEST(WeightEfficiency, IsTheFractionThatCounts) {
  EXPECT_DOUBLE_EQ(weight_efficiency(device_array({-900, -900, -900, -900}, {4})), 1);
  EXPECT_NEAR(weight_efficiency(device_array({0, -900, -900, -900}, {4})), 0.25, 1e-12);
  double w = std::exp(1);
  EXPECT_NEAR(weight_efficiency(device_array({0, 1}, {2})), (1 + w) * (1 + w) / (2 * (1 + w * w)),
              1e-12);
}

TEST(VariationalFit, SaysWhatIsWrong) {
  auto message = [](VariationalOptions options) {
    try {
      VariationalFit(correlated(), std::move(options));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(message({.draws = 0}), "VariationalFit: 0 draws of each iteration. Give at least 1");
  EXPECT_EQ(message({.dtype = DType::i32}), "VariationalFit: element type i32. Use f32 or f64");
  Array two = device_array({1, 1}, {2}), three = device_array({1, 1, 1}, {3});
  EXPECT_EQ(message({.start = Gaussian{two, two}}),
            "VariationalFit: the start has a mean f64[2] and a factor f64[2], but there are 3 free "
            "numbers. Give f64[3] for both");
  EXPECT_EQ(message({.units = two}),
            "VariationalFit: the units are f64[2], but there are 3 free numbers. Give f64[3]");
  Array nine = eye(3, DType::f64);
  EXPECT_EQ(message({.start = Gaussian{three, nine}}),
            "VariationalFit: the start has a mean f64[3] and a factor f64[3,3], but there are 3 "
            "free numbers. Give f64[3] for both");
  EXPECT_EQ(message({.family = GaussianFamily::full_rank, .start = Gaussian{three, nine}}),
            "nothing was thrown");
  EXPECT_NE(message({.optimizer = {.rate = std::nan("")}}).find("rate"), std::string::npos);
  Array none = device_array({1, 0, 1}, {3}), nan = log(device_array({1, -1, 1}, {3}));
  EXPECT_EQ(message({.start = Gaussian{three, none}}),
            "VariationalFit: the start has the factor [1 0 1]. Give finite numbers, and "
            "positive standard deviations");
  EXPECT_EQ(message({.start = Gaussian{nan, three}}),
            "VariationalFit: the start has the mean [  0 nan   0]. Give finite numbers");
  EXPECT_NE(message({.family = GaussianFamily::full_rank, .start = Gaussian{three, -nine}})
                .find("positive standard deviations on its diagonal"),
            std::string::npos);
  EXPECT_EQ(message({.units = none}),
            "VariationalFit: the units are [1 0 1]. Give positive, finite ones");
  EXPECT_EQ(message({.units = nan}),
            "VariationalFit: the units are [  0 nan   0]. Give positive, finite ones");
  VariationalFit fit(correlated(), {});
  VariationalState state = fit.advance(fit.init(), 7);
  VariationalLog log;
  auto too_many = [&](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(too_many([&] { fit.advance(state, 2'000'000'000); }),
            "VariationalFit::advance: 2000000000 iterations after 7, which a fit cannot count. "
            "Give at most 1999999993");
  EXPECT_EQ(too_many([&] { advance_in_chunks(fit, state, log, 3'000'000'000); }),
            "advance_in_chunks: 3000000000 iterations, which a fit cannot count. Give at most "
            "2000000000");
  EXPECT_THROW(fit.advance(fit.init(), -1), Error);
  EXPECT_THROW(fit.draw(fit.init(), 0), Error);
}

}  // namespace
}  // namespace sturnus
