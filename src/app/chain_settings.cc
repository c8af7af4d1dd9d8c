#include "src/app/chain_settings.h"

#include <nlohmann/json.hpp>

namespace sturnus::app {

using nlohmann::json;

std::string metric(const ChainSettings& settings) { return settings.metric.value_or("diagonal"); }

double target_acceptance(const ChainSettings& settings) {
  return settings.target_acceptance.value_or(settings.method == "random_walk" ? 0.234
                                             : settings.method == "mala"      ? 0.574
                                                                              : 0.8);
}

std::int64_t max_depth(const ChainSettings& settings) {
  return settings.max_depth.value_or(default_max_depth);
}

std::int64_t leapfrogs(const ChainSettings& settings) { return settings.leapfrogs.value_or(16); }

json to_json(const ChainSettings& settings) {
  json result = {{"method", settings.method},
                 {"chains", settings.chains},
                 {"warmup", settings.warmup},
                 {"draws", settings.draws},
                 {"seed", settings.seed},
                 {"metric", metric(settings)},
                 {"target_acceptance", target_acceptance(settings)}};
  if (settings.method == "nuts") result["max_depth"] = max_depth(settings);
  if (settings.method == "hmc") result["leapfrogs"] = leapfrogs(settings);
  return result;
}

}  // namespace sturnus::app
