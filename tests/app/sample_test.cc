#include <gtest/gtest.h>
#include <sturnus/inference/ensembles/published.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/app/commands.h"
#include "src/app/sampled_problems.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string message_of(const SampleRequest& request) {
  std::ostringstream out, progress;
  try {
    sample_problem(out, progress, request);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Sample, WritesWhatIsPromised) {
  std::ostringstream out, progress;
  fs::path folder = fs::path(testing::TempDir()) / "sampled";
  fs::remove_all(folder);
  SampleRequest request;
  request.problem = "exponential";
  request.chains = 2;
  request.warmup = 150;
  request.draws = 60;
  request.seed = 3;
  request.run = 1;
  request.out = folder;
  sample_problem(out, progress, request);

  json result = json::parse(read_file(folder / "result.json"));
  for (const char* parameter : {"f0", "lambda"}) {
    const json& row = result.at("summary").at(parameter);
    for (const char* key :
         {"mean", "sd", "q05", "q25", "q50", "q75", "q95", "rhat", "ess_bulk", "ess_tail"}) {
      EXPECT_TRUE(row.at(key).is_number()) << parameter << " " << key;
    }
    EXPECT_LT(row.at("q05").get<double>(), row.at("q50").get<double>());
  }
  EXPECT_NEAR(result.at("summary").at("lambda").at("mean").get<double>(), 0.3, 0.1);
  const json& interval = result.at("summary").at("lambda").at("hdi90");
  EXPECT_LT(interval.at(0), interval.at(1));
  EXPECT_TRUE(result.at("summary").at("lp__").at("mean").is_number());
  for (const char* of_chains :
       {"acceptance", "step_size", "divergences", "deepest_trees", "ebfmi"}) {
    EXPECT_EQ(result.at("by_chain").at(of_chains).size(), 2u) << of_chains;
  }
  EXPECT_EQ(result["by_chain"]["divergences"][0].get<int>() +
                result["by_chain"]["divergences"][1].get<int>(),
            result.at("divergences").at("draws"));
  for (const char* name : {"compile_s", "warmup_s", "sampling_s", "ess_bulk_per_s"}) {
    EXPECT_GT(result.at("timing").at(name).get<double>(), 0) << name;
  }
  EXPECT_EQ(result.at("settings").at("problem"), "exponential");
  EXPECT_EQ(result.at("settings").at("run"), 1);
  EXPECT_EQ(result.at("settings").at("seed"), 3);
  EXPECT_TRUE(result.at("sturnus").at("version").is_string());
  EXPECT_TRUE(result.at("finished").get<bool>());
  EXPECT_FALSE(fs::exists(folder / "sampling.part"));
  EXPECT_NE(read_file(folder / "report.html").find("<h1>Exponential growth</h1>"),
            std::string::npos);

  for (const char* file : {"exponential_1.csv", "exponential_2.csv"}) {
    std::istringstream lines(read_file(folder / file));
    int draws = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line[0] != '#' && line.rfind("lp__", 0) != 0) draws++;
    }
    EXPECT_EQ(draws, 60) << file;
  }
  EXPECT_EQ(read_file(folder / "draws.nc").substr(1, 3), "HDF");
  EXPECT_NE(progress.str().find("draws  210/210"), std::string::npos) << progress.str();
  EXPECT_NE(progress.str().find("acceptance 0."), std::string::npos) << progress.str();
  EXPECT_NE(out.str().find("ess_bulk"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\nlp__ "), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\nlambda "), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("Warning: "), std::string::npos) << out.str();  // few draws
  EXPECT_NE(out.str().find((folder / "draws.nc").string()), std::string::npos);
}

TEST(Sample, FindsTheWindThatCarriesTheWave) {
  std::ostringstream out, progress;
  SampleRequest request;
  request.problem = "advection";
  request.chains = 2;
  request.warmup = 150;
  request.draws = 60;
  request.out = fs::path(testing::TempDir()) / "wind";
  fs::remove_all(request.out);
  sample_problem(out, progress, request);
  json result = json::parse(read_file(request.out / "result.json"));
  EXPECT_EQ(result.at("summary").size(), 11u);  // and lp__
  EXPECT_NEAR(result.at("summary").at("beta").at("mean").get<double>(), 0.1976, 0.002);
  const json& predictions = result.at("predictions");  // of the 64 measurements, one by one
  EXPECT_EQ(predictions.at("x").size(), 64u);
  EXPECT_EQ(predictions.at("x").back(), json::array({64.0}));
  EXPECT_EQ(predictions.at("bands").at(0).at("q50").size(), 64u);
  EXPECT_EQ(result.at("data").at("x").at(0).size(), 2u);  // t and x
  EXPECT_NE(read_file(request.out / "report.html").find("<h1>Advection</h1>"), std::string::npos);
  EXPECT_NE(read_file(request.out / "advection_1.csv").find("cosine.4"), std::string::npos);
}

TEST(Sample, LotkaVolterraHasStartsAndSettingsOfItsOwn) {
  const SampledProblem& known = sampled_problem("sample", "lotka_volterra", {});
  EXPECT_TRUE(known.starts(0));
  EXPECT_TRUE(starts_for(published_data(Experiment::lotka_volterra, 1)));
  EXPECT_FALSE(starts_for(published_data(Experiment::oscillator, 1)));
  ChainSettings suited = settings_for(known, {});
  EXPECT_EQ(metric(suited), "dense");
  EXPECT_EQ(target_acceptance(suited), 0.9);
  suited = settings_for(known, {.metric = "unit", .target_acceptance = 0.7});
  EXPECT_EQ(metric(suited), "unit");
  EXPECT_EQ(target_acceptance(suited), 0.7);
  EXPECT_EQ(target_acceptance(settings_for(known, {.method = "random_walk"})), 0.234);
  EXPECT_EQ(metric(settings_for(sampled_problem("sample", "oscillator", {}), {})), "diagonal");
}

