#include "src/app/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <list>
#include <map>
#include <nlohmann/json.hpp>

#include "src/app/plotly_script.h"
#include "tests/app/report_tests.h"
#include "tests/runtime/fake.h"

namespace sturnus::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int members = 5;

// A result with the shape of the experiment's and made-up numbers.
json result_of(const std::string& experiment) {
  bool image = experiment == "advection";
  std::size_t outputs = experiment == "lotka_volterra" ? 2 : 1;
  std::vector<std::string> names = {"lambda"};
  if (experiment == "oscillator") names = {"omega", "zeta"};
  if (experiment == "lotka_volterra") names = {"alpha", "beta", "gamma", "delta"};

  json points = json::array(), truth = json::array();
  for (int i = 0; i < 12; i++) {
    points.push_back(image ? json{0.5 * (i / 3), 0.3 * (i % 3)} : json{0.5 * i});
    truth.push_back(std::vector<double>(outputs, std::sin(i)));
  }
  json curves = json::array(), draws = json::array();
  std::vector<double> history;
  for (int m = 0; m < members; m++) {
    std::vector<double> curve, draw;
    for (std::size_t i = 0; i < 12 * outputs; i++) curve.push_back(std::sin(i + 0.1 * m));
    for (std::size_t k = 0; k < names.size(); k++) draw.push_back(1 + 0.01 * m + 0.1 * k);
    curves.push_back(curve);
    draws.push_back(draw);
    history.insert(history.end(), draw.begin(), draw.end());
  }
  json exact = json::array(), distances = json::array();
  if (experiment == "oscillator") {
    for (const char* name : {"fixed_phase", "free_phase"}) {
      json marginals = json::array();
      for (const std::string& parameter : names) {
        marginals.push_back({{"name", parameter},
                             {"mean", 1.25},
                             {"sd", 0.125},
                             {"grid", {0.9, 1.0, 1.1}},
                             {"density", {0.1, 5, 0.1}}});
      }
      json quantiles = {{"x", {0, 1, 2}}};
      for (const char* q : {"q05", "q25", "q50", "q75", "q95"}) quantiles[q] = {0.1, 0.2, 0.3};
      exact.push_back({{"name", name}, {"lambda", marginals}, {"bands", json::array({quantiles})}});
      distances.push_back({{"name", name},
                           {"w_f", 0.0253},
                           {"w_lambda", 0.0131},
                           {"floor_w_f", {{"mean", 0.0127}, {"sd", 0.001}}},
                           {"floor_w_lambda", {{"mean", 0.0085}, {"sd", 0.003}}}});
    }
  }
  std::vector<double> ones(names.size(), 1.0);
  return {
      {"sturnus", {{"version", "1.2.3"}, {"commit", "abc1234"}}},
      {"device", "cpu:0"},
      {"finished", true},
      {"settings",
       {{"experiment", experiment},
        {"variant", "full"},
        {"run", 0},
        {"seed", 3},
        {"members", members},
        {"iterations", 15000},
        {"optimizer", {{"name", "adam"}, {"learning_rate", {{"value", 0.001}}}}}}},
      {"data",
       {{"x", {points[0], points[5]}},
        {"y", {truth[0], truth[5]}},
        {"noise_sd", 0.1},
        {"inputs", image ? 2 : 1},
        {"outputs", outputs}}},
      {"metrics",
       {{"rmse", 0.0612},
        {"logl_per_n", -2.04},
        {"w_f", nullptr},
        {"bands", {{{"level", 0.9}, {"coverage", 0.875}, {"width", 0.19}}}},
        {"exact", distances}}},
      {"lambda",
       {{"names", names},
        {"truth", ones},
        {"mean", ones},
        {"sd", std::vector<double>(names.size(), 0.0162)},
        {"draws", draws}}},
      {"predictions", {{"x", points}, {"truth", truth}, {"members", curves}, {"outputs", outputs}}},
      {"history",
       {{"iteration", {100, 200, 300}},
        {"data", {1.0, 0.5, 0.1}},
        {"residual", {1.0, 0.5, nullptr}},
        {"prior", {0.1, 0.1, 0.1}},
        {"repulsion", {0.1, -0.1, -0.2}},
        {"lambda", {history, history, history}}}},
      {"exact", exact},
      {"members",
       {{"count", members},
        {"surviving", {0, 1, 2, 3, 4}},
        {"divergences", json::array()},
        {"drift", {0.1, 0.2, 0.25, 0.2, 0.1}},
        {"loss_drift", 0.002}}},
      {"timing",
       {{"lower_s", 0.4}, {"compile_s", 3.9}, {"ms_per_iteration", 1.37}, {"train_s", 20.6}}},
  };
}

