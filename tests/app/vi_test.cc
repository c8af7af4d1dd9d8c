#include <gtest/gtest.h>
#include <sturnus/inference/problems/experiment_data.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>
#include <sturnus/runtime/log.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/app/commands.h"
#include "src/app/variational_run.h"
#include "tests/app/interrupting.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

VariationalRequest request_for(const std::string& problem, const std::string& folder) {
  VariationalRequest request;
  request.problem = problem;
  request.out = fs::path(testing::TempDir()) / folder;
  return request;
}

std::string output_of(const VariationalRequest& request, std::ostream* progress = nullptr) {
  std::ostringstream out, said;
  fit_problem(out, progress != nullptr ? *progress : said, request);
  return out.str();
}

json result_of(const VariationalRequest& request) {
  return json::parse(read_file(request.out / "result.json"));
}

// Exact moments of run 0: omega 1.0143 with sd 0.0386, zeta 0.2359 with sd 0.0676. Gaussians that
// minimise this divergence are too narrow rather than too wide.
TEST(Vi, WritesWhatIsPromised) {
  VariationalRequest request = request_for("oscillator", "fitted");
  fs::remove_all(request.out);
  request.family = "full_rank";
  request.iterations = 5000;
  request.seed = 3;
  std::ostringstream progress;
  std::string out = output_of(request, &progress);

  json result = result_of(request);
  for (const char* parameter : {"f0", "omega", "zeta"}) {
    for (const char* key : {"mean", "sd", "q05", "q25", "q50", "q75", "q95"}) {
      EXPECT_TRUE(result.at("summary").at(parameter).at(key).is_number()) << parameter << key;
    }
  }
  auto expect_near = [&](const char* parameter, double mean, double sd) {
    const json& row = result["summary"][parameter];
    EXPECT_NEAR(row["mean"].get<double>(), mean, 0.2 * sd);
    EXPECT_NEAR(row["sd"].get<double>() / sd, 0.9, 0.1);
  };
  expect_near("omega", 1.0143, 0.0386);
  expect_near("zeta", 0.2359, 0.0676);
  EXPECT_GT(result.at("weight_efficiency").get<double>(), 0.1);
  for (const char* name : {"compile_s", "fit_s", "ms_per_iteration"}) {
    EXPECT_GT(result.at("timing").at(name).get<double>(), 0) << name;
  }
  const json& history = result.at("history");
  EXPECT_EQ(history.at("elbo").size(), 100);
  EXPECT_LT(history["elbo"][0].get<double>(), history["elbo"][99].get<double>());
  EXPECT_EQ(history.at("iteration").back(), 5000);
  EXPECT_EQ(result.at("settings").at("run"), 0);
  EXPECT_EQ(result.at("settings").at("family"), "full_rank");
  EXPECT_TRUE(result.at("finished").get<bool>());
  EXPECT_EQ(read_file(request.out / "draws.nc").substr(1, 3), "HDF");
  EXPECT_EQ(result.at("chains").at("names"), json({"f0", "omega", "zeta"}));
  EXPECT_EQ(result.at("predictions").at("bands").at(0).at("q50").size(), 200u);
  std::string report = read_file(request.out / "report.html");
  EXPECT_NE(report.find("<h1>Damped oscillator</h1>"), std::string::npos);
  EXPECT_NE(report.find("full rank Gaussian"), std::string::npos);
  fs::remove(request.out / "report.html");
  std::ostringstream anew;
  make_report(anew, request.out);
  EXPECT_TRUE(read_file(request.out / "report.html") == report);
  EXPECT_EQ(anew.str(), (request.out / "report.html").string() + "\n");
  EXPECT_FALSE(fs::exists(request.out / "fit.part"));
  EXPECT_NE(progress.str().find("5000/5000"), std::string::npos) << progress.str();
  EXPECT_NE(progress.str().find("elbo "), std::string::npos) << progress.str();
  EXPECT_NE(out.find("\nomega "), std::string::npos) << out;
  EXPECT_NE(out.find((request.out / "draws.nc").string()), std::string::npos) << out;
}

