#include "src/app/result_parts.h"

#include <sturnus/functional/array.h>
#include <sturnus/inference/results/metrics.h>
#include <sturnus/runtime/client.h>
#include <sturnus/runtime/plugin.h>
#include <sturnus/runtime/version.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

namespace sturnus::app {

using nlohmann::json;

namespace {

json to_json(const NamedValues& values) {
  json result = json::object();
  for (const auto& [name, value] : values) result[name] = to_string(value);
  return result;
}

json describe_runtime() {
  Device device = default_device();
  Client client = device.owner();
  ApiVersion api = client.plugin().api_version();
  DeviceDescription description = device.description();
  return {{"platform", client.platform_name()},
          {"platform_version", client.platform_version()},
          {"pjrt_api", std::to_string(api.major) + "." + std::to_string(api.minor)},
          {"stablehlo", client.plugin().stablehlo_version()},
          {"plugin", to_json(client.plugin().attributes())},
          {"device_kind", description.kind},
          {"device_attributes", to_json(description.attributes)}};
}

}  // namespace

json describe_program() {
  const char* commit = std::getenv("STURNUS_COMMIT");  // by the launcher
  return {{"version", version},
          {"commit", commit != nullptr ? commit : "unknown"},
          {"runtime", describe_runtime()}};
}

json describe_summary(const std::vector<ParameterSummary>& rows) {
  json summary = json::object();
  for (const ParameterSummary& row : rows) {
    summary[row.name] = {{"mean", row.mean},         {"mcse", row.mcse},        {"sd", row.sd},
                         {"q05", row.q05},           {"q25", row.q25},          {"q50", row.q50},
                         {"q75", row.q75},           {"q95", row.q95},          {"rhat", row.rhat},
                         {"ess_bulk", row.ess_bulk}, {"ess_tail", row.ess_tail}};
    summary[row.name]["mad"] = row.mad;
    summary[row.name]["hdi90"] = {row.hdi90.low, row.hdi90.high};
  }
  return summary;
}

double number_or_nan(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

json describe_worst(const std::vector<ParameterSummary>& rows) {
  return describe_worst(describe_summary(rows));
}

json describe_worst(const json& summary) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double rhat = -infinity, ess = infinity;
  for (const json& row : summary) {
    double one_rhat = number_or_nan(row.at("rhat"));
    double one_ess = number_or_nan(row.at("ess_bulk"));
    if (!std::isnan(rhat) && !(one_rhat <= rhat)) rhat = one_rhat;
    if (!std::isnan(ess) && !(one_ess >= ess)) ess = one_ess;
  }
  return {{"rhat", rhat}, {"ess_bulk", ess}};
}

json in_rows(const std::vector<double>& values, std::size_t width) {
  return in_rows(MatrixView{values.data(), width == 0 ? 0 : values.size() / width, width});
}

json in_rows(MatrixView matrix) {
  json result = json::array();
  for (std::size_t i = 0; i < matrix.rows; i++) {
    auto row = matrix.row(i);
    result.push_back(std::vector<double>(row.begin(), row.end()));
  }
  return result;
}

Matrix matrix_of(const json& rows) {
  Matrix result(rows.size(), rows.empty() ? 0 : rows.at(0).size());
  for (std::size_t i = 0; i < result.rows; i++) {
    for (std::size_t j = 0; j < result.cols; j++) result(i, j) = rows[i].at(j);
  }
  return result;
}

json describe_data(const Samples& data, double noise_sd) {
  return {{"x", in_rows(data.x, data.inputs)},
          {"y", in_rows(data.y, data.outputs)},
          {"noise_sd", noise_sd},
          {"inputs", data.inputs},
          {"outputs", data.outputs}};
}

json describe_bands(const std::vector<double>& x, MatrixView rows, std::size_t outputs) {
  const std::vector<std::pair<std::string, double>> levels = {
      {"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}};
  json result = json::array();
  std::vector<double> column(rows.rows);
  for (std::size_t output = 0; output < outputs; output++) {
    json bands = {{"x", x}};
    for (std::size_t point = 0; point < x.size(); point++) {
      for (std::size_t i = 0; i < rows.rows; i++) column[i] = rows(i, point * outputs + output);
      std::sort(column.begin(), column.end());
      for (const auto& [key, level] : levels) {
        auto place = static_cast<std::size_t>(level * static_cast<double>(rows.rows));
        bands[key].push_back(column[place]);
      }
    }
    result.push_back(bands);
  }
  return result;
}

json describe_distance(MatrixView members_f, MatrixView draws_f, MatrixView members_lambda,
                       MatrixView draws_lambda) {
  auto floor = [](MatrixView draws, std::size_t members) -> json {
    MeanSd floor = wasserstein_floor(draws, std::min(members, draws.rows));
    return {{"mean", floor.mean}, {"sd", floor.sd}};
  };
  return {{"w_f", mean_wasserstein(members_f, draws_f)},
          {"w_lambda", mean_wasserstein(members_lambda, draws_lambda)},
          {"floor_w_f", floor(draws_f, members_f.rows)},
          {"floor_w_lambda", floor(draws_lambda, members_lambda.rows)}};
}

}  // namespace sturnus::app
