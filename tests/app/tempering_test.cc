#include "src/app/tempering.h"

#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <filesystem>
#include <sstream>

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Too short to be a posterior, but all of its parts.
TEST(Tempering, IsKeptAndMeasuredAgainst) {
  ExperimentData data = published_data(Experiment::lotka_volterra, 1);
  TemperingSettings settings = {.particles = 64, .walkers = 16, .draws = 10, .seed = 3};
  fs::path file = fs::path(testing::TempDir()) / "tempering" / "run1.json";
  fs::remove_all(file.parent_path());
  std::ostringstream progress;
  DrawnPosterior posterior = tempered(data, settings, file, progress);
  EXPECT_EQ(posterior.rows.rows, 160u);
  EXPECT_EQ(posterior.rows.cols, 6u);
  EXPECT_EQ(posterior.f.cols, 2 * data.plot.points);
  EXPECT_EQ(posterior.lambda(7, 0), posterior.rows(7, 2));
  // f begins where its row says.
  EXPECT_EQ(data.plot.x[0], data.train.x[0]);
  EXPECT_NEAR(posterior.f(7, 0), posterior.rows(7, 0), 1e-12);
  EXPECT_NEAR(posterior.f(7, 1), posterior.rows(7, 1), 1e-12);
  EXPECT_TRUE(std::isfinite(posterior.about.at("log_evidence").get<double>()));
  EXPECT_EQ(posterior.about.at("floor").at("members"), 25);
  EXPECT_TRUE(fs::exists(file.parent_path() / "run1.nc"));

  std::string said = progress.str();
  DrawnPosterior again = tempered(data, settings, file, progress);
  EXPECT_EQ(progress.str(), said) << "it was drawn again";
  EXPECT_EQ(again.rows.values, posterior.rows.values);
  EXPECT_EQ(again.about, posterior.about);

  json same = distance_to(posterior, posterior.f, posterior.lambda);
  EXPECT_NEAR(same.at("w_f").get<double>(), 0, 1e-12);
  EXPECT_NEAR(same.at("w_lambda").get<double>(), 0, 1e-12);
  Matrix shifted = posterior.lambda;
  for (double& value : shifted.values) value += 0.25;
  EXPECT_NEAR(distance_to(posterior, posterior.f, shifted).at("w_lambda").get<double>(), 0.25,
              1e-12);
  json scores = scores_of_draws(posterior, data, 25);
  EXPECT_EQ(scores.at("w_f"), posterior.about.at("floor").at("w_f"));
  EXPECT_GT(scores.at("rmse").get<double>(), 0);
}

TEST(Tempering, IsOfLotkaVolterraAlone) {
  try {
    check_tempering("run", Experiment::oscillator);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "run: tempering draws the posterior of lotka_volterra, but the experiment is "
                 "oscillator. Leave --against tempering out");
  }
}

}  // namespace
}  // namespace sturnus::app
