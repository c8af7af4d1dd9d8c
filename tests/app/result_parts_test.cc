#include "src/app/result_parts.h"

#include <gtest/gtest.h>
#include <sturnus/functional/array.h>
#include <sturnus/runtime/version.h>

#include <cmath>
#include <limits>
#include <string>

namespace sturnus::app {
namespace {

using nlohmann::json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ParameterSummary row_of(const std::string& name, double rhat, double ess) {
  ParameterSummary row;
  row.name = name;
  row.rhat = rhat;
  row.ess_bulk = ess;
  return row;
}

bool same(const json& found, double expected) {
  double number = number_or_nan(found);
  return std::isnan(expected) ? std::isnan(number) : number == expected;
}

// Wherever the NaN stands, and after a file, where it is null.
TEST(DescribeWorst, ANumberThatIsNoneShows) {
  struct Case {
    std::vector<double> rhat, ess;
    double worst_rhat, worst_ess;
  };
  const std::vector<Case> table = {{{1.1, 1.3, 1.2}, {90, 50, 70}, 1.3, 50},
                                   {{0.99}, {400}, 0.99, 400},
                                   {{nan, 1.3, 1.2}, {90, 50, 70}, nan, 50},
                                   {{1.1, nan, 1.2}, {90, nan, 70}, nan, nan},
                                   {{1.1, 1.3, nan}, {90, 50, nan}, nan, nan}};
  for (const Case& one : table) {
    std::vector<ParameterSummary> rows;
    for (std::size_t i = 0; i < one.rhat.size(); i++) {
      rows.push_back(row_of("p" + std::to_string(i), one.rhat[i], one.ess[i]));
    }
    for (const json& worst :
         {describe_worst(rows), describe_worst(json::parse(describe_summary(rows).dump()))}) {
      EXPECT_TRUE(same(worst.at("rhat"), one.worst_rhat)) << worst;
      EXPECT_TRUE(same(worst.at("ess_bulk"), one.worst_ess)) << worst;
    }
  }
}

TEST(DescribeProgram, TellsWhatItRunsOn) {
  json program = describe_program();
  EXPECT_EQ(program.at("version"), version);
  const json& runtime = program.at("runtime");
  EXPECT_EQ(runtime.at("platform"), "cpu");
  EXPECT_EQ(runtime.at("device_kind"), default_device().description().kind);
  for (const char* told : {"platform_version", "pjrt_api", "stablehlo"}) {
    EXPECT_FALSE(runtime.at(told).get<std::string>().empty()) << told;
  }
}

}  // namespace
}  // namespace sturnus::app