const std::vector<std::string> experiments = {"exponential", "oscillator", "lotka_volterra",
                                              "advection"};

// ------------------------------------------------------------------------------------- embedding

TEST(Report, HoldsTheWholeResult) {
  for (const std::string& experiment : experiments) {
    json result = result_of(experiment);
    EXPECT_EQ(embedded_json(report_html(result, "script")), result);
    EXPECT_EQ(embedded_json(report_html(result, "")), result);
  }
}

TEST(Report, LetsNoTextOfTheResultBecomeMarkup) {
  const std::string hostile = "</script><script>alert(\"1\")</script><!-- & <b title='x'>";
  json plain = result_of("oscillator"), result = plain;
  result["device"] = result["sturnus"]["commit"] = hostile;
  result["settings"]["experiment"] = result["settings"]["variant"] = hostile;
  result["settings"]["optimizer"][hostile] = hostile;
  result["lambda"]["names"] = {hostile, hostile};
  result["exact"][0]["name"] = result["metrics"]["exact"][0]["name"] = hostile;
  std::string page = report_html(result, "script");
  EXPECT_EQ(embedded_json(page), result);
  for (const char* part : {"<script", "</script", "<!--", "<b", "<td"}) {
    std::size_t more = part == std::string("<td") ? 2 : 0;  // the setting that was added
    EXPECT_EQ(count(page, part), count(report_html(plain, "script"), part) + more) << part;
  }
}

TEST(Report, EmbedsAScriptThatSpeaksOfScripts) {
  std::string page = report_html(result_of("oscillator"), "a = '</script>';");
  EXPECT_THAT(page, HasSubstr("<script>a = '<\\/script>';</script>"));
  EXPECT_EQ(count(page, "<script"), count(page, "</script>"));
}

TEST(Report, WritesWhatIsNotANumberAsNull) {
  json result = result_of("exponential");
  result["metrics"]["rmse"] = std::nan("");
  result["lambda"]["truth"] = {nullptr};
  result["settings"]["variant"] = "not UTF-8: \xff";
  std::string page = report_html(result, "script");
  EXPECT_TRUE(embedded_json(page)["metrics"]["rmse"].is_null());
  EXPECT_THAT(page, HasSubstr("truth –"));
}

// -------------------------------------------------------------------------------------- contents

TEST(Report, HasTheFiguresOfItsExperiment) {
  using Figures = std::map<std::string, std::size_t>;
  const std::map<std::string, Figures> wanted = {
      {"exponential", {{"bands", 1}, {"members", 1}, {"density", 1}, {"trace", 1}, {"loss", 1}}},
      {"oscillator", {{"bands", 1}, {"members", 1}, {"density", 2}, {"trace", 2}, {"loss", 1}}},
      {"lotka_volterra", {{"bands", 2}, {"members", 2}, {"density", 4}, {"trace", 4}, {"loss", 1}}},
      {"advection", {{"image", 4}, {"cut", 2}, {"density", 1}, {"trace", 1}, {"loss", 1}}},
  };
  for (const auto& [experiment, figures] : wanted) {
    SCOPED_TRACE(experiment);
    std::string page = report_html(result_of(experiment), "script");
    std::size_t all = 0;
    for (const auto& [kind, number] : figures) {
      EXPECT_EQ(count(page, " data-figure=\"" + kind + "\""), number) << kind;
      all += number;
    }
    EXPECT_EQ(count(page, " data-figure=\""), all);
    for (const char* id : {"predictions", "parameters", "training", "metrics", "details"}) {
      EXPECT_EQ(count(page, std::string("<section id=\"") + id + "\">"), 1) << id;
    }
    // One may choose where there are two exact posteriors: in two places.
    EXPECT_EQ(count(page, "<button"), experiment == "oscillator" ? 4 : 0);
  }
}

