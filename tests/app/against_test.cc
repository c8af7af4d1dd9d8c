// Ensembles against every posterior of their data. Too short to be near any: all of the parts.
#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/runtime/files.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "src/app/experiment_run.h"
#include "src/app/tempering.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

RunConfig small_run(Experiment experiment) {
  RunConfig config = variant_config(experiment, "none");
  config.ensemble.members = 3;
  config.ensemble.network.hidden = {4};
  config.ensemble.collocation.points = 8;
  config.training.iterations = 5;
  return config;
}

fs::path fresh_folder(const std::string& name) {
  fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  return folder;
}

// With the phase known, and free.
TEST(Against, BothPosteriorsOfTheOscillator) {
  fs::path folder = fresh_folder("against_both");
  ChainSettings chains = {.chains = 2, .warmup = 150, .draws = 50};
  std::ostringstream progress, table;
  json result = run(small_run(Experiment::oscillator), {folder, false}, progress, chains);
  const json& against = result.at("against");
  ASSERT_EQ(against.size(), 2u);
  print_scores(table, result);
  const char* names[] = {"fixed_phase", "free_phase"};
  for (std::size_t i = 0; i < 2; i++) {
    const json& one = against.at(i);
    SCOPED_TRACE(names[i]);
    EXPECT_EQ(one.at("name"), names[i]);
    EXPECT_TRUE(one.at("finished").get<bool>());
    for (const char* distance : {"w_f", "w_lambda"}) {
      std::string floor = std::string("floor_") + distance;
      EXPECT_GT(one.at(distance).get<double>(), one.at(floor).at("mean").get<double>()) << distance;
    }
    EXPECT_EQ(one.at("lambda").at(0).at("name"), "omega");
    EXPECT_EQ(one.at("bands").at(0).at("q50").size(), result["predictions"]["x"].size());
    json kept = json::parse(read_file(folder / (std::string("nuts-") + names[i]) / "result.json"));
    EXPECT_EQ(kept.at("summary").at("omega").at("mean"), one.at("lambda").at(0).at("mean"));
    EXPECT_NE(table.str().find(std::string("nuts ") + names[i]), std::string::npos) << table.str();
  }
  EXPECT_FALSE(fs::exists(folder / "training.part"));
}

// A whole tempering takes a minute: a short one is kept here in its place.
TEST(Against, TemperingOfLotkaVolterra) {
  fs::path folder = fresh_folder("against_tempering"), file = folder / "tempering.json";
  std::ostringstream progress, table;
  tempered(published_data(Experiment::lotka_volterra, 0),
           {.particles = 64, .walkers = 16, .draws = 10}, file, progress);
  json kept = json::parse(read_file(file));
  kept["settings"].update(to_json(TemperingSettings()));
  write_file(file, kept.dump());
  json result = run(small_run(Experiment::lotka_volterra), {folder, false}, progress,
                    ChainSettings{.method = "tempering"});
  ASSERT_EQ(result.at("against").size(), 1u);
  const json& against = result.at("against").at(0);
  EXPECT_EQ(against.at("method"), "tempering");
  EXPECT_GT(against.at("w_f").get<double>(), against.at("floor_w_f").at("mean").get<double>());
  ASSERT_EQ(against.at("lambda").size(), 4u);
  const json& summary = kept.at("result").at("summary");
  for (const json& lambda : against.at("lambda")) {
    EXPECT_EQ(lambda.at("mean"), summary.at(lambda.at("name").get<std::string>()).at("mean"));
    EXPECT_EQ(lambda.at("draws").size(), 160u);
  }
  EXPECT_EQ(against.at("bands").size(), 2u);
  print_scores(table, result);
  EXPECT_NE(table.str().find("tempering posterior"), std::string::npos) << table.str();
}

}  // namespace
}  // namespace sturnus::app
