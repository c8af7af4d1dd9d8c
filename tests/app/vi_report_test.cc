#include "src/app/vi_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/app/plotly_script.h"
#include "tests/app/report_tests.h"

namespace sturnus::app {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A result with the shape of a problem's and made-up numbers.
json result_of(std::size_t parameters, bool continuous) {
  const std::vector<std::string> known = {"alpha", "beta", "tau"};
  json names = json::array(), draws = json::array(), summary = json::object();
  for (std::size_t k = 0; k < parameters; k++) {
    names.push_back(known[k]);
    std::vector<double> values;
    for (int i = 0; i < 40; i++) values.push_back(std::sin(7.0 * i) + 2.0 * k);
    draws.push_back({values});
    summary[known[k]] = {{"mean", 1.25}, {"sd", 0.125}, {"q05", 1.0}, {"q25", 1.1},
                         {"q50", 1.2},   {"q75", 1.3},  {"q95", 1.4}};
  }
  json band = {{"x", {0, 1, 2}}};
  for (const char* q : {"q05", "q25", "q50", "q75", "q95"}) band[q] = {0.1, 0.2, 0.3};
  return {{"sturnus", {{"version", "1.2.3"}, {"commit", "abc1234"}}},
          {"device", "cpu:0"},
          {"finished", true},
          {"draws", 40},
          {"settings",
           {{"problem", "oscillator"},
            {"family", "full_rank"},
            {"iterations", 5000},
            {"draws", 40},
            {"seed", 5},
            {"run", 2}}},
          {"summary", summary},
          {"elbo", -12.5},
          {"weight_efficiency", 0.75},
          {"warnings", json::array()},
          {"chains", {{"names", names}, {"draws", draws}, {"divergent", {}}, {"stride", 1}}},
          {"data", {{"x", {{0}, {2}}}, {"y", {{0.5}, {0.5}}}, {"noise_sd", 0.1}}},
          {"predictions",
           {{"x", {{0}, {1}, {2}}},
            {"truth", json::array()},
            {"outputs", 1},
            {"input", "t"},
            {"names", {"f"}},
            {"continuous", continuous},
            {"bands", {band}},
            {"measured", {band}}}},
          {"history", {{"iteration", {50, 100}}, {"elbo", {-20.0, -12.5}}, {"skipped", {0, 0}}}},
          {"timing", {{"compile_s", 1.5}, {"fit_s", 2.5}, {"ms_per_iteration", 0.5}}}};
}

TEST(VariationalReport, HoldsTheWholeResult) {
  json result = result_of(3, true);
  EXPECT_EQ(embedded_json(variational_report_html(result, "script")), result);
  EXPECT_EQ(embedded_json(variational_report_html(result, "")), result);
}

TEST(VariationalReport, HasAFigureForEverythingThatIsThere) {
  for (std::size_t parameters : {1, 3}) {
    std::string page = variational_report_html(result_of(parameters, true), "script");
    EXPECT_EQ(count(page, " data-figure=\"density\""), parameters);
    EXPECT_EQ(count(page, " data-figure=\"pairs\""), parameters > 1 ? 1u : 0u);
    EXPECT_EQ(count(page, " data-figure=\"predicted\""), 1u);
    EXPECT_EQ(count(page, " data-figure=\"elbo\""), 1u);
  }
}

TEST(VariationalReport, HasTheNumbersAndWhatWentWrong) {
  json result = result_of(3, true);
  EXPECT_THAT(variational_report_html(result, "script"),
              AllOf(HasSubstr("full rank Gaussian · 5000 iterations · 40 draws of it"),
                    HasSubstr("<td>α</td><td>1.25</td><td>0.125</td><td>1</td><td>1.1</td>"
                              "<td>1.2</td><td>1.3</td><td>1.4</td></tr>"),
                    HasSubstr("<strong>75 %</strong>"), Not(HasSubstr("class=\"notes\"")),
                    Not(HasSubstr("R̂"))));
  result["warnings"] = {"The Gaussian is not the posterior."};
  result["finished"] = false;
  EXPECT_THAT(variational_report_html(result, ""),
              AllOf(HasSubstr("The Gaussian is not the posterior."),
                    HasSubstr("The fit was interrupted"), Not(HasSubstr("<figure"))));
}

TEST(VariationalReport, IsMadeOfWhateverIsThere) {
  json whole = result_of(3, true);
  std::vector<json> poorer = {json::object()};
  for (const auto& [key, part] : whole.items()) {
    poorer.push_back(whole);
    poorer.back().erase(key);
    poorer.push_back(whole);
    poorer.back()[key] = nullptr;
  }
  for (const json& result : poorer) {
    std::string page = variational_report_html(result, "script");
    EXPECT_EQ(embedded_json(page), result);
    EXPECT_EQ(count(page, "<section"), count(page, "</section>"));
  }
}

TEST(VariationalReport, DrawsEveryFigureInABrowser) {
  std::optional<std::string> script = find_plotly_script();
  if (!script || script->empty()) GTEST_SKIP() << "there is no plotly.min.js";
  for (bool continuous : {true, false}) {
    std::string dom = opened(variational_report_html(result_of(3, continuous), *script));
    if (dom.empty()) GTEST_SKIP() << "Chromium does not run here";
    std::string body = between(dom, "<main>", "</main>");
    EXPECT_EQ(count(body, "class=\"plot js-plotly-plot\""), 6u);
    EXPECT_THAT(body, Not(HasSubstr("could not be drawn")));
  }
}

}  // namespace
}  // namespace sturnus::app
