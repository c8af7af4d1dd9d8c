// Whole trainings, compiled for devices that are not here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>
#include <sturnus/runtime/topology.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "src/app/commands.h"
#include "tests/runtime/fake.h"

namespace sturnus::app {
namespace {

using nlohmann::json;

// The report on a training for a target, of two members where nothing else is said.
json report_on_training(const std::string& target, const std::string& experiment = "oscillator",
                        std::optional<std::int64_t> members = 2) {
  TemporaryFolder folder;
  std::ostringstream out;
  compile_program(out, {.program = experiment,
                        .members = members,
                        .targets = {target},
                        .json = folder.path() / "report.json",
                        .save = folder.path()});
  EXPECT_THAT(out.str(), testing::HasSubstr("iteration of loop 1"));
  std::string name = target;
  std::replace(name.begin(), name.end(), ':', '-');
  EXPECT_GT(std::filesystem::file_size(folder.path() / (experiment + "." + name + ".xla")), 1000u);
  std::ifstream file(folder.path() / "report.json");
  return json::parse(file).at(target);
}

// Of an iteration.
std::int64_t kernels_of(const json& report) {
  std::int64_t kernels = 0;
  for (const auto& [kind, count] : report.at("loops")[0].at("iteration").at("kernels").items()) {
    kernels += count.get<std::int64_t>();
  }
  return kernels;
}

// One loop over the iterations, whose number is an argument, and no other.
void expect_training(const json& report, std::int64_t most_kernels) {
  EXPECT_EQ(report.at("run").at("has_open_loops"), true);
  EXPECT_TRUE(report.at("run").at("collectives").empty());
  ASSERT_EQ(report.at("loops").size(), 1u);
  EXPECT_GT(kernels_of(report), 0);
  EXPECT_LE(kernels_of(report), most_kernels);
  EXPECT_GT(report.at("serialized_bytes"), 10000);
  // Weights of 1 x 20, 20 x 20 twice and 20 x 1 with their biases, and two moments of each.
  EXPECT_GT(report.at("argument_bytes"), 3 * 4 * 2 * (40 + 2 * 420 + 21));
}

TEST(TrainingFor, ThisCpu) { EXPECT_GT(report_on_training("cpu").at("serialized_bytes"), 10000); }

// At published size, half of the 38, 75, 57 and 176 kernels that plain JAX has: see
// docs/results/speed.md.
TEST(TrainingFor, AnH100) {
  try {
    Topology::gpu(Plugin::find("cuda"), "h100");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  for (const auto& [experiment, most_kernels] :
       {std::pair("exponential", 19), std::pair("oscillator", 37), std::pair("lotka_volterra", 28),
        std::pair("advection", 88)}) {
    SCOPED_TRACE(experiment);
    json report = report_on_training("h100", experiment, {});
    expect_training(report, most_kernels);
    RecordProperty(experiment, std::to_string(kernels_of(report)));
  }
}

TEST(TrainingFor, ATpu) {
  try {
    Plugin::find("tpu");
  } catch (const PluginError& error) {
    GTEST_SKIP() << error.what();
  }
  json report = report_on_training("tpu:v5e:2x2");
  expect_training(report, 1000);
  EXPECT_GT(report.at("code_bytes"), 10000);
}

}  // namespace
}  // namespace sturnus::app
