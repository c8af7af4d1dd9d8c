#include "src/app/experiment_run.h"

#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <sstream>

#include "src/app/progress.h"
#include "src/app/report.h"
#include "src/app/training_file.h"
#include "tests/app/interrupting.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Small enough for a test, with everything that a run has.
RunConfig small_run() {
  return config_from_json({{"experiment", "exponential"},
                           {"variant", "factorized"},
                           {"members", 4},
                           {"iterations", 60},
                           {"chunk", 20},
                           {"network", {{"hidden", {5}}}},
                           {"collocation", {{"points", 8}}}});
}

fs::path fresh_folder(const std::string& name) {
  fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  return folder;
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// A training stopped after its first chunk, or at that iteration, kept in `folder`.
void leave_unfinished(const RunConfig& config, const fs::path& folder, std::int64_t at = 0) {
  Ensemble ensemble(problem_of(config), config.ensemble);
  SavedTraining training = {ensemble.init(), {}};
  train(ensemble, training.state, training.log, config.training,
        [&](const EnsembleState&, const TrainingLog& log) {
          return log.records.back().iteration < at;
        });
  save_training(kept_training({folder, false}, to_json(config)), training);
}

TEST(ExperimentRun, ResultHoldsWhatIsPromised) {
  fs::path folder = fresh_folder("promised");
  std::ostringstream progress;
  json result = run(small_run(), {folder, false}, progress);
  EXPECT_EQ(json::parse(read_file(folder / "result.json")).at("lambda"), result.at("lambda"));
  for (const char* name : {"rmse", "logl_per_n", "abs_dlambda", "logl_lambda", "w_f", "w_lambda"}) {
    EXPECT_TRUE(result.at("metrics").at(name).is_number()) << name;
  }
  for (const char* name : {"lower_s", "compile_s", "ms_per_iteration"}) {
    EXPECT_GT(result.at("timing").at(name).get<double>(), 0) << name;
  }
  EXPECT_EQ(result.at("lambda").at("mean").size(), 1u);
  EXPECT_EQ(result.at("lambda").at("draws").size(), 4u);
  EXPECT_EQ(result.at("predictions").at("members").size(), 4u);
  EXPECT_EQ(result.at("predictions").at("members")[0].size(), 200u);
  EXPECT_EQ(result.at("history").at("iteration"), json({20, 40, 60}));
  EXPECT_EQ(result.at("metrics").at("skipped"), json({{"logl_per_n", 0}, {"logl_lambda", 0}}));
  EXPECT_EQ(to_json(config_from_json(result.at("settings"))), result.at("settings"));
  EXPECT_TRUE(result.at("finished").get<bool>());
  EXPECT_FALSE(fs::exists(folder / "training.part"));
  EXPECT_NE(progress.str().find("60/60"), std::string::npos) << progress.str();
  std::ostringstream table;
  print_scores(table, result);
  EXPECT_NE(table.str().find("logL lambda"), std::string::npos);
}

TEST(ExperimentRun, ContinuedTrainingHasTheBitsOfAWholeOne) {
  fs::path folder = fresh_folder("continued");
  std::ostringstream progress;
  RunConfig config = small_run();
  leave_unfinished(config, folder);
  json whole = run(config, {}, progress);
  json continued = run(config, {folder, true}, progress);
  EXPECT_EQ(continued.at("timing").at("resumed_at"), 20);
  EXPECT_EQ(continued.at("lambda"), whole.at("lambda"));
  EXPECT_EQ(continued.at("predictions"), whole.at("predictions"));
  EXPECT_EQ(continued.at("history").at("lambda"), whole.at("history").at("lambda"));
}

// It says whom and when, leaves a record of how it went, and nothing in the way of the next run.
TEST(ExperimentRun, WhereAllMembersDivergeLeavesARecordAndTheNextBeginsAnew) {
  fs::path folder = fresh_folder("all_lost");
  RunConfig config = small_run();
  config.ensemble.optimizer.rate = 1e30;
  std::string lost =
      "all 4 members diverged: member 0 at iteration 1, member 1 at iteration 1, "
      "member 2 at iteration 1, member 3 at iteration 1";
  for (bool resume : {false, false, true}) {
    std::ostringstream progress;
    EXPECT_EQ(message_of([&] {
                run(config, {folder, resume}, progress);
              }),
              "run: " + lost + ". Lower the learning rate, or clip gradients; " +
                  (folder / "result.json").string() +
                  " tells of each member. The next run begins anew");
    EXPECT_NE(progress.str(), "");
    EXPECT_FALSE(fs::exists(folder / "training.part"));
    json result = json::parse(read_file(folder / "result.json"));
    EXPECT_EQ(result.at("failed"), lost);
    EXPECT_EQ(result.at("finished"), false);
    EXPECT_EQ(result.at("members").at("divergences").size(), 4u);
    EXPECT_EQ(result.at("history").at("iteration"), json({20}));
    EXPECT_TRUE(result.at("metrics").at("rmse").is_null());
    EXPECT_NE(report_html(result, "").find("The training came to nothing: all 4 members"),
              std::string::npos);
  }
  std::ostringstream progress;
  EXPECT_TRUE(run(small_run(), {folder, false}, progress).at("finished").get<bool>());
}

TEST(ExperimentRun, AStopStaysAStop) {
  fs::path folder = fresh_folder("stopped");
  RunConfig config = small_run();
  config.ensemble.optimizer.rate = 1e30;
  config.training.on_divergence = OnDivergence::stop;
  std::ostringstream progress;
  for (bool resume : {false, true, true}) {
    std::string message = message_of([&] { run(config, {folder, resume}, progress); });
    EXPECT_EQ(message.rfind("train: the loss of member 0 was not finite at iteration 1. ", 0), 0u)
        << message;
    EXPECT_NE(message.find((folder / "training.part").string() +
                           " keeps what was done: remove it to begin anew"),
              std::string::npos)
        << message;
  }
  EXPECT_FALSE(fs::exists(folder / "result.json"));
}

// An error that ends a training says that it is kept only if it is.
TEST(ExperimentRun, AStopThatCannotBeKeptDoesNotSaySo) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  fs::path folder = fresh_folder("stopped_full");
  fs::create_directories(folder);
  fs::create_symlink("/dev/full", folder / "training.part.part");
  RunConfig config = small_run();
  config.ensemble.optimizer.rate = 1e30;
  config.training.on_divergence = OnDivergence::stop;
  std::ostringstream progress;
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  std::string message = message_of([&] { run(config, {folder, false}, progress); });
  set_log_sink({});
  EXPECT_EQ(message.find("training.part"), std::string::npos) << message;
  EXPECT_NE(warning.find("the training could not be kept: cannot write"), std::string::npos);
}

