// Settings from JSON, strictly: what is not known or makes no sense is an error that says where it
// stands, what is allowed there and what was probably meant.
#pragma once

#include <sturnus/runtime/error.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sturnus::app {

/// The name in `known` with the fewest letters to change; empty when none is near.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

/// Which numbers make sense, in words that go on from "a number that is".
struct Numbers {
  const char* words;
  bool (*hold)(double);
};
inline constexpr Numbers positive = {"positive", [](double x) { return x > 0; }};
inline constexpr Numbers not_negative = {"at least 0", [](double x) { return x >= 0; }};
inline constexpr Numbers below_one = {"at least 0 and below 1",
                                      [](double x) { return x >= 0 && x < 1; }};

/// What a value at a path is. Throws Error for another type, or a number that makes no sense.
double number_at(const std::string& path, const nlohmann::json& value,
                 const std::optional<Numbers>& allowed = {});
/// The same for a whole number up to 2^31 - 1, as devices count.
std::int64_t whole_number_at(const std::string& path, const nlohmann::json& value,
                             std::int64_t smallest = 0);
/// The path of an element of a list.
std::string element_path(const std::string& path, std::size_t i);

/// What is wrong with a text that is no JSON, with the path.
struct NoJson : Error {
  using Error::Error;
};
/// A document of JSON, which may have comments. Throws NoJson, or Error for a key that stands twice
/// in an object.
nlohmann::json parse_settings(const std::string& text);
/// What an exception says, without the class by which nlohmann's begin.
std::string without_class(const std::string& what);

/// One object of a JSON document. Every key is asked for once; `finish` refuses what is left.
class JsonReader {
 public:
  /// `path` names the object in messages: "$.network".
  JsonReader(const nlohmann::json& value, std::string path);

  bool has(const std::string& key);
  /// Overwrites `target` if the key is there. Throws Error for a value of another type.
  void read(const std::string& key, bool& target);
  void read(const std::string& key, double& target, const std::optional<Numbers>& allowed = {});
  void read(const std::string& key, std::int64_t& target, std::int64_t smallest = 0);
  void read(const std::string& key, std::uint64_t& target,
            std::uint64_t largest = std::numeric_limits<std::uint64_t>::max());
  void read(const std::string& key, std::string& target);
  void read(const std::string& key, std::vector<double>& target);
  void read(const std::string& key, std::vector<std::int64_t>& target, std::int64_t smallest = 0);
  /// One of several names.
  template <class Enum>
  void read(const std::string& key, Enum& target,
            std::span<const std::pair<Enum, std::string>> names) {
    if (!has(key)) return;
    target = names[name_index(at(key), path_of(key), list(names))].first;
  }
  template <class Enum>
  void read(const std::string& key, std::vector<Enum>& target,
            std::span<const std::pair<Enum, std::string>> names) {
    if (!has(key)) return;
    const nlohmann::json& values = array_at(key);
    target.clear();
    for (std::size_t i = 0; i < values.size(); i++) {
      std::string path = element_path(path_of(key), i);
      target.push_back(names[name_index(values[i], path, list(names))].first);
    }
  }
  /// The object under a key.
  JsonReader object(const std::string& key);
  const nlohmann::json& at(const std::string& key);
  /// The list under a key. Throws Error if it is none.
  const nlohmann::json& array_at(const std::string& key);
  std::string path_of(const std::string& key) const { return path_ + "." + key; }

  /// Throws Error for a key that nobody asked for.
  void finish() const;

 private:
  template <class Enum>
  static std::vector<std::string> list(std::span<const std::pair<Enum, std::string>> names) {
    std::vector<std::string> result;
    for (const auto& [value, name] : names) result.push_back(name);
    return result;
  }
  static std::size_t name_index(const nlohmann::json& value, const std::string& path,
                                const std::vector<std::string>& names);

  const nlohmann::json& value_;
  std::string path_;
  std::vector<std::string> known_;
};

/// Throws Error: `path: what`.
[[noreturn]] void refuse(const std::string& path, const std::string& what);
/// Throws Error: `path: found is what`, with `found` cut where it is long.
[[noreturn]] void refuse_type(const std::string& path, const nlohmann::json& found,
                              const std::string& what);
/// Throws Error: `path: there is no <kind> "<name>"`, with those that there are and the nearest.
[[noreturn]] void refuse_unknown(const std::string& path, const std::string& kind,
                                 const std::string& name, const std::vector<std::string>& known);

/// `value`. Throws Error, naming the option --<what> of `command`, when it is smaller.
std::int64_t at_least(const std::string& command, const std::string& what, std::int64_t value,
                      std::int64_t smallest);

/// The one of `all` whose member `name_of` is `name`. Throws Error as refuse_unknown does.
template <class T>
const T& one_named(const std::string& path, const std::string& kind, const std::string& name,
                   const std::vector<T>& all, std::string T::*name_of) {
  std::vector<std::string> names;
  for (const T& one : all) {
    if (one.*name_of == name) return one;
    names.push_back(one.*name_of);
  }
  refuse_unknown(path, kind, name, names);
}

}  // namespace sturnus::app
