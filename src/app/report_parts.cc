#include "src/app/report_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "src/app/report_page.h"

namespace sturnus::app::report {
namespace {

const json nothing;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
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

// JSON that may stand inside <script>: only strings of it can hold a "<".
std::string embedded(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  return text;
}

}  // namespace

const json& get(const json& value, std::initializer_list<const char*> keys) {
  const json* found = &value;
  for (const char* key : keys) {
    found = found->is_object() && found->contains(key) ? &found->at(key) : &nothing;
  }
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

std::string number(const json& value, const char* format) {
  if (!value.is_number()) return "–";
  char text[40];
  std::snprintf(text, sizeof(text), format, value.get<double>());
  std::string result = text;
  replace_all(result, "-", "−");
  return result;
}

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

std::string title_of(const std::string& problem) {
  static const std::pair<const char*, const char*> titles[] = {
      {"exponential", "Exponential growth"},
      {"oscillator", "Damped oscillator"},
      {"lotka_volterra", "Lotka–Volterra"},
      {"advection", "Advection"},
      {"free_phase_oscillator", "Damped oscillator of any phase"},
      {"hare_lynx", "Hares and lynxes"},
      {"eight_schools", "Eight schools"},
      {"oscillator_bpinn", "Damped oscillator, a Bayesian network"},
      {"poisson_bpinn", "Poisson’s equation, a Bayesian network"},
      {"oscillator_bpinn_tanh", "Damped oscillator, a Bayesian network with hidden layers"},
      {"poisson_bpinn_tanh", "Poisson’s equation, a Bayesian network with hidden layers"},
  };
  for (const auto& [name, title] : titles) {
    if (problem == name) return title;
  }
  return problem.empty() ? "A run" : spaced(problem);
}

// -------------------------------------------------------------------------------------- elements

std::string tagged(const char* tag, const std::string& contents, const char* kind) {
  std::string attribute = *kind == '\0' ? "" : std::string(" class=\"") + kind + "\"";
  return std::string("<") + tag + attribute + ">" + contents + "</" + tag + ">\n";
}

std::string table(const Row& header, const std::vector<Row>& rows, const char* kind) {
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

std::string figure(const std::string& caption, const std::string& kind,
                   const std::vector<std::pair<std::string, std::string>>& about) {
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

std::string panels(const std::string& figures) {
  return figures.empty() ? "" : "<div class=\"panels\">\n" + figures + "</div>\n";
}

std::string tile(const std::string& name, const std::string& value, const std::string& remark) {
  return "<div class=\"tile\"><span>" + name + "</span><strong>" + value + "</strong><span>" +
         remark + "</span></div>\n";
}

std::string tiles(const std::string& all) {
  return all.empty() ? "" : "<div class=\"tiles\">\n" + all + "</div>\n";
}

std::string header(const std::string& kicker, const std::string& title, const Row& about) {
  std::string line;
  for (const std::string& part : about) line += (line.empty() ? "" : " · ") + part;
  return "<header>\n" + tagged("p", kicker, "kicker") + tagged("h1", title) +
         tagged("p", line, "subtitle") + "</header>\n";
}

std::string notes(std::vector<std::string> all, bool has_script) {
  if (!has_script) {
    all.insert(
        all.begin(),
        "This report has tables but no figures, because the script that draws them (plotly.min.js) "
        "was not at hand. <code>sturnus plugins install plotly</code> gets it; or set "
        "<code>STURNUS_PLOTLY</code> to the file.");
  }
  std::string list;
  for (const std::string& note : all) list += "<li>" + note + "</li>\n";
  return list.empty() ? "" : "<ul class=\"notes\">\n" + list + "</ul>\n";
}

std::string details(const json& result, std::span<const NamedTime> times, const char* resumed) {
  std::vector<Row> rows;
  flatten(get(result, "settings"), "", rows);
  std::string settings = tagged("h3", "Settings") + table({}, rows, "pairs");

  rows.clear();
  for (const NamedTime& time : times) {
    const json& value = get(result, "timing", time.key);
    if (!value.is_number()) continue;
    const char* format = value.get<double>() < 1000 ? "%.3g" : "%.0f";
    rows.push_back({time.name, number(value, format) + time.unit});
  }
  if (get(result, "timing", "resumed_at").is_number() && result["timing"]["resumed_at"] != 0) {
    rows.push_back({resumed, count(result["timing"]["resumed_at"])});
  }
  rows.push_back({"device", words(get(result, "device"))});
  json runtime = get(result, "sturnus", "runtime");
  if (runtime.is_object()) {
    rows.push_back({"platform", words(get(runtime, "platform_version"))});
    rows.push_back({"PJRT API", words(get(runtime, "pjrt_api"))});
  }
  rows.push_back({"Sturnus", words(get(result, "sturnus", "version"))});
  rows.push_back({"commit", words(get(result, "sturnus", "commit"))});
  std::string timing = tagged("h3", "Time and place") + table({}, rows, "pairs");
  return "<div class=\"panels\">\n<div>" + settings + "</div>\n<div>" + timing + "</div>\n</div>\n";
}

std::string page(const std::string& title, const std::string& body, const json& result,
                 std::string_view plotly_script, std::string_view figures) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      title + " – Sturnus</title>\n<style>\n" + std::string(report_style) +
      "</style>\n</head>\n<body>\n<main>\n" + body +
      "</main>\n<script type=\"application/json\" id=\"result\">" + embedded(result) +
      "</script>\n";
  if (!plotly_script.empty()) {
    std::string script(plotly_script);
    replace_all(script, "</script", "<\\/script");  // the same to JavaScript, within its strings
    page += "<script>" + script + "</script>\n<script>\n" + std::string(report_tools) +
            std::string(figures) + std::string(report_drawing) + "</script>\n";
  }
  return page + "</body>\n</html>\n";
}

}  // namespace sturnus::app::report