// Before the first step no learning rate is at fault.
TEST(ExperimentRun, SaysWhatToDoWhereNoStepWasTaken) {
  RunConfig config = small_run();
  config.ensemble.data_weight = 1e39;
  std::ostringstream progress;
  std::string message = message_of([&] { run(config, {}, progress); });
  EXPECT_NE(message.find("member 3 at iteration 0. No step was taken yet: scale the data, lower "
                         "the weights, or give \"dtype\": \"f64\""),
            std::string::npos)
      << message;
}

// What is computed is kept, and what was still to come does not begin.
TEST(ExperimentRun, AnInterruptAfterTheTrainingIsNotSwallowed) {
  fs::path folder = fresh_folder("interrupted");
  ChainSettings chains = {.chains = 2, .warmup = 20, .draws = 20};
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  {
    Interrupting buffer("60/60");
    std::ostream progress(&buffer);
    InterruptGuard guard;
    json result = run(small_run(), {folder, false}, progress, chains);
    EXPECT_TRUE(guard.interrupted());
    EXPECT_TRUE(result.at("finished").get<bool>());
    EXPECT_FALSE(result.contains("against"));
  }
  set_log_sink({});
  EXPECT_EQ(warning,
            "there are no chains to compare with: interrupted before they began. Go on with "
            "--resume");
  EXPECT_TRUE(fs::exists(folder / "result.json"));
  EXPECT_TRUE(fs::exists(folder / "draws.nc"));
  EXPECT_TRUE(fs::exists(folder / "training.part"));

  std::ostringstream progress;
  json result = run(small_run(), {folder, true}, progress, chains);
  EXPECT_EQ(result.at("timing").at("resumed_at"), 60);
  EXPECT_EQ(result.at("against").size(), 1u);
  EXPECT_FALSE(fs::exists(folder / "training.part"));
}

