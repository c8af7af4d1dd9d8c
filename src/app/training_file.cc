#include "src/app/training_file.h"

#include <sturnus/inference/results/checkpoint.h>

#include <limits>

namespace sturnus::app {
namespace {

using nlohmann::json;

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
  log.polish_seconds = value.at("polish_seconds");
  return log;
}

}  // namespace

json to_json(const TrainingLog& log) {
  json result = {{"iteration", json::array()},          {"data", json::array()},
                 {"residual", json::array()},           {"prior", json::array()},
                 {"repulsion", json::array()},          {"lambda", json::array()},
                 {"divergences", json::array()},        {"seconds", log.seconds},
                 {"polish_seconds", log.polish_seconds}};
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

KeptWork kept_training(const RunPlaces& places, const json& settings) {
  return {places, "run", "training", settings};
}

void save_training(const KeptWork& kept, const SavedTraining& training) {
  json notes = to_json(training.log);
  notes["polishes"] = !training.state.lbfgs.empty();
  kept.save(notes, tree_leaves(training.state));
}

SavedTraining load_training(const KeptWork& kept, const Ensemble& ensemble) {
  SavedTraining start = {ensemble.init(), {}};
  kept.load([&](const json& log, std::string_view arrays) {
    // A state that is being polished has a memory too.
    if (log.at("polishes").get<bool>()) start.state = ensemble.polish(start.state, 0);
    start = {tree_from_bytes(start.state, arrays), log_from_json(log)};
  });
  return start;
}

}  // namespace sturnus::app
