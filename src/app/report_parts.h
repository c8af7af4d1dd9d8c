// Pieces of HTML that reports are made of.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sturnus::app::report {

using nlohmann::json;
using Row = std::vector<std::string>;  // cells of HTML

// --- What a result holds, as text; what it lacks is left out or a dash.

/// What lies under the keys one after another, or null.
const json& get(const json& value, std::initializer_list<const char*> keys);
template <class... Keys>
const json& get(const json& value, const Keys&... keys) {
  return get(value, {keys...});
}
std::string text(const json& value, const char* key);
const json& at(const json& list, std::size_t i);

std::string escaped(std::string text);
/// Without underscores.
std::string spaced(std::string name);
std::string number(const json& value, const char* format = "%.4g");
/// 15000 -> "15 000", with thin spaces.
std::string count(const json& value);
/// Any value, at most eight entries of a list.
std::string words(const json& value);
/// Both to the second digit of the standard deviation: 0.999 ± 0.016.
std::string mean_and_sd(const json& mean, const json& sd);
/// A parameter's Greek letter, if it has one.
std::string symbol(const std::string& name);
/// "Damped oscillator" for oscillator.
std::string title_of(const std::string& problem);

// --- Elements

std::string tagged(const char* tag, const std::string& contents, const char* kind = "");
std::string table(const Row& header, const std::vector<Row>& rows, const char* kind = "");
/// A place in which report_drawing draws; `about` are more data- attributes.
std::string figure(const std::string& caption, const std::string& kind,
                   const std::vector<std::pair<std::string, std::string>>& about = {});
/// Empty when the contents are.
std::string section(const std::string& id, const std::string& title, const std::string& contents);
/// Figures that stand side by side where there is room.
std::string panels(const std::string& figures);
std::string tile(const std::string& name, const std::string& value, const std::string& remark);
std::string tiles(const std::string& all);
std::string header(const std::string& kicker, const std::string& title, const Row& about);
/// What is to be known before all else; that there are no figures, where there are none.
std::string notes(std::vector<std::string> all, bool has_script);

struct NamedTime {
  const char* key;  // in result["timing"]
  const char* name;
  const char* unit;
};
/// Settings, times and places. `resumed` names result["timing"]["resumed_at"].
std::string details(const json& result, std::span<const NamedTime> times, const char* resumed);

/// The whole file: its body, the result, Plotly's script (if any) and the figures' own.
std::string page(const std::string& title, const std::string& body, const json& result,
                 std::string_view plotly_script, std::string_view figures);

}  // namespace sturnus::app::report