TEST(ExperimentRun, PolishesAtTheEndAndCanBeInterruptedThere) {
  fs::path folder = fresh_folder("polished");
  json settings = to_json(small_run());
  settings["repulsion"]["seen"] = json::array();
  settings["polish"] = {{"steps", 45}};
  settings["priors"] = {{"lambda", {{"kind", "none"}}}};
  settings["dtype"] = "f64";
  RunConfig config = config_from_json(settings);
  std::ostringstream progress;
  json whole = run(config, {}, progress);
  EXPECT_TRUE(whole.at("finished").get<bool>());
  const json& history = whole.at("history");
  EXPECT_EQ(history.at("iteration"), json({20, 40, 60, 80, 100, 105}));
  auto loss = [&](std::size_t i) {
    return history.at("data")[i].get<double>() + history.at("residual")[i].get<double>();
  };
  EXPECT_LT(loss(5), loss(2));
  // Neither counts in the other's time, and compiling in neither's.
  const json& timing = whole.at("timing");
  EXPECT_NEAR(timing.at("ms_per_iteration").get<double>() * 60,
              1e3 * timing.at("train_s").get<double>(), 1e-6);
  EXPECT_NEAR(timing.at("ms_per_polish_step").get<double>() * 45,
              1e3 * timing.at("polish_s").get<double>(), 1e-6);

  leave_unfinished(config, folder, 80);
  json continued = run(config, {folder, true}, progress);
  EXPECT_EQ(continued.at("timing").at("resumed_at"), 80);
  EXPECT_EQ(continued.at("lambda"), whole.at("lambda"));
  EXPECT_EQ(continued.at("predictions"), whole.at("predictions"));
}

TEST(ExperimentRun, TellsWhatBecameOfItsMembers) {
  json result = {{"timing", {{"ms_per_iteration", 1}, {"lower_s", 1}, {"compile_s", 1}}},
                 {"members",
                  {{"count", 4},
                   {"surviving", {0, 1, 3}},
                   {"divergences",
                    {{{"member", 2}, {"iteration", 5}},
                     {{"member", 1}, {"iteration", 7}},
                     {{"member", 2}, {"iteration", 60}}}},
                   {"drift", {0.125, 0.25, 99, 0.125}},
                   {"loss_drift", -0.009}}}};
  auto told = [&] {
    std::ostringstream out;
    print_training(out, result);
    return out.str().substr(0, out.str().find("\n\n"));
  };
  EXPECT_EQ(told(),
            "member 2 diverged at iteration 5 and was begun anew\n"
            "member 1 diverged at iteration 7 and was begun anew\n"
            "member 2 diverged at iteration 60 and was dropped: scores are without it\n"
            "settled: from the tenth of the training before the last to the last, parameters moved "
            "by at most 0.25 standard deviations of the ensemble, and the loss by -0.9 %");
  result["members"]["divergences"] = json::array();
  result["members"]["drift"] = {0.25, 0.26, 99, 0.125};
  EXPECT_EQ(told(),
            "not settled: from the tenth of the training before the last to the last, parameters "
            "moved by at most 0.26 standard deviations of the ensemble, those of 1 of 3 members by "
            "more than 0.25, and the loss by -0.9 %. More iterations may change the result");
  // Parameters that rest are not enough.
  result["members"]["drift"] = {0, 0, 99, 0};
  result["members"]["loss_drift"] = -0.02;
  EXPECT_EQ(told().rfind("not settled: ", 0), 0u) << told();
  result["members"].update({{"count", 1}, {"surviving", {0}}, {"drift", {0.02}}});
  EXPECT_NE(
      told().find("parameters moved by at most 2 %, those of 1 of 1 members by more than 1 %"),
      std::string::npos)
      << told();
  // One that is left of several has no ensemble around it.
  result["members"].update({{"count", 3}, {"surviving", {1}}, {"drift", {nullptr, 0.005, 9}}});
  EXPECT_NE(told().find("parameters moved by at most 0.5 %, and the loss"), std::string::npos)
      << told();
  result["members"].update({{"drift", nullptr}, {"loss_drift", nullptr}});
  EXPECT_EQ(told().rfind("it is not known whether it has settled: too few records", 0), 0u);
}