TEST(Report, HasTheNumbersInTables) {
  std::string page = report_html(result_of("oscillator"), "script");
  for (const char* row : {
           "<td>RMSE</td><td>0.0612</td>",
           "<td>log L / N</td><td>−2.04</td>",
           "<td>W(f)</td><td>–</td>",
           "<td>ω</td><td>1</td><td>1.000 ± 0.016</td><td>1.25 ± 0.12</td><td>1.25 ± 0.12</td>",
           "<td>fixed phase</td><td>0.0253</td><td>0.0127 ± 0.0010</td><td>0.0131</td>"
           "<td>0.0085 ± 0.0030</td>",
           "<td>90 %</td><td>87.5 %</td><td>0.19</td>",
           "<td>optimizer · learning rate · value</td><td>0.001</td>",
           "<td>iterations</td><td>15\u202f000</td>",
           "<td>one iteration</td><td>1.37 ms</td>",
           "<td>commit</td><td>abc1234</td>",
       }) {
    EXPECT_THAT(page, HasSubstr(row));
  }
}

// Which data they are, and what they ran on.
TEST(Report, TellsTheDataSeedAndTheVersions) {
  json result = result_of("exponential");
  EXPECT_THAT(report_html(result, ""), Not(HasSubstr("data seed")));
  result["settings"]["data_seed"] = 101;
  result["sturnus"]["runtime"] = {{"platform_version", "XLA of May"}, {"pjrt_api", "0.81"}};
  std::string page = report_html(result, "");
  EXPECT_THAT(between(page, "<header>", "</header>"), HasSubstr("data seed 101"));
  EXPECT_THAT(page, HasSubstr("<td>platform</td><td>XLA of May</td>"));
  EXPECT_THAT(page, HasSubstr("<td>PJRT API</td><td>0.81</td>"));
}

// What `run --against nuts` adds.
json with_chains(json result) {
  json lambda = json::array(), quantiles = {{"x", {0, 1, 2}}};
  for (const json& name : result["lambda"]["names"]) {
    lambda.push_back({{"name", name}, {"mean", 1.5}, {"sd", 0.25}, {"draws", {1.0, 1.5, 2.0}}});
  }
  for (const char* q : {"q05", "q25", "q50", "q75", "q95"}) quantiles[q] = {0.1, 0.2, 0.3};
  json bands(result["data"]["outputs"].get<std::size_t>(), quantiles);
  result["against"] = {{{"name", "posterior"},
                        {"method", "nuts"},
                        {"w_f", 0.031},
                        {"w_lambda", 0.017},
                        {"floor_w_f", {{"mean", 0.021}, {"sd", 0.002}}},
                        {"floor_w_lambda", {{"mean", 0.012}, {"sd", 0.001}}},
                        {"rhat", 1.0049},
                        {"ess_bulk", 812.3},
                        {"warnings", {"E-BFMI is low."}},
                        {"lambda", lambda},
                        {"bands", bands}}};
  return result;
}

TEST(Report, ShowsChainsBesideTheEnsemble) {
  std::string page = report_html(with_chains(result_of("lotka_volterra")), "script");
  EXPECT_THAT(page, HasSubstr("<th>Ensemble</th><th>NUTS</th>"));
  EXPECT_THAT(page, HasSubstr("<td>1.50 ± 0.25</td>"));
  EXPECT_THAT(page, HasSubstr("<td>NUTS</td><td>0.031</td><td>0.021</td><td>0.017</td>"
                              "<td>0.012</td><td>1.005</td><td>812</td>"));
  EXPECT_THAT(page, HasSubstr("NUTS: E-BFMI is low."));
  EXPECT_EQ(count(page, "<button"), 0);
  json tempered = with_chains(result_of("lotka_volterra"));
  tempered["against"][0]["method"] = "tempering";
  EXPECT_THAT(report_html(tempered, "script"), HasSubstr("<td>Tempering</td><td>0.031</td>"));
  EXPECT_THAT(report_html(tempered, "script"), HasSubstr("tempering: 'tempering'}"));
  page = report_html(with_chains(result_of("oscillator")), "script");
  EXPECT_EQ(count(page, "<button"), 6);  // two exact posteriors and the chains', in two places
}

