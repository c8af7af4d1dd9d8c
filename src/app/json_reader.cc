#include "src/app/json_reader.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace sturnus::app {
namespace {

using nlohmann::json;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); i++) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); j++) {
      std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row.back();
}

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  std::string near = nearest_name(name, known);
  return near.empty() ? "" : ". Did you mean \"" + near + "\"?";
}

[[noreturn]] void refuse_size(const std::string& path, const json& found, std::uint64_t largest) {
  refuse(path, found.dump() + " is too large. Give at most " + std::to_string(largest));
}

}  // namespace

void refuse(const std::string& path, const std::string& what) { throw Error(path + ": " + what); }

void refuse_type(const std::string& path, const json& found, const std::string& what) {
  refuse(path, found.dump().substr(0, 60) + " is " + what);
}

void refuse_unknown(const std::string& path, const std::string& kind, const std::string& name,
                    const std::vector<std::string>& known) {
  refuse(path, "there is no " + kind + " \"" + name + "\"; there are " + joined(known) +
                   suggestion(name, known));
}

std::int64_t at_least(const std::string& command, const std::string& what, std::int64_t value,
                      std::int64_t smallest) {
  if (value >= smallest) return value;
  refuse(command, std::to_string(value) + " " + what + ". Give --" + what + " at least " +
                      std::to_string(smallest));
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  std::string best;
  std::size_t least = name.size() / 2 + 1;
  for (const std::string& candidate : known) {
    std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

double number_at(const std::string& path, const json& value,
                 const std::optional<Numbers>& allowed) {
  if (!value.is_number()) refuse_type(path, value, "not a number");
  if (allowed && !allowed->hold(value.get<double>())) {
    refuse(path, value.dump() + " makes no sense. Give a number that is " + allowed->words);
  }
  return value.get<double>();
}

std::int64_t whole_number_at(const std::string& path, const json& value, std::int64_t smallest) {
  if (!value.is_number_integer()) refuse_type(path, value, "not a whole number");
  constexpr auto largest = std::numeric_limits<std::int32_t>::max();
  if (value.get<double>() > largest) refuse_size(path, value, largest);
  if (value.get<std::int64_t>() < smallest) {
    refuse(path, value.dump() + " is too small. Give at least " + std::to_string(smallest));
  }
  return value.get<std::int64_t>();
}

std::string without_class(const std::string& what) {
  return what.rfind("[json.", 0) == 0 ? what.substr(what.find("] ") + 2) : what;
}

json parse_settings(const std::string& text) {
  // The objects and lists that are open, with the key or the number of the value that is read.
  struct Level {
    bool is_list = false;
    std::string key = {};
    std::size_t index = 0;
    std::set<std::string> keys = {};
  };
  std::vector<Level> open;
  auto path = [&] {
    std::string path = "$";
    for (const Level& level : open) {
      if (level.is_list) path = element_path(path, level.index);
      if (!level.key.empty()) path += "." + level.key;
    }
    return path;
  };
  using Event = json::parse_event_t;
  auto note = [&](int, Event event, const json& value) {
    if (event == Event::key) {
      open.back().key = value.get<std::string>();
      // Which of both is meant, nobody can know.
      bool is_new = open.back().keys.insert(open.back().key).second;
      if (!is_new) refuse(path(), "this stands twice. Leave one of both out");
    }
    if (event == Event::object_start || event == Event::array_start) {
      open.push_back({.is_list = event == Event::array_start});
      return true;
    }
    if (event == Event::object_end || event == Event::array_end) open.pop_back();
    if (event != Event::key && !open.empty()) open.back().index++;
    return true;
  };
  try {
    return json::parse(text, note, true, true);
  } catch (const json::exception& error) {
    throw NoJson(path() + ": " + without_class(error.what()));
  }
}

std::string element_path(const std::string& path, std::size_t i) {
  return path + "[" + std::to_string(i) + "]";
}

JsonReader::JsonReader(const json& value, std::string path)
    : value_(value), path_(std::move(path)) {
  if (!value.is_object()) refuse_type(path_, value, "not an object {...}");
}

bool JsonReader::has(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  return value_.contains(key);
}

const json& JsonReader::at(const std::string& key) { return value_.at(key); }

const json& JsonReader::array_at(const std::string& key) {
  const json& found = at(key);
  if (!found.is_array()) refuse_type(path_of(key), found, "not a list [...]");
  return found;
}

void JsonReader::read(const std::string& key, bool& target) {
  if (!has(key)) return;
  if (!at(key).is_boolean()) refuse_type(path_of(key), at(key), "not true or false");
  target = at(key).get<bool>();
}

void JsonReader::read(const std::string& key, double& target,
                      const std::optional<Numbers>& allowed) {
  if (has(key)) target = number_at(path_of(key), at(key), allowed);
}

void JsonReader::read(const std::string& key, std::int64_t& target, std::int64_t smallest) {
  if (has(key)) target = whole_number_at(path_of(key), at(key), smallest);
}

void JsonReader::read(const std::string& key, std::uint64_t& target, std::uint64_t largest) {
  if (!has(key)) return;
  const json& found = at(key);
  bool fits =
      found.is_number_integer() && (found.is_number_unsigned() || found.get<std::int64_t>() >= 0);
  if (!fits) refuse_type(path_of(key), found, "not a whole number that is not negative");
  if (found.get<std::uint64_t>() > largest) refuse_size(path_of(key), found, largest);
  target = found.get<std::uint64_t>();
}

void JsonReader::read(const std::string& key, std::string& target) {
  if (!has(key)) return;
  if (!at(key).is_string()) refuse_type(path_of(key), at(key), "not a text \"...\"");
  target = at(key).get<std::string>();
}

void JsonReader::read(const std::string& key, std::vector<double>& target) {
  if (!has(key)) return;
  target.clear();
  for (const json& element : array_at(key)) {
    target.push_back(number_at(element_path(path_of(key), target.size()), element));
  }
}

void JsonReader::read(const std::string& key, std::vector<std::int64_t>& target,
                      std::int64_t smallest) {
  if (!has(key)) return;
  target.clear();
  for (const json& element : array_at(key)) {
    target.push_back(whole_number_at(element_path(path_of(key), target.size()), element, smallest));
  }
}

JsonReader JsonReader::object(const std::string& key) {
  static const json nothing = json::object();
  return JsonReader(has(key) ? at(key) : nothing, path_of(key));
}

std::size_t JsonReader::name_index(const json& value, const std::string& path,
                                   const std::vector<std::string>& names) {
  if (value.is_string()) {
    auto found = std::find(names.begin(), names.end(), value.get<std::string>());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  refuse(path, value.dump() + " is none of " + joined(names) + suggestion(text, names));
}

void JsonReader::finish() const {
  for (const auto& [key, value] : value_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    refuse_unknown(path_, "setting", key, known_);
  }
}

}  // namespace sturnus::app