// Of members begun anew in the last two tenths nothing is known, in a result (NaN) or its file.
TEST(ExperimentRun, CountsMembersOfWhichNothingIsKnownAsMoving) {
  for (const json& unknown : {json(std::nan("")), json()}) {
    json result = {{"timing", {{"ms_per_iteration", 1}, {"lower_s", 1}, {"compile_s", 1}}},
                   {"members",
                    {{"count", 3},
                     {"surviving", {0, 1, 2}},
                     {"divergences", {{{"member", 1}, {"iteration", 90}}}},
                     {"drift", {0.125, unknown, 0.0625}},
                     {"loss_drift", 0.001}}}};
    auto told = [&] {
      std::ostringstream out;
      print_training(out, result);
      return out.str().substr(0, out.str().find("\n\n"));
    };
    const std::string begin =
        "member 1 diverged at iteration 90 and was begun anew\nnot settled: from the tenth of the "
        "training before the last to the last, parameters moved by ";
    EXPECT_EQ(told(), begin +
                          "at most 0.12 standard deviations of the ensemble, those of 1 of 3 "
                          "members by what is not known, and the loss by +0.1 %. More iterations "
                          "may change the result");
    result["members"]["drift"] = {unknown, unknown, unknown};
    result["members"]["loss_drift"] = unknown;
    EXPECT_EQ(told(), begin +
                          "what is not known, and the loss by what is not known. More iterations "
                          "may change the result");
  }
}

// Where all members agree there is no density, and it is said how often.
TEST(ExperimentRun, TellsWhereMembersAgree) {
  ExperimentData data = published_data(Experiment::exponential, 0);
  Matrix test(2, data.test.points), plot(2, data.plot.points), lambda(2, 1);
  lambda(0, 0) = lambda(1, 0) = 0.4;
  test(0, 1) = 1;
  json result = describe_results(data, {test, plot, lambda}, false);
  result["settings"] = json::object();
  EXPECT_EQ(result.at("metrics").at("skipped"),
            json({{"logl_per_n", data.test.points - 1}, {"logl_lambda", 1}}));
  std::ostringstream out;
  print_scores(out, result);
  EXPECT_NE(
      out.str().find("values that logL lambda leaves out, since all members agree on them: 1\n"),
      std::string::npos)
      << out.str();
}

TEST(ExperimentRun, UnfinishedTrainingIsNotOverwritten) {
  fs::path folder = fresh_folder("unfinished");
  std::ostringstream progress;
  leave_unfinished(small_run(), folder);
  std::string kept = (folder / "training.part").string();
  EXPECT_EQ(message_of([&] {
              run(small_run(), {folder, false}, progress);
            }),
            "run: " + kept +
                " holds an unfinished training. Add --resume to go on with it, or choose another "
                "--out");
}

TEST(ExperimentRun, DamagedAndForeignTrainingsAreRefusedAndStay) {
  fs::path folder = fresh_folder("damaged");
  fs::path kept = folder / "training.part";
  std::ostringstream progress;
  RunConfig config = small_run();
  leave_unfinished(config, folder);
  std::string whole = read_file(kept);
  auto resume = [&] { run(config, {folder, true}, progress); };
  std::string end = ". Choose another --out, or remove the file to begin anew";

  write_file(kept, whole.substr(0, whole.size() - 100));
  EXPECT_EQ(message_of(resume), kept.string() +
                                    " cannot be continued: arrays_from_bytes: the bytes are "
                                    "truncated or damaged" +
                                    end);
  write_file(kept, whole.substr(0, 60));
  EXPECT_EQ(message_of(resume), kept.string() + " cannot be continued: it ends too early" + end);
  write_file(kept, "something else");
  EXPECT_EQ(message_of(resume), kept.string() +
                                    " is not a training that Sturnus kept. Choose another --out, "
                                    "or remove it");
  EXPECT_EQ(read_file(kept), "something else");

  write_file(kept, whole);
  config.ensemble.seed = 1;
  EXPECT_EQ(message_of(resume), kept.string() +
                                    " cannot be continued: it belongs to other settings: /seed "
                                    "differs" +
                                    end);
}