TEST(Report, SaysWhatWentWrong) {
  json result = result_of("oscillator");
  EXPECT_THAT(report_html(result, "script"), Not(HasSubstr("class=\"notes\"")));
  result["members"] = {
      {"count", members},
      {"surviving", {0, 1, 2, 3}},
      {"divergences", {{{"member", 4}, {"iteration", 12000}}, {{"member", 2}, {"iteration", 500}}}},
      {"drift", {0.1, 1.5, 0.3, 0.26, nullptr}},
      {"loss_drift", -0.02}};
  result["finished"] = false;
  std::string page = report_html(result, "script");
  for (const char* note :
       {"Member 4 diverged at iteration 12\u202f000. Predictions, densities and metrics are "
        "without it.",
        "Member 2 diverged at iteration 500 and was begun anew.",
        "Not settled: from the tenth of the training before the last to the last the parameters of "
        "3 of 4 members moved by more than 0.25 standard deviations of the ensemble: 1 (1.5), "
        "2 (0.3), 3 (0.3).",
        "the loss changed by −2.0 %.",
        "The members’ parameters moved, from the tenth of the training before the last to the "
        "last, by at most 1.5 standard deviations of the ensemble (median 0.3).",
        "The training was interrupted"}) {
    EXPECT_THAT(page, HasSubstr(note));
  }
}

// Of those that were begun anew in the last two tenths, in a file (null) or before (NaN).
TEST(Report, CountsMembersOfWhichNothingIsKnownAsMoving) {
  json result = result_of("oscillator");
  result["members"]["drift"] = {0.1, nullptr, 0.3, std::nan(""), 0.2};
  result["members"]["loss_drift"] = nullptr;
  std::string page = report_html(result, "script");
  for (const char* note :
       {"the parameters of 3 of 5 members moved by more than 0.25 standard deviations of the "
        "ensemble, or by what is not known: 2 (0.3), 1 (not known), 3 (not known). More",
        "the loss changed by what is not known. More",
        "by at most 0.3 standard deviations of the ensemble (median 0.2), those of 2 of 5 by what "
        "is not known."}) {
    EXPECT_THAT(page, HasSubstr(note));
  }
  result["members"]["drift"] = json(std::vector<json>(members));
  page = report_html(result, "script");
  EXPECT_THAT(page, HasSubstr("of 5 of 5 members moved by more than 0.25"));
  EXPECT_THAT(page, HasSubstr("before the last to the last, by what is not known.</p>"));
}

// One member has no width: of all, or where the others are lost.
TEST(Report, OfOneMemberTellsPartsOfItsParameters) {
  json result = result_of("oscillator");
  for (int count : {1, members}) {
    result["members"].update({{"count", count}, {"surviving", {0}}});
    result["members"]["drift"] = {0.02, nullptr, nullptr, nullptr, nullptr};
    std::string page = report_html(result, "script");
    EXPECT_THAT(page, HasSubstr("of 1 of 1 members moved by more than 1 %: 0 (2.0)."));
    EXPECT_THAT(page, HasSubstr("by at most 2 % (median 2)."));
    EXPECT_THAT(page, Not(HasSubstr("standard deviations of the ensemble")));
  }
}

// Told of twice, and lost the second time: it was begun anew the first.
TEST(Report, SaysThatAMemberThatIsLostLaterWasBegunAnew) {
  json result = result_of("oscillator");
  result["members"]["surviving"] = {0, 1, 2, 3};
  result["members"]["divergences"] = {{{"member", 4}, {"iteration", 500}},
                                      {{"member", 4}, {"iteration", 900}}};
  std::string page = report_html(result, "script");
  EXPECT_THAT(page, HasSubstr("Member 4 diverged at iteration 500 and was begun anew."));
  EXPECT_THAT(page, HasSubstr("Member 4 diverged at iteration 900. Predictions, densities and "
                              "metrics are without it."));
}

