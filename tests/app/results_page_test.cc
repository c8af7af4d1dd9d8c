#include "src/app/results_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "src/app/config.h"
#include "src/app/published_scores.h"

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
      "- abs dlambda of `full`: 0.060 ± 0.010, published 0.025 ± 0.011; why is not known\n"
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
      "Members that diverged: 2 of `mine`, 2 of `full`. How long trainings take is measured in "
      "[speed](speed.md). All settings and the scores of every run are in "
      "[exponential.json](exponential.json).\n");
}

// Of the published exponential all variants that repel lambda are better than `none` and `f`.
TEST(ResultsPage, ComparesVariantsWhenAllAreThere) {
  std::vector<std::string> names = published_variants();
  names.push_back("correlated");
  json all = results(names);
  auto set = [&](const std::string& name, const char* score, double value) {
    for (json& variant : all["variants"]) {
      if (variant["name"] != name) continue;
      for (json& one : variant["runs"]) one["metrics"][score] = value;
    }
  };
  for (const std::string& name : names) {
    set(name, "logl_lambda", name == "none" ? -2.0 : name == "f" ? -1.0 : 2.0);
    set(name, "logl_per_n", name == "full" ? -3.0 : -4.0);
  }
  const std::string lambda =
      "have a better logL lambda than `none` (-2.00) and `f` (-1.00): `lambda` 2.00, yes; ";
  EXPECT_THAT(results_page(all),
              HasSubstr(lambda + "`joint` 2.00, yes; `factorized` 2.00, yes; `full` 2.00, yes; "
                                 "`correlated` 2.00, yes.\n"));
  EXPECT_THAT(results_page(all), HasSubstr("`full` has the best logL/N: yes.\n"));
  set("joint", "logl_lambda", -1.5);
  set("correlated", "logl_lambda", -1.5);
  set("f", "logl_per_n", 9);
  EXPECT_THAT(results_page(all),
              HasSubstr(lambda + "`joint` -1.50, no (in the published table: yes); `factorized` "
                                 "2.00, yes; `full` 2.00, yes; `correlated` -1.50, no.\n"));
  EXPECT_THAT(results_page(all),
              HasSubstr("`full` has the best logL/N: no (in the published table: yes).\n"));
  all["experiment"] = "lotka_volterra";
  EXPECT_THAT(results_page(all),
              HasSubstr("`joint` -1.50, no (in the published table: no); `factorized` 2.00, yes; "
                        "`full` 2.00, yes (in the published table: no); "));
  EXPECT_THAT(results_page(results({"none", "full"})), Not(HasSubstr("the best logL/N")));
}

// Where each reason is checked; tests/docs finds the headings.
TEST(ResultsPage, SaysWhyAScoreLiesApart) {
  json all = results({"none"});
  for (json& one : all["variants"][0]["runs"]) {
    one["metrics"]["rmse"] = one["metrics"]["abs_dlambda"] = 1.0;
  }
  const std::pair<const char*, std::vector<std::string>> rows[] = {
      {"oscillator", {"abs_dlambda"}}, {"lotka_volterra", {"rmse", "abs_dlambda"}}};
  for (const auto& [experiment, scores] : rows) {
    all["experiment"] = experiment;
    std::string page = results_page(all);
    for (const std::string& score : scores) {
      auto why = why_apart(experiment_named(experiment), score);
      ASSERT_TRUE(why) << experiment << " " << score;
      EXPECT_THAT(page, HasSubstr("; " + std::string(why->text) + " ([checked](../ensembles.md#" +
                                  std::string(why->section) + "))\n"));
    }
  }
  EXPECT_FALSE(why_apart(Experiment::exponential, "rmse"));
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
