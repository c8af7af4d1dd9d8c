#include "src/app/posterior_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>

#include <cmath>
#include <sstream>

#include "src/app/commands.h"

namespace sturnus::app {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json row(double x) {
  return {{"mean", x},           {"mcse", x / 100},   {"sd", x / 10},
          {"q05", x - 2},        {"q25", x - 1},      {"q50", x},
          {"q75", x + 1},        {"q95", x + 2},      {"rhat", 1 + x / 1000},
          {"ess_bulk", 100 * x}, {"ess_tail", 50 * x}};
}

json result() {
  json summary = {{"alpha", row(3)}, {"beta", row(5)}};
  json run = {
      {"run", 2},
      {"truth", {{"alpha", 1.5}, {"beta", 1}}},
      {"tempering",
       {{"sturnus", {{"commit", "abc"}}},
        {"summary", summary},
        {"floor", {{"w_f", 0.5}, {"w_lambda", 0.25}}}}},
      {"again",
       {{"sturnus", {{"commit", "abc"}}}, {"summary", {{"alpha", row(9)}, {"beta", row(12)}}}}},
      {"nuts", {{"sturnus", {{"commit", "def"}}}, {"summary", summary}, {"divergent", 0.0125}}},
      {"evidence", {{"values", {-4.5, -4.25}}, {"mean", -4.375}, {"error", 0.125}}},
      {"agreement",
       {{"again", {{"errors", 1.25}, {"parameter", "beta"}, {"score", "mean"}}},
        {"nuts", {{"errors", 2.75}, {"parameter", "alpha"}, {"score", "sd"}}}}}};
  return {{"experiment", "lotka_volterra"},
          {"device", "a device"},
          {"sturnus", {{"version", "1.2"}, {"commit", "abc"}}},
          {"settings",
           {{"tempering", {{"particles", 7}, {"walkers", 6}, {"draws", 5}}},
            {"nuts", {{"chains", 4}, {"draws", 3}}}}},
          {"runs", {run}}};
}

TEST(PosteriorPage, HoldsTheWorstOfEachMethodAndEveryParameter) {
  std::string page = posterior_page(result());
  EXPECT_THAT(page, HasSubstr("| 2 | tempering | 1.0050 | 300 | 150 | **no** |  |  |\n"
                              "| 2 | again | 1.0120 | 900 | 450 | **no** |  | 1.2 errors, mean of "
                              "beta |\n"
                              "| 2 | nuts | 1.0050 | 300 | 150 | **no** | 1.25 % | 2.8 errors, sd "
                              "of alpha |\n"));
  EXPECT_THAT(page, HasSubstr("| 2 | -4.38 ± 0.12 | -4.50, -4.25 | 0.500 | 0.2500 | abc, def |\n"));
  EXPECT_THAT(page, HasSubstr("| alpha | 1.5 | tempering | 3.0000 | 0.0300 | 0.3000 | 1.0000 | "
                              "2.0000 | 3.0000 | 4.0000 | 5.0000 | 300 | 150 | 1.0030 |\n"
                              "| alpha | 1.5 | again | 9.0000 |"));
  EXPECT_THAT(page, HasSubstr("7 particles"));
}

// JSON has null for what is no number.
TEST(PosteriorPage, WhatIsNoNumberIsTheWorst) {
  json known = result();
  json& summary = known["runs"][0]["tempering"]["summary"];
  summary = {{"alpha", row(9)}, {"beta", row(9)}};
  EXPECT_THAT(posterior_page(known), HasSubstr("| 2 | tempering | 1.0090 | 900 | 450 | yes |"));
  for (const json& none : {json(), json(-std::nan(""))}) {
    json unknown = known;
    json& alpha = unknown["runs"][0]["tempering"]["summary"]["alpha"];  // before one that is known
    alpha["rhat"] = alpha["ess_bulk"] = alpha["ess_tail"] = alpha["mcse"] = none;
    std::string page = posterior_page(unknown);
    EXPECT_THAT(page, HasSubstr("| 2 | tempering | nan | nan | nan | **no** |"));
    EXPECT_THAT(page, HasSubstr("| alpha | 1.5 | tempering | 9.0000 | nan | 0.9000 |"));
  }
}

TEST(Posterior, RefusesWhatIsKnownExactlyAndRunsThatAreNone) {
  std::ostringstream out, progress;
  PosteriorRequest known, beyond;
  known.experiment = "oscillator";
  beyond.runs = {5};
  EXPECT_THROW(run_posterior(out, progress, known), Error);
  EXPECT_THROW(run_posterior(out, progress, beyond), Error);
}

}  // namespace
}  // namespace sturnus::app