TEST(Report, WithoutTheScriptHasTablesAndSaysWhy) {
  for (const std::string& experiment : experiments) {
    std::string page = report_html(result_of(experiment), "");
    EXPECT_EQ(count(page, "This report has tables but no figures"), 1);
    EXPECT_THAT(page, AllOf(HasSubstr("sturnus plugins install plotly"),
                            HasSubstr("<td>RMSE</td><td>0.0612</td>"), Not(HasSubstr("<figure")),
                            Not(HasSubstr("<button")), Not(HasSubstr("<script>"))));
  }
  EXPECT_THAT(report_html(result_of("oscillator"), "script"), Not(HasSubstr("no figures")));
}

TEST(Report, IsMadeOfWhateverIsThere) {
  json whole = result_of("oscillator");
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
    std::string page = report_html(result, "script");
    EXPECT_EQ(embedded_json(page), result);
    EXPECT_EQ(count(page, "<section"), count(page, "</section>"));
  }
}

// ------------------------------------------------------------------------------------ the script

// A machine without Python, on which only what a test puts there is found.
class PlotlyScript : public testing::Test {
 protected:
  PlotlyScript() {
    set("STURNUS_PLOTLY", "");
    set("XDG_DATA_HOME", (folder.path() / "data").string());
    set("STURNUS_CACHE", (folder.path() / "cache").string());
    set("PATH", (folder.path() / "bin").string());
  }
  void set(const std::string& name, const std::string& value) {
    variables.emplace_front(name, value);
  }
  fs::path file(const fs::path& name, const std::string& text) {
    fs::create_directories((folder.path() / name).parent_path());
    std::ofstream(folder.path() / name) << text;
    return folder.path() / name;
  }
  fs::path unpacked(const std::string& root, const std::string& version, const std::string& text) {
    return file(fs::path(root) / "scripts/plotly" / version / "plotly/package_data/plotly.min.js",
                text);
  }

  TemporaryFolder folder;
  std::list<Variable> variables;
};

TEST_F(PlotlyScript, IsLookedForInOrder) {
  EXPECT_EQ(find_plotly_script(), std::nullopt);
  unpacked("cache", "7.1.0-aaa", "of the build");
  EXPECT_EQ(find_plotly_script(), "of the build");
  unpacked("data/sturnus", "7.9.0-aaa", "of the user");
  EXPECT_EQ(find_plotly_script(), "of the user");
  unpacked("data/sturnus", "7.10.0-aaa", "newer");
  unpacked("data/sturnus", "7.2.0-aaa", "older");
  EXPECT_EQ(find_plotly_script(), "newer");
  set("STURNUS_PLOTLY", file("chosen.js", "chosen").string());
  EXPECT_EQ(find_plotly_script(), "chosen");
  EXPECT_EQ(plotly_script(), "chosen");
  set("STURNUS_PLOTLY", folder.path().string());  // cannot be read
  EXPECT_EQ(find_plotly_script(), "newer");
  set("STURNUS_PLOTLY", "/dev/null");
  EXPECT_EQ(find_plotly_script(), "");
}

TEST_F(PlotlyScript, ThatCannotBeFetchedIsEmpty) { EXPECT_EQ(plotly_script(), ""); }

// ----------------------------------------------------------------------------------- in node

