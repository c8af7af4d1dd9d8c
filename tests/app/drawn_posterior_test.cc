#include "src/app/drawn_posterior.h"

#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/evaluation.h>
#include <sturnus/runtime/error.h>

#include <filesystem>
#include <sstream>

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Rows set, set + sets, set + 2 sets, ...
Matrix rows_of_set(const Matrix& all, std::size_t set, std::size_t sets, std::size_t members) {
  Matrix some(members, all.cols);
  for (std::size_t i = 0; i < members; i++) {
    for (std::size_t j = 0; j < all.cols; j++) some(i, j) = all(set + i * sets, j);
  }
  return some;
}

// The mean of what each ensemble of draws scores alone.
TEST(MeanScores, AreThoseOfEnsemblesWithoutACommonDraw) {
  ExperimentData data = published_data(Experiment::oscillator, 2);
  auto posterior = exact_posterior_of(data);
  PosteriorDraws draws = posterior->draws(35, 1);
  Matrix test = posterior->predict(draws, data.test.x);
  Matrix plot = posterior->predict(draws, data.plot.x);
  json scores = mean_scores(data, test, draws.lambda, 10);
  EXPECT_EQ(scores.at("sets"), 3);
  double rmse = 0, logl = 0, off = 0, logl_lambda = 0;
  for (std::size_t set = 0; set < 3; set++) {
    auto part = [&](const Matrix& all) { return rows_of_set(all, set, 3, 10); };
    Evaluation one = evaluate(data, {part(test), part(plot), part(draws.lambda)}, {.exact = false});
    rmse += one.rmse / 3;
    logl += one.logl_per_n.value / 3;
    off += one.abs_dlambda / 3;
    logl_lambda += one.logl_lambda.value / 3;
  }
  EXPECT_NEAR(scores.at("rmse").get<double>(), rmse, 1e-12);
  EXPECT_NEAR(scores.at("logl_per_n").get<double>(), logl, 1e-9);
  EXPECT_NEAR(scores.at("abs_dlambda").get<double>(), off, 1e-12);
  EXPECT_NEAR(scores.at("logl_lambda").get<double>(), logl_lambda, 1e-9);
  // f(0) = 0 is known.
  EXPECT_NEAR(scores.at("skipped").at("logl_per_n").get<double>(), 1, 1e-12);
  EXPECT_EQ(scores.at("skipped").at("logl_lambda"), 0);

  json single = mean_scores(data, test, draws.lambda, 1);
  EXPECT_EQ(single.at("sets"), 35);
  EXPECT_TRUE(single.at("logl_per_n").is_null());
}

// The wind is known to a hundredth, and drawn once.
TEST(AdvectionByNuts, IsKeptAndMeasuredAgainst) {
  ExperimentData data = published_data(Experiment::advection, 0);
  for (Samples* some : {&data.test, &data.plot}) {  // few points: it is quick
    some->points = 40;
    some->x.resize(80);
    some->truth.resize(40);
  }
  data.test.y.resize(40);
  ChainSettings settings = {.chains = 4, .warmup = 300, .draws = 500};
  fs::path file = fs::path(testing::TempDir()) / "nuts" / "run0.json";
  fs::remove_all(file.parent_path());
  std::ostringstream progress;
  DrawnPosterior posterior = advection_by_nuts(data, settings, file, progress);
  EXPECT_EQ(posterior.rows.rows, 2000u);
  EXPECT_EQ(posterior.rows.cols, 10u);
  EXPECT_EQ(posterior.f.cols, data.plot.points);
  EXPECT_LT(posterior.about.at("rhat").get<double>(), 1.01);
  json scores = scores_of_draws(posterior, data, 25);
  EXPECT_LT(scores.at("abs_dlambda").get<double>(), 0.01);
  EXPECT_LT(scores.at("rmse").get<double>(), 0.15);
  json distance = distance_to(posterior, rows_of_set(posterior.f, 0, 80, 25),
                              rows_of_set(posterior.lambda, 0, 80, 25));
  EXPECT_NEAR(distance.at("w_f").get<double>(), scores.at("w_f").get<double>(), 0.005);
  EXPECT_EQ(distance.at("floor_w_f").at("mean"), scores.at("w_f"));

  std::string said = progress.str();
  DrawnPosterior again = advection_by_nuts(data, settings, file, progress);
  EXPECT_EQ(progress.str(), said) << "it was drawn again";
  EXPECT_EQ(again.f.values, posterior.f.values);

  // Chains that do not agree are no posterior.
  settings.warmup = 0;
  settings.draws = 4;
  EXPECT_THROW(advection_by_nuts(data, settings, {}, progress), Error);
}

}  // namespace
}  // namespace sturnus::app
