#include "src/app/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "src/app/report_page.h"

namespace sturnus::app {
namespace {

using nlohmann::json;
using Row = std::vector<std::string>;  // cells of HTML

const json nothing;

// What lies under the keys, or null.
template <class... Keys>
const json& get(const json& value, const Keys&... keys) {
  const json* found = &value;
  auto step = [&found](const char* key) {
    found = found->is_object() && found->contains(key) ? &found->at(key) : &nothing;
  };
  (step(keys), ...);
  return *found;
}

std::string text(const json& value, const char* key) {
  const json& found = get(value, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

const json& at(const json& list, std::size_t i) {
  return list.is_array() && i < list.size() ? list[i] : nothing;
}

// ------------------------------------------------------------------------------------------ text

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string escaped(std::string text) {
  replace_all(text, "&", "&amp;");
  replace_all(text, "<", "&lt;");
  replace_all(text, ">", "&gt;");
  replace_all(text, "\"", "&quot;");
  return text;
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return escaped(name);
}

std::string number(const json& value, const char* format = "%.4g") {
  if (!value.is_number()) return "–";
  char text[40];
  std::snprintf(text, sizeof(text), format, value.get<double>());
  std::string result = text;
  replace_all(result, "-", "−");
  return result;
}

// 15000 -> "15 000", with thin spaces.
std::string count(const json& value) {
  if (!value.is_number_integer()) return number(value);
  std::string digits = value.dump();
  for (std::size_t at = digits.size(); at > 3 && digits.size() > 4;) {
    digits.insert(at -= 3, "\u202f");
  }
  return digits;
}

std::string words(const json& value) {
  if (value.is_string()) return escaped(value.get<std::string>());
  if (value.is_null()) return "–";
  if (value.is_number_float()) return number(value, "%.6g");
  if (value.is_array() && value.size() > 8) {
    return number(value.size(), "%.0f") + " entries";
  }
  if (value.is_array()) {
    std::string list;
    for (const json& entry : value) list += (list.empty() ? "" : ", ") + words(entry);
    return list;
  }
  return value.is_number() ? count(value) : escaped(value.dump());
}

// Both to the second digit of the standard deviation: 0.999 ± 0.016.
std::string mean_and_sd(const json& mean, const json& sd) {
  double spread = sd.is_number() ? sd.get<double>() : 0;
  if (!(spread > 1e-4 && spread < 10)) return number(mean) + " ± " + number(sd, "%.2g");
  std::string format =
      "%." + std::to_string(1 - static_cast<int>(std::floor(std::log10(spread)))) + "f";
  return number(mean, format.c_str()) + " ± " + number(sd, format.c_str());
}

std::string symbol(const std::string& name) {
  static const std::pair<const char*, const char*> letters[] = {
      {"alpha", "α"}, {"beta", "β"}, {"gamma", "γ"},  {"delta", "δ"},
      {"omega", "ω"}, {"zeta", "ζ"}, {"lambda", "λ"},
  };
  for (const auto& [word, letter] : letters) {
    if (name == word) return letter;
  }
  return escaped(name);
}

std::string title_of(const std::string& experiment) {
  static const std::pair<const char*, const char*> titles[] = {
      {"exponential", "Exponential growth"},
      {"oscillator", "Damped oscillator"},
      {"lotka_volterra", "Lotka–Volterra"},
      {"advection", "Advection"},
  };
  for (const auto& [name, title] : titles) {
    if (experiment == name) return title;
  }
  return experiment.empty() ? "A run" : spaced(experiment);
}

// -------------------------------------------------------------------------------------- elements

std::string tagged(const char* tag, const std::string& contents, const char* kind = "") {
  std::string attribute = *kind == '\0' ? "" : std::string(" class=\"") + kind + "\"";
  return std::string("<") + tag + attribute + ">" + contents + "</" + tag + ">\n";
}

std::string table(const Row& header, const std::vector<Row>& rows, const char* kind = "") {
  if (rows.empty()) return "";
  std::string head, body;
  for (const std::string& cell : header) head += "<th>" + cell + "</th>";
  for (const Row& row : rows) {
    body += "<tr>";
    for (const std::string& cell : row) body += "<td>" + cell + "</td>";
    body += "</tr>\n";
  }
  std::string inner = header.empty() ? "" : "<thead><tr>" + head + "</tr></thead>\n";
  std::string attribute = *kind == '\0' ? "" : std::string(" class=\"") + kind + "\"";
  return "<div class=\"scroll\"><table" + attribute + ">\n" + inner + "<tbody>\n" + body +
         "</tbody></table></div>\n";
}

// A place in which report_figures draws; `about` are more data- attributes.
std::string figure(const std::string& caption, const std::string& kind,
                   const std::vector<std::pair<std::string, std::string>>& about = {}) {
  std::string attributes = " data-figure=\"" + kind + "\"";
  for (const auto& [name, value] : about) {
    attributes += " data-" + name + "=\"" + escaped(value) + "\"";
  }
  return "<figure><figcaption>" + caption + "</figcaption><div class=\"plot\"" + attributes +
         "></div></figure>\n";
}

std::string section(const std::string& id, const std::string& title, const std::string& contents) {
  if (contents.empty()) return "";
  return "<section id=\"" + id + "\">\n<h2>" + title + "</h2>\n" + contents + "</section>\n\n";
}

// Figures that stand side by side where there is room.
std::string panels(const std::string& figures) {
  return figures.empty() ? "" : "<div class=\"panels\">\n" + figures + "</div>\n";
}

// Chooses which exact posterior the figures show.
std::string exact_buttons(const json& exact) {
  if (exact.size() < 2) return "";
  std::string buttons;
  for (std::size_t i = 0; i < exact.size(); i++) {
    buttons += "<button type=\"button\" data-exact=\"" + std::to_string(i) + "\" aria-pressed=\"" +
               (i == 0 ? "true" : "false") + "\">" + spaced(text(exact[i], "name")) + "</button>";
  }
  return "<p class=\"choice\">Exact posterior: " + buttons + "</p>\n";
}

// ----------------------------------------------------------------------------------------- parts

std::string header(const json& result) {
  const json& settings = get(result, "settings");
  std::string experiment = text(settings, "experiment");
  std::string variant = spaced(text(settings, "variant"));
  std::string line;
  auto add = [&line](const std::string& part) { line += (line.empty() ? "" : " · ") + part; };
  if (!variant.empty()) add("variant " + variant);
  if (!get(settings, "run").is_null()) add("run " + count(get(settings, "run")));
  if (!get(settings, "seed").is_null()) add("seed " + count(get(settings, "seed")));
  add(count(get(settings, "members")) + " members");
  add(count(get(settings, "iterations")) + " iterations");
  return "<header>\n" + tagged("p", "Sturnus · report of a run", "kicker") +
         tagged("h1", title_of(experiment)) + tagged("p", line, "subtitle") + "</header>\n";
}

std::string tile(const std::string& name, const std::string& value, const std::string& remark) {
  return "<div class=\"tile\"><span>" + name + "</span><strong>" + value + "</strong><span>" +
         remark + "</span></div>\n";
}

std::string tiles(const json& result) {
  std::string all;
  const json& lambda = get(result, "lambda");
  for (std::size_t k = 0; k < get(lambda, "names").size(); k++) {
    all += tile(symbol(lambda["names"][k]),
                mean_and_sd(at(get(lambda, "mean"), k), at(get(lambda, "sd"), k)),
                "truth " + number(at(get(lambda, "truth"), k)));
  }
  const json& metrics = get(result, "metrics");
  if (get(metrics, "rmse").is_number()) {
    all += tile("RMSE", number(metrics["rmse"], "%.3g"), "of the mean, against the truth");
  }
  for (const json& band : get(metrics, "bands")) {
    if (number(get(band, "level")) != "0.9") continue;
    all += tile("90 % band", number(json(100 * band.value("coverage", 0.0)), "%.0f") + " %",
                "of the truth lies within");
  }
  return all.empty() ? "" : "<div class=\"tiles\">\n" + all + "</div>\n";
}

std::string notes(const json& result, bool has_script) {
  std::vector<std::string> all;
  if (!has_script) {
    all.push_back(
        "This report has tables but no figures, because the script that draws them (plotly.min.js) "
        "was not at hand. <code>sturnus plugins install plotly</code> gets it; or set "
        "<code>STURNUS_PLOTLY</code> to the file.");
  }
  if (get(result, "finished") == json(false)) {
    all.push_back("The training was interrupted: these are the members as they were then.");
  }
  const json& members = get(result, "members");
  std::vector<std::size_t> surviving;
  for (const json& member : get(members, "surviving")) surviving.push_back(member);
  for (const json& divergence : get(members, "divergences")) {
    std::size_t member = divergence.value("member", std::size_t{0});
    bool survives = std::count(surviving.begin(), surviving.end(), member) > 0;
    all.push_back("Member " + std::to_string(member) + " diverged at iteration " +
                  count(get(divergence, "iteration")) +
                  (survives ? " and was begun anew."
                            : ". Predictions, densities and metrics are without it."));
  }
  std::vector<std::string> moving;
  for (std::size_t member : surviving) {
    const json& drift = at(get(members, "drift"), member);
    if (drift.is_number() && drift.get<double>() > 1) {
      moving.push_back(std::to_string(member) + " (" + number(drift, "%.1f") + ")");
    }
  }
  if (!moving.empty()) {
    std::string list;
    for (const std::string& member : moving) list += (list.empty() ? "" : ", ") + member;
    all.push_back("Not settled: over the last tenth of the training the parameters of " +
                  std::to_string(moving.size()) + " of " + std::to_string(surviving.size()) +
                  " members moved by more than one standard deviation of the ensemble: " + list +
                  ". More iterations may change the result.");
  }
  std::string list;
  for (const std::string& note : all) list += "<li>" + note + "</li>\n";
  return list.empty() ? "" : "<ul class=\"notes\">\n" + list + "</ul>\n";
}

std::string predictions(const json& result) {
  if (get(result, "predictions", "members").empty()) return "";
  std::string contents =
      tagged("p",
             "Lines and bands are the median and the 25–75 % and 5–95 % quantiles of f over the "
             "members, point by point. They are without the noise of a measurement; the bars of "
             "the data are one standard deviation of it.",
             "caption") +
      exact_buttons(get(result, "exact"));
  if (get(result, "data", "inputs") == json(2)) {
    return contents +
           panels(figure("Ensemble mean, and where the data are", "image", {{"of", "mean"}}) +
                  figure("Truth", "image", {{"of", "truth"}}) +
                  figure("Absolute error of the mean", "image", {{"of", "error"}}) +
                  figure("Standard deviation of the ensemble, same colours", "image",
                         {{"of", "sd"}})) +
           panels(figure("Cut at t = 0", "cut", {{"at", "0"}}) +
                  figure("Cut at t = 1.5", "cut", {{"at", "1.5"}}));
  }
  bool predator_and_prey = get(result, "settings", "experiment") == json("lotka_volterra");
  const json& known = get(result, "predictions", "outputs");
  std::size_t outputs = known.is_number() ? known.get<std::size_t>() : 1;
  std::string figures;
  for (std::size_t k = 0; k < outputs; k++) {
    std::string name = outputs == 1        ? "f(t)"
                       : predator_and_prey ? (k == 0 ? "prey x(t)" : "predators y(t)")
                                           : "output " + std::to_string(k + 1);
    std::string of = outputs == 1 ? "" : ": " + name;
    std::vector<std::pair<std::string, std::string>> about = {{"output", std::to_string(k)},
                                                              {"name", name}};
    figures += figure("Quantiles" + of, "bands", about) + figure("Members" + of, "members", about);
  }
  return contents + panels(figures);
}

std::string parameters(const json& result, bool has_script) {
  const json& lambda = get(result, "lambda");
  std::string densities, traces;
  std::vector<Row> rows;
  const json& exact = get(result, "exact");
  Row head = {"Parameter", "Truth", "Ensemble"};
  for (const json& posterior : exact) {
    std::string name = text(posterior, "name");
    head.push_back(name == "exact" ? "Exact posterior" : "Exact, " + spaced(name));
  }
  for (std::size_t k = 0; k < get(lambda, "names").size(); k++) {
    std::string name = symbol(lambda["names"][k]);
    std::vector<std::pair<std::string, std::string>> about = {{"parameter", std::to_string(k)},
                                                              {"name", name}};
    densities += figure("Density of " + name, "density", about);
    traces += figure(name + " over the iterations", "trace", about);
    Row row = {name, number(at(get(lambda, "truth"), k)),
               mean_and_sd(at(get(lambda, "mean"), k), at(get(lambda, "sd"), k))};
    for (const json& posterior : exact) {
      const json& of = at(get(posterior, "lambda"), k);
      row.push_back(mean_and_sd(get(of, "mean"), get(of, "sd")));
    }
    rows.push_back(row);
  }
  if (rows.empty()) return "";
  if (get(result, "history", "lambda").empty()) traces.clear();
  if (!has_script) return table(head, rows);
  return tagged("p",
                "Densities are kernel estimates over the members with Scott’s bandwidth; each "
                "tick below is a member. Over the iterations: every member, their mean, and one "
                "standard deviation around it.",
                "caption") +
         exact_buttons(exact) + panels(densities + traces) + table(head, rows);
}

std::string training(const json& result, bool has_script) {
  std::string contents;
  if (has_script && !get(result, "history", "iteration").empty()) {
    contents =
        tagged("p",
               "Terms of the loss, mean over the members. The axis is logarithmic and shows sizes: "
               "where a term is negative, its line is dotted.",
               "caption") +
        panels(figure("Loss", "loss"));
  }
  std::vector<double> drift;
  for (const json& member : get(result, "members", "surviving")) {
    const json& value = at(get(result, "members", "drift"), member);
    if (value.is_number()) drift.push_back(value);
  }
  if (!drift.empty()) {
    std::sort(drift.begin(), drift.end());
    contents += tagged(
        "p", "Over the last tenth of the training the members’ parameters moved by at most " +
                 number(drift.back(), "%.2g") + " standard deviations of the ensemble (median " +
                 number(drift[drift.size() / 2], "%.2g") + ").");
  }
  return contents;
}

std::string metrics(const json& result) {
  static const struct {
    const char* key;
    const char* name;
    const char* meaning;
  } known[] = {
      {"rmse", "RMSE", "of the ensemble’s mean against the noise-free truth at the test points"},
      {"logl_per_n", "log L / N",
       "log density of the noisy test values under a kernel estimate of f, per point"},
      {"predictive_log_density", "log predictive density",
       "of the noisy test values with the noise included, per value"},
      {"crps_f", "CRPS f", "continuous ranked probability score of f; smaller is better"},
      {"spread_f", "spread of f", "mean standard deviation of the members at the test points"},
      {"w_f", "W(f)", "Wasserstein distance of f to the exact posterior"},
      {"abs_dlambda", "|Δλ|", "mean over the parameters of |mean − truth|"},
      {"logl_lambda", "log L(λ)",
       "log density of the true parameters under kernel estimates, summed"},
      {"crps_lambda", "CRPS λ", "continuous ranked probability score of the parameters"},
      {"w_lambda", "W(λ)", "Wasserstein distance of the parameters to the exact posterior"},
  };
  const json& scores = get(result, "metrics");
  std::vector<Row> rows;
  for (const auto& metric : known) {
    if (!scores.is_object() || !scores.contains(metric.key)) continue;
    rows.push_back({metric.name, number(scores[metric.key]), metric.meaning});
  }
  std::string contents = table({"Metric", "Value", "What it is"}, rows, "metrics");

  rows.clear();
  for (const json& exact : get(scores, "exact")) {
    auto floor = [&](const char* key) {
      return mean_and_sd(get(exact, key, "mean"), get(exact, key, "sd"));
    };
    rows.push_back({spaced(text(exact, "name")), number(get(exact, "w_f")), floor("floor_w_f"),
                    number(get(exact, "w_lambda")), floor("floor_w_lambda")});
  }
  if (!rows.empty()) {
    contents += tagged("h3", "Distance to the exact posterior") +
                table({"Posterior", "W(f)", "Floor", "W(λ)", "Floor"}, rows) +
                tagged("p",
                       "The floor is what as many independent draws from the exact posterior "
                       "score, mean and standard deviation. Members that repel each other lie more "
                       "evenly than such draws and may fall below it.",
                       "caption");
  }

  rows.clear();
  for (const json& band : get(scores, "bands")) {
    rows.push_back({number(json(100 * band.value("level", 0.0)), "%.3g") + " %",
                    get(band, "coverage").is_number()
                        ? number(json(100 * band["coverage"].get<double>()), "%.1f") + " %"
                        : "–",
                    number(get(band, "width"))});
  }
  if (!rows.empty()) {
    contents +=
        tagged("h3", "Calibration of f") + table({"Band", "Holds the truth", "Mean width"}, rows);
  }
  return contents;
}

// Nested objects become rows named outer.inner.
void flatten(const json& value, const std::string& name, std::vector<Row>& rows) {
  if (!value.is_object()) {
    rows.push_back({spaced(name), words(value)});
    return;
  }
  for (const auto& [key, inner] : value.items()) {
    flatten(inner, name.empty() ? key : name + " · " + key, rows);
  }
}

std::string details(const json& result) {
  std::vector<Row> rows;
  flatten(get(result, "settings"), "", rows);
  std::string settings = tagged("h3", "Settings") + table({}, rows, "pairs");

  static const struct {
    const char* key;
    const char* name;
    const char* unit;
  } times[] = {{"lower_s", "tracing and lowering", " s"},
               {"compile_s", "compiling", " s"},
               {"ms_per_iteration", "one iteration", " ms"},
               {"train_s", "training", " s"}};
  rows.clear();
  for (const auto& time : times) {
    const json& value = get(result, "timing", time.key);
    if (value.is_number()) rows.push_back({time.name, number(value, "%.3g") + time.unit});
  }
  if (get(result, "timing", "resumed_at").is_number() && result["timing"]["resumed_at"] != 0) {
    rows.push_back({"resumed at iteration", count(result["timing"]["resumed_at"])});
  }
  rows.push_back({"device", words(get(result, "device"))});
  rows.push_back({"Sturnus", words(get(result, "sturnus", "version"))});
  rows.push_back({"commit", words(get(result, "sturnus", "commit"))});
  std::string timing = tagged("h3", "Time and place") + table({}, rows, "pairs");
  return "<div class=\"panels\">\n<div>" + settings + "</div>\n<div>" + timing + "</div>\n</div>\n";
}

// JSON that may stand inside <script>: only strings of it can hold a "<".
std::string embedded(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  return text;
}

}  // namespace

std::string report_html(const json& result, std::string_view plotly_script) {
  bool has_script = !plotly_script.empty();
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      title_of(text(get(result, "settings"), "experiment")) + " – Sturnus</title>\n<style>\n" +
      std::string(report_style) + "</style>\n</head>\n<body>\n<main>\n";
  page += header(result) + tiles(result) + notes(result, has_script);
  if (has_script) page += section("predictions", "Predictions", predictions(result));
  page += section("parameters", "Parameters", parameters(result, has_script));
  page += section("training", "Training", training(result, has_script));
  page += section("metrics", "Metrics", metrics(result));
  page += section("details", "Details", details(result));
  page += "</main>\n<script type=\"application/json\" id=\"result\">" + embedded(result) +
          "</script>\n";
  if (has_script) {
    std::string script(plotly_script);
    replace_all(script, "</script", "<\\/script");  // the same to JavaScript, within its strings
    page +=
        "<script>" + script + "</script>\n<script>\n" + std::string(report_figures) + "</script>\n";
  }
  return page + "</body>\n</html>\n";
}

}  // namespace sturnus::app