// "trace drawn", "loss drawn", ... for the figures of a page, whose scripts node runs with
// stand-ins for a browser and for Plotly.
std::string drawn_in_node(const std::string& page) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "page.html") << page;
  std::ofstream(folder.path() / "draw.js") << R"js(
    const page = require('fs').readFileSync(process.argv[2], 'utf8');
    const json = page.match(/id="result">([^]*?)<.script>/)[1];
    const places = [...page.matchAll(/<div class="plot"([^>]*)>/g)].map(([, about]) => ({
      style: {}, dataset: Object.fromEntries([...about.matchAll(/data-(\w+)="([^"]*)"/g)].map(m => [m[1], m[2]]))}));
    globalThis.document = {getElementById: () => ({textContent: json}),
                           querySelectorAll: all => all === '[data-figure]' ? places : []};
    globalThis.matchMedia = () => ({matches: false});
    globalThis.addEventListener = () => {};
    globalThis.Plotly = {newPlot: place => { place.textContent = 'drawn'; }};
    (0, eval)([...page.matchAll(/<script>([^]*?)<.script>/g)].pop()[1]);
    for (const place of places) console.log(place.dataset.figure, place.textContent);
  )js";
  return output_of("node " + (folder.path() / "draw.js").string() + " " +
                   (folder.path() / "page.html").string() + " 2>/dev/null");
}

// More values than a call takes arguments.
TEST(Report, DrawsThousandsOfMembers) {
  json result = result_of("oscillator");
  constexpr int many = 4000, records = 100;
  json row(std::vector<double>(2 * many, 0.5));
  for (int i = 0; i < 2 * many; i++) row[static_cast<std::size_t>(i)] = 1 + 1e-4 * i;
  json surviving = json::array();
  for (int m = 0; m < many; m++) surviving.push_back(m);
  result["members"].update({{"count", many}, {"surviving", surviving}, {"drift", nullptr}});
  result["lambda"]["draws"] = json(std::vector<json>(many, {1.0, 0.5}));
  for (int m = 0; m < many; m++)
    result["lambda"]["draws"][static_cast<std::size_t>(m)][0] = 1e-3 * m;
  const json curve = result["predictions"]["members"][0];
  result["predictions"]["members"] = json(std::vector<json>(many, curve));
  json& history = result["history"];
  history["iteration"] = json::array();
  for (int i = 1; i <= records; i++) history["iteration"].push_back(150 * i);
  history["lambda"] = json(std::vector<json>(records, row));
  std::string page = report_html(result, "script");
  for (const char* spread : {"Math.min(...", "Math.max(..."}) {
    EXPECT_THAT(page, Not(HasSubstr(spread))) << "a long list has no room among arguments";
  }
  if (output_of("node --version 2>/dev/null").empty()) GTEST_SKIP() << "there is no node";
  EXPECT_EQ(drawn_in_node(page),
            "bands drawn\nmembers drawn\ndensity drawn\ndensity drawn\ntrace drawn\ntrace drawn\n"
            "loss drawn\n");
}

// --------------------------------------------------------------------------------- in a browser

TEST(Report, DrawsEveryFigureInABrowser) {
  std::optional<std::string> script = find_plotly_script();
  if (!script || script->empty()) GTEST_SKIP() << "there is no plotly.min.js";
  // Chooses the second exact posterior, then writes down which ones each figure shows.
  const std::string choose = R"(<script>
    document.querySelectorAll('[data-exact="1"]').forEach(button => button.click());
    document.body.dataset.shown = plots.flatMap(place => place.data)
      .filter(trace => trace.meta && trace.visible !== false).map(trace => trace.meta.exact).join('');
  </script>)";
  const std::pair<json, const char*> shown[] = {
      {with_chains(result_of("oscillator")), "1111111"},  // five quantiles, two densities
      // No button; ten quantiles, four densities.
      {with_chains(result_of("lotka_volterra")), "00000000000000"},
      {result_of("advection"), ""},
  };
  for (const auto& [result, exact] : shown) {  // between them they have every kind of figure
    std::string dom = opened(report_html(result, *script) + choose);
    if (dom.empty()) GTEST_SKIP() << "Chromium does not run here";
    EXPECT_EQ(between(dom, "<body data-shown=\"", "\">"), exact);
    std::string body = between(dom, "<main>", "</main>");
    EXPECT_EQ(count(body, "class=\"plot js-plotly-plot\""), count(body, " data-figure=\""));
    EXPECT_GE(count(body, " data-figure=\""), 7);
    EXPECT_THAT(body, Not(HasSubstr("could not be drawn")));
  }
}

}  // namespace
}  // namespace sturnus::app
