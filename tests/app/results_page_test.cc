#include "src/app/results_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "src/app/config.h"

namespace sturnus::app {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json run(double x) {
  return {{"metrics",
           {{"rmse", x},
            {"logl_per_n", -10 * x},
            {"abs_dlambda", x / 10},
            {"logl_lambda", x},
            {"w_f", nullptr},
            {"w_lambda", x / 100},
            {"exact",
             {{{"name", "exact"},
               {"w_f", x},
               {"w_lambda", x / 100},
               {"floor_w_f", {{"mean", x / 2}}},
               {"floor_w_lambda", {{"mean", x / 100}}}}}}}},
          {"timing", {{"ms_per_iteration", 10 * x}, {"compile_s", 2 * x}}},
          {"members", {{"divergences", {{{"member", 1}, {"iteration", 2}}}}}}};
}

json results(const std::vector<std::string>& variants) {
  json all = {
      {"experiment", "exponential"}, {"sturnus", {{"version", "1.2"}, {"commit", "abc"}}},
      {"device", "a device"},        {"settings", {{"members", 5}, {"iterations", 7}}},
      {"variants", json::array()},   {"exact", {{{"name", "exact"}, {"runs", {run(0.3)}}}}}};
  for (const std::string& name : variants) {
    all["variants"].push_back({{"name", name}, {"runs", {run(0.5), run(0.7)}}});
  }
  return all;
}

// A table that is not finished says how many runs a variant has, and which sources made them.
TEST(ResultsPage, SaysWhatIsThere) {
  json all = results({"mine", "full"});
  all["variants"][1]["runs"] = {run(0.5)};
  all["variants"][1]["runs"][0]["source"] = "def";
  std::string page = results_page(all);
  EXPECT_THAT(page, HasSubstr("source abc, def, on"));
  EXPECT_THAT(page, HasSubstr("over 2 runs"));
  EXPECT_THAT(page, HasSubstr("| full | Sturnus, 1 runs |"));
}

// Distances to a posterior by tempering, which one of two runs has.
TEST(ResultsPage, NamesTheTemperedPosterior) {
  json all = results({"mine", "full"});
  all["experiment"] = "lotka_volterra";
  all["exact"][0]["name"] = "tempering";
  all["exact"][0]["who"] = "tempered draws";
  for (json& variant : all["variants"]) {
    variant["runs"][0]["metrics"]["exact"] = json::array();
    variant["runs"][1]["metrics"]["exact"][0]["name"] = "tempering";
  }
  all["variants"][0]["runs"].erase(1);
  std::string page = results_page(all);
  EXPECT_THAT(page, HasSubstr("table lotka_volterra --against tempering --keep"));
  EXPECT_THAT(page, HasSubstr("| tempering | tempered draws |"));
  EXPECT_THAT(page, HasSubstr("## Distance to the posterior\n\nIn brackets: how many times the "
                              "distance of as many tempered draws."));
  EXPECT_THAT(page, HasSubstr("(lotka_volterra_posterior.md)"));
  EXPECT_THAT(page, HasSubstr("\n| mine | - | - |\n"));
  EXPECT_THAT(page, HasSubstr("\n| full | 0.7000 (2.00) | 0.0070 (1.00) |\n"));
  all["exact"] = json::array();
  EXPECT_THAT(results_page(all), Not(HasSubstr("independent draws")));
}

// Means and standard deviations of two runs, the published ones below, exact draws last.
TEST(ResultsPage, HoldsEveryTable) {
  EXPECT_EQ(
      results_page(results({"mine", "full"})),
      "# exponential\n"
      "\n"
      "Written by `sturnus table exponential --keep docs/results`, Sturnus 1.2, source abc, on a "
      "device: 5 members, 7 iterations, mean ± standard deviation over 2 runs. `exact draws` is "
      "what as many independent draws from the exact posterior score: no ensemble can be expected "
      "to do better by much.\n"
      "\n"
      "| variant | | RMSE | logL/N | abs dlambda | logL lambda | W(f) | W(lambda) |\n"
      "|---|---|---|---|---|---|---|---|\n"
      "| mine | Sturnus | 0.600 ± 0.100 | -6.0 ± 1.0 | 0.060 ± 0.010 | 0.60 ± 0.10 | - | "
      "0.0060 ± 0.0010 |\n"
      "| full | Sturnus | 0.600 ± 0.100 | -6.0 ± 1.0 | 0.060 ± 0.010 | 0.60 ± 0.10 | - | "
      "0.0060 ± 0.0010 |\n"
      "| full | published | 0.610 ± 0.260 | -4.1 ± 0.8 | 0.025 ± 0.011 | 1.79 ± 0.14 | "
      "0.800 ± 0.100 | 0.0090 ± 0.0030 |\n"
      "| exact | exact draws | 0.300 ± 0.000 | -3.0 ± 0.0 | 0.030 ± 0.000 | 0.30 ± 0.00 | - | "
      "0.0030 ± 0.0000 |\n"
      "\n"
      "## Beside the published numbers\n"
      "\n"
      "2 of 3 means of RMSE, abs dlambda, W(f) and W(lambda) lie within two published standard "
      "deviations of the published means. Outside:\n"
      "\n"
      "- abs dlambda of `full`: 0.060 ± 0.010, published 0.025 ± 0.011\n"
      "\n"
      "\n"
      "\n"
      "## Distance to the exact posterior\n"
      "\n"
      "In brackets: how many times the distance of as many exact draws. `correlated` has this "
      "library's own settings, see [ensembles](../ensembles.md).\n"
      "\n"
      "| variant | W(f), exact | W(lambda), exact |\n"
      "|---|---|---|\n"
      "| mine | 0.6000 (2.00) | 0.0060 (1.00) |\n"
      "| full | 0.6000 (2.00) | 0.0060 (1.00) |\n"
      "\n"
      "## Time\n"
      "\n"
      "| variant | ms per iteration | compiled in s | diverged members |\n"
      "|---|---|---|---|\n"
      "| mine | 5.00 | 1.0 | 2 |\n"
      "| full | 5.00 | 1.0 | 2 |\n"
      "\n"
      "All settings and the scores of every run are in [exponential.json](exponential.json).\n");
}

TEST(ResultsPage, ComparesVariantsWhenAllAreThere) {
  json all = results(published_variants());
  for (json& variant : all["variants"]) {
    bool repels = variant["name"] == "lambda" || variant["name"] == "factorized";
    for (json& one : variant["runs"]) {
      one["metrics"]["logl_lambda"] = repels || variant["name"] == "full" ? 2.0 : -1.0;
      one["metrics"]["logl_per_n"] = variant["name"] == "full" ? -3.0 : -4.0;
    }
  }
  std::string lambda = "have a better logL lambda than `none` and `f`: ";
  EXPECT_THAT(results_page(all),
              HasSubstr(lambda + "yes (the worst of them has 2.00, the best of the others -1.00)"));
  EXPECT_THAT(results_page(all), HasSubstr("`full` has the best logL/N: yes."));
  all["variants"][0]["runs"][0]["metrics"]["logl_lambda"] = 9.0;
  all["variants"][1]["runs"][0]["metrics"]["logl_per_n"] = 9.0;
  EXPECT_THAT(results_page(all), HasSubstr(lambda + "no"));
  EXPECT_THAT(results_page(all), HasSubstr("`full` has the best logL/N: no."));
  EXPECT_THAT(results_page(results({"none", "full"})), Not(HasSubstr("the best logL/N")));
}

TEST(PrintedResults, AlignTheSameNumbers) {
  std::ostringstream out;
  print_results(out, results({"full"}));
  std::string text = out.str();
  EXPECT_THAT(text, HasSubstr("full     Sturnus      0.600 ± 0.100"));
  EXPECT_THAT(text, HasSubstr("published    0.610 ± 0.260"));
  EXPECT_THAT(text, HasSubstr("exact draws  0.300 ± 0.000"));
}

}  // namespace
}  // namespace sturnus::app