TEST(ExperimentRun, OneMemberHasNoDensityButScores) {
  RunConfig config = small_run();
  config.ensemble.members = 1;
  config.ensemble.repulsion = {};
  std::ostringstream progress;
  json result = json::parse(run(config, {}, progress).dump());
  EXPECT_TRUE(result.at("metrics").at("logl_per_n").is_null());
  EXPECT_TRUE(result.at("metrics").at("rmse").is_number());
  // One draw of the posterior is not at it either.
  const json& exact = result.at("metrics").at("exact").at(0);
  EXPECT_GT(exact.at("floor_w_f").at("mean").get<double>(), 0);
  EXPECT_GT(exact.at("floor_w_lambda").at("mean").get<double>(), 0);
}

// Measurements in any order, several at one point, and a single one.
TEST(ExperimentRun, TakesDataAsTheyCome) {
  std::ostringstream progress;
  RunConfig config = small_run();
  auto with_data = [&](std::vector<double> x, std::vector<double> y) {
    json settings = to_json(config);
    settings["data"] = {{"x", x}, {"y", y}};
    return json::parse(run(config_from_json(settings), {}, progress).dump());
  };
  json sorted = with_data({1, 2, 2, 5}, {1.2, 1.9, 1.7, 4});
  json mixed = with_data({5, 2, 1, 2}, {4, 1.9, 1.2, 1.7});
  for (const char* score : {"spread_f", "w_f", "w_lambda"}) {
    double expected = sorted.at("metrics").at(score);
    EXPECT_NEAR(mixed.at("metrics").at(score).get<double>(), expected, 0.01 * expected) << score;
  }
  json single = with_data({3}, {2.5});
  EXPECT_TRUE(single.at("metrics").at("spread_f").is_number());
  EXPECT_TRUE(single.at("lambda").at("mean")[0].is_number());
  // Nobody knows the truth behind them.
  for (const char* score : {"rmse", "logl_per_n", "abs_dlambda", "logl_lambda", "crps_f",
                            "crps_lambda", "predictive_log_density"}) {
    EXPECT_TRUE(single.at("metrics").at(score).is_null()) << score;
  }
  for (const json& band : single.at("metrics").at("bands")) {
    EXPECT_TRUE(band.at("coverage").is_null());
    EXPECT_TRUE(band.at("width").is_number());
  }
  EXPECT_EQ(single.at("lambda").at("truth"), json::array({nullptr}));
  EXPECT_TRUE(single.at("predictions").at("truth").empty());
  std::ostringstream table;
  print_scores(table, single);
  EXPECT_NE(table.str().find("The data are your own: no truth is known"), std::string::npos);
  EXPECT_NE(report_html(single, "").find("The data are the user’s own"), std::string::npos);
  EXPECT_NE(message_of([&] { with_data({99}, {1}); }).find("measurement 0 lies at 99"),
            std::string::npos);
}

// exp(lambda t) of the largest lambda overflows before the last of these times.
TEST(ExperimentRun, TakesDataWhoseExactPosteriorCannotBeHad) {
  json settings = to_json(small_run());
  settings["data"] = {{"x", {0, 50, 99}}, {"y", {1, 2, 3}}};
  settings["domain"] = {{"low", {-1}}, {"high", {100}}};
  std::ostringstream progress;
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  json result = run(config_from_json(settings), {}, progress);
  set_log_sink({});
  EXPECT_EQ(warning.rfind("there is no exact posterior to compare with: exponential: lambda", 0),
            0u)
      << warning;
  EXPECT_TRUE(result.at("finished").get<bool>());
  EXPECT_TRUE(result.at("exact").empty());
  EXPECT_EQ(result.at("predictions").at("x").back(), json({100}));
}