TEST(Vi, GoesOnWhereItWasInterrupted) {
  VariationalRequest whole = request_for("exponential", "whole_fit");
  whole.iterations = 500;
  whole.draws_per_iteration = 3;
  whole.rate = 0.02;
  whole.draws = 50;
  fs::remove_all(whole.out);
  output_of(whole);

  VariationalRequest request = whole;
  request.out = fs::path(testing::TempDir()) / "cut_fit";
  fs::remove_all(request.out);
  Interrupting buffer("");  // when the first line is written
  std::ostream progress(&buffer);
  std::string out = output_of(request, &progress);
  EXPECT_NE(out.find("Interrupted at iteration 5;"), std::string::npos) << out;
  EXPECT_FALSE(result_of(request).at("finished").get<bool>());
  EXPECT_TRUE(fs::exists(request.out / "fit.part"));

  auto message = [](const VariationalRequest& r) {
    try {
      output_of(r);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_NE(message(request).find("Add --resume"), std::string::npos);
  request.resume = true;
  VariationalRequest other = request;
  other.seed = 9;
  EXPECT_NE(message(other).find("it belongs to other settings: /seed differs"), std::string::npos);

  output_of(request);
  json one = result_of(whole), two = result_of(request);
  EXPECT_EQ(one.at("summary"), two.at("summary"));
  EXPECT_EQ(one.at("history").at("elbo"), two.at("history").at("elbo"));
  EXPECT_EQ(two.at("timing").at("resumed_at"), 5);
  EXPECT_TRUE(two.at("finished").get<bool>());
  EXPECT_EQ(read_file(whole.out / "draws.nc"), read_file(request.out / "draws.nc"));
  EXPECT_FALSE(fs::exists(request.out / "fit.part"));
}

// A hundredth of these would take minutes.
TEST(Vi, ALongFitCanBeInterrupted) {
  VariationalRequest request = request_for("exponential", "long_fit");
  request.iterations = 2'000'000'000;
  request.draws = 50;
  fs::remove_all(request.out);
  Interrupting buffer("");
  std::ostream progress(&buffer);
  std::string out = output_of(request, &progress);
  EXPECT_NE(out.find("Interrupted at iteration 100;"), std::string::npos) << out;
  EXPECT_TRUE(fs::exists(request.out / "fit.part"));
  EXPECT_EQ(result_of(request).at("history").at("iteration"), json({100}));
}

TEST(Vi, AFullDiskIsAWarningAndLosesNothing) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  VariationalRequest request = request_for("exponential", "full_fit");
  request.iterations = 200;
  request.draws = 50;
  fs::remove_all(request.out);
  fs::create_directories(request.out);
  fs::create_symlink("/dev/full", request.out / "draws.nc.part");
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view text) { warning += text; });
  std::string out = output_of(request);
  set_log_sink({});
  EXPECT_NE(warning.find("the result could not be written: "), std::string::npos) << warning;
  EXPECT_NE(warning.find("No space left on device. Mend that, then add --resume"),
            std::string::npos)
      << warning;
  EXPECT_NE(out.find("\nlambda "), std::string::npos) << out;
  EXPECT_TRUE(fs::exists(request.out / "fit.part"));

  fs::remove(request.out / "draws.nc.part");
  request.resume = true;
  EXPECT_EQ(output_of(request).substr(0, 100), out.substr(0, 100));
  EXPECT_EQ(result_of(request).at("timing").at("resumed_at"), 200);
  EXPECT_TRUE(fs::exists(request.out / "draws.nc"));
  EXPECT_FALSE(fs::exists(request.out / "fit.part"));
}

TEST(Vi, SaysWhatIsWrongBeforeItBegins) {
  auto message = [](const std::function<void(VariationalRequest&)>& change) {
    VariationalRequest request = request_for("oscillator", "not_fitted");
    change(request);
    std::string said = "nothing was thrown";
    try {
      output_of(request);
    } catch (const Error& error) {
      said = error.what();
    }
    EXPECT_FALSE(fs::exists(request.out));
    return said;
  };
  EXPECT_NE(message([](auto& r) { r.problem = "hare_links"; }).find("Did you mean \"hare_lynx\"?"),
            std::string::npos);
  EXPECT_EQ(message([](auto& r) { r.family = "fullrank"; }),
            "vi: there is no family \"fullrank\"; there are mean_field, full_rank. Did you mean "
            "\"full_rank\"?");
  EXPECT_EQ(message([](auto& r) {
              r.problem = "oscillator_network";
              r.family = "full_rank";
            }),
            "vi: oscillator_network has the family mean_field, but full_rank is asked for. Leave "
            "--family out");
  EXPECT_EQ(message([](auto& r) {
              r.problem = "oscillator_network";
              r.divergence = "publish";
            }),
            "vi: there is no divergence \"publish\"; there are exact, published. Did you mean "
            "\"published\"?");
  EXPECT_EQ(message([](auto& r) { r.divergence = "published"; }),
            "vi: the divergence published is for oscillator_network alone, but the problem is "
            "oscillator. Leave --divergence out");
  EXPECT_EQ(message([](auto& r) { r.iterations = 0; }),
            "vi: 0 iterations. Give --iterations at least 1");
  for (const char* problem : {"oscillator", "oscillator_network"}) {
    EXPECT_EQ(message([&](auto& r) {
                r.problem = problem;
                r.iterations = 3'000'000'000;
              }),
              "vi: 3000000000 iterations, which a fit cannot count. Give --iterations at most "
              "2000000000");
  }
  EXPECT_EQ(message([](auto& r) { r.draws = 3; }), "vi: 3 draws. Give --draws at least 4");
  EXPECT_EQ(message([](auto& r) { r.draws_per_iteration = 0; }),
            "vi: 0 draws-per-iteration. Give --draws-per-iteration at least 1");
  EXPECT_EQ(message([](auto& r) { r.rate = -0.1; }),
            "vi: a rate of -0.1. Give --rate a positive number");
  EXPECT_EQ(message([](auto& r) {
              r.problem = "oscillator_network";
              r.rate = 0.1;
            }),
            "vi: oscillator_network has the published rates, but --rate 0.1 is given. Leave --rate "
            "out");
  EXPECT_NE(message([](auto& r) { r.run = 7; }).find("vi: run 7 of oscillator"), std::string::npos);
}

TEST(ViWarnings, TellOfWhatIsNotFiniteAndOfBoundsThatRise) {
  VariationalLog log;
  for (std::int64_t i = 1; i <= 50; i++) {
    log.records.push_back({100 * i, -10 + 0.01 * static_cast<double>(i % 3), 0});
  }
  EXPECT_TRUE(warnings(log).empty());
  log.records.back().skipped = 7;
  for (VariationalRecord& record : log.records) {
    record.elbo += 0.1 * static_cast<double>(record.iteration) / 100;
  }
  std::vector<std::string> said = warnings(log);
  ASSERT_EQ(said.size(), 2);
  EXPECT_EQ(said[0],
            "7 of 5000 iterations made no step, since the bound or its slope was not finite.");
  EXPECT_NE(said[1].find("The bound still rises: "), std::string::npos) << said[1];
}

}  // namespace
}  // namespace sturnus::app
