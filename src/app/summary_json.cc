#include "src/app/summary_json.h"

namespace sturnus::app {

nlohmann::json to_json(std::span<const ParameterSummary> rows) {
  nlohmann::json summary = nlohmann::json::object();
  for (const ParameterSummary& row : rows) {
    summary[row.name] = {{"mean", row.mean},         {"mcse", row.mcse},        {"sd", row.sd},
                         {"q05", row.q05},           {"q25", row.q25},          {"q50", row.q50},
                         {"q75", row.q75},           {"q95", row.q95},          {"rhat", row.rhat},
                         {"ess_bulk", row.ess_bulk}, {"ess_tail", row.ess_tail}};
  }
  return summary;
}

}  // namespace sturnus::app
