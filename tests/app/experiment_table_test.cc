#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/ops/creation.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/app/commands.h"
#include "src/app/config.h"
#include "src/app/training_file.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct ExperimentTable : testing::Test {
  ExperimentTable() {
    fs::path folder = fs::path(testing::TempDir()) / "experiment_table";
    fs::remove_all(folder);
    request.experiment = "exponential";
    request.variants = {"none", "f"};
    request.runs = {0, 1};
    request.members = 3;
    request.iterations = 4;
    request.out = folder / "table";
    request.keep = folder / "kept";
  }

  // Leaves a training of which no member can be saved in the folder of a run.
  void spoil(const std::string& variant, int run) const {
    RunConfig config = variant_config(Experiment::exponential, variant, request.iterations);
    config.ensemble.members = *request.members;
    config.run = run;
    config.ensemble.seed = static_cast<std::uint64_t>(run);
    Ensemble ensemble(problem_of(config), config.ensemble);
    SavedTraining training = {ensemble.init(), {}};
    Member members = ensemble.members(training.state);
    members.lambda = full({*request.members, 1}, std::nan(""), DType::f32);
    training.state = ensemble.with_members(training.state, members);
    fs::path place = request.out / (variant + "-run" + std::to_string(run));
    fs::create_directories(place);
    save_training(kept_training({place, true}, to_json(config)), training);
  }

  std::string error_of_table() {
    try {
      run_table(out, progress, request);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TableRequest request;
  std::ostringstream out, progress;
};

// The other runs do not wait for it; the page and the terminal name it, and the command fails.
TEST_F(ExperimentTable, GoesOnWhereAllMembersOfARunDiverge) {
  spoil("none", 0);
  EXPECT_EQ(error_of_table(),
            "table: none on run0 has no scores: all 3 members diverged: member 0 at iteration 0, "
            "member 1 at iteration 0, member 2 at iteration 0; " +
                (request.out / "none-run0" / "result.json").string() + " tells of each");
  EXPECT_THAT(progress.str(), AllOf(HasSubstr("none run 1"), HasSubstr("f run 1")));
  EXPECT_THAT(out.str(), AllOf(HasSubstr("none     Sturnus, 1 run"),
                               HasSubstr("there are no scores: run 0 of `none`\n"),
                               HasSubstr("exponential.md"), HasSubstr("table.json")));
  std::string page = read_file(request.keep / "exponential.md");
  EXPECT_THAT(page, AllOf(HasSubstr("| none | Sturnus, 1 run |"), HasSubstr("| f | Sturnus | "),
                          HasSubstr("there are no scores: run 0 of `none`."),
                          HasSubstr("--variants none,f --runs 0,1 --members 3 ")));
  json kept = json::parse(read_file(request.keep / "exponential.json"));
  EXPECT_EQ(kept.at("failed").size(), 1u);
  EXPECT_EQ(kept.at("failed")[0].at("why"),
            json::parse(read_file(request.out / "none-run0" / "result.json")).at("failed"));

  // What another table does not try stays named; what has scores then is not.
  request.runs = {2};
  EXPECT_EQ(error_of_table(), "");
  EXPECT_THAT(read_file(request.keep / "exponential.md"), HasSubstr("run 0 of `none`"));
  request.runs = {0};
  EXPECT_EQ(error_of_table(), "");
  EXPECT_THAT(read_file(request.keep / "exponential.md"), Not(HasSubstr("no scores")));
  EXPECT_FALSE(json::parse(read_file(request.keep / "exponential.json")).contains("failed"));
}

TEST_F(ExperimentTable, OfNoScoresAtAllWritesNoPage) {
  request.variants = {"f"};
  request.runs = {1};
  spoil("f", 1);
  EXPECT_THAT(error_of_table(), HasSubstr("table: f on run1 has no scores: all 3 members"));
  EXPECT_THAT(out.str(), AllOf(HasSubstr("run 1 of `f`"), Not(HasSubstr("exponential.md"))));
  EXPECT_FALSE(fs::exists(request.keep / "exponential.json"));
}

}  // namespace
}  // namespace sturnus::app