TEST(ExperimentRun, WithOtherPriorsIsNotComparedWithThePublishedPosterior) {
  std::ostringstream progress;
  RunConfig config = small_run();
  config.priors["lambda"] = {.kind = PriorSettings::Kind::normal, .mean = 0.3, .sd = 1e-4};
  config.training.iterations = 400;
  json result = run(config, {}, progress);
  EXPECT_TRUE(result.at("exact").empty());
  EXPECT_TRUE(result.at("metrics").at("w_f").is_null());
  EXPECT_NEAR(result.at("lambda").at("mean")[0].get<double>(), 0.3, 0.02);
}

// A function of time and place has no bands to draw, but is as far from its posterior as others.
TEST(ExperimentRun, OfAdvectionAgainstChains) {
  RunConfig config = variant_config(Experiment::advection, "none");
  config.ensemble.members = 3;
  config.ensemble.network.hidden = {4};
  config.ensemble.collocation.points = 8;
  config.training.iterations = 5;
  ChainSettings chains = {.chains = 2, .warmup = 100, .draws = 50};
  std::ostringstream progress, table;
  json result = run(config, {}, progress, chains);
  const json& against = result.at("against").at(0);
  EXPECT_GT(against.at("w_f").get<double>(), against.at("floor_w_f").at("mean").get<double>());
  EXPECT_EQ(against.at("lambda").at(0).at("name"), "beta");
  EXPECT_NEAR(against.at("lambda").at(0).at("mean").get<double>(), 0.1976, 0.005);
  EXPECT_FALSE(against.contains("bands"));
  print_scores(table, result);
  EXPECT_NE(table.str().find("nuts posterior"), std::string::npos) << table.str();
  EXPECT_NE(report_html(result, "script").find("nuts"), std::string::npos);
}

// Chains and the exact posterior are equally far from an ensemble, but for the chains' chance.
TEST(ExperimentRun, AgainstChainsOfTheSameData) {
  fs::path folder = fresh_folder("against");
  RunConfig config = small_run();
  ChainSettings chains = {.chains = 2, .warmup = 300, .draws = 1000};
  std::ostringstream progress, table;
  json result = run(config, {folder, false}, progress, chains);
  const json& against = result.at("against").at(0);
  for (const char* distance : {"w_f", "w_lambda"}) {
    double exact = result.at("metrics").at(distance);
    EXPECT_NEAR(against.at(distance).get<double>(), exact, 0.06 * exact) << distance;
  }
  EXPECT_EQ(against.at("lambda").at(0).at("mean"),
            json::parse(read_file(folder / "nuts" / "result.json"))
                .at("summary")
                .at("lambda")
                .at("mean"));
  EXPECT_EQ(json::parse(read_file(folder / "result.json")).at("against").size(), 1u);
  EXPECT_FALSE(fs::exists(folder / "training.part"));
  print_scores(table, result);
  EXPECT_NE(table.str().find("nuts posterior"), std::string::npos) << table.str();

  config.priors["lambda"] = {.kind = PriorSettings::Kind::normal, .mean = 0.3, .sd = 1};
  EXPECT_EQ(message_of([&] { run(config, {}, progress, chains); }),
            "run: chains of exponential know the published priors, but the settings have others "
            "for lambda. Leave --against out");
}

// On a full disk neither the scores nor the training are lost.
TEST(ExperimentRun, AResultThatCannotBeWrittenIsReturnedAndItsTrainingKept) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  fs::path folder = fresh_folder("full");
  fs::create_directories(folder);
  fs::create_symlink("/dev/full", folder / "result.json.part");
  std::ostringstream progress;
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  json result = run(small_run(), {folder, false}, progress);
  set_log_sink({});
  EXPECT_NE(warning.find("the result could not be written: cannot write"), std::string::npos);
  EXPECT_NE(warning.find("No space left on device"), std::string::npos) << warning;
  EXPECT_TRUE(result.at("metrics").at("rmse").is_number());
  fs::remove(folder / "result.json.part");
  json again = run(small_run(), {folder, true}, progress);
  EXPECT_EQ(again.at("timing").at("resumed_at"), 60);
  EXPECT_EQ(again.at("lambda"), result.at("lambda"));
  EXPECT_TRUE(fs::exists(folder / "result.json"));
}

