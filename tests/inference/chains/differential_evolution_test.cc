#include <gtest/gtest.h>
#include <sturnus/functional/graph.h>
#include <sturnus/inference/chains/differential_evolution.h>
#include <sturnus/inference/models/densities.h>
#include <sturnus/ops/creation.h>
#include <sturnus/ops/random.h>
#include <sturnus/ops/reduce.h>
#include <sturnus/ops/shape.h>
#include <sturnus/ops/softmax.h>
#include <sturnus/ops/transcendental.h>
#include <sturnus/ops/triangular.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/inference/chains.h"

namespace sturnus {
namespace {

struct Place {
  Array x;
};

Model<Place> gaussian(std::int64_t size) {
  Array l = cholesky(device_array(test_covariance(static_cast<std::size_t>(size)), {size, size}));
  Array mean = arange(size, DType::f64);
  return Model([=](const Place& p) { return multivariate_normal_log_density(p.x, mean, l); },
               Place{zeros({size})});
}

Array scattered(std::int64_t walkers, std::int64_t size, double sd) {
  return sd * normal(key(7), {walkers, size}, DType::f64);
}

TEST(DifferentialEvolution, FindsTheMomentsOfAGaussianFromAfar) {
  const std::int64_t walkers = 24, draws = 400, skipped = 50;
  // Far too narrow a start: the steps grow with the walkers' spread.
  WalkResult walk = walk_ensemble(gaussian(3), scattered(walkers, 3, 0.01),
                                  {.draws = draws + skipped, .steps = 20});
  ASSERT_EQ(walk.values.type().str(), "f64[24,450,3]");
  Doubles all = doubles(walk.values), kept;
  for (std::size_t i = 0; i < all.size(); i++) {
    if (i / 3 % (draws + skipped) >= skipped) kept.push_back(all[i]);
  }
  expect_test_moments(kept, walkers, draws, 3);
  for (double accept : doubles(walk.accept)) {
    EXPECT_GT(accept, 0.05);
    EXPECT_LT(accept, 0.7);
  }
}

TEST(DifferentialEvolution, KeepsTheDensityOfEachDraw) {
  Model<Place> model = gaussian(2);
  WalkResult walk = walk_ensemble(model, scattered(10, 2, 1), {.draws = 3, .steps = 4});
  Doubles x = doubles(walk.values), said = doubles(walk.log_density);
  ASSERT_EQ(said.size(), 30u);
  for (std::size_t i = 0; i < said.size(); i++) {
    Array place = device_array({x[2 * i], x[2 * i + 1]}, {2});
    EXPECT_NEAR(model.log_density(place).item<double>(), said[i], 1e-12);
  }
}

// Two modes, 20 standard deviations apart: jumps along a whole difference connect them.
TEST(DifferentialEvolution, JumpsFromModeToMode) {
  Model model(
      [](const Place& p) {
        return logsumexp(concatenate({std::log(0.8) + normal_log_density(p.x, -10.0, 1.0),
                                      std::log(0.2) + normal_log_density(p.x, 10.0, 1.0)}));
      },
      Place{zeros({1})});
  Array half = 10.0 * (2.0 * convert(arange(40) % 2, DType::f64) - 1.0);
  Array start = expand_dims(half, 1) + scattered(40, 1, 1);
  WalkResult walk = walk_ensemble(model, start, {.draws = 500, .steps = 20});
  expect_mean(
      doubles(walk.values), 40, 500, 1, [](const double* x) { return x[0] < 0 ? 1.0 : 0.0; }, 0.8);
}

// A density that is not a number counts as 0, also where a walker starts.
TEST(DifferentialEvolution, LeavesStartsWhereTheDensityIsNoNumber) {
  Model model([](const Place& p) { return sum(normal_log_density(log(p.x), 0.0, 0.5)); },
              Place{zeros({1})});
  Array start = concatenate({full({2, 1}, -1.0, DType::f64), exp(scattered(8, 1, 0.5))});
  WalkResult walk = walk_ensemble(model, start, {.draws = 2, .steps = 200});
  Doubles x = doubles(walk.values), values = doubles(walk.log_density);
  for (std::size_t i = 1; i < x.size(); i += 2) {  // the last draw of each
    EXPECT_GT(x[i], 0);
    EXPECT_TRUE(std::isfinite(values[i])) << values[i];
  }
}

TEST(DifferentialEvolution, TheSameSeedGivesTheSameBits) {
  auto bits = [](std::uint64_t seed) {
    return bytes_of(
        walk_ensemble(gaussian(2), scattered(8, 2, 1), {.draws = 3, .steps = 2, .seed = seed})
            .values);
  };
  EXPECT_EQ(bits(1), bits(1));
  EXPECT_NE(bits(1), bits(2));
}

template <class Failure>
std::string message_of(const Target& target, const Array& start, const WalkOptions& options = {}) {
  try {
    walk_ensemble(target, start, options);
  } catch (const Failure& error) {
    return error.what();
  }
  return "no error";
}

TEST(DifferentialEvolution, RefusesWhatCannotWalk) {
  Target target = gaussian(2);
  EXPECT_EQ(message_of<ShapeError>(target, zeros({8, 3})),
            "walk_ensemble: the start is f32[8,3], but the model has 2 free numbers. Give "
            "[walkers, 2]");
  EXPECT_EQ(message_of<Error>(target, zeros({5, 2}), {.draws = 0}),
            "walk_ensemble: 5 walkers, 0 draws of each and 50 steps between them. Give at least 6 "
            "walkers for 2 free numbers, and 1 of the others");
  Array nowhere = full({8, 2}, std::numeric_limits<double>::infinity(), DType::f64);
  EXPECT_EQ(message_of<Error>(target, nowhere),
            "walk_ensemble: the log density is finite at none of the 8 starts. Give starts where "
            "it is, as smc draws them");
}

}  // namespace
}  // namespace sturnus
