#include "src/app/posterior_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>

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
  json run = {{"run", 2},
              {"truth", {{"alpha", 1.5}, {"beta", 1}}},
              {"tempering",
               {{"summary", summary},
                {"log_evidence", -4.5},
                {"floor", {{"w_f", 0.5}, {"w_lambda", 0.25}}}}},
              {"nuts", {{"summary", summary}, {"log_evidence", -4.25}, {"divergent", 0.0125}}},
              {"agreement", {{"errors", 1.25}, {"parameter", "beta"}}}};
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
  EXPECT_THAT(page, HasSubstr("| 2 | -4.50, -4.25 | 1.0050 | 300 | 150 | 1.0050 | 300 | 150 | "
                              "1.25 % | 1.2 errors, beta | 0.500 | 0.2500 |\n"));
  EXPECT_THAT(page, HasSubstr("| alpha | 1.5 | tempering | 3.0000 | 0.0300 | 0.3000 | 1.0000 | "
                              "2.0000 | 3.0000 | 4.0000 | 5.0000 | 300 | 150 | 1.0030 |\n"
                              "| alpha | 1.5 | nuts | 3.0000 |"));
  EXPECT_THAT(page, HasSubstr("7 particles"));
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
