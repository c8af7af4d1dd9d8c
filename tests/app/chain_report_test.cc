#include "src/app/chain_report.h"

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
json result_of(std::size_t parameters, std::size_t outputs) {
  const std::vector<std::string> known = {"alpha", "beta", "start[1]", "start[2]"};
  json names = json::array(), draws = json::array(), summary = json::object();
  for (std::size_t k = 0; k < parameters; k++) {
    names.push_back(known[k]);
    json chains = json::array();
    for (int c = 0; c < 3; c++) {
      std::vector<double> values;
      for (int i = 0; i < 40; i++) values.push_back(std::sin(7.0 * i + c) + 2.0 * k);
      chains.push_back(values);
    }
    draws.push_back(chains);
    summary[known[k]] = {{"mean", 1.25},   {"mcse", 0.01},      {"sd", 0.125},      {"q05", 1.0},
                         {"q25", 1.1},     {"q50", 1.2},        {"q75", 1.3},       {"q95", 1.4},
                         {"rhat", 1.0042}, {"ess_bulk", 812.3}, {"ess_tail", 654.3}};
  }
  std::vector<double> calm(40, 0.0), wild = calm;
  wild[7] = 1;
  json result = {
      {"sturnus", {{"version", "1.2.3"}, {"commit", "abc1234"}}},
      {"device", "cpu:0"},
      {"finished", true},
      {"draws", 40},
      {"settings",
       {{"problem", "lotka_volterra"},
        {"method", "nuts"},
        {"chains", 3},
        {"warmup", 1000},
        {"draws", 40},
        {"seed", 5},
        {"run", 2}}},
      {"summary", summary},
      {"divergences", {{"warmup", 4}, {"draws", 1}}},
      {"warnings", json::array()},
      {"chains",
       {{"names", names}, {"draws", draws}, {"divergent", {calm, wild, calm}}, {"stride", 1}}},
      {"timing",
       {{"compile_s", 1.5},
        {"warmup_s", 2.5},
        {"sampling_s", 3.5},
        {"ess_bulk_per_s", 232.0},
        {"resumed_at", 500}}}};
  if (outputs > 0) {
    json bands = json::array();
    for (std::size_t k = 0; k < outputs; k++) {
      json band = {{"x", {0, 1, 2}}};
      for (const char* q : {"q05", "q25", "q50", "q75", "q95"}) band[q] = {0.1, 0.2, 0.3};
      bands.push_back(band);
    }
    std::vector<double> y(outputs, 0.5);
    result["data"] = {{"x", {{0}, {2}}}, {"y", {y, y}}, {"noise_sd", 0.1}};
    result["predictions"] = {{"x", {{0}, {1}, {2}}},
                             {"truth", {y, y, y}},
                             {"outputs", outputs},
                             {"input", "t"},
                             {"names", {"prey", "predators"}},
                             {"bands", bands},
                             {"measured", bands}};
  }
  return result;
}

TEST(ChainReport, HoldsTheWholeResult) {
  for (std::size_t outputs : {0, 1, 2}) {
    json result = result_of(4, outputs);
    EXPECT_EQ(embedded_json(chain_report_html(result, "script")), result);
    EXPECT_EQ(embedded_json(chain_report_html(result, "")), result);
  }
}

TEST(ChainReport, HasAFigureForEverythingThatIsThere) {
  for (std::size_t parameters : {1, 4}) {
    for (std::size_t outputs : {0, 1, 2}) {
      std::string page = chain_report_html(result_of(parameters, outputs), "script");
      EXPECT_EQ(count(page, " data-figure=\"trace\""), parameters);
      EXPECT_EQ(count(page, " data-figure=\"ranks\""), parameters);
      EXPECT_EQ(count(page, " data-figure=\"pairs\""), parameters > 1 ? 1u : 0u);
      EXPECT_EQ(count(page, " data-figure=\"predicted\""), outputs);
      EXPECT_EQ(count(page, "<section id=\"summary\">"), 1u);
    }
  }
}

TEST(ChainReport, HasTheNumbersInTables) {
  std::string page = chain_report_html(result_of(4, 2), "script");
  for (const char* part :
       {"<h1>Lotka–Volterra</h1>", "NUTS · 3 chains · 1000 transitions of warm-up · 40 draws each",
        "<td>α</td><td>1.25</td><td>0.01</td><td>0.125</td><td>1</td><td>1.1</td><td>1.2</td>"
        "<td>1.3</td><td>1.4</td><td>1.004</td><td>812</td><td>654</td>",
        "<td>start[1]</td>", "<td>resumed after transition</td><td>500</td>",
        "<td>effective draws</td><td>232 per second</td>", "<strong>1</strong><span>of 120 draws",
        "Draws that diverged are orange"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(ChainReport, SaysWhatWentWrong) {
  json result = result_of(2, 1);
  EXPECT_THAT(chain_report_html(result, "script"), Not(HasSubstr("class=\"notes\"")));
  result["warnings"] = {"R-hat is above 1.01 <for> alpha."};
  result["finished"] = false;
  EXPECT_THAT(chain_report_html(result, "script"),
              AllOf(HasSubstr("R-hat is above 1.01 &lt;for&gt; alpha."),
                    HasSubstr("The chains were interrupted after 40 draws each")));
}

TEST(ChainReport, LongTablesEndSomewhere) {
  json result = result_of(2, 0);
  for (int i = 0; i < 100; i++) result["summary"]["w" + std::to_string(i)] = {{"mean", 1.0}};
  EXPECT_THAT(chain_report_html(result, ""),
              HasSubstr("And 42 more, which result.json and the files of draws have."));
}

TEST(ChainReport, WithoutTheScriptHasTablesAndSaysWhy) {
  EXPECT_THAT(chain_report_html(result_of(4, 2), ""),
              AllOf(HasSubstr("This report has tables but no figures"), HasSubstr("<td>α</td>"),
                    Not(HasSubstr("<figure")), Not(HasSubstr("<script>"))));
}

TEST(ChainReport, IsMadeOfWhateverIsThere) {
  json whole = result_of(4, 2);
  std::vector<json> poorer = {json::object()};
  for (const auto& [key, part] : whole.items()) {
    poorer.push_back(whole);
    poorer.back().erase(key);
    poorer.push_back(whole);
    poorer.back()[key] = nullptr;
    if (!part.is_object()) continue;
    for (const auto& [inner, value] : part.items()) {
      poorer.push_back(whole);
      poorer.back()[key].erase(inner);
    }
  }
  for (const json& result : poorer) {
    std::string page = chain_report_html(result, "script");
    EXPECT_EQ(embedded_json(page), result);
    EXPECT_EQ(count(page, "<section"), count(page, "</section>"));
  }
}

TEST(ChainReport, DrawsEveryFigureInABrowser) {
  std::optional<std::string> script = find_plotly_script();
  if (!script || script->empty()) GTEST_SKIP() << "there is no plotly.min.js";
  std::string dom = opened(chain_report_html(result_of(4, 2), *script));
  if (dom.empty()) GTEST_SKIP() << "Chromium does not run here";
  std::string body = between(dom, "<main>", "</main>");
  EXPECT_EQ(count(body, "class=\"plot js-plotly-plot\""), 11u);
  EXPECT_THAT(body, Not(HasSubstr("could not be drawn")));
}

}  // namespace
}  // namespace sturnus::app