// Interrupts the run that writes to it.
class Interrupting : public std::stringbuf {
 protected:
  int sync() override {
    if (!done_) std::raise(SIGINT);
    done_ = true;
    return std::stringbuf::sync();
  }

 private:
  bool done_ = false;
};

// Without room for the unfinished training, its scores are still told.
TEST(ExperimentRun, AnInterruptedTrainingThatCannotBeKeptIsWarnedOf) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  fs::path folder = fresh_folder("full_training");
  fs::create_directories(folder);
  fs::create_symlink("/dev/full", folder / "training.part.part");
  Interrupting buffer;
  std::ostream progress(&buffer);
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  json result = run(small_run(), {folder, false}, progress);
  set_log_sink({});
  EXPECT_NE(warning.find("the training could not be kept: cannot write"), std::string::npos)
      << warning;
  EXPECT_NE(warning.find("No space left on device"), std::string::npos) << warning;
  EXPECT_EQ(result.at("finished"), false);
  EXPECT_EQ(result.at("history").at("iteration"), json({20}));
  EXPECT_EQ(json::parse(read_file(folder / "result.json")).at("lambda"), result.at("lambda"));
}

TEST(ExperimentRun, WarnsOfWhatIsNeverReached) {
  auto warnings = [](const std::function<void(EnsembleOptions&)>& change, std::int64_t polish = 0) {
    RunConfig config = small_run();
    config.training.iterations = 3;
    config.training.polish = polish;
    config.ensemble.residual_weight = 1;
    config.priors["lambda"] = {};  // no exact posterior, which takes most of the time
    change(config.ensemble);
    std::ostringstream progress;
    std::vector<std::string> said;
    set_log_sink([&](LogLevel, std::string_view text) { said.emplace_back(text); });
    run(config, {}, progress);
    set_log_sink({});
    return said;
  };
  EXPECT_EQ(warnings([](EnsembleOptions& o) {
              o.repulsion.start = 2;
              o.data_weight = Schedule::from(2, 1);
              o.optimizer.rate = Schedule::cosine(1, 0, 0, 3);
            }),
            std::vector<std::string>{});
  std::string end = ", and the training ends at 3. Give more --iterations, or ";
  EXPECT_EQ(
      warnings([](EnsembleOptions& o) {
        o.repulsion.start = 3;
        o.residual_weight = Schedule::stepwise(1, {{1, 2}, {2, 3}});
        o.optimizer.rate = Schedule::cosine(1, 0, 0, 4);
      }),
      (std::vector<std::string>{
          "members never repel each other: repulsion begins at iteration 3" + end +
              "a smaller \"repulsion\": {\"start\": ...} in a file",
          "optimizer.rate is on its way until iteration 4" + end + "another schedule in a file",
          "residual_weight has a step after iteration 2" + end + "another schedule in a file"}));
  EXPECT_EQ(warnings(
                [](EnsembleOptions& o) {
                  o.repulsion = {.start = 3};
                  o.residual_weight = Schedule::stepwise(1, {{2, 3}});
                },
                1),
            std::vector<std::string>{"the polish is in f32, whose rounding ends it before a "
                                     "minimum. Give \"dtype\": \"f64\""});
}

TEST(Files, OldContentsSurviveAFailure) {
  fs::path folder = fresh_folder("files");
  write_file(folder / "a", "one");
  write_file(folder / "a", "two");
  EXPECT_EQ(read_file(folder / "a"), "two");
  EXPECT_NE(message_of([&] { write_file(folder / "a" / "b", "three"); }).find("cannot write"),
            std::string::npos);
  // A device that is always full.
  if (fs::exists("/dev/full")) {
    fs::create_symlink("/dev/full", folder / "c.part");
    std::string message = message_of([&] { write_file(folder / "c", std::string(1 << 20, 'x')); });
    EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
  }
  EXPECT_EQ(read_file(folder / "a"), "two");
}

}  // namespace
}  // namespace sturnus::app
