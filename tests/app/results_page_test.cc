#include "src/app/results_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/files.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "src/app/config.h"
#include "src/app/published_scores.h"

namespace sturnus::app {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json run(double x) {
  return {{"run", 0},
          {"metrics",
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
    all["variants"].push_back({{"name", name},
                               {"settings", {{"members", 5}, {"iterations", 7}}},
                               {"runs", {run(0.5), run(0.7)}}});
  }
  return all;
}

// The same with five runs of the published settings.
json published_results(const std::string& experiment, const std::vector<std::string>& variants) {
  json all = results(variants);
  all["experiment"] = experiment;
  for (json& variant : all["variants"]) {
    RunConfig config = variant_config(experiment_named(experiment), variant["name"]);
    variant["settings"] = all["settings"] = {{"members", config.ensemble.members},
                                             {"iterations", config.training.iterations}};
    variant["runs"] = json::array();
    for (int i = 0; i < 5; i++) {
      variant["runs"].push_back(run(i < 3 ? 0.5 : 0.7));
      variant["runs"].back()["run"] = i;
    }
  }
  return all;
}

std::string page_of(const json& results) { return results_page(results, "docs/results"); }

// A table that is not finished says how many runs a variant has, and which sources made them.
TEST(ResultsPage, SaysWhatIsThere) {
  json all = results({"none", "full"});
  all["variants"][1]["runs"] = {run(0.5)};
  all["variants"][1]["runs"][0]["source"] = "def";
  std::string page = page_of(all);
  EXPECT_THAT(page, HasSubstr("source abc, def, on"));
  EXPECT_THAT(page, HasSubstr("over 2 runs"));
  EXPECT_THAT(page, HasSubstr("| full | Sturnus, 1 run | 0.500 | -5.0 | 0.050 |"));
}

// A mean of one run has no standard deviation; runs that have no density are not counted in
// silence.
TEST(ResultsPage, SaysHowManyRunsCount) {
  json all = results({"none"});
  all["variants"][0]["runs"][0]["metrics"]["logl_lambda"] = nullptr;
  all["variants"][0]["runs"][1]["metrics"]["logl_per_n"] = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(page_of(all), HasSubstr("| none | Sturnus | 0.600 ± 0.100 | -5.0 (1 of 2 runs) | "
                                      "0.060 ± 0.010 | 0.70 (1 of 2 runs) | - |"));
}

// Of each variant its own, and the options that make the page.
TEST(ResultsPage, TellsIterationsAndTheCommand) {
  json all = published_results("oscillator", {"none", "full", "correlated"});
  EXPECT_THAT(page_of(all), HasSubstr("25 members, 15000 iterations (`correlated` 30000), mean"));
  EXPECT_THAT(page_of(all), HasSubstr("`sturnus table oscillator --variants none,full,correlated "
                                      "--keep docs/results`"));
  all["variants"][1]["settings"]["members"] = all["variants"][0]["settings"]["members"] = 7;
  all["variants"][2]["settings"]["iterations"] = 15000;
  for (json& variant : all["variants"]) variant["runs"].erase(3);
  EXPECT_THAT(page_of(all),
              HasSubstr("--runs 0,1,2,4 --members 7 --iterations 15000 --keep docs/results`"));
  EXPECT_THAT(page_of(published_results("advection", variants_of(Experiment::advection))),
              HasSubstr("`sturnus table advection --keep docs/results`"));
}

// Numbers of other settings are not held against published ones.
TEST(ResultsPage, ComparesWhatWasPublished) {
  const std::string title = "## Beside the published numbers";
  EXPECT_THAT(page_of(results({"none", "full"})), Not(HasSubstr(title)));
  json all = published_results("exponential", {"none", "full"});
  EXPECT_THAT(page_of(all), HasSubstr(title + "\n\n3 of 6 means"));
  all["variants"][0]["runs"].erase(0);
  EXPECT_THAT(page_of(all), HasSubstr("2 of 3 means"));
  all["variants"][1]["settings"]["iterations"] = 9;
  EXPECT_THAT(page_of(all), Not(HasSubstr(title)));
}

// With the phase known, as the published chain has it.
TEST(ResultsPage, SaysHowCorrelatedComparesWithThePublishedChain) {
  json all = published_results("oscillator", {"none", "factorized", "correlated"});
  for (json& variant : all["variants"]) {
    double times = variant["name"] == "correlated" ? 2.63 : variant["name"] == "none" ? 4 : 1.74;
    for (json& one : variant["runs"]) {
      json& exact = one["metrics"]["exact"];
      exact.push_back(exact[0]);
      exact[0]["name"] = "fixed_phase";
      exact[0]["w_lambda"] = 0.01 * times;
      exact[0]["floor_w_lambda"]["mean"] = 0.01;
      exact[1]["name"] = "free_phase";
    }
  }
  EXPECT_THAT(page_of(all), HasSubstr("(fixed phase) W(lambda) of `correlated` is 2.63 times the "
                                      "distance of exact draws, worse than that of `factorized` "
                                      "with 1.74."));
}

// Runs 0 and 1 chose it, and are left out of what the others say.
TEST(ResultsPage, SaysHowTheOscillatorsCorrelatedWasChosen) {
  json all = published_results("oscillator", {"none", "correlated"});
  for (json& variant : all["variants"]) {
    for (json& one : variant["runs"]) {
      json& exact = one["metrics"]["exact"];
      exact.push_back(exact[0]);
      exact[0]["name"] = "fixed_phase";
      exact[1] = {{"name", "free_phase"},
                  {"w_f", one["run"] < 2 ? 9.0 : 0.024},
                  {"w_lambda", one["run"] < 2 ? 9.0 : 0.013},
                  {"floor_w_f", {{"mean", 0.02}}},
                  {"floor_w_lambda", {{"mean", 0.01}}}};
    }
  }
  const std::string chosen =
      "`correlated` has this library's own settings, see [ensembles](../ensembles.md). It was "
      "chosen by its distances on the published runs 0 and 1";
  const std::string fair = "[a fair test](../ensembles.md#a-fair-test-of-correlated)";
  const std::string whole =
      chosen +
      "; the other runs alone (2, 3, 4) give W(f) 1.20 and W(lambda) 1.30 times "
      "the distance of exact draws with a free phase. See " +
      fair + " on fresh data";
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "results_page";
  std::filesystem::remove_all(folder);
  EXPECT_THAT(results_page(all, folder.string()), HasSubstr(whole + ".\n"));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "oscillator_fresh.md") << "# oscillator, fresh data\n";
  EXPECT_THAT(results_page(all, folder.string()),
              HasSubstr(whole + ", and [its page](oscillator_fresh.md).\n"));
  for (json& variant : all["variants"]) {
    variant["runs"] = {variant["runs"][0], variant["runs"][1]};
  }
  EXPECT_THAT(page_of(all), HasSubstr(chosen + ". See " + fair));
  all["data_seeds"] = {101, 102};
  EXPECT_THAT(page_of(all),
              HasSubstr(chosen + ", of which none is here: this is " + fair + " of it.\n"));
  EXPECT_THAT(page_of(published_results("exponential", {"correlated"})),
              Not(HasSubstr("It was chosen")));
}

// They are in no row, and the command asks for them too.
TEST(ResultsPage, SaysWhichRunsHaveNoScores) {
  json all = results({"none", "full"});
  all["failed"] = {{{"name", "full"}, {"run", 3}, {"why", "all 5 members diverged"}},
                   {{"name", "f"}, {"run", 0}, {"why", "all 5 members diverged"}}};
  const std::string lost =
      "All members diverged, so that there are no scores: run 3 of `full`, run 0 of `f`.";
  EXPECT_THAT(page_of(all), HasSubstr("2 of `none`, 2 of `full`. " + lost + " How long"));
  EXPECT_THAT(page_of(all), HasSubstr("--variants none,f,full --runs 0,3 --members 5"));
  std::ostringstream out;
  print_results(out, all);
  EXPECT_THAT(out.str(),
              HasSubstr("\n\nAll members diverged, so that there are no scores: run 3 of "
                        "`full`, run 0 of `f`\n"));
  for (json& variant : all["variants"]) {
    for (json& one : variant["runs"]) one["members"]["divergences"] = json::array();
  }
  EXPECT_THAT(page_of(all), HasSubstr("Of the others no member diverged. " + lost));
  all["failed"][0]["data_seed"] = 101;
  EXPECT_THAT(page_of(all), HasSubstr("data seed 101 of `full`, run 0 of `f`."));
}

// The pages are what this program makes of the scores that are kept beside them.
TEST(ResultsPage, IsKeptAsItIsWrittenNow) {
  for (const char* name :
       {"exponential", "oscillator", "oscillator_fresh", "lotka_volterra", "advection"}) {
    SCOPED_TRACE(name);
    const std::string file = std::string("docs/results/") + name;
    json all = json::parse(read_file(file + ".json"));
    // So that a failure shows the line, not two pages.
    std::istringstream kept(read_file(file + ".md")), written(page_of(all));
    std::string kept_line, written_line;
    for (int line = 1; std::getline(written, written_line); line++) {
      ASSERT_TRUE(std::getline(kept, kept_line)) << line << ": " << written_line;
      ASSERT_EQ(kept_line, written_line) << line;
    }
    EXPECT_FALSE(std::getline(kept, kept_line)) << kept_line;
  }
  EXPECT_THAT(read_file("docs/results/oscillator.md"), HasSubstr("](oscillator_fresh.md)"));
}

TEST(ResultsPage, SaysWhatHasNoDensity) {
  json all = results({"none"});
  EXPECT_THAT(page_of(all), HasSubstr("left out, in a run: none (3 runs did not count them)."));
  for (json& one : all["variants"][0]["runs"]) {
    one["metrics"]["skipped"] = {{"logl_per_n", 0}, {"logl_lambda", 0}};
  }
  all["exact"][0]["runs"][0]["metrics"]["skipped"] = {{"logl_per_n", 1}, {"logl_lambda", 0}};
  all["exact"][0]["runs"][0]["metrics"]["sets"] = 200;
  EXPECT_THAT(page_of(all), HasSubstr("left out, in a run: 1 of logL/N of `exact`."));
  EXPECT_THAT(page_of(all), HasSubstr("score, the mean over 200 such ensembles: no ensemble"));
}

// Advection's posterior came after the trainings, of which one was made anew.
TEST(ResultsPage, NamesThePosteriorByNuts) {
  json all = results({"none"});
  all["experiment"] = "advection";
  all["exact"][0]["name"] = "nuts";
  all["exact"][0]["who"] = "NUTS draws";
  all["exact"][0]["runs"][0].update({{"rhat", 1.0035}, {"ess_bulk", 812.3}});
  all["variants"][0]["runs"][0]["metrics"]["exact"] = json::array();
  std::string page = page_of(all);
  EXPECT_THAT(page, HasSubstr("--iterations 7 --against nuts --keep docs/results`"));
  EXPECT_THAT(page, HasSubstr("draws from the posterior by NUTS score"));
  EXPECT_THAT(page, HasSubstr("largest R-hat of all runs is 1.0035, the least bulk ESS 812. 1 run "
                              "was kept without"));
  EXPECT_THAT(page, HasSubstr("| none | 0.7000 (2.00) | 0.0070 (1.00) |"));
  all["variants"][0]["runs"][1]["metrics"]["exact"] = json::array();
  EXPECT_THAT(page_of(all), HasSubstr("## Distance to the posterior\n\nThe posterior is"));
}

// Distances to a posterior by tempering, which one of two runs has.
TEST(ResultsPage, NamesTheTemperedPosterior) {
  json all = results({"none", "full"});
  all["experiment"] = "lotka_volterra";
  all["exact"][0]["name"] = "tempering";
  all["exact"][0]["who"] = "tempered draws";
  for (json& variant : all["variants"]) {
    variant["runs"][0]["metrics"]["exact"] = json::array();
    variant["runs"][1]["metrics"]["exact"][0]["name"] = "tempering";
  }
  all["variants"][0]["runs"].erase(1);
  std::string page = page_of(all);
  EXPECT_THAT(page, HasSubstr("--iterations 7 --against tempering --keep"));
  EXPECT_THAT(page, HasSubstr("| tempering | tempered draws |"));
  EXPECT_THAT(page, HasSubstr("## Distance to the posterior\n\nIn brackets: how many times the "
                              "distance of as many tempered draws."));
  EXPECT_THAT(page, HasSubstr("(lotka_volterra_posterior.md)"));
  EXPECT_THAT(page, HasSubstr("\n| none | - | - |\n"));
  EXPECT_THAT(page, HasSubstr("\n| full | 0.7000 (2.00) | 0.0070 (1.00) |\n"));
  all["exact"] = json::array();
  EXPECT_THAT(page_of(all), Not(HasSubstr("independent draws")));
}

// Means and standard deviations of two runs, the published ones below, exact draws last.
TEST(ResultsPage, HoldsEveryTable) {
  EXPECT_EQ(
      page_of(results({"none", "full"})),
      "# exponential\n"
      "\n"
      "Written by `sturnus table exponential --variants none,full --runs 0 --members 5 "
      "--iterations 7 --keep docs/results`, Sturnus 1.2, source abc, on a device: 5 members, 7 "
      "iterations, mean ± standard deviation over 2 runs. `exact draws` is what as many "
      "independent "
      "draws from the exact posterior score: no ensemble can be expected to do better by much.\n"
      "\n"
      "| variant | | RMSE | logL/N | abs dlambda | logL lambda | W(f) | W(lambda) |\n"
      "|---|---|---|---|---|---|---|---|\n"
      "| none | Sturnus | 0.600 ± 0.100 | -6.0 ± 1.0 | 0.060 ± 0.010 | 0.60 ± 0.10 | - | "
      "0.0060 ± 0.0010 |\n"
      "| none | published | 0.620 ± 0.270 | -60564.5 ± 93742.0 | 0.029 ± 0.011 | "
      "-541.58 ± 969.23 | 2.500 ± 0.200 | 0.0300 ± 0.0010 |\n"
      "| full | Sturnus | 0.600 ± 0.100 | -6.0 ± 1.0 | 0.060 ± 0.010 | 0.60 ± 0.10 | - | "
      "0.0060 ± 0.0010 |\n"
      "| full | published | 0.610 ± 0.260 | -4.1 ± 0.8 | 0.025 ± 0.011 | 1.79 ± 0.14 | "
      "0.800 ± 0.100 | 0.0090 ± 0.0030 |\n"
      "| exact | exact draws | 0.300 | -3.0 | 0.030 | 0.30 | - | 0.0030 |\n"
      "\n"
      "## Distance to the exact posterior\n"
      "\n"
      "In brackets: how many times the distance of as many exact draws. \n"
      "\n"
      "| variant | W(f), exact | W(lambda), exact |\n"
      "|---|---|---|\n"
      "| none | 0.6000 (2.00) | 0.0060 (1.00) |\n"
      "| full | 0.6000 (2.00) | 0.0060 (1.00) |\n"
      "\n"
      "Values that all members agree on have no density and are left out, in a run: none (5 runs "
      "did not count them). Members that diverged: 2 of `none`, 2 of `full`. How long trainings "
      "take is measured in [speed](speed.md). All settings and the scores of every run are in "
      "[exponential.json](exponential.json).\n");
}

// Of the published exponential all variants that repel lambda are better than `none` and `f`.
TEST(ResultsPage, ComparesVariantsWhenAllAreThere) {
  std::vector<std::string> names = published_variants();
  names.push_back("correlated");
  json all = published_results("exponential", names);
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
  EXPECT_THAT(page_of(all),
              HasSubstr(lambda + "`joint` 2.00, yes; `factorized` 2.00, yes; `full` 2.00, yes; "
                                 "`correlated` 2.00, yes.\n"));
  EXPECT_THAT(page_of(all), HasSubstr("`full` has the best logL/N: yes.\n"));
  set("joint", "logl_lambda", -1.5);
  set("correlated", "logl_lambda", -1.5);
  set("f", "logl_per_n", 9);
  EXPECT_THAT(page_of(all),
              HasSubstr(lambda + "`joint` -1.50, no (in the published table: yes); `factorized` "
                                 "2.00, yes; `full` 2.00, yes; `correlated` -1.50, no.\n"));
  EXPECT_THAT(page_of(all),
              HasSubstr("`full` has the best logL/N: no (in the published table: yes).\n"));
  for (json& variant : all["variants"]) {
    RunConfig config = variant_config(Experiment::lotka_volterra, variant["name"]);
    variant["settings"] = {{"members", config.ensemble.members},
                           {"iterations", config.training.iterations}};
  }
  all["experiment"] = "lotka_volterra";
  EXPECT_THAT(page_of(all),
              HasSubstr("`joint` -1.50, no (in the published table: no); `factorized` 2.00, yes; "
                        "`full` 2.00, yes (in the published table: no); "));
  EXPECT_THAT(page_of(published_results("exponential", {"none", "full"})),
              Not(HasSubstr("the best logL/N")));
}

// Where each reason is checked; tests/docs finds the headings. It says of a variant no more than
// was checked of it.
TEST(ResultsPage, SaysWhyAScoreLiesApart) {
  struct Case {
    const char *experiment, *variant, *score, *text;
  };
  const Case cases[] = {
      {"oscillator", "full", "abs_dlambda",
       "; draws of the posterior of these data are as far off: 0.030 (fixed phase) ([checked]("},
      {"lotka_volterra", "none", "rmse",
       "; an independent program in JAX with the same settings and data ends at the same lambda "
       "(`none`, run 0); with a tenth"},
      {"lotka_volterra", "full", "rmse",
       "it is 0.47 to 0.55 for all variants; whether the published runs had that weight is not "
       "known ([checked]("},
      {"lotka_volterra", "lambda", "abs_dlambda", "have 0.29 on these data; with a tenth of the"},
      {"exponential", "none", "rmse", "; why is not known\n"},
  };
  for (const Case& one : cases) {
    json all = published_results(one.experiment, {one.variant});
    all["exact"][0]["name"] = "fixed phase";
    for (json& run : all["variants"][0]["runs"]) run["metrics"][one.score] = 9.0;
    std::string page = page_of(all);
    EXPECT_THAT(page, HasSubstr(one.text)) << one.experiment << " " << one.variant;
    auto why = why_apart(experiment_named(one.experiment), one.score);
    if (!why) continue;
    EXPECT_THAT(page,
                HasSubstr(" ([checked](../ensembles.md#" + std::string(why->section) + "))\n"));
  }
  EXPECT_FALSE(why_apart(Experiment::exponential, "rmse"));
}

TEST(PrintedResults, AlignTheSameNumbers) {
  std::ostringstream out;
  print_results(out, results({"full"}));
  std::string text = out.str();
  EXPECT_THAT(text, HasSubstr("full     Sturnus      0.600 ± 0.100"));
  EXPECT_THAT(text, HasSubstr("published    0.610 ± 0.260"));
  EXPECT_THAT(text, HasSubstr("exact draws  0.300  "));
}

}  // namespace
}  // namespace sturnus::app