// What is asked for is short: it tells what is written, not what is true.
TEST(Sample, TellsTheFunctionOfANetworkRatherThanItsWeights) {
  std::ostringstream out, progress;
  SampleRequest request;
  request.problem = "poisson_bpinn_tanh";
  request.method = "hmc";
  request.leapfrogs = 3;
  request.chains = 2;
  request.warmup = 20;
  request.draws = 10;
  request.out = fs::path(testing::TempDir()) / "network";
  fs::remove_all(request.out);
  sample_problem(out, progress, request);
  json result = json::parse(read_file(request.out / "result.json"));
  std::vector<std::string> names;
  for (const auto& [name, row] : result.at("summary").items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"lambda", "lp__", "u(-0.35)", "u(-0.7)", "u(0)",
                                             "u(0.35)", "u(0.7)"}));
  EXPECT_EQ(result.at("chains").at("names").at(0), "lambda");
  EXPECT_EQ(result.at("predictions").at("bands").at(0).at("q95").size(), 141u);
  EXPECT_EQ(result.at("weights").at("count"), 50 + 50 + 2500 + 50 + 50 + 1);
  EXPECT_NE(out.str().find("and 2701 weights of a network"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("layers_0_w[1,1] "), std::string::npos) << out.str();
  EXPECT_NE(read_file(request.out / "report.html").find("and 2701 weights of a network"),
            std::string::npos);
  std::string header = read_file(request.out / "poisson_bpinn_tanh_1.csv");
  EXPECT_NE(header.find("layers_1_w.50.50"), std::string::npos);  // files of draws have them all
}

TEST(Sample, EightSchoolsArePredicted) {
  std::ostringstream out, progress;
  SampleRequest request;
  request.problem = "eight_schools";
  request.chains = 2;
  request.warmup = 100;
  request.draws = 50;
  request.metric = "dense";
  request.out = fs::path(testing::TempDir()) / "schools";
  fs::remove_all(request.out);
  sample_problem(out, progress, request);
  json result = json::parse(read_file(request.out / "result.json"));
  EXPECT_EQ(result.at("data").at("y").at(0).at(0), 28);
  const json& predictions = result.at("predictions");
  EXPECT_FALSE(predictions.at("continuous").get<bool>());
  const json &effects = predictions.at("bands").at(0), &measured = predictions.at("measured").at(0);
  for (std::size_t i = 0; i < 8; i++) {
    EXPECT_EQ(effects.at("x").at(i), i + 1);
    EXPECT_LT(measured.at("q05").at(i), effects.at("q05").at(i));
    EXPECT_GT(measured.at("q95").at(i), effects.at("q95").at(i));
  }
  EXPECT_EQ(predictions.at("names"), json({"effect"}));
  std::string csv = read_file(request.out / "eight_schools_2.csv");
  EXPECT_NE(csv.find("#         metric = dense_e\n"), std::string::npos) << csv.substr(0, 800);
  EXPECT_NE(csv.find("# Elements of inverse mass matrix:\n"), std::string::npos);
}

TEST(Sample, SaysWhatIsWrongBeforeItBegins) {
  auto message = [](const std::function<void(SampleRequest&)>& change) {
    SampleRequest request;
    request.problem = "oscillator";
    request.out = fs::path(testing::TempDir()) / "not_written";
    change(request);
    std::string said = message_of(request);
    EXPECT_FALSE(fs::exists(request.out));
    return said;
  };
  EXPECT_EQ(message([](SampleRequest& r) { r.problem = "eight_school"; }),
            "sample: there is no problem \"eight_school\"; there are exponential, oscillator, "
            "free_phase_oscillator, advection, lotka_volterra, eight_schools, hare_lynx, "
            "oscillator_bpinn, poisson_bpinn, oscillator_bpinn_tanh, poisson_bpinn_tanh. Did you "
            "mean \"eight_schools\"?");
  EXPECT_EQ(message([](SampleRequest& r) { r.metric = "dens"; }),
            "sample: there is no metric \"dens\"; there are unit, diagonal, dense. Did you mean "
            "\"dense\"?");
  EXPECT_EQ(message([](SampleRequest& r) { r.chains = 0; }), "sample: 0 chains. Give at least 1");
  EXPECT_EQ(message([](SampleRequest& r) { r.draws = 3; }),
            "sample: 3 draws of each chain, but R-hat and effective sample sizes need 4. Give "
            "--draws at least 4");
  EXPECT_EQ(message([](SampleRequest& r) { r.run = 5; }),
            "sample: run 5 of oscillator is asked for, but there are runs 0 to 4. Give one of "
            "them");
  EXPECT_EQ(message([](SampleRequest& r) {
              r.problem = "hare_lynx";
              r.run = 1;
            }),
            "sample: hare_lynx has one data set, but run 1 is asked for. Leave --run out");
  EXPECT_EQ(message([](SampleRequest& r) { r.leapfrogs = 20; }),
            "sample: --leapfrogs 20 is for the method hmc, but the method is nuts. Leave "
            "--leapfrogs out, or give --method hmc");
  for (const char* method : {"hmc", "mala", "random_walk"}) {
    EXPECT_EQ(message([&](SampleRequest& r) {
                r.max_depth = 8;
                r.method = method;
              }),
              "sample: --max-depth 8 is for the method nuts, but the method is " +
                  std::string(method) + ". Leave --max-depth out, or give --method nuts");
  }
  EXPECT_NE(message([](SampleRequest& r) { r.target_acceptance = 1.5; }).find("1.5"),
            std::string::npos);
}

}  // namespace
}  // namespace sturnus::app
