#include "src/app/training_file.h"

#include <sturnus/inference/checkpoint.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/files.h>

#include <limits>

namespace sturnus::app {
namespace {

using nlohmann::json;

constexpr std::string_view magic = "sturnus training 1\n";

// Where two settings differ first, as a JSON path.
std::string first_difference(const json& one, const json& other) {
  json changes = json::diff(one, other);
  return changes.empty() ? "" : changes[0].value("path", "");
}

TrainingLog log_from_json(const json& value) {
  TrainingLog log;
  for (std::size_t i = 0; i < value.at("iteration").size(); i++) {
    TrainingRecord record;
    auto number = [&](const char* name) {
      const json& found = value.at(name)[i];
      return found.is_null() ? std::numeric_limits<double>::quiet_NaN() : found.get<double>();
    };
    record.iteration = value.at("iteration")[i].get<std::int64_t>();
    record.data = number("data");
    record.residual = number("residual");
    record.prior = number("prior");
    record.repulsion = number("repulsion");
    for (const json& x : value.at("lambda")[i]) {
      record.lambda.push_back(x.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                          : x.get<double>());
    }
    log.records.push_back(record);
  }
  for (const json& d : value.at("divergences")) {
    log.divergences.push_back({d.at("member").get<std::int64_t>(), d.at("iteration")});
  }
  log.seconds = value.at("seconds");
  return log;
}

}  // namespace

json to_json(const TrainingLog& log) {
  json result = {{"iteration", json::array()},   {"data", json::array()},
                 {"residual", json::array()},    {"prior", json::array()},
                 {"repulsion", json::array()},   {"lambda", json::array()},
                 {"divergences", json::array()}, {"seconds", log.seconds}};
  for (const TrainingRecord& record : log.records) {
    result["iteration"].push_back(record.iteration);
    result["data"].push_back(record.data);
    result["residual"].push_back(record.residual);
    result["prior"].push_back(record.prior);
    result["repulsion"].push_back(record.repulsion);
    result["lambda"].push_back(record.lambda);
  }
  for (const Divergence& d : log.divergences) {
    result["divergences"].push_back({{"member", d.member}, {"iteration", d.iteration}});
  }
  return result;
}

void save_training(const std::filesystem::path& path, const json& settings,
                   const SavedTraining& training) {
  std::string header = json{{"settings", settings}, {"log", to_json(training.log)}}.dump();
  std::string bytes(magic);
  bytes += std::to_string(header.size()) + "\n" + header;
  bytes += arrays_to_bytes(tree_leaves(training.state));
  write_file(path, bytes);
}

SavedTraining load_training(const std::filesystem::path& path, const json& settings,
                            const EnsembleState& like) {
  std::string bytes = read_file(path);
  std::string name = path.string();
  if (bytes.compare(0, magic.size(), magic) != 0) {
    throw Error(name + " is not a training that Sturnus kept. Choose another --out, or remove it");
  }
  try {
    std::size_t line = bytes.find('\n', magic.size());
    std::size_t size = std::stoull(bytes.substr(magic.size(), line - magic.size()));
    if (line + 1 + size > bytes.size()) throw Error("it ends too early");
    json header = json::parse(bytes.substr(line + 1, size));
    if (header.at("settings") != settings) {
      throw Error("it belongs to other settings: " +
                  first_difference(header.at("settings"), settings) + " differs");
    }
    return {tree_from_bytes(like, std::string_view(bytes).substr(line + 1 + size)),
            log_from_json(header.at("log"))};
  } catch (const std::exception& error) {
    throw Error(name + " cannot be continued: " + error.what() +
                ". Choose another --out, or remove the file to begin anew");
  }
}

}  // namespace sturnus::app
